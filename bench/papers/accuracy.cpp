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

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/calibration.h>
#include <papers/coarse_scenes.h>

namespace lope::bench {
namespace {

constexpr int default_vertices = 900;  // per scene, by --size
constexpr int default_steps = 20;      // judged per scene, by --steps

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
  const std::vector<optimize::Method> methods = calibrated_methods();
  const Stopwatch watch;
  options.print(fmt::format("{:20} {:11} {:>6} {:>6} {:>6}   {:^24}   {:^24}   {:^15}", "", "", "", "not",
                            "round-", "own estimate", "CG estimate", "error/accuracy"));
  options.print(fmt::format(
      "{:20} {:11} {:>6} {:>6} {:>6}   {:>8} {:>7} {:>7}   {:>8} {:>7} {:>7}   {:>8} {:>6}", "scene",
      "method", "steps", "conv.", "off", "<= 3x", "median", "max", "<= 3x", "median", "max", "<= 3x", "max"));
  std::vector<Calibration> total(methods.size());
  for (const std::filesystem::path& file : chosen_scenes(options)) {
    const auto loaded = load_coarse(file, options.size > 0 ? options.size : default_vertices);
    if (!loaded) return forward_error(loaded);
    if (!has_nodes_only(*loaded->model)) continue;
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
