// What touches in an island, friction between what touches, and what contact does at the end of a step.
#include <lope/matter/contact/friction.h>
#include <lope/step/island.h>

#include <algorithm>
#include <array>
#include <limits>

namespace lope::step {
namespace {

using matter::node;

// What sticks creeps more slowly than this fraction of the smallest body's size per second.
constexpr double creep_speed = 1e-4;
// … or, while its body slides elsewhere, than this part of the fastest contact's way.
constexpr double creep_of_slide = 0.01;

// Iterations in which the normal forces of friction are renewed; afterwards they are renewed between rounds.
constexpr int most_renewals = 30;

// Of all normal forces: a direction is not found anew for less.
constexpr double settled_change = 0.01;

}  // namespace

std::vector<matter::Contact> Island::contacts_at(std::span<const double> x) {
  joint_->move_to(x);
  joint_->begin_iteration();
  return contacts_of();
}

// What touches at the current point of the objective, in a fixed order.
std::vector<matter::Contact> Island::contacts_of() {
  std::vector<matter::Contact> result;
  for (const matter::ActivePair& pair : joint_->constraints().active()) {
    const std::size_t number = constraints_[static_cast<std::size_t>(pair.obstacle)].number;
    result.push_back({{pair.node, 0, 0, 0}, {1, 0, 0, 0}, static_cast<int>(number), pair.normal, pair.force});
  }
  if (self_contact_) {
    for (const matter::SelfContactPair& pair : self_contact_->pairs()) {
      matter::Contact& contact = result.emplace_back();
      contact.node = pair.node;
      for (std::size_t k = 0; k < 4; ++k) contact.weight[k] = -pair.weight[k];
      contact.normal = pair.normal;
      contact.force = pair.force;
    }
  }
  if (barrier_) {
    for (const matter::BarrierPair& pair : barrier_->pairs()) result.push_back(contact_of(pair));
  }
  if (!penalty_) return result;
  for (const matter::ObstaclePenalty::Pair& pair : penalty_->pairs()) {
    const std::size_t number = penalties_[static_cast<std::size_t>(pair.obstacle)].number;
    const Vec3 force = pair.force();
    const double size = force.norm();
    if (size > 0) result.push_back({{pair.node, 0, 0, 0}, {1, 0, 0, 0}, static_cast<int>(number), force / size, size});
  }
  return result;
}

// Of an obstacle's surface only the bodies' nodes remain, with weights that add to 1. Nodes of the pair that the closest features do not
// include keep their places: the contact stays the same one when the features change.
matter::Contact Island::contact_of(const matter::BarrierPair& pair) const {
  const matter::ContactSurface& surface = barrier_->surface();
  matter::Contact contact;
  contact.weight[0] = 0;
  contact.normal = pair.normal;
  contact.force = pair.force;
  std::size_t count = 0;
  double total = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    if (pair.node[k] >= surface.body_nodes) {
      const int owner = surface.owner[static_cast<std::size_t>(pair.node[k])] - surface.bodies;
      contact.obstacle = static_cast<int>(surfaces_[static_cast<std::size_t>(owner)]);
      continue;
    }
    contact.node[count] = pair.node[k];
    contact.weight[count++] = pair.weight[k];
    total += pair.weight[k];
  }
  if (contact.obstacle >= 0 && total < 0) {
    for (double& weight : contact.weight) weight = -weight;
    contact.normal = -contact.normal;
  }
  return contact;
}

double Island::friction_of(const matter::Contact& contact) const {
  return contact.obstacle < 0 ? model_.body_contact.friction
                              : model_.obstacles[static_cast<std::size_t>(contact.obstacle)].friction;
}

// Friction with the normal forces at the current point; true if something rubs, or did. The first iterate of a step is a
// guess, at which last step's forces are better than its own.
// Where a direction led with the forces that were foreseen there, those of the point itself mean something once it is in balance: before, they are
// stiffnesses times errors of positions.
bool Island::renew_friction() {
  const bool guessed = renewals_ == 0 && !friction_->contacts().empty();
  const bool better = guessed || (foreseen_ && !joint_->is_balanced());
  renewed_ = !better && renewals_ < most_renewals;
  ++renewals_;
  return renewed_ && take_friction(contacts_of(), joint_->point());
}

// The same with the normal forces that constraints will exert where a direction leads. False if they are about those that the direction
// was found with.
bool Island::revise_friction() {
  if (renewals_ >= most_renewals) return false;
  std::vector<matter::Contact> contacts = contacts_of();
  double all = 0;
  for (const matter::Contact& contact : contacts) all += contact.force;
  if (matter::ContactChange(contacts_, contacts).size() <= settled_change * all) return false;
  foreseen_ = true;
  return take_friction(std::move(contacts), joint_->point());
}

// With the normal forces at the end of the last step.
void Island::begin_friction() { take_friction(first_contacts_, unforced_); }

void Island::start_renewals() {
  renewals_ = 0;
  renewed_ = false;
  foreseen_ = false;
}

// False: nothing rubs, and nothing did.
bool Island::take_friction(std::vector<matter::Contact> contacts, std::span<const double> x) {
  contacts_ = std::move(contacts);
  const bool rubbed = !friction_->contacts().empty();
  set_friction(contacts_, x);
  return rubbed || !friction_->contacts().empty();
}

// Friction for the contacts as they were at x. What sticks while other contacts of its body slide may creep by a part of
// their way: a sharper kink would cost many iterations at impacts and tell no more.
void Island::set_friction(std::span<const matter::Contact> contacts, std::span<const double> x) {
  std::vector<matter::FrictionContact> rubbing;
  std::vector<double> longest(parts_.size(), 0.0);
  const auto body_of = [&](const matter::FrictionContact& contact) {
    return joint_->body_of(static_cast<std::size_t>(contact.node[0]));
  };
  for (const matter::Contact& contact : contacts) {
    if (!(friction_of(contact) * contact.force > 0)) continue;
    const matter::FrictionContact& made = rubbing.emplace_back(sliding(contact, x));
    double& way = longest[body_of(made)];
    way = std::max(way, friction_->slide(x, made).norm());
  }
  const double w = parts_.front()->terms().damping;  // the same for all
  const double least = creep_speed * objective_->scales().length / w;
  for (matter::FrictionContact& contact : rubbing)
    contact.creep = std::max(least, creep_of_slide * longest[body_of(contact)]);
  friction_->set(std::move(rubbing));
}

matter::FrictionContact Island::sliding(const matter::Contact& contact, std::span<const double> x) const {
  const int d = dimension();
  matter::FrictionContact result{contact.node, contact.weight, contact.normal,
                                 friction_of(contact) * contact.force, Vec3::Zero(), 0};
  for (std::size_t k = 0; k < 4; ++k) {
    if (contact.weight[k] == 0) continue;
    const auto [body, i] = place(contact.node[k]);
    const double w = body.terms().damping;
    Vec3 still = node(body.terms().damping_target, i, d);
    if (body.fixed()[i]) {  // its velocity is that of its script
      const Vec3 end = node(body.scripted(), i, d);
      still = end - (end - node(body.from().x, i, d)) / (step_.h * w);
    }
    if (contact.obstacle >= 0) still += carried_by(contact, node(x, static_cast<std::size_t>(contact.node[k]), d)) / w;
    result.rest += contact.weight[k] * still;
  }
  return result;
}

// A force along a contact, on its nodes.
void Island::push(const matter::Contact& contact, const Vec3& force) {
  const auto d = static_cast<std::size_t>(dimension());
  for (std::size_t k = 0; k < 4; ++k) {
    if (contact.weight[k] == 0) continue;
    const auto [body, i] = place(contact.node[k]);
    for (std::size_t c = 0; c < d; ++c)
      body.contact_force()[i * d + c] += contact.weight[k] * force[static_cast<Eigen::Index>(c)];
  }
}

// What the contacts did, at the solution x.
void Island::finish_contacts(std::span<const double> x, ContactReport& report) {
  for (matter::NodalMatter* part : parts_) {
    std::fill(part->contact_force().begin(), part->contact_force().end(), 0.0);
    part->carried().assign(part->contact_force().size(), 0.0);
  }
  report.obstacle_force.assign(model_.obstacles.size(), Vec3::Zero());
  const std::vector<matter::Contact> contacts = contacts_at(x);
  if (!friction_ && model_.impact_step > 0) contacts_ = contacts;
  for (const matter::Contact& contact : contacts) {
    push(contact, contact.force * contact.normal);
    if (contact.obstacle >= 0)
      report.obstacle_force[static_cast<std::size_t>(contact.obstacle)] += contact.force * contact.normal;
    ++(contact.obstacle < 0 ? report.body_pairs : report.obstacle_pairs);
    if (contact.obstacle >= 0) note_carried(contact);
    if (model_.friction_model == FrictionModel::Gast15) slide(contact);
  }
  if (friction_) add_friction_forces(report);
  if (model_.scheme == Scheme::Bdf2 || model_.scheme == Scheme::Trapezoid) {
    for (const matter::Contact& contact : contacts) come_to_rest(contact);
  }
  joint_->let_go();  // depths are those of everything inside, whatever the solution looked at
  if (self_contact_) report.deepest = self_contact_->deepest();
  if (barrier_) {
    report.smallest_gap = barrier_->smallest_gap();
    barrier_memory_ = matter::next(barrier_memory_, barrier_->smallest_part());
  }
  report.deepest = std::max(report.deepest, joint_->constraints().deepest(x).depth);
  if (!penalty_) return;
  for (const matter::ObstaclePenalty::Pair& pair : penalty_->pairs())
    report.deepest = std::max(report.deepest, -pair.at.value);
}

// The contacts of friction are those of contacts_ that rub, in their order.
void Island::add_friction_forces(ContactReport& report) {
  std::size_t next = 0;
  for (const matter::Contact& contact : contacts_) {
    if (!(friction_of(contact) * contact.force > 0)) continue;
    const Vec3 force = friction_->force(friction_->contacts()[next++]);
    push(contact, force);
    if (contact.obstacle >= 0) report.obstacle_force[static_cast<std::size_t>(contact.obstacle)] += force;
  }
  report.friction_loss = friction_->loss() * step_.h * parts_.front()->terms().damping;
}

// The velocity of the obstacle that nodes touch.
void Island::note_carried(const matter::Contact& contact) {
  for (std::size_t k = 0; k < 4; ++k) {
    if (contact.weight[k] == 0) continue;
    const auto [body, i] = place(contact.node[k]);
    const Vec3 carried = carried_by(contact, node(body.end().x, i, dimension()));
    std::copy_n(carried.data(), dimension(), body.carried().data() + i * static_cast<std::size_t>(dimension()));
  }
}

Vec3 Island::carried_by(const matter::Contact& contact, const Vec3& x) const {
  const Obstacle& obstacle = model_.obstacles[static_cast<std::size_t>(contact.obstacle)];
  return geometry::carried_velocity(obstacle.pose(step_.time), obstacle.pose(step_.end()), step_.h, x);
}

// A node that a constraint holds ends the step with the obstacle's normal velocity, as backward Euler gives it. The
// second-order schemes extrapolate the way it came: they would throw it back.
void Island::come_to_rest(const matter::Contact& contact) {
  if (contact.obstacle < 0) return;
  if (model_.obstacles[static_cast<std::size_t>(contact.obstacle)].contact != ContactKind::Constraint) return;
  const auto [body, i] = place(contact.node[0]);
  const int d = dimension();
  matter::StepEnd& end = body.end();
  const Vec3 carried = carried_by(contact, node(end.x, i, d));
  const Vec3 v = contact.normal.dot(node(end.v, i, d) - carried) * contact.normal;
  const Vec3 a = contact.normal.dot(node(end.a, i, d)) * contact.normal;
  for (int c = 0; c < d; ++c) {
    end.v[i * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)] -= v[c];
    end.a[i * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)] -= a[c];
  }
}

// OPT §5.1–5.3: every contact in turn changes the velocities that the one before left. A force f of the step changed
// the velocity by w c h² f/m, which is h f/m in backward Euler.
void Island::slide(const matter::Contact& contact) {
  const auto d = static_cast<std::size_t>(dimension());
  std::array<Vec3, 4> v;
  std::array<double, 4> mass;
  std::array<double*, 4> velocity{};
  double duration = step_.h;
  for (std::size_t k = 0; k < 4; ++k) {
    v[k].setZero();
    mass[k] = 1;
    if (contact.weight[k] == 0) continue;
    const auto [body, i] = place(contact.node[k]);
    duration = body.terms().damping / body.terms().inertia;
    v[k] = node(body.end().v, i, dimension());
    mass[k] = body.fixed()[i] ? std::numeric_limits<double>::infinity() : body.objective().masses()[i];
    velocity[k] = body.end().v.data() + i * d;
    if (contact.obstacle >= 0) {
      const Vec3 carried = carried_by(contact, node(body.end().x, i, dimension()));
      v[k] = matter::slide(v[k], carried, contact.normal, contact.weight[k] * contact.force, mass[k], friction_of(contact), duration);
    }
  }
  if (contact.obstacle < 0)
    matter::slide(v, mass, contact.weight, contact.normal, contact.force, friction_of(contact), duration);
  for (std::size_t k = 0; k < 4; ++k) {
    if (velocity[k]) std::copy_n(v[k].data(), d, velocity[k]);
  }
}

}  // namespace lope::step
