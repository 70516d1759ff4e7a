#include <lope/matter/solid/solid.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <papers/coarse_scenes.h>

namespace lope::bench {
namespace {

namespace fs = std::filesystem;

// The overrides that give the bodies of the scene about `wanted` vertices in all, at most.
Expected<std::vector<std::string>> coarsening(const fs::path& file, int wanted) {
  const auto loaded = load(file, {});
  if (!loaded) return forward_error(loaded);
  std::vector<std::string> result;
  const auto& bodies = loaded->scene.resolved["body"].items;
  double all = 0;
  for (const matter::SolidBody& solid : each<matter::SolidBody>(loaded->model->bodies))
    all += static_cast<double>(solid.mesh.vertices.size());
  if (all <= wanted) return result;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const scene::Value& body = bodies[i];
    const double factor = std::pow(all / wanted, 1.0 / body.integer_at("dimension"));
    const scene::Value& shape = body["shape"];
    if (shape.members.empty()) continue;
    const auto& [word, parameters] = shape.members.front();
    if (const scene::Value* lattice =
            parameters.kind == scene::ValueKind::Table ? parameters.find("lattice") : nullptr) {
      std::string counts;
      for (const scene::Value& nodes : lattice->items) {
        const double cells = static_cast<double>(nodes.integer - 1) / factor;
        counts += fmt::format("{}{}", counts.empty() ? "" : ",", 1 + std::max(1L, std::lround(cells)));
      }
      result.push_back(fmt::format("body.{}.shape.{}.lattice=[{}]", i, word, counts));
    } else if (body.has("edge")) {
      result.push_back(fmt::format("body.{}.edge={}", i, body.number_at("edge") * factor));
    }
  }
  // Copies of a body follow the one that the file names: overrides of the copies themselves are refused.
  std::erase_if(result, [&](const std::string& one) { return !scene::load_scene(file.string(), {one}); });
  return result;
}

}  // namespace

std::vector<fs::path> chosen_scenes(const BenchOptions& options) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(options.scenes)) {
    const bool wanted =
        options.only.empty() || std::find(options.only.begin(), options.only.end(), entry.path().stem()) != options.only.end();
    if (entry.path().extension() == ".toml" && wanted) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Expected<LoadedScene> load_coarse(const fs::path& file, int vertices) {
  const auto overrides = coarsening(file, vertices);
  if (!overrides) return forward_error(overrides);
  auto loaded = load(file, *overrides);
  if (!loaded) return loaded;
  optimize::StoppingOptions& stopping = loaded->model->solver.stopping;
  if (stopping.test != optimize::StoppingTest::Displacement) stopping = {};
  return loaded;
}

bool has_nodes_only(const step::Model& model) {
  return !model.bodies.empty() && each<matter::NodalBody>(model.bodies).size() == model.bodies.size();
}

}  // namespace lope::bench
