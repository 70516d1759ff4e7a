// The tables and figures of LCP: pressure with separating walls, many solvers, one stopping rule (largest
// residual of a row ≤ 10⁻⁶ m/s, absolute).
#include <lope/base/parallel.h>
#include <lope/render/plot.h>

#include <optional>

#include <papers/lcp_rivals.h>
#include <papers/lcp_runs.h>
#include <papers/lcp_tables.h>

namespace lope::bench {
namespace {

bool wanted(const BenchOptions& options, std::string_view table) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), table) != options.only.end();
}

}  // namespace

Expected<std::vector<const LcpContenderInfo*>> chosen_contenders(const BenchOptions& options,
                                                                 std::vector<std::string> names) {
  if (!options.methods.empty()) names = options.methods;
  std::vector<const LcpContenderInfo*> result;
  for (const std::string& name : names) {
    const LcpContenderInfo* info = find_lcp_contender(name);
    if (info == nullptr) {
      std::string known;
      for (const LcpContenderInfo& entry : lcp_contenders()) known += fmt::format(" {}", entry.name);
      return input_error("--methods: there is no '{}'; there are:{}", name, known);
    }
    result.push_back(info);
  }
  return result;
}

std::vector<std::string> heads(const std::vector<const LcpContenderInfo*>& contenders) {
  std::vector<std::string> result;
  result.reserve(contenders.size());
  for (const auto* info : contenders) result.emplace_back(info->name);
  return result;
}

std::vector<int> sizes_up_to(int largest) {
  std::vector<int> sizes;
  for (int n = smallest_size; n <= largest; n *= 2) sizes.push_back(n);
  return sizes;
}

namespace {

int separated_rows(const lcp::MixedLcp& problem, const std::vector<double>& p) {
  int count = 0;
  for (std::size_t i = 0; i < p.size(); ++i) count += problem.bounded[i] != 0 && p[i] <= 0;
  return count;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// Told about every solve of a table.
using SolveObserver =
    std::function<void(const LcpContenderInfo&, LcpScenario, int n, const lcp::LcpSummary&)>;

// LCP Tables 9, 10, 11 (and their like in 2D): one system per container, size and kind of velocity, cold
// start.
template <int Dim>
Expected<void> frame_tables(const BenchOptions& options, NumberFile& numbers,
                            const std::vector<const LcpContenderInfo*>& contenders,
                            const std::vector<LcpScenario>& scenarios,
                            const std::vector<LcpVelocity>& velocities, const SolveObserver& observe = {}) {
  const TextTable text(options);
  for (const LcpScenario scenario : scenarios) {
    for (const LcpVelocity velocity : velocities) {
      options.print("");
      options.print(fmt::format(
          "{}, {} velocities, cold start: iterations as LCP counts them, and seconds (set-up included)",
          name(scenario), name(velocity)));
      text.row("size", heads(contenders));
      for (const int n : sizes_up_to(largest_size<Dim>(options))) {
        const LcpCase<Dim> problem = static_case<Dim>(scenario, n, velocity);
        std::vector<std::string> counts, seconds, differences;
        std::vector<double> first;
        int separated = 0;
        for (const LcpContenderInfo* info : contenders) {
          if (!worth_waiting<Dim>(*info, n)) {
            counts.emplace_back("-");
            seconds.emplace_back("-");
            differences.emplace_back("-");
            continue;
          }
          std::vector<double> p(problem.size(), 0.0);
          const lcp::LcpSummary summary = make_lcp_contender<Dim>(*info)->solve(problem, p, {});
          if (!info->linear && summary.converged()) separated = separated_rows(problem.matrix(), p);
          if (!info->linear && first.empty()) first = p;
          differences.push_back(info->linear ? "-" : fmt::format("{:.1e}", largest_difference(p, first)));
          if (observe) observe(*info, scenario, n, summary);
          counts.push_back(fmt::format("{}{}", counted_iterations(*info, summary), outcome_mark(summary)));
          seconds.push_back(fmt::format("{:.3g}", summary.seconds()));
          numbers.add(fmt::format("frame,{}D,{},{},{},{},{},{},{},{:.6g},{:.6g},{:.3g},{}", Dim,
                                  name(scenario), name(velocity), n, info->name, problem.size(),
                                  summary.iterations, summary.inner_iterations, summary.setup_seconds,
                                  summary.solve_seconds, summary.residual, summary.converged() ? 1 : 0));
        }
        text.row(fmt::format("{}", n), counts);
        text.row("  seconds", seconds);
        text.row("  difference", differences);
        options.print(fmt::format("  {} unknowns, {} wall rows, {} separated", problem.size(),
                                  problem.system.wall_unknowns(), separated));
      }
    }
  }
  options.print("* not converged");
  return {};
}

template <int Dim>
Expected<void> frames(const BenchOptions& options, NumberFile& numbers) {
  const auto contenders = chosen_contenders(
      options, {"truncated", "fas", "fas-velocities", "fas-printed", "fmg", "pi-ic", "pi-mg", "pi-amg",
                "pe-ic", "pe-mg", "pe-amg", "newton-cg", "mprgp-amg", "psor", "linear-mg", "linear-ic"});
  if (!contenders) return forward_error(contenders);
  const auto scenarios = lcp_scenarios(Dim);
  return frame_tables<Dim>(options, numbers, *contenders, {scenarios.begin(), scenarios.end()},
                           {LcpVelocity::Smooth, LcpVelocity::Rough});
}

// LCP Table 12 and Fig. 5.11: what each part of FAS is worth; barycentric and trilinear transfers by time.
Expected<void> ablation(const BenchOptions& options, NumberFile& numbers) {
  const auto contenders =
      chosen_contenders(options, {"truncated", "fas", "fas-trilinear", "fas-constant", "fas-simple",
                                  "fas-direct", "fas-velocities", "fas-printed"});
  if (!contenders) return forward_error(contenders);
  render::LinePlot plot{"One pressure system, scenario 1",
                        {.label = "cells per side"},
                        {.label = "time", .unit = "s", .logarithmic = true},
                        {},
                        {}};
  const auto keep_time = [&](const LcpContenderInfo& info, LcpScenario scenario, int n,
                             const lcp::LcpSummary& summary) {
    const bool drawn = info.name == "fas" || info.name == "fas-trilinear" || info.name == "truncated";
    if (scenario != LcpScenario::Sphere || !drawn) return;
    auto found = std::find_if(plot.series.begin(), plot.series.end(),
                              [&](const auto& series) { return series.name == info.name; });
    if (found == plot.series.end()) {
      plot.series.push_back(
          {std::string(info.name), {}, {}, render::palette(static_cast<int>(plot.series.size()))});
      plot.series.back().markers = true;
      found = plot.series.end() - 1;
    }
    found->x.push_back(n);
    found->y.push_back(summary.seconds());
  };
  if (auto done =
          frame_tables<3>(options, numbers, *contenders, {LcpScenario::Sphere, LcpScenario::TwoSpheres},
                          {LcpVelocity::Smooth}, keep_time);
      !done) {
    return done;
  }
  return render::write_figure({plot}, options.folder / "transfers");
}

// LCP Fig. 5.6: the maze by two solvers, the same picture.
Expected<void> maze(const BenchOptions& options) {
  const int n = options.size > 0 ? options.size : 128;
  const auto contenders = chosen_contenders(options, {"truncated", "newton-cg"});
  if (!contenders) return forward_error(contenders);
  const LcpCase<2> problem = static_case<2>(LcpScenario::Maze, n, LcpVelocity::Smooth);
  std::vector<double> first;
  for (const LcpContenderInfo* info : *contenders) {
    std::vector<double> p(problem.size(), 0.0);
    const lcp::LcpSummary summary = make_lcp_contender<2>(*info)->solve(problem, p, {});
    if (first.empty()) first = p;
    options.print(fmt::format(
        "maze, {}²: {}: {} iterations, {:.3f} s, residual {:.2g}, difference to the first {:.2g} of {:.2g}",
        n, info->name, counted_iterations(*info, summary), summary.seconds(), summary.residual,
        largest_difference(p, first), *std::max_element(first.begin(), first.end())));
    render::HeatMap map{
        fmt::format("Pressure in the maze, {}", info->name),
        {.label = "x", .unit = "cells"},
        {.label = "y", .unit = "cells"},
        n,
        n,
        std::vector<double>(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), std::nan("")),
        "q",
        "m/s",
        false,
        {},
        {}};
    for (std::size_t i = 0; i < p.size(); ++i) {
      const auto cell = problem.system.bricks().cell(problem.system.unknown_cells()[i]);
      map.values[static_cast<std::size_t>(cell[1]) * static_cast<std::size_t>(n) +
                 static_cast<std::size_t>(cell[0])] = p[i];
    }
    if (auto drawn = render::write_figure(map, options.folder / fmt::format("maze_{}", info->name)); !drawn)
      return drawn;
  }
  return {};
}

// One half-filled sphere, cold start, everybody, ratios to the default.
Expected<void> rivals(const BenchOptions& options, NumberFile& numbers, bool strict) {
  const int n = options.size > 0 ? options.size : default_size_3d;
  const auto contenders =
      chosen_contenders(options, {"truncated", "linear-mg", "linear-amg", "linear-ic", "pi-mg", "pi-amg",
                                  "pi-ic", "pi-ic-exact", "pe-ic", "mprgp-amg", "mprgp-ic", "psor"});
  if (!contenders) return forward_error(contenders);
  const LcpCase<3> problem = static_case<3>(LcpScenario::Sphere, n, LcpVelocity::Smooth);
  lcp::LcpOptions solve_options;
  // `strict`: 10⁻⁶ 1/s, as if rows were divergences and not velocities.
  if (strict) solve_options.tolerance *= problem.system.dx();
  const TextTable text(options);
  options.print("");
  options.print(fmt::format(
      "half-filled sphere, {}³: {} unknowns, {} wall rows; cold start, best of three, to {:.2g} m/s", n,
      problem.size(), problem.system.wall_unknowns(), solve_options.tolerance));
  text.row("method", {"threads", "seconds", "set-up", "solve", "iterations", "ratio"});
  double unit = 0;
  const auto report = [&](std::string_view method, std::string_view threads, double setup, double solve,
                          long iterations, bool ok) {
    if (unit == 0) unit = setup + solve;
    text.row(method,
             {std::string(threads), fmt::format("{:.3f}", setup + solve), fmt::format("{:.3f}", setup),
              fmt::format("{:.3f}", solve), fmt::format("{}{}", iterations, ok ? "" : "*"),
              fmt::format("{:.2f}", (setup + solve) / unit)});
    numbers.add(fmt::format("{},3D,sphere,smooth,{},{} ({}),{},{},,{:.6g},{:.6g},,{}",
                            strict ? "rival-strict" : "rival", n, method, threads, problem.size(), iterations,
                            setup, solve, ok ? 1 : 0));
  };
  for (const int threads : {0, 1}) {
    const ThreadLimit limit(threads);
    for (const LcpContenderInfo* info : *contenders) {
      std::optional<lcp::LcpSummary> best;
      const auto solver = make_lcp_contender<3>(*info);
      for (int k = 0; k < 3; ++k) {
        std::vector<double> p(problem.size(), 0.0);
        const lcp::LcpSummary summary = solver->solve(problem, p, solve_options);
        if (!best || summary.seconds() < best->seconds()) best = summary;
        if (summary.seconds() > 5) break;
      }
      report(info->name, fmt::format("{}", thread_count()), best->setup_seconds, best->solve_seconds,
             counted_iterations(*info, *best), best->converged());
    }
  }
  for (const Rival& rival : lcp_rivals()) {
    for (const int ranks : {1, 2}) {
      const auto result =
          rival_solve(rival, problem.matrix(), solve_options.tolerance, ranks, options.folder);
      if (!result) {
        options.print(result.error().message);
        break;
      }
      report(rival.name, fmt::format("{} ranks", ranks), result->setup_seconds, result->solve_seconds,
             result->iterations, result->residual <= solve_options.tolerance);
    }
  }
  return {};
}

// LCP Fig. 5.10: residual against iteration, scenarios 1 to 3, a system of a run.
Expected<void> convergence(const BenchOptions& options) {
  const int n = options.size > 0 ? options.size : 64;
  const auto contenders = chosen_contenders(
      options, {"truncated", "fas", "fas-velocities", "fas-printed", "fmg", "pi-mg-exact", "pe-mg-exact"});
  if (!contenders) return forward_error(contenders);
  std::vector<render::LinePlot> plots;
  for (const LcpScenario scenario : lcp_scenarios(3)) {
    render::LinePlot plot{fmt::format("{}, {}³", name(scenario), n),
                          {.label = "iterations"},
                          {.label = "residual", .unit = "m/s", .logarithmic = true},
                          {},
                          {{"tolerance", 1e-6}}};
    const auto system =
        system_of_frame(scenario, n, options.steps > 0 ? options.steps : shown_frame(scenario));
    if (!system) return forward_error(system);
    for (const LcpContenderInfo* info : *contenders) {
      std::vector<double> p = system->start;
      const lcp::LcpSummary summary = make_lcp_contender<3>(*info)->solve(system->problem, p, {});
      render::Series series{
          std::string(info->name), {}, {}, render::palette(static_cast<int>(plot.series.size()))};
      series.markers = true;
      double iterations = 0;
      for (const lcp::LcpIteration& iteration : summary.history) {
        iterations = info->counts_inner ? iterations + iteration.inner_iterations : iteration.number;
        series.x.push_back(iterations);
        series.y.push_back(iteration.residual);
      }
      plot.series.push_back(std::move(series));
    }
    plot.x.high = 60;
    plots.push_back(std::move(plot));
  }
  return render::write_figure(plots, options.folder / "convergence", {.width = 1800, .height = 600});
}

}  // namespace

Expected<void> pressure_solvers(const BenchOptions& options) {
  NumberFile numbers(
      options.folder / "numbers.csv",
      "table,dimension,scenario,kind,size,method,unknowns,outer,inner,setup_s,solve_s,residual,converged");
  struct Table {
    std::string_view name;
    std::function<Expected<void>()> make;
  };
  const std::vector<Table> tables = {
      {"frames-2d", [&] { return frames<2>(options, numbers); }},
      {"frames-3d", [&] { return frames<3>(options, numbers); }},
      {"sequence-2d", [&] { return sequence<2>(options, numbers); }},
      {"sequence-3d", [&] { return sequence<3>(options, numbers); }},
      {"run-2d", [&] { return simulated<2>(options, numbers); }},
      {"run-3d", [&] { return simulated<3>(options, numbers); }},
      {"run-maze", [&] { return simulated_maze(options, numbers); }},
      {"run-frames", [&] { return simulated_frames(options, numbers); }},
      {"ablation", [&] { return ablation(options, numbers); }},
      {"maze", [&] { return maze(options); }},
      {"rivals", [&] { return rivals(options, numbers, false); }},
      {"rivals-strict", [&] { return rivals(options, numbers, true); }},
      {"convergence", [&] { return convergence(options); }},
  };
  for (const std::string& wish : options.only) {
    if (std::any_of(tables.begin(), tables.end(), [&](const Table& table) { return table.name == wish; }))
      continue;
    std::string known;
    for (const Table& table : tables) known += fmt::format(" {}", table.name);
    return input_error("--only: there is no table '{}'; there are:{}", wish, known);
  }
  options.print(
      fmt::format("Stopping rule of all: largest |min(p, Ap + b)| on wall rows, |Ap + b| on others ≤ 1e-6 "
                  "m/s; {} threads",
                  thread_count()));
  for (const Table& table : tables) {
    if (!wanted(options, table.name)) continue;
    if (auto made = table.make(); !made) return made;
  }
  return {};
}

}  // namespace lope::bench
