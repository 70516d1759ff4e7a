// Is the displacement accuracy what it says (NUMERICS §6)? Over all scenes that come with Lope, coarsened to
// a size that allows it, steps spread evenly over the whole of one trajectory are solved by each method to
// the scene's accuracy and then, from there, converged to round-off. The distance between the two is the true
// error of the method's answer (max norm over nodes). The method's own test is made body by body, so its estimate and the
// promise are held against the error of the body that strains it most.
//
// It is held against two estimates at the answer: the method's own, by which it stopped, and the one that
// comparisons use for all methods alike, a solve of H e = ∇E to 10% by CG with block Jacobi
// (estimate_displacement). Required of every method and both estimates, over all steps: error ≤ 3 × estimate
// in 99%, median of error/estimate in [1/3, 3]; and what the user was promised: error ≤ 3 × accuracy in 99%.
// Answers whose estimate is within a factor of ten of what round-off leaves cannot be judged and are counted
// apart.
#include <lope/base/timer.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/newton.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/bodies.h>
#include <papers/calibration.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

namespace fs = std::filesystem;

constexpr int default_vertices = 900;  // per scene, by --size
constexpr int default_steps = 20;      // judged per scene, by --steps

// The overrides that give the bodies of the scene about `wanted` vertices in all, at most.
Expected<std::vector<std::string>> coarsening(const fs::path& file, const std::vector<std::string>& overrides,
                                              int wanted) {
  const auto loaded = load(file, overrides);
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

std::string table_line(std::string_view scene, std::string_view method, const Calibration& c) {
  const auto part = [](const EstimateRecord& r) {
    if (r.ratios.empty()) return fmt::format("{:>8} {:>7} {:>7}", "-", "-", "-");
    return fmt::format("{:>7.1f}% {:>7.2f} {:>7.2f}", 100 * r.bounded_fraction(), r.median_ratio(),
                       r.largest_ratio());
  };
  return fmt::format("{:20} {:11} {:>6} {:>6} {:>6}   {}   {}   {:>7.1f}% {:>6.2f}", scene, method, c.steps,
                     c.unconverged, c.at_round_off, part(c.own), part(c.common), 100 * c.accurate_fraction(),
                     c.largest_error_over_accuracy());
}

}  // namespace

Expected<void> accuracy(const BenchOptions& options) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(options.scenes)) {
    const bool wanted =
        options.only.empty() || std::find(options.only.begin(), options.only.end(), entry.path().stem()) != options.only.end();
    if (entry.path().extension() == ".toml" && wanted) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const std::vector<optimize::Method> methods = calibrated_methods();
  const Stopwatch watch;
  options.print(fmt::format("{:20} {:11} {:>6} {:>6} {:>6}   {:^24}   {:^24}   {:^15}", "", "", "", "not",
                            "round-", "own estimate", "CG estimate", "error/accuracy"));
  options.print(fmt::format(
      "{:20} {:11} {:>6} {:>6} {:>6}   {:>8} {:>7} {:>7}   {:>8} {:>7} {:>7}   {:>8} {:>6}", "scene",
      "method", "steps", "conv.", "off", "<= 3x", "median", "max", "<= 3x", "median", "max", "<= 3x", "max"));
  std::vector<Calibration> total(methods.size());
  for (const fs::path& file : files) {
    std::vector<std::string> overrides;
    const auto coarser = coarsening(file, overrides, options.size > 0 ? options.size : default_vertices);
    if (!coarser) return forward_error(coarser);
    overrides.insert(overrides.end(), coarser->begin(), coarser->end());
    const auto loaded = load(file, overrides);
    if (!loaded) return forward_error(loaded);
    // Scenes that stop by a characteristic norm are solved to the default accuracy.
    optimize::StoppingOptions& stopping = loaded->model->solver.stopping;
    if (stopping.test != optimize::StoppingTest::Displacement) stopping = {};
    const std::int64_t all = scene::step_count(loaded->scene, *loaded->model);
    const std::int64_t judged = options.steps > 0 ? options.steps : default_steps;
    const auto found = calibrate(*loaded->model, methods, all, std::max<std::int64_t>(1, all / judged));
    for (std::size_t m = 0; m < methods.size(); ++m) {
      options.print(table_line(file.stem().string(), optimize::name_of(methods[m]), found[m]));
      total[m].add(found[m]);
    }
  }
  bool passed = true;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    options.print(table_line("all scenes", optimize::name_of(methods[m]), total[m]));
  }
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const std::string trouble = total[m].trouble();
    passed = passed && trouble.empty();
    options.print(
        fmt::format("{:11} {}", optimize::name_of(methods[m]), trouble.empty() ? "calibrated" : trouble));
  }
  options.print(fmt::format("{} ({:.0f} s)", passed ? "PASS" : "FAIL", watch.seconds()));
  return {};
}

}  // namespace lope::bench
