// The systems of simulations and sequences (lcp_runs.h).
#include <lope/geometry/bricks.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/matter/liquid/liquid.h>
#include <lope/render/plot.h>

#include <limits>
#include <map>
#include <optional>

#include <papers/lcp_runs.h>

namespace lope::bench {
namespace {

constexpr int default_phases = 20, default_frames = 30, frame_rate = 30;
constexpr double phase_step = 0.02;

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

// Every solve of a short run is timed as the best of so many, unless it takes longer than this [s].
constexpr int repetitions = 3;
constexpr double worth_repeating = 2;
constexpr int short_run = 10;  // frames

// A solver with its own last answer, as p/ρ over the cells of that answer's bricks. Methods with a policy
// take their first one from it and the present matrix (LCP eq. 4.1 at the last step's pressure).
template <int Dim>
class Runner {
 public:
  Runner(const LcpContenderInfo& contender, int times)
      : info(contender), times_(times), solver_(make_lcp_contender<Dim>(contender)) {}

  void solve(const LcpCase<Dim>& problem, double dt) {
    const matter::PressureSystem<Dim>& system = problem.system;
    const bool warm = bricks_ != nullptr;
    const std::vector<double> start = system.gather(recalled(system, dt));
    std::vector<double> p;
    std::optional<lcp::LcpSummary> best;
    for (int k = 0; k < times_ && (!best || best->seconds() < worth_repeating); ++k) {
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

  int times_;
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
std::vector<Runner<Dim>> make_runners(const std::vector<const LcpContenderInfo*>& contenders, int n,
                                      int times) {
  std::vector<Runner<Dim>> runners;
  runners.reserve(contenders.size());
  for (const auto* info : contenders)
    if (worth_waiting<Dim>(*info, n)) runners.emplace_back(*info, times);
  return runners;
}

// LCP's columns, and ours.
const std::vector<std::string> run_contenders = {"truncated",   "fas",         "fmg",         "pi-ic-exact",
                                                 "pi-mg-exact", "pe-ic-exact", "pe-mg-exact", "newton-cg",
                                                 "psor",        "linear-mg",   "linear-ic"};

}  // namespace

// Similar problems one after the other (the velocity field turns a little), each solver started from its own
// last answer.
template <int Dim>
Expected<void> sequence(const BenchOptions& options, NumberFile& numbers) {
  const auto contenders = chosen_contenders(options, run_contenders);
  if (!contenders) return forward_error(contenders);
  const int phases = options.steps > 0 ? options.steps : default_phases;
  const LcpScenario scenario = lcp_scenarios(Dim).front();
  options.print("");
  options.print(fmt::format("{}, {} problems one after the other, warm starts: averages per problem",
                            name(scenario), phases));
  TextTable(options).row("size", heads(*contenders));
  for (const int n : sizes_up_to(largest_size<Dim>(options))) {
    std::vector<Runner<Dim>> runners = make_runners<Dim>(*contenders, n, repetitions);
    for (int k = 0; k < phases; ++k) {
      const LcpCase<Dim> problem = static_case<Dim>(scenario, n, LcpVelocity::Smooth, phase_step * k);
      for (Runner<Dim>& runner : runners) runner.solve(problem, 1);
    }
    report_totals<Dim>(options, numbers, "sequence", name(scenario), n, runners);
  }
  options.print("(an asterisk marks methods that did not converge on some)");
  return {};
}

namespace {

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
  description.walls.push_back({geometry::complement_of(*ball), [](double) { return geometry::RigidPose{}; }});
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

// The walls of a scenario. Not an exact distance everywhere: particles are stopped by its value and slope.
class ScenarioWalls final : public geometry::LevelSet {
 public:
  explicit ScenarioWalls(LcpScenario scenario) : scenario_(scenario) {}
  double value(const Vec3& x) const override { return free_space(scenario_, x); }
  geometry::LevelSetSample sample(const Vec3& x) const override {
    constexpr double reach = 1e-5;
    geometry::LevelSetSample result;
    result.value = value(x);
    for (int a = 0; a < 3; ++a) {
      const Vec3 step = reach * Vec3::Unit(a);
      result.gradient[a] = (value(x + step) - value(x - step)) / (2 * reach);
    }
    return result;
  }
  bool is_exact() const override { return false; }
  geometry::Bounds bounds() const override {
    const double infinity = std::numeric_limits<double>::infinity();
    return {Vec3::Constant(-infinity), Vec3::Constant(infinity)};
  }
  geometry::Mesh surface(const geometry::SurfaceOptions&) const override { return {}; }

 private:
  LcpScenario scenario_;
};

// A scenario's container with its liquid at rest on the left, which will fall.
template <int Dim>
Expected<matter::liquid::Description> falling_liquid_of(LcpScenario scenario, int n) {
  const auto left = geometry::level_set(
      geometry::HalfSpace{.point = Vec3(liquid_side(scenario), 0.5, 0.5), .normal = Vec3::UnitX()});
  if (!left) return forward_error(left);
  matter::liquid::Description description;
  description.dimension = Dim;
  description.dx = 1.0 / n;
  description.domain = {Vec3(-0.1, -0.1, Dim == 3 ? -0.1 : 0), Vec3(1.1, 1.1, Dim == 3 ? 1.1 : 0)};
  description.sources.push_back({*left});
  description.walls.push_back(
      {std::make_shared<ScenarioWalls>(scenario), [](double) { return geometry::RigidPose{}; }});
  return description;
}

// Every pressure system of `frames` frames, solved by everybody.
template <int Dim>
Expected<void> solve_run(const BenchOptions& options, NumberFile& numbers, std::string_view table,
                         std::string_view container, int n, int frames,
                         matter::liquid::Description description,
                         const std::vector<const LcpContenderInfo*>& contenders) {
  std::vector<Runner<Dim>> runners = make_runners<Dim>(contenders, n, frames <= short_run ? repetitions : 1);
  int systems = 0;
  std::get<matter::liquid::PressureObserver<Dim>>(description.pressure_observers) =
      [&](const matter::PressureSystem<Dim>& system, std::span<const double>, double dt) {
        const LcpCase<Dim> problem(system);
        for (Runner<Dim>& runner : runners) runner.solve(problem, dt);
        ++systems;
      };
  const auto liquid = matter::liquid::make_liquid(description);
  matter::liquid::State state = liquid->start();
  for (int frame = 0; frame < frames; ++frame) {
    options.progress(
        fmt::format("{}, size {}: frame {} of {}, {} systems", container, n, frame, frames, systems));
    const auto report = liquid->advance(state, double(frame) / frame_rate, 1.0 / frame_rate);
    if (!report.accepted) return input_error("the simulation stopped in frame {}: {}", frame, report.reason);
  }
  std::vector<const LcpContenderInfo*> present;
  for (const Runner<Dim>& runner : runners) present.push_back(&runner.info);
  TextTable(options).row("size", heads(present));
  report_totals<Dim>(options, numbers, table, container, n, runners);
  options.print(fmt::format("  {} pressure systems, {} particles", systems, state.count()));
  return histogram<Dim>(options, n, runners);
}

void announce(const BenchOptions& options, std::string_view what, int frames) {
  options.print("");
  options.print(fmt::format(
      "{}, {} frames of 1/{} s: averages per pressure system, each solver started from its own last answer",
      what, frames, frame_rate));
}

int wanted_frames(const BenchOptions& options) { return options.steps > 0 ? options.steps : default_frames; }

}  // namespace

template <int Dim>
Expected<void> simulated(const BenchOptions& options, NumberFile& numbers) {
  const auto contenders = chosen_contenders(options, run_contenders);
  if (!contenders) return forward_error(contenders);
  const int frames = wanted_frames(options);
  announce(options, fmt::format("round container in {}D, half full", Dim), frames);
  for (const int n : sizes_up_to(options.size > 0 ? options.size : Dim == 2 ? 128 : 64)) {
    auto description = falling_liquid<Dim>(n);
    if (!description) return forward_error(description);
    if (auto done =
            solve_run<Dim>(options, numbers, "run", "ball", n, frames, std::move(*description), *contenders);
        !done)
      return done;
  }
  options.print("(an asterisk marks methods that did not converge on some)");
  return {};
}

Expected<void> simulated_maze(const BenchOptions& options, NumberFile& numbers) {
  const auto contenders = chosen_contenders(options, run_contenders);
  if (!contenders) return forward_error(contenders);
  const int frames = wanted_frames(options);
  announce(options, "maze", frames);
  for (const int n : sizes_up_to(options.size > 0 ? options.size : 128)) {
    auto description = falling_liquid_of<2>(LcpScenario::Maze, n);
    if (!description) return forward_error(description);
    if (auto done =
            solve_run<2>(options, numbers, "run", "maze", n, frames, std::move(*description), *contenders);
        !done)
      return done;
  }
  options.print("(an asterisk marks methods that did not converge on some)");
  return {};
}

int shown_frame(LcpScenario scenario) { return scenario == LcpScenario::SphereCuboid ? 70 : 10; }

Expected<FrameSystem> system_of_frame(LcpScenario scenario, int n, int frame) {
  auto description = falling_liquid_of<3>(scenario, n);
  if (!description) return forward_error(description);
  bool near = false;
  std::optional<FrameSystem> found;
  std::get<matter::liquid::PressureObserver<3>>(description->pressure_observers) =
      [&](const matter::PressureSystem<3>& system, std::span<const double> q, double) {
        if (near && !found) found = FrameSystem{LcpCase<3>(system), system.gather(q)};
      };
  const auto liquid = matter::liquid::make_liquid(*description);
  matter::liquid::State state = liquid->start();
  for (int k = 0; k < frame && !found; ++k) {
    near = k + 1 == frame;
    const auto report =
        liquid->advance(state, double(k) / frame_rate, 1.0 / frame_rate, [&] { return found.has_value(); });
    if (!report.accepted && !report.interrupted)
      return input_error("the simulation stopped in frame {}: {}", k + 1, report.reason);
  }
  if (!found) return input_error("frame {} of '{}' has no pressure system", frame, name(scenario));
  found->particles = state.count();
  return std::move(*found);
}

Expected<void> simulated_frames(const BenchOptions& options, NumberFile& numbers) {
  const auto contenders = chosen_contenders(options, run_contenders);
  if (!contenders) return forward_error(contenders);
  const TextTable text(options);
  for (const LcpScenario scenario : lcp_scenarios(3)) {
    const int frame = options.steps > 0 ? options.steps : shown_frame(scenario);
    options.print("");
    options.print(
        fmt::format("{}, first system of frame {} of a run: iterations from nothing, and from the run's "
                    "pressure of the substep before",
                    name(scenario), frame));
    text.row("size", heads(*contenders));
    for (const int n : sizes_up_to(options.size > 0 ? options.size : 64)) {
      options.progress(fmt::format("{}, {}³: simulating {} frames", name(scenario), n, frame));
      const auto system = system_of_frame(scenario, n, frame);
      if (!system) return forward_error(system);
      std::vector<std::string> cold, warm, seconds;
      for (const LcpContenderInfo* info : *contenders) {
        if (!worth_waiting<3>(*info, n)) {
          for (auto* cells : {&cold, &warm, &seconds}) cells->emplace_back("-");
          continue;
        }
        for (const bool started : {false, true}) {
          std::vector<double> p = started ? system->start : std::vector<double>(system->problem.size(), 0.0);
          const lcp::LcpSummary summary = make_lcp_contender<3>(*info)->solve(system->problem, p, {});
          (started ? warm : cold)
              .push_back(fmt::format("{}{}", counted_iterations(*info, summary), outcome_mark(summary)));
          if (started) seconds.push_back(fmt::format("{:.3g}", summary.seconds()));
          numbers.add(fmt::format("frame-run,3D,{},{},{},{},{},{},{},{:.6g},{:.6g},{:.3g},{}", name(scenario),
                                  started ? "warm" : "cold", n, info->name, system->problem.size(),
                                  summary.iterations, summary.inner_iterations, summary.setup_seconds,
                                  summary.solve_seconds, summary.residual, summary.converged() ? 1 : 0));
        }
      }
      text.row(fmt::format("{}", n), cold);
      text.row("  warm", warm);
      text.row("  seconds", seconds);
      options.print(fmt::format("  {} unknowns, {} wall rows, {} particles", system->problem.size(),
                                system->problem.system.wall_unknowns(), system->particles));
    }
  }
  options.print("* not converged; seconds: of the warm solve, set-up included");
  return {};
}

template Expected<void> sequence<2>(const BenchOptions&, NumberFile&);
template Expected<void> sequence<3>(const BenchOptions&, NumberFile&);
template Expected<void> simulated<2>(const BenchOptions&, NumberFile&);
template Expected<void> simulated<3>(const BenchOptions&, NumberFile&);

}  // namespace lope::bench
