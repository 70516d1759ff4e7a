// Is a whole run what its accuracy says (NUMERICS §6)? A step may be right and a run wrong: an error that is allowed in every step adds
// up. Each scene of nodes that comes with Lope, coarsened, is run for some steps with its accuracy and again with a thousandth of
// the smallest error that any of these steps was allowed; the difference of the two at the end is held against what happened.
// That for steps from 1/24 s to 10⁻⁵ s with the scene's own stiffness, and for stiffnesses from 10³ to 2·10¹¹ Pa with the scene's own step.
//
// Positions: the largest distance of any node between both runs, beside the longest way of any node. Stress: the largest difference of
// von Mises stresses, beside the largest of them. Required of what is smooth, i.e. touches nothing: 3% at most. Where bodies touch, slip
// or let go, two runs may part; what they do is shown beside.
//
// Where a run does not hold, the tight one is taken once more with a stiffness that differs by as much as the accuracy is of a body's size. Positions or
// stresses in which these two part by more than what is required are not judged: the scene does not determine them any better (a bar
// that buckles to one side or the other). The last column shows by how much they part.
#include <lope/base/timer.h>
#include <lope/matter/solid/solid.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <papers/benchmarks.h>
#include <papers/coarse_scenes.h>

namespace lope::bench {
namespace {

constexpr int default_vertices = 300;   // per scene, by --size
constexpr int default_steps = 40;       // per run, by --steps
constexpr double tightening = 1e-3;     // of what a step was allowed
constexpr double tightest = 1e-12;      // of the smallest body's size: below, there is only rounding
constexpr int tight_iterations = 100;   // of a step to rounding, which may not get there
constexpr double allowed_part = 0.03;
constexpr double slightly = 1e-4;       // stiffer, to see what the scene itself determines

struct Setting {
  std::string name;
  double h = 0;      // seconds
  double young = 0;  // of the first material, Pa; the others keep their ratio to it; 0: as they are
};

double young_modulus(const material::Parameters& m) { return m.mu * (3 * m.lambda + 2 * m.mu) / (m.lambda + m.mu); }

// All materials, by the factor that the first one gives.
template <class FactorOf>
void stiffen(step::Model& model, const FactorOf& factor_of) {
  double factor = 0;
  for (matter::SolidBody& solid : each<matter::SolidBody>(model.bodies)) {
    for (material::Parameters& m : solid.materials) {
      if (factor == 0) factor = factor_of(m);
      m.mu *= factor;
      m.lambda *= factor;
    }
  }
}

std::vector<Setting> settings(const step::Model& model) {
  std::vector<Setting> all = {{"as it is", model.step, 0}};
  for (const auto& [name, h] : {std::pair{"1/24 s", 1.0 / 24}, {"1/100 s", 1e-2}, {"1 ms", 1e-3}, {"0.1 ms", 1e-4}, {"0.01 ms", 1e-5}})
    all.push_back({fmt::format("h = {}", name), h, 0});
  if (each<matter::SolidBody>(model.bodies).empty()) return all;
  for (const double young : {1e3, 1e5, 1e7, 1e9, 2e11}) all.push_back({fmt::format("E = {:.0e} Pa", young), model.step, young});
  return all;
}

// What a run leaves behind.
struct Outcome {
  int steps = 0, unconverged = 0;
  double smallest_allowed = std::numeric_limits<double>::infinity();  // error in any step, metres
  std::vector<std::vector<double>> start, positions, stress;          // per body
};

Outcome run(const step::Model& model, int steps) {
  step::Simulation simulation(model);
  Outcome outcome;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) outcome.start.push_back(simulation.state().nodes(b).x);
  for (int i = 0; i < steps; ++i) {
    const step::StepReport report = simulation.advance();
    if (!report.accepted) break;
    ++outcome.steps;
    if (!report.converged()) ++outcome.unconverged;
    for (const step::IslandReport& island : report.islands)
      if (island.solve.iterations > 0) outcome.smallest_allowed = std::min(outcome.smallest_allowed, island.solve.tolerance);
  }
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    outcome.positions.push_back(simulation.state().nodes(b).x);
    std::vector<double>& stress = outcome.stress.emplace_back();
    for (const matter::Field& field : simulation.fields(b, [](const std::string& name) { return name == "von_mises"; }))
      stress = field.values;
  }
  return outcome;
}

struct Difference {
  double largest = 0, scale = 0;
  void include(double difference, double of) {
    largest = std::max(largest, std::abs(difference));
    scale = std::max(scale, std::abs(of));
  }
  double part() const { return scale > 0 ? largest / scale : largest > 0 ? std::numeric_limits<double>::infinity() : 0; }
};

double distance(const double* a, const double* b, std::size_t dimension) {
  double square = 0;
  for (std::size_t k = 0; k < dimension; ++k) square += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(square);
}

Difference of_positions(const step::Model& model, const Outcome& run, const Outcome& tight) {
  Difference result;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const auto d = static_cast<std::size_t>(model.bodies[b]->dimension);
    const double *x = run.positions[b].data(), *y = tight.positions[b].data(), *start = tight.start[b].data();
    for (std::size_t i = 0; i < run.positions[b].size(); i += d)
      result.include(distance(x + i, y + i, d), distance(y + i, start + i, d));
  }
  return result;
}

Difference of_stress(const Outcome& run, const Outcome& tight) {
  Difference result;
  for (std::size_t b = 0; b < run.stress.size(); ++b) {
    for (std::size_t i = 0; i < run.stress[b].size(); ++i)
      result.include(run.stress[b][i] - tight.stress[b][i], tight.stress[b][i]);
  }
  return result;
}

// Of what happened.
struct Parts {
  double positions = 0, stress = 0;
  double largest() const { return std::max(positions, stress); }
};

// Infinite if one of them broke off.
Parts compare(const step::Model& model, const Outcome& run, const Outcome& tight) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (run.steps != tight.steps) return {infinite, infinite};
  return {of_positions(model, run, tight).part(), of_stress(run, tight).part()};
}

// `own`: what the scene itself leaves open.
bool is_wrong(double part, double own) { return part > allowed_part && own <= allowed_part; }

bool touches(const step::Model& model) {
  const auto touching = [](const matter::NodalBody& body) { return body.self_contact; };
  const auto bodies = each<matter::NodalBody>(model.bodies);
  return !model.obstacles.empty() || bodies.size() > 1 || std::any_of(bodies.begin(), bodies.end(), touching);
}

// The model's own size, of which accuracies are parts.
double smallest_size(const step::Model& model) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const matter::NodalBody& body : each<matter::NodalBody>(model.bodies)) {
    const geometry::Bounds bounds = geometry::bounds(body.rest_positions());
    smallest = std::min(smallest, (bounds.max - bounds.min).maxCoeff());
  }
  return smallest;
}

class WholeRuns {
 public:
  WholeRuns(const BenchOptions& options, int steps) : options_(options), steps_(steps) {
    print_line("scene", "setting", "steps", "not conv.", "positions", "stress", "", "");
  }

  void add(const std::string& name, const step::Model& model) {
    for (const Setting& setting : settings(model)) {
      options_.progress(fmt::format("{}: {}", name, setting.name));
      step::Model changed = model;
      changed.step = setting.h;
      if (setting.young > 0) stiffen(changed, [&](const material::Parameters& first) { return setting.young / young_modulus(first); });
      judge(name, setting, changed);
    }
  }

  int failures() const { return failures_; }

 private:
  void judge(const std::string& name, const Setting& setting, const step::Model& model) {
    const Outcome usual = run(model, steps_);
    step::Model tight = model;
    tight.solver.stopping.tolerance =
        std::max(tightening * std::min(usual.smallest_allowed, 1e-4 * smallest_size(model)), tightest * smallest_size(model));
    tight.solver.method = optimize::Method::Newton;
    tight.solver.max_iterations = tight_iterations;
    const Outcome exact = run(tight, usual.steps);
    const Parts parts = compare(model, usual, exact);
    const bool solved = usual.steps == steps_ && exact.steps == usual.steps && usual.unconverged == 0;
    const bool good = solved && parts.largest() <= allowed_part;
    std::string verdict = "holds", scene_itself;
    if (!good) {
      stiffen(tight, [](const material::Parameters&) { return 1 + slightly; });
      const Parts own = compare(model, run(tight, usual.steps), exact);
      const bool wrong = !solved || is_wrong(parts.positions, own.positions) || is_wrong(parts.stress, own.stress);
      const bool fails = wrong && !touches(model);
      if (fails) ++failures_;
      verdict = fails ? "FAILS" : wrong ? "touches" : "undetermined";
      scene_itself = fmt::format("(E + {:g} E: {:.3g} %, {:.3g} %)", slightly, 100 * own.positions, 100 * own.stress);
    }
    print_line(name, setting.name, fmt::format("{}", usual.steps), fmt::format("{}", usual.unconverged),
               fmt::format("{:.3g} %", 100 * parts.positions), fmt::format("{:.3g} %", 100 * parts.stress), verdict, scene_itself);
  }

  void print_line(std::string_view scene, std::string_view setting, std::string_view steps, std::string_view unconverged,
                  std::string_view positions, std::string_view stress, std::string_view verdict, std::string_view scene_itself) const {
    options_.print(fmt::format("{:20} {:14} {:>5} {:>9} {:>12} {:>12} {} {}", scene, setting, steps, unconverged, positions, stress,
                               verdict, scene_itself));
  }

  const BenchOptions& options_;
  int steps_;
  int failures_ = 0;
};

}  // namespace

Expected<void> accuracy_runs(const BenchOptions& options) {
  const Stopwatch watch;
  WholeRuns runs(options, options.steps > 0 ? options.steps : default_steps);
  for (const std::filesystem::path& file : chosen_scenes(options)) {
    const auto loaded = load_coarse(file, options.size > 0 ? options.size : default_vertices);
    if (!loaded) return forward_error(loaded);
    if (has_nodes_only(*loaded->model)) runs.add(file.stem().string(), *loaded->model);
  }
  options.print(runs.failures() == 0 ? fmt::format("PASS ({:.0f} s)", watch.seconds())
                                     : fmt::format("FAIL: {} of what is smooth ({:.0f} s)", runs.failures(), watch.seconds()));
  return {};
}

}  // namespace lope::bench
