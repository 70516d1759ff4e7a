#include <lope/base/parallel.h>
#include <lope/base/timer.h>
#include <lope/linalg/space.h>
#include <lope/material/evaluate.h>
#include <lope/matter/mpm/contact_rounds.h>
#include <lope/matter/mpm/factor_work.h>
#include <lope/matter/mpm/mpm.h>
#include <lope/optimize/automatic.h>
#include <lope/optimize/stopping.h>

#include <fmt/core.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace lope::matter::mpm {
namespace {

constexpr std::size_t grain = 2048;
constexpr double explicit_cfl = 0.3;        // of dx over the speed of sound
constexpr double farthest = 1.5;            // cells that a node may move
constexpr double shortest_part = 1e-6;      // of a step: substeps below it mean that something has exploded
constexpr int most_rounds = 10;
// Work of a Cholesky factor (factor_work.h).
constexpr double cheap_work = 3.5e6;        // per node: multigrid does not do better
constexpr double most_work = 3e12;          // in all: not worth waiting for
constexpr double work_of_cycle = 2e5;       // per node, in the time of an iteration with multigrid
constexpr double patience = 6;              // factors' worth of iterations before multigrid counts as slow
constexpr int flow_rounds = 3;              // in which the lag of sand is renewed

template <int Dim>
double size_of(const geometry::Bounds& bounds) {
  return (bounds.max - bounds.min).template head<Dim>().maxCoeff();
}

// Of two outcomes the one that matters more.
optimize::Outcome worse(optimize::Outcome a, optimize::Outcome b) {
  const auto rank = [](optimize::Outcome outcome) {
    switch (outcome) {
      case optimize::Outcome::Converged:
        return 0;
      case optimize::Outcome::Unsolvable:
        return 1;
      case optimize::Outcome::IterationLimit:
        return 2;
      case optimize::Outcome::LineSearchStalled:
        return 3;
      case optimize::Outcome::Interrupted:
        return 4;
      case optimize::Outcome::Failed:
        break;
    }
    return 5;
  };
  return rank(a) >= rank(b) ? a : b;
}

template <int Dim>
class MpmOf final : public Mpm {
 public:
  MpmOf(const Description& description, const World& world)
      : description_(description), world_(world), grid_(description.dx), 
        fillings_(made_fillings(description)), scripted_(description.scripts, fillings_),
        objective_(materials(description), length(description), description.embedding) {
    std::vector<PointModel> models;
    for (const Part& part : description.parts) {
      const PointModel model = model_of(part.material);
      const auto at = std::find(models.begin(), models.end(), model);
      kinds_.push_back(static_cast<int>(at - models.begin()));
      if (at == models.end()) models.push_back(model);
    }
    if (description.minimizer) {
      minimizer_ = description.minimizer();
      by_gradient_ = description.minimizer();
      return;
    }
    // Measured (docs/benchmarks/hot.md): hot is the fastest where the gradient's norm decides; where the remaining displacement does, newton
    // if a factor is cheap, otherwise newton-mgpcg.
    automatic_ = description.method == optimize::Method::Auto;
    minimizer_ = optimize::make_minimizer(automatic_ ? optimize::Method::NewtonMgpcg : description.method, 0);
    by_gradient_ = optimize::make_minimizer(automatic_ ? optimize::Method::Hot : description.method, 0);
  }

  AnyParticles<Particles> start() override {
    Particles<Dim> particles;
    for (const Filling<Dim>& filling : fillings_) filling.start(particles);
    feed(particles, 0);
    return particles;
  }
  std::vector<std::string> complaints() const override {
    std::vector<std::string> found;
    for (std::size_t k = 0; k < fillings_.size(); ++k) {
      if (fillings_[k].size() == 0)
        found.push_back(fmt::format("body '{}' has no material points: its shape is empty, or thinner than they are apart",
                                    description_.parts[k].name));
      else if (!(fillings_[k].each() > 0))
        found.push_back(fmt::format("the material points of body '{}' have no volume: its shape is too thin for cells of {:.3g} m",
                                    description_.parts[k].name, description_.dx));
    }
    return found;
  }

  Report advance(AnyParticles<Particles>& particles, double time, double h, const optimize::MinimizerOptions& options) override {
    report_ = {};
    multigrid_was_slow_ = false;
    auto& points = std::get<Particles<Dim>>(particles);
    run(points, time, h, options);
    const optimize::MinimizerTimings& timings = report_.solve.timings;
    report_.seconds.assembly = timings.hessian;
    report_.seconds.preconditioner = timings.factorize;
    report_.seconds.linear = timings.solve;
    report_.seconds.evaluation = timings.evaluate;
    if (report_.solve.has_result()) sum_up(points);
    return std::move(report_);
  }

  double elastic_energy(const AnyParticles<Particles>& particles) override {
    const auto& points = std::get<Particles<Dim>>(particles);
    return parallel_sum(points.size(), grain, [&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t p = begin; p < end; ++p) {
        const Material& material = description_.parts[static_cast<std::size_t>(points.part[p])].material;
        sum += points.volume[p] *
               material::energy<Dim>(material::hardened(material.elastic, material.plasticity, points.plastic[p]), points.F[p]);
      }
      return sum;
    });
  }

 private:
  static std::vector<Filling<Dim>> made_fillings(const Description& description) {
    std::vector<Filling<Dim>> made;
    for (const Part& part : description.parts)
      made.emplace_back(part, static_cast<std::int32_t>(made.size()), description.dx, description.seed);
    return made;
  }
  static std::vector<Material> materials(const Description& description) {
    std::vector<Material> result;
    for (const Part& part : description.parts) result.push_back(part.material);
    return result;
  }
  // The size of the smallest part.
  static double length(const Description& description) {
    double least = std::numeric_limits<double>::infinity();
    for (const Part& part : description.parts) least = std::min(least, size_of<Dim>(part.shape->bounds()));
    return std::isfinite(least) ? least : description.dx;
  }

  void fail(std::string reason) {
    report_.solve.outcome = optimize::Outcome::Failed;
    report_.solve.reason = std::move(reason);
  }

  // What jets bring until this time. Returns when the next filling is due.
  double feed(Particles<Dim>& particles, double time) const {
    double next = std::numeric_limits<double>::infinity();
    if (std::none_of(fillings_.begin(), fillings_.end(), [](const auto& filling) { return filling.is_jet(); })) return next;
    std::vector<std::size_t> present(fillings_.size(), 0);
    for (const std::int32_t part : particles.part) ++present[static_cast<std::size_t>(part)];
    for (std::size_t k = 0; k < fillings_.size(); ++k) {
      const std::size_t before = particles.size();
      fillings_[k].feed(time, present[k], particles);
      next = std::min(next, fillings_[k].next(present[k] + particles.size() - before));
    }
    return next;
  }

  void run(Particles<Dim>& particles, double time, double h, const optimize::MinimizerOptions& options) {
    report_.solve.outcome = optimize::Outcome::Converged;
    report_.solve.reason.clear();
    report_.shortest = h;
    double done = 0, most = std::numeric_limits<double>::infinity();
    while (done < h) {
      const double next = feed(particles, time + done);
      report_.particles = static_cast<std::int64_t>(particles.size());
      if (particles.size() == 0) {
        done = std::min(h, next - time);  // nothing happens until then
        continue;
      }
      if (!grid_.holds(particles)) return fail("material points have left for infinity");
      const double limit = std::min(most, largest_substep(particles));
      const double change = scripted_.next_change(time + done) - time;
      const double end = change < h ? change : h, rest = end - done;
      const bool last = rest <= limit * (1 + 1e-9);
      double dt = last ? rest : rest < 2 * limit ? 0.5 * rest : limit;
      if (!(dt > shortest_part * h) && description_.stepping == Stepping::Implicit)
        return fail(fmt::format("material points are so fast ({:.3g} m/s) that a step would take more than {:.0f} substeps",
                                largest_speed(particles.v), 1 / shortest_part));
      if (options.stop_requested && options.stop_requested()) {
        report_.solve.outcome = optimize::Outcome::Interrupted;
        return;
      }
      const Taken taken = substep(particles, time + done, dt, options);
      if (taken == Taken::Over) return;
      if (taken == Taken::Again) {
        most = 0.5 * dt;
        ++report_.repeated;
        continue;
      }
      most = std::numeric_limits<double>::infinity();
      ++report_.substeps;
      report_.shortest = std::min(report_.shortest, dt);
      done = dt == rest ? end : done + dt;
    }
  }

  // v dt + g dt² = cfl dx.
  double largest_substep(const Particles<Dim>& particles) const {
    const double v = largest_speed(particles.v), g = world_.gravity.template head<Dim>().norm();
    const double way = description_.cfl * description_.dx;
    const double root = v + std::sqrt(v * v + 4 * g * way);
    double limit = std::min(description_.largest_substep, root > 0 ? 2 * way / root : std::numeric_limits<double>::infinity());
    if (description_.stepping == Stepping::Explicit)
      limit = std::min(limit, explicit_cfl * description_.dx / std::sqrt(objective_.fastest_sound_squared(particles)));
    return limit;
  }

  enum class Taken { Done, Again, Over };

  Taken substep(Particles<Dim>& particles, double time, double& dt, const optimize::MinimizerOptions& options) {
    {
      const ScopedTimer timer(report_.seconds.sorting);
      grid_.build(particles, kinds_);
    }
    report_.nodes = static_cast<std::int64_t>(grid_.nodes());
    report_.blocks = grid_.pattern()->blocks();
    for (auto* vector : {&before_, &after_, &u_, &g_}) vector->resize(Dim * grid_.nodes());
    {
      const ScopedTimer timer(report_.seconds.to_grid);
      to_grid(grid_, particles, description_.transfer, before_);
    }
    {
      const ScopedTimer timer(report_.seconds.conditions);
      set_conditions(particles, time, dt);
      const double way = description_.cfl * description_.dx;
      if (conditions_.largest_motion() > way * (1 + 1e-9)) {
        dt *= way / conditions_.largest_motion();
        set_conditions(particles, time, dt);
      }
    }
    const Vec<Dim> gravity = world_.gravity.template head<Dim>();
    objective_.begin_step(grid_, particles, conditions_, before_, gravity, dt);
    const Taken taken = description_.stepping == Stepping::Implicit ? move_implicitly(dt, options) : move_explicitly(gravity, dt);
    if (taken != Taken::Done) return taken;
    const double way = objective_.largest_motion(u_);
    if (!(way <= farthest * description_.dx)) return Taken::Again;
    const ScopedTimer timer(report_.seconds.to_particles);
    linalg::combine(1 / dt, u_, 0, after_);
    const bool flows = std::any_of(description_.parts.begin(), description_.parts.end(), [](const Part& part) {
      return part.material.plasticity.flow != material::Flow::None;
    });
    if (flows) objective_.move_to(u_);
    if (scripted_.any()) came_from_ = particles.x;
    const bool backward = description_.positions == Positions::Backward;
    if (backward) find_positions(particles, time, dt);
    to_particles(grid_, description_.transfer, dt, before_, after_, particles);
    if (backward) particles.x.swap(where_);
    if (scripted_.any()) scripted_.carry(time, dt, came_from_, particles);
    if (flows) flow_plastically(particles, dt);
    return Taken::Done;
  }

  void set_conditions(const Particles<Dim>& particles, double time, double dt) {
    conditions_.set(grid_, world_, description_.boundaries, scripted_.nodes(grid_, particles, time, dt), time, dt);
  }

  void find_positions(const Particles<Dim>& particles, double time, double dt) {
    const PositionCounts counts =
        backward_positions<Dim>(grid_, world_, description_.boundaries, time, dt, after_, particles, where_);
    report_.positions.unsolved += counts.unsolved;
    report_.positions.stopped += counts.stopped;
  }

  void flow_plastically(Particles<Dim>& particles, double dt) {
    parallel_for(particles.size(), grain, [&](std::size_t p) {
      const Material& material = description_.parts[static_cast<std::size_t>(particles.part[p])].material;
      if (material.plasticity.flow == material::Flow::None) return;
      const auto stretches = objective_.stretches(p);
      const Vec<Dim> kept =
          material::flow<Dim>(material.elastic, material.plasticity, stretches.sigma, dt, particles.plastic[p]);
      if (kept != stretches.sigma) particles.F[p] = stretches.U * kept.asDiagonal() * stretches.V.transpose();
    });
  }

  // A factor of one round serves the others, but not the next substep: that depends on the state alone.
  void choose_method() {
    if (!automatic_) return;
    work_ = factor_work<Dim>(grid_.node_indices()) / static_cast<double>(grid_.nodes());
    const bool direct = work_ <= cheap_work || multigrid_was_slow_;
    direct_ = direct ? std::make_unique<optimize::ProjectedNewton>(optimize::newton_options()) : nullptr;
  }

  // Multigrid, until it has taken as long as factors would have; then these, for the rest of the step.
  optimize::MinimizerSummary minimize_patiently(const optimize::MinimizerOptions& options) {
    const double most = patience * work_ / work_of_cycle;
    if (work_ * static_cast<double>(grid_.nodes()) > most_work || most > options.max_linear_iterations)
      return minimizer_->minimize(objective_, u_, options);
    optimize::MinimizerOptions limited = options;
    long used = 0;
    limited.max_linear_iterations = std::max(1, static_cast<int>(most));
    limited.observer = [&](const optimize::Iteration& iteration, std::span<const double> x) {
      used += iteration.linear_iterations;
      if (options.observer) options.observer(iteration, x);
    };
    limited.stop_requested = [&] {
      return used >= limited.max_linear_iterations || (options.stop_requested && options.stop_requested());
    };
    optimize::MinimizerSummary summary = minimizer_->minimize(objective_, u_, limited);
    if (summary.outcome != optimize::Outcome::Interrupted || used < limited.max_linear_iterations) return summary;
    multigrid_was_slow_ = true;
    choose_method();
    summary.append(direct_->minimize(objective_, u_, options));
    return summary;
  }

  Taken move_implicitly(double dt, const optimize::MinimizerOptions& options) {
    choose_method();
    if (!conditions_.contacts().empty()) hold_free_motion(dt);
    best_start();
    optimize::MinimizerSummary summary = minimize(options);
    returned_.assign(conditions_.contacts().size(), 0);
    for (int round = 0; round < most_rounds && summary.has_result(); ++round) {
      const bool contacts = change_contacts(round), flow = round < flow_rounds && flow_changes();
      if (!contacts && !flow) break;
      ++report_.rounds;
      objective_.conditions_changed();
      conditions_.apply(u_);
      summary.append(minimize(options));
    }
    const optimize::Outcome outcome = summary.outcome;
    std::string reason = summary.reason;
    const optimize::Outcome before = report_.solve.outcome;
    std::string reason_before = report_.solve.reason;
    report_.solve.append(summary);
    report_.solve.outcome = worse(before, outcome);
    report_.solve.reason = report_.solve.outcome == before ? reason_before : reason;
    if (outcome == optimize::Outcome::Interrupted) return Taken::Over;
    if (!summary.has_result()) {
      // Half the length brings the start nearer; where even that has no solution, this is the end.
      if (report_.repeated >= 8) return Taken::Over;
      report_.solve.outcome = before;
      report_.solve.reason = reason_before;
      return Taken::Again;
    }
    return Taken::Done;
  }

  // L-BFGS makes a model of the Hessian before it looks whether there is anything to do; where the gradient says that there is
  // not, a method that looks first says so.
  optimize::MinimizerSummary minimize(const optimize::MinimizerOptions& options) {
    if (optimize::tests_gradient(options.stopping.test)) {
      objective_.move_to(u_);
      objective_.gradient(g_);
      if (optimize::gradient_measure(options.stopping.test, objective_, g_) <=
          optimize::resolved_tolerance(options.stopping, objective_))
        return idle_->minimize(objective_, u_, options);
      return by_gradient_->minimize(objective_, u_, options);
    }
    if (direct_) return direct_->minimize(objective_, u_, options);
    return automatic_ ? minimize_patiently(options) : minimizer_->minimize(objective_, u_, options);
  }

  // Before anything is held, where inertia and gravity would take the nodes.
  void hold_free_motion(double dt) {
    for (NodeContact<Dim>& contact : conditions_.contacts()) {
      contact.held = !contact.separating;
      contact.stuck = false;
    }
    conditions_.update();
    objective_.inertial_guess(u_);
    hold_approaching<Dim>(u_, grid_.masses(), dt, conditions_);
  }

  // Of û, h vₙ and 0 the one of least energy.
  void best_start() {
    std::vector<double>& trial = g_;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
      if (k == 0) objective_.inertial_guess(trial);
      else if (k == 1) objective_.unforced_guess(trial);
      else linalg::fill(trial, 0);
      if (k == 2) conditions_.apply(trial);
      objective_.move_to(trial);
      const double value = objective_.value(std::numeric_limits<double>::infinity());
      if (!(value < least) && k > 0) continue;
      least = value;
      linalg::copy(trial, u_);
    }
  }

  bool flow_changes() {
    objective_.move_to(u_);
    return objective_.asks_for_renewal();
  }

  // With the forces of the round that was: what is pulled is let go, what has gone inside is held (and stays so); what sticks
  // slides where that takes more than friction gives, and sticks where friction would push it on. True if anything changed.
  bool change_contacts(int round) {
    auto& contacts = conditions_.contacts();
    if (std::none_of(contacts.begin(), contacts.end(), [](const auto& c) { return c.separating || c.friction > 0; }))
      return false;
    objective_.move_to(u_);
    objective_.full_gradient(g_);
    double largest = 0;
    for (const NodeContact<Dim>& contact : contacts)
      if (contact.held) largest = std::max(largest, std::abs(contact.normal.dot(node_value<Dim>(g_, contact.node))));
    bool changed = false;
    for (std::size_t k = 0; k < contacts.size(); ++k)
      changed |= change_contact<Dim>(u_, g_, largest, round, description_.dx, contacts[k], returned_[k]);
    if (changed) conditions_.update();
    return changed;
  }

  // `push`: by how much the obstacle has moved the node along the normal.
  void rub(const NodeContact<Dim>& contact, double push) {
    Eigen::Map<Vec<Dim>> at(u_.data() + static_cast<std::ptrdiff_t>(Dim) * contact.node);
    const Vec<Dim> relative = at - contact.target;
    const Vec<Dim> along = relative - contact.normal * contact.normal.dot(relative);
    const double size = along.norm();
    if (push > 0 && size > 0) at -= along * std::min(1.0, contact.friction * push / size);
  }

  Taken move_explicitly(const Vec<Dim>& gravity, double dt) {
    linalg::fill(u_, 0);
    objective_.move_to(u_);
    objective_.forces(g_);
    parallel_for(grid_.nodes(), grain, [&](std::size_t i) {
      for (std::size_t a = 0; a < Dim; ++a) {
        const std::size_t k = Dim * i + a;
        u_[k] = dt * (before_[k] + dt * (gravity[static_cast<Eigen::Index>(a)] - g_[k] / grid_.masses()[i]));
      }
    });
    if (!objective_.space().all_finite(u_)) {
      fail("the forces on the grid are not finite");
      return Taken::Over;
    }
    hold_approaching<Dim>(u_, grid_.masses(), dt, conditions_);
    for (NodeContact<Dim>& contact : conditions_.contacts()) contact.stuck = false;
    conditions_.update();
    linalg::copy(u_, g_);
    conditions_.apply(u_);
    for (const NodeContact<Dim>& contact : conditions_.contacts()) {
      if (contact.held && contact.friction > 0)
        rub(contact, contact.normal.dot(node_value<Dim>(u_, contact.node) - node_value<Dim>(g_, contact.node)));
    }
    return Taken::Done;
  }

  void sum_up(const Particles<Dim>& particles) {
    report_.largest_speed = largest_speed(particles.v);
    report_.kinetic = kinetic_energy(particles, description_.dx);
    report_.elastic = elastic_energy(particles);
    report_.momentum = momentum(particles);
    report_.angular_momentum = angular_momentum(particles, description_.dx);
    const Vec<Dim> gravity = world_.gravity.template head<Dim>();
    report_.potential = -parallel_sum(particles.size(), grain, [&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t p = begin; p < end; ++p) sum += particles.mass[p] * gravity.dot(particles.x[p]);
      return sum;
    });
  }

  const Description& description_;
  const World& world_;
  std::vector<int> kinds_;  // of parts
  Grid<Dim> grid_;
  std::vector<Filling<Dim>> fillings_;
  Scripted<Dim> scripted_;
  Conditions<Dim> conditions_;
  MpmObjective<Dim> objective_;
  bool automatic_ = false, multigrid_was_slow_ = false;  // in this step
  double work_ = 0;                                      // of a factor, per node
  std::unique_ptr<optimize::Minimizer> direct_;  // of a substep: in place of minimizer_ where there is one
  std::unique_ptr<optimize::Minimizer> minimizer_, by_gradient_;  // for the test of displacements, and for the others
  std::unique_ptr<optimize::Minimizer> idle_ = optimize::make_minimizer(optimize::Method::NewtonPcg, 0);
  std::vector<double> before_, after_, u_, g_;
  std::vector<Vec<Dim>> came_from_;  // positions, where scripts carry points
  std::vector<Vec<Dim>> where_;      // positions at the end, of backward Euler
  std::vector<std::uint8_t> returned_;  // per contact
  Report report_;
};

}  // namespace

std::unique_ptr<Mpm> make_mpm(const Description& description, const World& world) {
  if (description.dimension == 2) return std::make_unique<MpmOf<2>>(description, world);
  return std::make_unique<MpmOf<3>>(description, world);
}

}  // namespace lope::matter::mpm
