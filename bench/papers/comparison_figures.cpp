#include <lope/render/plot.h>

#include <algorithm>
#include <limits>

#include <fmt/core.h>
#include <papers/comparison.h>

namespace lope::bench {
namespace {

namespace fs = std::filesystem;

render::LinePlot history_plot(const Comparison& comparison, bool against_time) {
  render::LinePlot plot;
  plot.x =
      against_time ? render::Axis{"time", "s"} : render::Axis{.label = "iteration", .whole_numbers = true};
  plot.y = {.label = "residual |∇E|", .unit = "N", .logarithmic = true};
  plot.title = comparison.replays.empty() ? "" : fmt::format("step {}", comparison.replays[0].history_step);
  for (std::size_t m = 0; m < comparison.replays.size(); ++m) {
    const scene::Replay& replay = comparison.replays[m];
    render::Series series;
    series.name = replay.method;
    series.colour = render::palette(m);
    series.markers = replay.history.size() < 40;
    for (const optimize::Iteration& i : replay.history) {
      series.x.push_back(against_time ? i.seconds : i.number);
      series.y.push_back(i.gradient_norm);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// Whether a linear axis would flatten some of the curves.
bool spans_decades(const std::vector<render::Series>& all) {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const render::Series& series : all) {
    for (const double y : series.y) {
      if (y > 0) smallest = std::min(smallest, y);
      largest = std::max(largest, y);
    }
  }
  return largest > 30 * smallest;
}

render::LinePlot step_plot(const Comparison& comparison, bool iterations) {
  render::LinePlot plot;
  plot.x = {.label = "step", .whole_numbers = true};
  plot.y = iterations ? render::Axis{.label = "iterations"} : render::Axis{.label = "time", .unit = "s"};
  plot.title = iterations ? "iterations per step" : "time per step";
  for (std::size_t m = 0; m < comparison.replays.size(); ++m) {
    render::Series series;
    series.name = comparison.replays[m].method;
    series.colour = render::palette(m);
    const auto& steps = comparison.replays[m].steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      series.x.push_back(static_cast<double>(i + 1));
      series.y.push_back(iterations ? steps[i].iterations : steps[i].seconds);
    }
    plot.series.push_back(std::move(series));
  }
  plot.y.logarithmic = spans_decades(plot.series);
  return plot;
}

}  // namespace

Expected<std::vector<fs::path>> write_figures(const Comparison& comparison, const fs::path& folder) {
  const render::FigureOptions size{1300, 560};
  const fs::path convergence = folder / "convergence", steps = folder / "steps";
  if (const auto drawn = render::write_figure(
          {history_plot(comparison, false), history_plot(comparison, true)}, convergence, size);
      !drawn) {
    return forward_error(drawn);
  }
  if (const auto drawn =
          render::write_figure({step_plot(comparison, false), step_plot(comparison, true)}, steps, size);
      !drawn) {
    return forward_error(drawn);
  }
  return std::vector<fs::path>{convergence.string() + ".png", convergence.string() + ".svg",
                               steps.string() + ".png", steps.string() + ".svg"};
}

}  // namespace lope::bench
