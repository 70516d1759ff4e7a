// Do two methods find the same minimiser? Every step problem of the recorded run of a twisted and released
// bar, solved by `newton` and `newton-pcg` to the default accuracy (comparison.h).
#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/bodies.h>
#include <papers/comparison.h>
#include <papers/scene_runs.h>

namespace lope::bench {

Expected<void> agreement(const BenchOptions& options) {
  std::vector<std::string> overrides;
  if (!options.mesh.empty()) overrides.push_back("body.0.shape.mesh=" + options.mesh);
  const auto loaded = load(options.scenes / "twisted_bar.toml", overrides);
  if (!loaded) return forward_error(loaded);
  ComparisonOptions comparing;
  comparing.methods = {optimize::Method::Newton, optimize::Method::NewtonPcg};
  comparing.reference = optimize::Method::Newton;
  comparing.folder = options.folder;
  comparing.steps = options.steps > 0 ? options.steps : scene::step_count(loaded->scene, *loaded->model);
  comparing.program = options.program;
  options.print(
      fmt::format("{} vertices, {} steps", first_solid(*loaded->model).mesh.vertices.size(), comparing.steps));
  const auto comparison = compare(loaded->scene, *loaded->model, comparing);
  if (!comparison) return forward_error(comparison);
  for (const std::string& line : describe(*comparison)) options.print(line);
  options.print(comparison->all_agree() ? "PASS" : "FAIL");
  if (const auto written = write_results(*comparison, options.folder); !written)
    return forward_error(written);
  return {};
}

}  // namespace lope::bench
