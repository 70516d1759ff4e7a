#include <lope/geometry/level_set/combined.h>
#include <lope/linalg/space.h>
#include <lope/optimize/stopping.h>
#include <lope/step/island.h>

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace lope::step {
namespace {

using matter::node;

// Minimisations in which the normal forces of friction, and what follows the body, must settle.
constexpr int most_rounds = 30;

// The round from which on contacts keep their partners: a vertex that changes its partner from round to round would never
// agree with its own result.
constexpr int holding_round = 4;

// Pieces in which what is scripted comes to the end of its way where barriers let it go no further at once, and the iterations between
// them in which what is free makes room.
constexpr int most_arrivals = 60;
constexpr int iterations_of_arrival = 6;

// Of the energies at hand: less is what a scheme of second order gains and loses by turns.
constexpr double least_change = 0.02;

}  // namespace

// What an island has gained in a step, but for what was done to it from outside, beside the energies at hand; joules.
struct Island::EnergyChange {
  double gain = 0;
  double scale = 0;
  bool gained() const { return gain > least_change * scale; }
  bool lost(double known) const { return gain + known < -least_change * scale; }
};

// How far forces go from round to round towards those that the last one found. Forces that come and go settle when they do so
// by small enough parts; while they keep their direction, the parts grow.
class Island::Renewal {
 public:
  // `change`: from the forces that the last round took to those that it found.
  double part(matter::ContactChange change) {
    part_ = change.dot(change_) < 0 ? std::max(smallest, 0.5 * part_) : std::min(1.0, 1.5 * part_);
    change_ = std::move(change);
    return part_;
  }

 private:
  static constexpr double smallest = 1.0 / 16;
  double part_ = 0.5;
  matter::ContactChange change_;
};

Island::Island(const Model& model, std::vector<std::size_t> bodies, std::vector<matter::NodalMatter*> parts)
    : model_(model), bodies_(std::move(bodies)), parts_(std::move(parts)), objective_(&parts_.front()->objective()) {
  add_contact();
}

void Island::add_contact() {
  const bool touching =
      parts_.size() > 1 || (parts_.front()->body().self_contact && parts_.front()->body().contact_body().mesh);
  const bool barriers = touching && model_.body_contact.model == BodyContactModel::Barrier;
  const bool has_energies = std::any_of(parts_.begin(), parts_.end(), [](const matter::NodalMatter* part) {
    return !part->body().energies.empty();
  });
  if (!touching && !has_energies && model_.obstacles.empty()) return;
  std::vector<matter::StepObjective*> objectives;
  std::vector<double> stiffness;
  for (matter::NodalMatter* part : parts_) {
    const matter::StepObjective& objective = *objectives.emplace_back(&part->objective());
    for (std::size_t k = 0; k < objective.masses().size(); ++k) {
      stiffness.push_back(matter::penalty_stiffness(objective.scales().per_block[k],
                                                    objective.masses()[k] * model_.gravity.norm(),
                                                    objective.scales().length));
    }
  }
  joint_ = std::make_unique<matter::IslandObjective>(objectives);
  objective_ = joint_.get();
  add_energies();
  const auto is_penalty = [](const Obstacle& o) { return o.contact == ContactKind::Penalty; };
  if (std::any_of(model_.obstacles.begin(), model_.obstacles.end(), is_penalty)) {
    penalty_ = std::make_unique<matter::ObstaclePenalty>(dimension(), std::move(stiffness));
    joint_->add(*penalty_);
  }
  const auto is_surface = [](const Obstacle& o) { return o.contact == ContactKind::Barrier; };
  if (barriers || (parts_.front()->body().contact_body().mesh &&
                   std::any_of(model_.obstacles.begin(), model_.obstacles.end(), is_surface)))
    add_barrier();
  if (touching && !barriers) {
    std::vector<matter::SelfContactBody> shapes;
    double length = std::numeric_limits<double>::infinity();
    for (const matter::NodalMatter* part : parts_) {
      shapes.push_back(part->body().contact_body());
      if (model_.body_contact.stiffness > 0) shapes.back().stiffness = model_.body_contact.stiffness;
      length = std::min(length, part->objective().scales().length);
    }
    self_contact_ = matter::make_self_contact(dimension(), shapes, length);
    joint_->add(*self_contact_);
  }
  const auto rubs = [](const Obstacle& o) { return o.friction > 0; };
  if (model_.friction_model == FrictionModel::Implicit &&
      ((touching && model_.body_contact.friction > 0) ||
       std::any_of(model_.obstacles.begin(), model_.obstacles.end(), rubs))) {
    friction_ = std::make_unique<matter::FrictionPotential>(dimension());
    joint_->add(*friction_);
  }
}

void Island::add_energies() {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    for (const matter::NodalBody::MakeTerm& make : parts_[b]->body().energies)
      joint_->add(*energies_.emplace_back(make(joint_->first_node(b))));
  }
}

// Between bodies, if that is what the model says, and with the obstacles that are surfaces.
void Island::add_barrier() {
  const bool with_bodies = model_.body_contact.model == BodyContactModel::Barrier;
  std::vector<matter::SelfContactBody> shapes;
  std::vector<double> scale, bearing;
  for (const matter::NodalMatter* part : parts_) {
    matter::SelfContactBody& shape = shapes.emplace_back(part->body().contact_body());
    shape.with_itself = shape.with_itself && with_bodies;
    if (shape.thickness == 0) shape.thickness = model_.body_contact.thickness;
    const std::vector<double>& scales = part->objective().scales().per_block;
    scale.insert(scale.end(), scales.begin(), scales.end());
    bearing.push_back(part->objective().bearing_pressure());
  }
  std::vector<const geometry::Mesh*> obstacles;
  for (std::size_t k = 0; k < model_.obstacles.size(); ++k) {
    if (model_.obstacles[k].contact != ContactKind::Barrier) continue;
    surfaces_.push_back(k);
    obstacles.push_back(model_.obstacles[k].surface.get());
  }
  matter::ContactSurface surface = matter::make_contact_surface(dimension(), shapes, obstacles, model_.body_contact.reach);
  surface.apart = !with_bodies;
  matter::balance_pressures(surface, scale, bearing);
  if (model_.body_contact.stiffness > 0 && with_bodies) {
    for (matter::SurfaceOwner& owner : surface.owners) owner.pressure = model_.body_contact.stiffness;
  }
  barrier_ = std::make_unique<matter::BarrierContact>(std::move(surface));
  joint_->add(*barrier_);
}

bool Island::fits(std::span<const double> choices) const {
  return joint_ ? joint_->constraints().fits(choices) : choices.empty();
}

Island::Place Island::place(int node) const {
  const auto number = static_cast<std::size_t>(node);
  const std::size_t b = joint_->body_of(number);
  return {*parts_[b], number - joint_->first_node(b)};
}

// To their places at the end of the step.
void Island::place_obstacles(const matter::StepTimes& step) {
  constraints_.clear();
  penalties_.clear();
  for (std::size_t k = 0; k < model_.obstacles.size(); ++k) {
    const Obstacle& obstacle = model_.obstacles[k];
    if (obstacle.contact == ContactKind::Barrier) continue;
    (obstacle.contact == ContactKind::Constraint ? constraints_ : penalties_)
        .push_back({geometry::moved(obstacle.shape, obstacle.pose(step.end())), obstacle.stiffness, k});
  }
}

// The vertices of the obstacles that barriers see.
std::vector<Vec3> Island::surfaces_at(double time) const {
  std::vector<Vec3> result;
  for (const std::size_t k : surfaces_) {
    const geometry::RigidPose pose = model_.obstacles[k].pose(time);
    for (const Vec3& v : model_.obstacles[k].surface->vertices) result.push_back(pose.place(v));
  }
  return result;
}

std::vector<double> Island::begin_step(const IslandStart& from, const matter::StepTimes& step, bool falls_back) {
  step_ = step;
  for (std::size_t b = 0; b < parts_.size(); ++b) parts_[b]->begin_step(*from.bodies[b], step, falls_back);
  place_obstacles(step);
  if (joint_) joint_->begin_step(constraints_);
  if (penalty_) penalty_->begin_step(penalties_, joint_->fixed_blocks());
  if (barrier_) {
    std::vector<double> x;
    for (const matter::NodalState* body : from.bodies) x.insert(x.end(), body->x.begin(), body->x.end());
    barrier_->begin_step(x, surfaces_at(step.time), joint_->fixed_blocks(), from.barrier.stiffening);
    barrier_memory_ = from.barrier;
  }
  if (friction_) {
    unforced_.clear();
    for (const matter::NodalMatter* part : parts_)
      unforced_.insert(unforced_.end(), part->unforced().begin(), part->unforced().end());
    first_contacts_.assign(from.contacts.begin(), from.contacts.end());
    begin_friction();
  }
  return first_guess();
}

IslandReport Island::empty_report() const {
  IslandReport report;
  report.bodies = bodies_;
  report.measures = optimize::tests_gradient(model_.solver.stopping.test) ? "residual" : "remaining displacement (m)";
  return report;
}

// The schemes of second order can gain energy where a body is stopped within a step; such a step is taken again with
// backward Euler, which never does.
bool Island::solve(const IslandStart& from, const matter::StepTimes& step, optimize::MinimizerOptions options,
                   IslandReport& result) {
  std::vector<double> reference;
  for (const matter::NodalState* body : from.bodies) reference.insert(reference.end(), body->x.begin(), body->x.end());
  options.reference = reference;
  result = empty_report();
  if (!solve_once(from, step, options, result)) return false;
  const bool second_order = model_.scheme == Scheme::Bdf2 || model_.scheme == Scheme::Trapezoid;
  if (second_order && joint_ && energy_change().gained()) {
    optimize::MinimizerSummary first = std::move(result.solve);
    result = empty_report();
    result.fell_back = true;
    IslandStart again = from;
    again.kept = optimize::without_model(from.kept);  // the weights are others
    const bool solved = solve_once(again, step, options, result);
    first.append(result.solve);
    result.solve = std::move(first);
    if (!solved) return false;
  }
  const bool touches = !from.contacts.empty() || result.contact.obstacle_pairs + result.contact.body_pairs > 0;
  result.impact = looks_for_impacts(step) && touches && energy_change().lost(result.contact.friction_loss);
  return true;
}

bool Island::looks_for_impacts(const matter::StepTimes& step) const {
  return joint_ && model_.scheme != Scheme::Static && model_.impact_step > 0 && step.h > model_.impact_step;
}

bool Island::solve_once(const IslandStart& from, const matter::StepTimes& step,
                        const optimize::MinimizerOptions& options, IslandReport& result) {
  std::vector<double> x = begin_step(from, step, result.fell_back);
  minimizer_->recall(*objective_, from.kept);
  optimize::MinimizerSummary& summary = result.solve;
  optimize::MinimizerSummary arrival;
  const bool arrived = arrive(x, options, arrival);
  if (!arrived && !arrival.has_result()) {
    summary = std::move(arrival);
    return false;
  }
  summary = minimize(x, options, result.contact);
  if (!arrived && summary.has_result()) {
    summary.outcome = arrival.outcome;
    summary.reason = arrival.reason;
  }
  if (!summary.has_result()) return false;
  if (!objective_->space().all_finite(x)) {
    summary.outcome = optimize::Outcome::Failed;
    summary.reason = "the positions that were found are not finite";
    return false;
  }
  std::span<const double> rest = x;
  for (matter::NodalMatter* part : parts_) part->end_step(take_front(rest, *part));
  if (joint_) finish_contacts(x, result.contact);
  return true;
}

// Leads scripted nodes and the surfaces of obstacles to the end of their ways, as far as nothing crosses; what is free makes room in
// between. False: they do not come there; `all` says so, and Failed where the step has to be given up.
bool Island::arrive(std::span<double> x, const optimize::MinimizerOptions& options, optimize::MinimizerSummary& all) {
  if (!barrier_) return true;
  const std::vector<Vec3> surfaces = surfaces_at(step_.end());
  joint_->move_to(x);
  barrier_->begin_iteration();
  optimize::MinimizerOptions few = options;
  few.max_iterations = std::min(iterations_of_arrival, options.max_iterations);
  std::vector<double> goal(x.begin(), x.end());
  for (int k = 0; k < most_arrivals; ++k) {
    linalg::copy(x, goal);
    std::span<double> rest(goal);
    for (const matter::NodalMatter* part : parts_) part->put_scripted(take_front(rest, *part));
    const double part = barrier_->free_part(goal, surfaces);
    barrier_->advance(goal, surfaces, part);
    linalg::copy(goal, x);
    if (part >= 1) return true;
    all.append(minimizer_->minimize(*objective_, x, few));
    if (!all.has_result()) return false;
  }
  all.outcome = surfaces_.empty() ? optimize::Outcome::Unsolvable : optimize::Outcome::Failed;
  all.reason = "what is scripted (handles, obstacles) would have to pass through a surface to come to the end of its way";
  return false;
}

// The normal forces of implicit friction are renewed in every iteration, so that the stopping test is made with those of the
// very point. Where that has not converged in most_renewals iterations they are held fixed, and further rounds follow. What an
// equilibrium takes from where the bodies are is renewed between rounds.
optimize::MinimizerSummary Island::minimize(std::span<double> x, const optimize::MinimizerOptions& options,
                                            ContactReport& report) {
  const bool equilibrium = model_.scheme == Scheme::Static;
  if (friction_) {
    start_renewals();
    joint_->set_renewal([&] { return renew_friction(); });
    joint_->set_revision([&] { return revise_friction(); });
    joint_->set_forgetting([&] {
      begin_friction();
      start_renewals();
    });
  }
  optimize::MinimizerSummary all = minimizer_->minimize(*objective_, x, options);
  if (friction_) {
    joint_->set_renewal({});
    joint_->set_revision({});
    joint_->set_forgetting({});
  }
  bool settled = (!friction_ || renewed_) && !equilibrium;
  Renewal renewal;
  for (report.rounds = 1; all.converged() && !settled;) {
    if (report.rounds == most_rounds) {
      all.outcome = optimize::Outcome::IterationLimit;
      all.reason = fmt::format("the forces of friction or loads that follow the body have not settled in {} rounds",
                               most_rounds);
      break;
    }
    ++report.rounds;
    if (equilibrium && !hold_at(x)) {
      all.outcome = optimize::Outcome::Failed;
      all.reason = "there is no equilibrium: nothing holds the body";
      break;
    }
    if (friction_ && report.rounds == holding_round) {
      joint_->move_to(x);
      joint_->settle();
    }
    settled = another_round(x, options, renewal, all);
  }
  return all;
}

// Goes on with what the last round left. True: that passed the stopping test, with the forces of friction renewed in full.
bool Island::another_round(std::span<double> x, const optimize::MinimizerOptions& options, Renewal& renewal,
                           optimize::MinimizerSummary& all) {
  if (friction_) {
    const std::vector<matter::Contact> old = contacts_;
    take_friction(contacts_at(x), x);
    optimize::MinimizerOptions test = options;
    test.max_iterations = 0;
    all.append(minimizer_->minimize(*objective_, x, test));
    if (all.converged()) return true;
    const double part = renewal.part({old, contacts_});
    take_friction(matter::between(old, contacts_, part), x);
  }
  const optimize::MinimizerSummary next = minimizer_->minimize(*objective_, x, options);
  all.append(next);
  return next.converged() && next.iterations == 0 && !friction_;
}

// Loads that follow the bodies to x, and inertia that holds them there. False: a body went too far to be held by
// anything.
bool Island::hold_at(std::span<const double> x) {
  return std::all_of(parts_.begin(), parts_.end(),
                     [&](matter::NodalMatter* part) { return part->hold_at(take_front(x, *part)); });
}

// From the beginning of the step to its end. Moving obstacles, handles and loads are outside; the nodes that handles lead
// have no kinetic energy and no weight here.
Island::EnergyChange Island::energy_change() {
  double before = 0, after = 0, scale = 0, work = 0;
  std::vector<double> start, end;
  for (matter::NodalMatter* part : parts_) {
    const matter::NodalState& now = part->from();
    const int d = part->dimension();
    matter::StepObjective& objective = part->objective();
    const auto masses = objective.masses();
    double lifted = 0;
    for (std::size_t k = 0; k < masses.size(); ++k) {
      work += step_.h * node(part->contact_force(), k, d).dot(node(part->carried(), k, d));
      if (part->fixed()[k]) continue;
      before += 0.5 * masses[k] * node(now.v, k, d).squaredNorm();
      after += 0.5 * masses[k] * node(part->end().v, k, d).squaredNorm();
      lifted -= masses[k] * model_.gravity.dot(node(part->end().x, k, d) - node(now.x, k, d));
    }
    objective.move_to(part->end().x);
    const double strained = objective.potential();
    objective.move_to(now.x);
    before += objective.potential();
    after += lifted + strained;
    scale += std::abs(lifted) + strained;
    work += work_from_outside(*part);
    start.insert(start.end(), now.x.begin(), now.x.end());
    end.insert(end.end(), part->end().x.begin(), part->end().x.end());
  }
  const double further = further_energies(end);
  before += further_energies(start);
  after += further;
  scale += further;
  return {after - before - work, before + scale + std::abs(work)};
}

double Island::further_energies(std::span<const double> x) {
  double sum = 0;
  for (const auto& energy : energies_) {
    energy->move_to(x);
    sum += energy->value();
  }
  return sum;
}

// What loads did to a body in the step that is being taken, and what the nodes that handles lead did to its other nodes
// and to the bodies it touches: displacement times the mean of the forces at both ends of the step, which is exact for
// the trapezoid rule and a linear body. Stiffness damping is that of the difference of the elastic forces.
double Island::work_from_outside(matter::NodalMatter& part) {
  const matter::NodalBody& body = part.body();
  const std::vector<double>&before = part.from().x, &after = part.end().x;
  const auto d = static_cast<std::size_t>(part.dimension());
  const bool led = std::find(part.fixed().begin(), part.fixed().end(), 1) != part.fixed().end();
  if (!led && !body.has_outside()) return 0;
  std::vector<double> elastic(before.size()), elastic_before(before.size()), load_before(before.size(), 0.0);
  part.objective().move_to(after);
  part.objective().potential_gradient(elastic);
  part.objective().move_to(before);
  part.objective().potential_gradient(elastic_before);
  body.add_outside(before, step_.time, load_before);
  const double damped = body.stiffness_damping / step_.h;
  double work = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const double load = part.outside().empty() ? 0 : 0.5 * (load_before[k] + part.outside()[k]);
    const double handed_on = 0.5 * (elastic[k] + elastic_before[k]) + damped * (elastic[k] - elastic_before[k]) -
                             part.contact_force()[k];
    work += (part.fixed()[k / d] ? handed_on : load) * (after[k] - before[k]);
  }
  return work;
}

}  // namespace lope::step
