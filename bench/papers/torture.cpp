// OPT Figs. 6 and 8: a cube of n×n×n nodes started from random positions, and from a single point, at h =
// 1/24 s for three stiffnesses, until it is at rest with no element inverted. The paper's n is 65 (824k
// unknowns); default 17.
// --methods: gast15 by default; --only: some starts (random, point) and stiffnesses (low, medium, high);
// `rescue`: with the cube's rest shape among the guesses that a step starts from (solver.start);
// `characteristic`: steps end by DOT's norm instead of the displacement accuracy (solver.tolerance).
// --perturbations N: every case N times, with Young's modulus times 1 + k 10⁻⁷, k = 0 … N − 1, and a table of
// how the runs end: recovered, or at rest in another minimum of the elastic energy (tangled,
// geometry/full_turns.h).
#include <lope/base/memory.h>
#include <lope/matter/solid/solid.h>
#include <lope/render/plot.h>

#include <algorithm>
#include <limits>

#include <Eigen/Eigenvalues>
#include <fmt/core.h>
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
bool recovered(const matter::BodyReport& body, double young, double volume) {
  return body.count("inverted_elements") == 0 && body.energy.elastic < 0.5 * young * 2.5e-5 * volume;
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

Expected<LoadedScene> load_cube(const Case& one, int n, double young, const BenchOptions& options) {
  return load(options.scenes / fmt::format("torture_{}.toml", one.start),
              {fmt::format("body.0.shape.box.lattice=[{0}, {0}, {0}]", n),
               fmt::format("body.0.material.young={}", young), fmt::format("solver.method={}", one.method),
               fmt::format("solver.start={}", asked(options, "rescue") ? "rescue" : "best"),
               fmt::format("solver.tolerance={}",
                           asked(options, "characteristic") ? "characteristic" : "displacement")});
}

// Steps until the cube has recovered, or the limit; prints a row.
Expected<render::Series> recover(const Case& one, int n, int limit, const BenchOptions& options) {
  const auto loaded = load_cube(one, n, one.stiffness.young, options);
  if (!loaded) return forward_error(loaded);
  step::Simulation simulation(*loaded->model);
  render::Series series;
  series.name = fmt::format("{}, {}, {}", one.start, one.stiffness.name, one.method);
  show_progress(simulation, series.name, options);
  int recovery = 0;
  double first = 0;
  const auto observe = [&](const step::StepReport& report) {
    if (report.step == 1) first = report.seconds;
    const matter::BodyReport& body = report.bodies[0];
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

// The survey.
// ---------------------------------------------------------------------------------------------------------

// A body without velocity moves to the minimum of its elastic energy nearby.
void come_to_rest(step::Simulation& simulation) {
  for (int i = 0; i < 10; ++i) {
    step::State state = simulation.state();
    for (double& v : as<matter::NodalState>(state.bodies[0]).v) v = 0;
    if (!simulation.restore(std::move(state))) return;
    simulation.advance(1);
  }
}

// The seventh eigenvalue of the exact Hessian of the elastic energy, in N/m: the six rigid motions of a free
// cube have none. Positive: a strict minimum.
double softest_mode(step::Simulation& simulation) {
  constexpr double no_inertia = 1e6;  // h, seconds
  optimize::Objective& objective = simulation.step_problem(0, no_inertia).objective;
  objective.move_to(simulation.state().nodes(0).x);
  const linalg::BlockMatrix& hessian = objective.hessian(optimize::HessianKind::Raw);
  const auto n = static_cast<Eigen::Index>(objective.size());
  Eigen::MatrixXd dense(n, n);
  std::vector<double> unit(objective.size(), 0.0), column(objective.size());
  for (Eigen::Index j = 0; j < n; ++j) {
    unit[static_cast<std::size_t>(j)] = 1;
    hessian.multiply(unit, column);
    dense.col(j) = Eigen::Map<const Eigen::VectorXd>(column.data(), n);
    unit[static_cast<std::size_t>(j)] = 0;
  }
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense, Eigen::EigenvaluesOnly).eigenvalues();
  return values[6];
}

// How the runs of a case ended.
struct Ends {
  int recovered = 0, tangled = 0, neither = 0;
  int inverted = 0;  // of those that did not recover: with inverted elements
  int rescued = 0;   // of the tangled: by one longer step from the rest shape
  int failed = 0;    // steps that did not converge
  double least_energy = std::numeric_limits<double>::infinity(), most_energy = 0;  // of the tangled, at rest
  double softest = std::numeric_limits<double>::infinity();
};

// Whether a few steps, twice as long as they must be, find the rest shape.
bool is_rescued(const step::Simulation& tangled, double young, double h) {
  step::Model model = tangled.model();
  model.solver.initial_guess = step::InitialGuess::Rescue;
  step::Simulation simulation(model);
  if (!simulation.restore(tangled.state())) return false;
  const auto totals = run_in_memory(
      simulation, 20, true,
      [&](const step::StepReport& report) { return !recovered(report.bodies[0], young, 1); }, 2 * h);
  return totals.failed == 0 && recovered(totals.reports.back().bodies[0], young, 1);
}

void look_at_the_end(step::Simulation& simulation, double young, Ends& ends) {
  constexpr std::size_t dense_limit = 3000;  // unknowns
  auto& cube = dynamic_cast<matter::SolidMatter&>(simulation.matter(0));
  if (cube.tangle(simulation.state().nodes(0)).vertices.empty()) {
    ++ends.neither;
    return;
  }
  ++ends.tangled;
  come_to_rest(simulation);
  const matter::SolidMatter::Tangle tangle = cube.tangle(simulation.state().nodes(0));
  const double energy = simulation.energies(0).elastic;
  ends.least_energy = std::min(ends.least_energy, energy);
  ends.most_energy = std::max(ends.most_energy, energy);
  if (simulation.state().nodes(0).x.size() <= dense_limit)
    ends.softest = std::min(ends.softest, softest_mode(simulation));
  if (is_rescued(simulation, young, tangle.rescue_step)) ++ends.rescued;
}

Expected<void> survey(const Case& one, int n, int limit, const BenchOptions& options) {
  Ends ends;
  for (int k = 0; k < options.perturbations; ++k) {
    const double young = one.stiffness.young * (1 + k * 1e-7);
    const auto loaded = load_cube(one, n, young, options);
    if (!loaded) return forward_error(loaded);
    step::Simulation simulation(*loaded->model);
    show_progress(simulation,
                  fmt::format("{}, {}, {}, {} of {}", one.start, one.stiffness.name, one.method, k + 1,
                              options.perturbations),
                  options);
    const RunTotals totals = run_in_memory(simulation, limit, false, [&](const step::StepReport& report) {
      return !recovered(report.bodies[0], young, 1);
    });
    ends.failed += totals.failed;
    if (recovered(totals.reports.back().bodies[0], young, 1)) {
      ++ends.recovered;
    } else {
      if (totals.inverted > 0) ++ends.inverted;
      look_at_the_end(simulation, young, ends);
    }
  }
  const auto if_any = [&](const std::string& text) { return ends.tangled > 0 ? text : "-"; };
  options.print(fmt::format("{:8} {:8} {:12} {:>5} {:>10} {:>8} {:>9} {:>8} {:>8} {:>7} {:>19} {:>13}",
                            one.start, one.stiffness.name, one.method, options.perturbations, ends.recovered,
                            ends.tangled, ends.inverted, ends.neither, ends.rescued, ends.failed,
                            if_any(fmt::format("{:.4g} .. {:.4g}", ends.least_energy, ends.most_energy)),
                            if_any(fmt::format("{:.3g}", ends.softest))));
  return {};
}

Expected<void> survey_all(int n, int limit, const BenchOptions& options) {
  options.print(fmt::format("{:8} {:8} {:12} {:>5} {:>10} {:>8} {:>9} {:>8} {:>8} {:>7} {:>19} {:>13}",
                            "start", "stiff", "method", "runs", "recovered", "tangled", "inverted", "neither",
                            "rescued", "failed", "J at rest", "softest N/m"));
  for (const Case& one : cases(options)) {
    if (const auto done = survey(one, n, limit, options); !done) return done;
  }
  return {};
}

}  // namespace

Expected<void> torture(const BenchOptions& options) {
  const int n = options.size > 0 ? options.size : 17;
  const int limit = options.steps > 0 ? options.steps : 200;
  if (options.perturbations > 0) return survey_all(n, limit, options);
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
