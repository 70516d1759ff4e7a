#include <lope/base/errors.h>
#include <lope/render/plot.h>
#include <lope/render/run_plots.h>
#include <lope/render/ticks.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include <fmt/core.h>

namespace lope::render {
namespace {

constexpr FigureOptions wide = {1500, 640};

using StepValue = std::function<double(const StepRecord&)>;

Series over_time(std::span<const StepRecord> steps, std::string name, Colour colour, const StepValue& value) {
  Series series;
  series.name = std::move(name);
  series.colour = colour;
  for (const StepRecord& step : steps) {
    series.x.push_back(step.time);
    series.y.push_back(value(step));
  }
  return series;
}

const StepRecord& worst_step(std::span<const StepRecord> steps) {
  const auto badness = [](const StepRecord& s) {
    return std::tuple(!s.converged, s.iterations.size(), s.wall_seconds);
  };
  return *std::max_element(steps.begin(), steps.end(),
                           [&](const StepRecord& a, const StepRecord& b) { return badness(a) < badness(b); });
}

Series curve(const StepRecord& step, bool against_time) {
  Series series;
  for (const IterationRecord& i : step.iterations) {
    series.x.push_back(against_time ? i.seconds : i.iteration);
    series.y.push_back(i.measure);
  }
  return series;
}

LinePlot convergence(std::span<const StepRecord> steps, const std::string& measure, bool against_time) {
  LinePlot plot;
  plot.title = against_time ? "Convergence against time" : "Convergence against iterations";
  plot.x = {.label = against_time ? "wall time of the step" : "iteration", .unit = against_time ? "s" : ""};
  plot.x.whole_numbers = !against_time;
  plot.y = {.label = measure, .logarithmic = true};
  const double faint = std::clamp(12.0 / static_cast<double>(steps.size()), 0.05, 0.5);
  for (const StepRecord& step : steps) {
    Series series = curve(step, against_time);
    series.width = 1.2;
    series.opacity = faint;
    plot.series.push_back(std::move(series));
  }
  const StepRecord& worst = worst_step(steps);
  Series highlighted = curve(worst, against_time);
  highlighted.name =
      fmt::format("worst step: {} ({} iterations, {} s{})", worst.step, worst.iterations.size(),
                  format_number(worst.wall_seconds), worst.converged ? "" : ", not converged");
  highlighted.colour = palette(1);
  highlighted.width = 2.4;
  highlighted.markers = worst.iterations.size() <= 60;
  plot.series.push_back(std::move(highlighted));
  if (worst.tolerance > 0) {
    plot.levels.push_back({fmt::format("tolerance {}", format_number(worst.tolerance)), worst.tolerance});
  }
  return plot;
}

LinePlot energy(std::span<const StepRecord> steps) {
  LinePlot plot;
  plot.title = "Energy";
  plot.x = {.label = "time", .unit = "s"};
  plot.y = {.label = "energy", .unit = "J"};
  plot.series = {
      over_time(steps, "kinetic", palette(0), [](const StepRecord& s) { return s.kinetic_energy; }),
      over_time(steps, "elastic", palette(1), [](const StepRecord& s) { return s.elastic_energy; }),
      over_time(steps, "gravity", palette(2), [](const StepRecord& s) { return s.gravity_energy; }),
      over_time(steps, "total", srgb(0x22262B), [](const StepRecord& s) { return s.total_energy; }),
  };
  plot.series.back().width = 2.6;
  return plot;
}

LinePlot momentum(std::span<const StepRecord> steps, bool angular) {
  LinePlot plot;
  plot.title = angular ? "Angular momentum" : "Linear momentum";
  plot.x = {.label = "time", .unit = "s"};
  plot.y = {.label = angular ? "angular momentum" : "momentum", .unit = angular ? "kg m²/s" : "kg m/s"};
  static constexpr const char* names[] = {"x", "y", "z"};
  for (int k = 0; k < 3; ++k) {
    plot.series.push_back(over_time(steps, names[k], palette(k), [k, angular](const StepRecord& s) {
      return (angular ? s.angular_momentum : s.linear_momentum)[k];
    }));
  }
  return plot;
}

LinePlot performance(std::span<const StepRecord> steps, bool iterations) {
  LinePlot plot;
  plot.title = iterations ? "Iterations per step" : "Wall time per step";
  plot.x = {.label = "time", .unit = "s"};
  plot.y = {.label = iterations ? "iterations" : "wall time", .unit = iterations ? "" : "s"};
  plot.y.low = 0;
  plot.y.whole_numbers = iterations;
  const auto value = [iterations](const StepRecord& s) {
    if (!iterations) return s.wall_seconds;
    return static_cast<double>(s.iteration_count > 0 ? s.iteration_count
                                                     : static_cast<long>(s.iterations.size()));
  };
  double sum = 0;
  for (const StepRecord& step : steps) sum += value(step);
  const double mean = sum / static_cast<double>(steps.size());
  plot.series.push_back(over_time(steps, "", palette(iterations ? 1 : 0), value));
  plot.levels.push_back({fmt::format("mean {}{}", format_number(mean), iterations ? "" : " s"), mean});
  return plot;
}

}  // namespace

Expected<std::vector<std::filesystem::path>> write_run_plots(std::span<const StepRecord> steps,
                                                             const std::filesystem::path& folder,
                                                             const std::string& measure) {
  if (steps.empty()) return input_error("{}: there are no steps to plot", folder.string());
  std::vector<LinePlot> momenta = {momentum(steps, false)};
  const bool angular_known = std::any_of(steps.begin(), steps.end(),
                                         [](const StepRecord& s) { return s.angular_momentum.allFinite(); });
  if (angular_known) momenta.push_back(momentum(steps, true));
  const std::pair<const char*, std::vector<LinePlot>> figures[] = {
      {"convergence", {convergence(steps, measure, false), convergence(steps, measure, true)}},
      {"energy", {energy(steps)}},
      {"momentum", std::move(momenta)},
      {"performance", {performance(steps, false), performance(steps, true)}},
  };
  std::vector<std::filesystem::path> files;
  for (const auto& [name, plots] : figures) {
    const std::filesystem::path stem = folder / name;
    if (auto written = write_figure(plots, stem, plots.size() > 1 ? wide : FigureOptions{}); !written) {
      return forward_error(written);
    }
    files.push_back(stem.string() + ".png");
    files.push_back(stem.string() + ".svg");
  }
  return files;
}

}  // namespace lope::render
