// OPT Figs. 6 and 8: a cube of n×n×n nodes started from random positions, and from a single point, at h = 1/24 s for
// three stiffnesses, until it is at rest with no element inverted. The paper's n is 65 (824k unknowns); default 17.
#include <fmt/format.h>

#include <lope/base/memory.h>
#include <lope/render/plot.h>
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

}  // namespace

Expected<void> torture(const BenchOptions& options) {
  const int n = options.size > 0 ? options.size : 17;
  const int limit = options.steps > 0 ? options.steps : 200;
  options.print(fmt::format("{:8} {:8} {:>9} {:>10} {:>9} {:>10} {:>12} {:>12} {:>9} {:>9}", "start", "stiff", "unknowns",
                            "recovered", "failed", "s total", "s first step", "solves/step", "inverted", "peak GB"));
  render::LinePlot plot;
  plot.title = fmt::format("Elastic energy while a cube of {0}x{0}x{0} nodes recovers", n);
  plot.x = {.label = "step", .unit = "1/24 s"};
  plot.y = {.label = "elastic energy / Young's modulus", .unit = "m³", .logarithmic = true};
  for (const char* start : {"random", "point"}) {
    for (const Stiffness& stiffness : stiffnesses) {
      const auto loaded = load(options.scenes / fmt::format("torture_{}.toml", start),
                               {fmt::format("body.0.shape.box.lattice=[{0}, {0}, {0}]", n),
                                fmt::format("body.0.material.young={}", stiffness.young)});
      if (!loaded) return forward_error(loaded);
      step::Simulation simulation(*loaded->model);
      render::Series series;
      series.name = fmt::format("{}, {}", start, stiffness.name);
      series.colour = render::palette(plot.series.size());
      RunTotals totals;
      int recovery = 0;
      double first = 0;
      while (totals.steps < limit && recovery == 0) {
        const RunTotals one = run_in_memory(simulation, 1);
        const step::BodyReport& body = one.reports[0].bodies[0];
        ++totals.steps;
        if (totals.steps == 1) first = one.seconds;
        totals.seconds += one.seconds;
        totals.failed += one.failed;
        totals.linear_solves += one.linear_solves;
        totals.inverted = one.inverted;
        series.x.push_back(totals.steps);
        series.y.push_back(body.energy.elastic / stiffness.young);
        if (!one.reports[0].accepted) break;
        if (recovered(body, stiffness.young, 1)) recovery = totals.steps;
      }
      plot.series.push_back(std::move(series));
      options.print(fmt::format("{:8} {:8} {:>9} {:>10} {:>9} {:>10.1f} {:>12.1f} {:>12.1f} {:>9} {:>9.2f}", start,
                                stiffness.name, loaded->unknowns, recovery > 0 ? fmt::format("step {}", recovery) : "no",
                                totals.failed, totals.seconds, first, totals.per_step(totals.linear_solves), totals.inverted,
                                peak_memory() * 1e-9));
    }
  }
  return render::write_figure(std::vector<render::LinePlot>{plot}, options.folder / "torture");
}

}  // namespace lope::bench
