// OPT Figs. 6 and 8: a cube of n×n×n nodes started from random positions, and from a single point, at h =
// 1/24 s for three stiffnesses, until it is at rest with no element inverted. The paper's n is 65 (824k
// unknowns); default 17.
// --methods: gast15 by default; --only: some starts (random, point) and stiffnesses (low, medium, high);
// `rescue`: with the cube's rest shape among the guesses that a step starts from (solver.start);
// `characteristic`: steps end by DOT's norm instead of the displacement accuracy (solver.tolerance).
#include <lope/base/memory.h>
#include <lope/render/plot.h>

#include <algorithm>

#include <fmt/format.h>
#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

struct Stiffness {
  const char* name;
  double young;
};
constexpr Stiffness stiffnesses[] = {{"low", 1e4}, {"medium", 1e6}, {"high", 1e9}};

// Rest: no inverted element and less elastic energy than a uniform stretch by half a per cent would hold.
bool recovered(const step::BodyReport& body, double young, double volume) {
  return body.inverted_elements == 0 && body.energy.elastic < 0.5 * young * 2.5e-5 * volume;
}

struct Case {
  std::string start;
  Stiffness stiffness;
  std::string method;
};

bool asked(const BenchOptions& options, std::string_view name) {
  return std::find(options.only.begin(), options.only.end(), name) != options.only.end();
}

// Both starts with all stiffnesses and methods, but for those that --only leaves out.
std::vector<Case> cases(const BenchOptions& options) {
  const auto wanted = [&](std::string_view name, std::initializer_list<std::string_view> of_its_kind) {
    const auto is_asked = [&](std::string_view one) { return asked(options, one); };
    return std::none_of(of_its_kind.begin(), of_its_kind.end(), is_asked) || asked(options, name);
  };
  const std::vector<std::string> methods =
      options.methods.empty() ? std::vector<std::string>{"gast15"} : options.methods;
  std::vector<Case> result;
  for (const std::string& method : methods) {
    for (const char* start : {"random", "point"}) {
      for (const Stiffness& stiffness : stiffnesses) {
        if (wanted(start, {"random", "point"}) && wanted(stiffness.name, {"low", "medium", "high"})) {
          result.push_back({start, stiffness, method});
        }
      }
    }
  }
  return result;
}

// Steps until the cube has recovered, or the limit; prints a row.
Expected<render::Series> recover(const Case& one, int n, int limit, const BenchOptions& options) {
  const auto loaded = load(options.scenes / fmt::format("torture_{}.toml", one.start),
                           {fmt::format("body.0.shape.box.lattice=[{0}, {0}, {0}]", n),
                            fmt::format("body.0.material.young={}", one.stiffness.young),
                            fmt::format("solver.method={}", one.method),
                            fmt::format("solver.start={}", asked(options, "rescue") ? "rescue" : "best"),
                            fmt::format("solver.tolerance={}", asked(options, "characteristic") ? "characteristic"
                                                                                                : "displacement")});
  if (!loaded) return forward_error(loaded);
  step::Simulation simulation(*loaded->model);
  render::Series series;
  series.name = fmt::format("{}, {}, {}", one.start, one.stiffness.name, one.method);
  show_progress(simulation, series.name, options);
  int recovery = 0;
  double first = 0;
  const auto observe = [&](const step::StepReport& report) {
    if (report.step == 1) first = report.seconds;
    const step::BodyReport& body = report.bodies[0];
    series.x.push_back(static_cast<double>(report.step));
    series.y.push_back(body.energy.elastic / one.stiffness.young);
    if (recovered(body, one.stiffness.young, 1)) recovery = static_cast<int>(report.step);
    return recovery == 0;
  };
  const RunTotals totals = run_in_memory(simulation, limit, false, observe);
  options.print(fmt::format("{:8} {:8} {:11} {:>9} {:>10} {:>9} {:>10.1f} {:>12.1f} {:>12.1f} {:>9} {:>9.2f}",
                            one.start, one.stiffness.name, one.method, loaded->unknowns,
                            recovery > 0 ? fmt::format("step {}", recovery) : "no", totals.failed,
                            totals.seconds, first, totals.per_step(totals.linear_solves), totals.inverted,
                            peak_memory() * 1e-9));
  return series;
}

}  // namespace

Expected<void> torture(const BenchOptions& options) {
  const int n = options.size > 0 ? options.size : 17;
  const int limit = options.steps > 0 ? options.steps : 200;
  options.print(fmt::format("{:8} {:8} {:11} {:>9} {:>10} {:>9} {:>10} {:>12} {:>12} {:>9} {:>9}", "start",
                            "stiff", "method", "unknowns", "recovered", "failed", "s total", "s first step",
                            "solves/step", "inverted", "peak GB"));
  render::LinePlot plot;
  plot.title = fmt::format("Elastic energy while a cube of {0}x{0}x{0} nodes recovers", n);
  plot.x = {.label = "step", .unit = "1/24 s"};
  plot.y = {.label = "elastic energy / Young's modulus", .unit = "m³", .logarithmic = true};
  for (const Case& one : cases(options)) {
    auto series = recover(one, n, limit, options);
    if (!series) return forward_error(series);
    series->colour = render::palette(plot.series.size());
    plot.series.push_back(std::move(*series));
  }
  return render::write_figure(std::vector<render::LinePlot>{plot}, options.folder / "torture");
}

}  // namespace lope::bench
