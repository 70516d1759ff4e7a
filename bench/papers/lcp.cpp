// The tables and figures of LCP: pressure with separating walls, many solvers, one stopping rule (largest
// residual of a row ≤ 10⁻⁶ m/s, absolute).
#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/geometry/bricks.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/matter/liquid/liquid.h>
#include <lope/render/plot.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/lcp_contenders.h>
#include <papers/lcp_rivals.h>
#include <papers/lcp_scenarios.h>

namespace lope::bench {
namespace {

namespace lcp = optimize::complementarity;

constexpr int default_size_3d = 128, default_size_2d = 256, smallest_size = 32;
constexpr int default_phases = 20, default_frames = 30, frame_rate = 30;
constexpr double phase_step = 0.02;

std::string_view outcome_mark(const lcp::LcpSummary& summary) { return summary.converged() ? "" : "*"; }

// Lines of cells of equal width, the first column wider.
class TextTable {
 public:
  explicit TextTable(const BenchOptions& options) : options_(options) {}
  void row(std::string_view head, const std::vector<std::string>& cells) const {
    std::string line = fmt::format("{:<14}", head);
    for (const std::string& cell : cells) line += fmt::format("{:>15}", cell);
    options_.print(line);
  }

 private:
  const BenchOptions& options_;
};

// All numbers of a table, for other programs.
class NumberFile {
 public:
  NumberFile(const std::filesystem::path& path, std::string_view head) : out_(path) { out_ << head << '\n'; }
  void add(const std::string& line) { out_ << line << '\n' << std::flush; }

 private:
  std::ofstream out_;
};

bool wanted(const BenchOptions& options, std::string_view table) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), table) != options.only.end();
}

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

template <int Dim>
int largest_size(const BenchOptions& options) {
  return options.size > 0 ? options.size : Dim == 2 ? default_size_2d : default_size_3d;
}

template <int Dim>
bool worth_waiting(const LcpContenderInfo& info, int n) {
  return n <= (Dim == 2 ? info.largest_2d : info.largest_3d);
}

template <int Dim>
LcpCase<Dim> static_case(LcpScenario scenario, int n, LcpVelocity velocity, double phase = 0) {
  return LcpCase<Dim>(matter::PressureSystem<Dim>(lcp_problem<Dim>(scenario, n, velocity, phase), {}));
}

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
      options, {"truncated", "fas", "fas-velocities", "fas-printed", "fmg", "pi-ic", "pi-amg", "pe-ic",
                "pe-amg", "newton-cg", "mprgp-amg", "psor", "linear-mg", "linear-ic"});
  if (!contenders) return forward_error(contenders);
  const auto scenarios = lcp_scenarios(Dim);
  return frame_tables<Dim>(options, numbers, *contenders, {scenarios.begin(), scenarios.end()},
                           {LcpVelocity::Smooth, LcpVelocity::Rough});
}

// What a solver did over many problems.
struct Totals {
  int solves = 0, failures = 0;
  long iterations = 0, outer = 0;
  double setup = 0, solve = 0;
  std::map<int, int> outer_histogram;

  void add(const LcpContenderInfo& info, const lcp::LcpSummary& summary) {
    ++solves;
    failures += !summary.converged();
    iterations += counted_iterations(info, summary);
    outer += summary.iterations;
    ++outer_histogram[summary.iterations];
    setup += summary.setup_seconds;
    solve += summary.solve_seconds;
  }
};

// Every solve of a run is timed as the best of so many, unless it takes longer than this [s].
constexpr int repetitions = 3;
constexpr double worth_repeating = 2;

// A solver with its own last answer, as p/ρ over the cells of that answer's bricks. Methods with a policy
// take their first one from it and the present matrix (LCP eq. 4.1 at the last step's pressure).
template <int Dim>
class Runner {
 public:
  explicit Runner(const LcpContenderInfo& contender)
      : info(contender), solver_(make_lcp_contender<Dim>(contender)) {}

  void solve(const LcpCase<Dim>& problem, double dt) {
    const matter::PressureSystem<Dim>& system = problem.system;
    const bool warm = bricks_ != nullptr;
    const std::vector<double> start = system.gather(recalled(system, dt));
    std::vector<double> p;
    std::optional<lcp::LcpSummary> best;
    for (int k = 0; k < repetitions && (!best || best->seconds() < worth_repeating); ++k) {
      p = start;
      const lcp::LcpSummary summary = solver_->solve(problem, p, {});
      if (!best || summary.seconds() < best->seconds()) best = summary;
    }
    bricks_ = system.shared_bricks();
    pressure_ = system.scatter(p);
    for (double& value : pressure_) value *= system.dx() / dt;
    if (warm) totals.add(info, *best);  // the cold start is another table's
  }

  const LcpContenderInfo& info;
  Totals totals;

 private:
  std::vector<double> recalled(const matter::PressureSystem<Dim>& system, double dt) const {
    constexpr std::size_t cells = geometry::BrickSet<Dim>::cells;
    std::vector<double> q(system.bricks().size(), 0.0);
    for (int b = 0; bricks_ && b < system.bricks().count(); ++b) {
      const int old = bricks_->find(system.bricks().brick(b));
      for (std::size_t i = 0; old >= 0 && i < cells; ++i) {
        q[static_cast<std::size_t>(b) * cells + i] =
            pressure_[static_cast<std::size_t>(old) * cells + i] * dt / system.dx();
      }
    }
    return q;
  }

  std::unique_ptr<LcpContender<Dim>> solver_;
  std::shared_ptr<const geometry::BrickSet<Dim>> bricks_;
  std::vector<double> pressure_;
};

template <int Dim>
void report_totals(const BenchOptions& options, NumberFile& numbers, std::string_view table,
                   std::string_view scenario, int n, const std::vector<Runner<Dim>>& runners) {
  if (runners.empty() || runners.front().totals.solves == 0) {
    return options.print(fmt::format("{}: no system after the first one, which is a cold start", n));
  }
  const TextTable text(options);
  std::vector<std::string> counts, outer, seconds, solving;
  for (const Runner<Dim>& runner : runners) {
    const Totals& totals = runner.totals;
    const double solves = totals.solves;
    counts.push_back(fmt::format("{:.2f}{}", totals.iterations / solves, totals.failures > 0 ? "*" : ""));
    outer.push_back(fmt::format("{:.2f}", totals.outer / solves));
    seconds.push_back(fmt::format("{:.3g}", (totals.setup + totals.solve) / solves));
    solving.push_back(fmt::format("{:.3g}", totals.solve / solves));
    numbers.add(fmt::format("{},{}D,{},warm,{},{},,{:.6g},{:.6g},{:.6g},{:.6g},,{}", table, Dim, scenario, n,
                            runner.info.name, totals.outer / solves, totals.iterations / solves,
                            totals.setup / solves, totals.solve / solves, totals.failures == 0 ? 1 : 0));
  }
  text.row(fmt::format("{}", n), counts);
  text.row("  outer", outer);
  text.row("  seconds", seconds);
  text.row("  no set-up", solving);
  // What walls that let go cost: ratios to the grid's linear solve of the same systems.
  const auto floor = std::find_if(runners.begin(), runners.end(),
                                  [](const auto& runner) { return runner.info.name == "linear-mg"; });
  if (floor == runners.end()) return;
  const double whole = floor->totals.setup + floor->totals.solve, alone = floor->totals.solve;
  std::vector<std::string> ratios, alone_ratios;
  for (const Runner<Dim>& runner : runners) {
    ratios.push_back(fmt::format("{:.2f}", (runner.totals.setup + runner.totals.solve) / whole));
    alone_ratios.push_back(fmt::format("{:.2f}", runner.totals.solve / alone));
  }
  text.row("  ratio", ratios);
  text.row("  no set-up", alone_ratios);
}

template <int Dim>
std::vector<Runner<Dim>> make_runners(const std::vector<const LcpContenderInfo*>& contenders) {
  std::vector<Runner<Dim>> runners;
  runners.reserve(contenders.size());
  for (const auto* info : contenders) runners.emplace_back(*info);
  return runners;
}

// Where systems follow one another.
const std::vector<std::string> warm_contenders = {"truncated",   "pi-ic-exact", "pi-ic",     "pi-amg",
                                                  "pe-ic-exact", "pe-amg",      "mprgp-amg", "psor",
                                                  "linear-mg",   "linear-ic"};

// Similar problems one after the other (the velocity field turns a little), each solver started from its own
// last answer.
template <int Dim>
Expected<void> sequence(const BenchOptions& options, NumberFile& numbers) {
  const auto contenders = chosen_contenders(options, warm_contenders);
  if (!contenders) return forward_error(contenders);
  const int phases = options.steps > 0 ? options.steps : default_phases;
  const LcpScenario scenario = lcp_scenarios(Dim).front();
  options.print("");
  options.print(fmt::format("{}, {} problems one after the other, warm starts: averages per problem",
                            name(scenario), phases));
  TextTable(options).row("size", heads(*contenders));
  for (const int n : sizes_up_to(largest_size<Dim>(options))) {
    std::vector<Runner<Dim>> runners = make_runners<Dim>(*contenders);
    for (int k = 0; k < phases; ++k) {
      const LcpCase<Dim> problem = static_case<Dim>(scenario, n, LcpVelocity::Smooth, phase_step * k);
      for (Runner<Dim>& runner : runners) runner.solve(problem, 1);
    }
    report_totals<Dim>(options, numbers, "sequence", name(scenario), n, runners);
  }
  options.print("(an asterisk marks methods that did not converge on some)");
  return {};
}

// A round container of diameter 1 m, its left half full of liquid that falls: LCP's first scenario.
template <int Dim>
Expected<matter::liquid::Description> falling_liquid(int n) {
  const Vec3 centre(0.5, 0.5, Dim == 3 ? 0.5 : 0);
  const auto ball = geometry::level_set(geometry::Sphere{.center = centre, .radius = 0.5});
  const auto left = geometry::level_set(geometry::HalfSpace{.point = centre, .normal = Vec3::UnitX()});
  if (!ball) return forward_error(ball);
  if (!left) return forward_error(left);
  matter::liquid::Description description;
  description.dimension = Dim;
  description.dx = 1.0 / n;
  description.domain = {Vec3(-0.1, -0.1, Dim == 3 ? -0.1 : 0), Vec3(1.1, 1.1, Dim == 3 ? 1.1 : 0)};
  description.sources.push_back({*left});
  description.walls.push_back(
      {geometry::complement_of(*ball), [](double) { return geometry::RigidPose{}; }});
  return description;
}

// LCP Fig. 5.5: how many problems needed how many outer iterations.
template <int Dim>
Expected<void> histogram(const BenchOptions& options, int n, const std::vector<Runner<Dim>>& runners) {
  render::LinePlot plot{fmt::format("Outer iterations, {}D, size {}", Dim, n),
                        {.label = "outer iterations", .whole_numbers = true},
                        {.label = "pressure systems", .low = 0.0},
                        {},
                        {}};
  for (const Runner<Dim>& runner : runners) {
    if (runner.info.name.find("exact") == std::string_view::npos) continue;
    std::string line = fmt::format("  {}: problems by outer iterations:", runner.info.name);
    render::Series series{
        std::string(runner.info.name), {}, {}, render::palette(static_cast<int>(plot.series.size()))};
    series.markers = true;
    for (const auto& [outer, problems] : runner.totals.outer_histogram) {
      line += fmt::format("  {}: {}", outer, problems);
      series.x.push_back(outer);
      series.y.push_back(problems);
    }
    options.print(line);
    plot.series.push_back(std::move(series));
  }
  if (plot.series.empty()) return {};
  return render::write_figure({plot}, options.folder / fmt::format("outer_iterations_{}d_{}", Dim, n));
}

// LCP Tables 1 to 6 and Fig. 5.5: every pressure system of a simulation, solved by everybody.
template <int Dim>
Expected<void> simulated(const BenchOptions& options, NumberFile& numbers) {
  const auto contenders = chosen_contenders(options, warm_contenders);
  if (!contenders) return forward_error(contenders);
  const int frames = options.steps > 0 ? options.steps : default_frames;
  const int largest = options.size > 0 ? options.size : Dim == 2 ? 128 : 64;
  options.print("");
  options.print(fmt::format(
      "round container in {}D, half full, {} frames of 1/{} s: averages per pressure system, each solver "
      "started from its own last answer",
      Dim, frames, frame_rate));
  TextTable(options).row("size", heads(*contenders));
  for (const int n : sizes_up_to(largest)) {
    auto description = falling_liquid<Dim>(n);
    if (!description) return forward_error(description);
    std::vector<Runner<Dim>> runners = make_runners<Dim>(*contenders);
    std::get<matter::liquid::PressureObserver<Dim>>(description->pressure_observers) =
        [&](const matter::PressureSystem<Dim>& system, std::span<const double>, double dt) {
          const LcpCase<Dim> problem(system);
          for (Runner<Dim>& runner : runners) runner.solve(problem, dt);
        };
    const auto liquid = matter::liquid::make_liquid(*description);
    matter::liquid::State state = liquid->start();
    for (int frame = 0; frame < frames; ++frame) {
      const auto report = liquid->advance(state, double(frame) / frame_rate, 1.0 / frame_rate);
      if (!report.accepted)
        return input_error("the simulation stopped in frame {}: {}", frame, report.reason);
    }
    report_totals<Dim>(options, numbers, "run", "ball", n, runners);
    options.print(
        fmt::format("  {} pressure systems, {} particles", runners.front().totals.solves + 1, state.count()));
    if (auto drawn = histogram<Dim>(options, n, runners); !drawn) return drawn;
  }
  options.print("(an asterisk marks methods that did not converge on some)");
  return {};
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
      chosen_contenders(options, {"truncated", "linear-mg", "linear-amg", "linear-ic", "pi-amg", "pi-ic",
                                  "pi-ic-exact", "pe-ic", "mprgp-amg", "mprgp-ic", "psor"});
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

// LCP Fig. 5.10: residual against iteration, scenarios 1 to 3.
Expected<void> convergence(const BenchOptions& options) {
  const int n = options.size > 0 ? options.size : default_size_3d;
  const auto contenders = chosen_contenders(
      options, {"truncated", "fas", "fas-velocities", "fas-printed", "fmg", "pi-amg", "pe-amg"});
  if (!contenders) return forward_error(contenders);
  std::vector<render::LinePlot> plots;
  for (const LcpScenario scenario : lcp_scenarios(3)) {
    render::LinePlot plot{fmt::format("{}, {}³", name(scenario), n),
                          {.label = "iterations"},
                          {.label = "residual", .unit = "m/s", .logarithmic = true},
                          {},
                          {{"tolerance", 1e-6}}};
    const LcpCase<3> problem = static_case<3>(scenario, n, LcpVelocity::Smooth);
    for (const LcpContenderInfo* info : *contenders) {
      std::vector<double> p(problem.size(), 0.0);
      const lcp::LcpSummary summary = make_lcp_contender<3>(*info)->solve(problem, p, {});
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
