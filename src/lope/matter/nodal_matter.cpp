#include <lope/base/errors.h>
#include <lope/geometry/drawable.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/rigid_fit.h>
#include <lope/linalg/space.h>
#include <lope/matter/nodal_matter.h>

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::matter {
namespace {

// Of the square of the highest frequency: the weight per mass with which an equilibrium is held where the last round
// left it, so that it is unique although nothing holds a body. Rounds take it away again: each leaves the part w/(ω² + w)
// of the error in a mode of frequency ω.
constexpr double holding = 1e-10;

// A body that goes farther than this many times its size in search of an equilibrium has none.
constexpr double too_far = 100;

// Times are compared with this slack (a fraction of the step), so that "release at 1 s" is not decided by
// rounding.
constexpr double time_slack = 1e-6;

// Of handles in a state; more is damage.
constexpr std::int64_t most_handles = 1 << 20;

// A handle guides the steps that end after `begin` and not after `end`.
bool holds(const Handle& handle, double end_of_step, double h) {
  const double slack = time_slack * h;
  return end_of_step > handle.begin + slack && end_of_step <= handle.end + slack;
}

// About the square of the highest frequency of a body, 1/s²: a node with its one-ring clamped, K ~ ξℓ/r with r the
// distance of nodes.
double squared_frequency(const StepObjective& objective) {
  const optimize::CharacteristicScales& scales = objective.scales();
  const double distance =
      scales.length / std::pow(static_cast<double>(scales.per_block.size()), 1.0 / objective.dimension());
  double largest = 0;
  for (std::size_t i = 0; i < scales.per_block.size(); ++i)
    largest = std::max(largest, scales.per_block[i] / (distance * objective.masses()[i]));
  return largest;
}

std::vector<double> interleave(const std::vector<Vec3>& points, int dimension) {
  std::vector<double> result;
  result.reserve(points.size() * static_cast<std::size_t>(dimension));
  for (const Vec3& p : points) result.insert(result.end(), p.data(), p.data() + dimension);
  return result;
}

// The name of a handle, or its number where it has none of its own.
std::string handle_name(const std::vector<Handle>& handles, std::size_t number) {
  const std::string& name = handles[number].name;
  const auto bearers = std::count_if(handles.begin(), handles.end(), [&](const Handle& h) { return h.name == name; });
  return name.empty() || bearers > 1 ? std::to_string(number) : name;
}

}  // namespace

std::vector<ArrayView> NodalState::arrays() const {
  std::vector<ArrayView> result = {view("x", x), view("v", v), view("previous_x", previous_x),
                                   view("previous_v", previous_v), view("a", a)};
  for (std::size_t j = 0; j < anchors.size(); ++j) result.push_back(view(fmt::format("anchor{}", j), anchors[j]));
  return result;
}

void NodalState::read(ArrayReader& reader) {
  x = reader.numbers("x");
  v = reader.numbers("v");
  previous_x = reader.numbers("previous_x");
  previous_v = reader.numbers("previous_v");
  a = reader.numbers("a");
  anchors.clear();
  for (std::int64_t j = 0; j < most_handles && reader.has(fmt::format("anchor{}", j)); ++j)
    anchors.push_back(reader.numbers(fmt::format("anchor{}", j)));
}

std::vector<double> Handle::places(std::span<const double> anchor, double time) const {
  std::vector<double> result(anchor.size());
  if (script) {
    script(time, anchor, result);
    return result;
  }
  for (std::size_t k = 0; k < anchor.size(); k += 3) {
    const Vec3 p = motion.position(Eigen::Map<const Vec3>(&anchor[k]), time);
    std::copy_n(p.data(), 3, &result[k]);
  }
  return result;
}

void NodalBody::add_outside(std::span<const double> x, double time, std::span<double> force,
                            double slack) const {
  add_loads(loads, dimension, x, time, force, slack);
  for (const Force& add : forces) add(time, x, force);
}

NodalMatter::NodalMatter(const NodalBody& body, const World& world, std::unique_ptr<StepObjective> objective)
    : body_(body), world_(world), objective_(std::move(objective)) {
  fixed_.resize(body.rest_positions().size());
  work_.resize(objective_->size());
  contact_force_.assign(objective_->size(), 0.0);
}

NodalState NodalMatter::first_state() {
  NodalState state;
  state.x = interleave(body_.initial_positions.empty() ? body_.rest_positions() : body_.initial_positions,
                       body_.dimension);
  state.v = body_.initial_velocities.empty() ? std::vector<double>(state.x.size(), 0.0)
                                             : interleave(body_.initial_velocities, body_.dimension);
  state.previous_x = state.x;
  state.previous_v = state.v;
  state.a.assign(state.x.size(), 0.0);
  state.anchors.resize(body_.handles.size());
  leave_obstacles(state);
  if (world_.scheme == Scheme::Trapezoid) free_acceleration(state.x, 0, state.a);
  return state;
}

void NodalMatter::leave_obstacles(NodalState& state) const {
  std::vector<const geometry::LevelSet*> constraints;
  for (const Obstacle& obstacle : world_.obstacles) {
    if (obstacle.contact == ContactKind::Constraint) constraints.push_back(obstacle.shape.get());
  }
  if (constraints.empty()) return;
  std::vector<bool> held(fixed_.size(), false);
  for (const Handle& handle : body_.handles) {
    if (handle.begin > 0) continue;
    for (const int i : handle.vertices) held[static_cast<std::size_t>(i)] = true;
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i]) continue;
    const Vec3 free = geometry::project_to_free_side(constraints, node(state.x, i, dimension())).x;
    std::copy_n(free.data(), dimension(), state.x.data() + i * static_cast<std::size_t>(dimension()));
  }
  state.previous_x = state.x;
}

// a = M⁻¹f(x) + g; damping is left out, so a damped trapezoid run should start at rest.
void NodalMatter::free_acceleration(std::span<const double> x, double time, std::vector<double>& a) {
  const auto d = static_cast<std::size_t>(dimension());
  objective_->set_time(time);
  objective_->move_to(x);
  objective_->potential_gradient(work_);
  std::vector<double> outside(a.size(), 0.0);
  body_.add_outside(x, time, outside);
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = world_.gravity[static_cast<Eigen::Index>(k % d)] + (outside[k] - work_[k]) / objective_->masses()[k / d];
  }
}

Expected<void> NodalMatter::fits(const BodyState& saved) const {
  const auto* state = dynamic_cast<const NodalState*>(&saved);
  if (!state) return input_error("body '{}' is another kind of matter in the saved state", body_.name);
  for (const auto* values : {&state->x, &state->v, &state->previous_x, &state->previous_v, &state->a}) {
    if (values->size() != objective_->size()) {
      return input_error("body '{}' has {} vertices in the saved state, not the scene's {}", body_.name,
                         values->size() / static_cast<std::size_t>(dimension()), fixed_.size());
    }
  }
  if (state->anchors.size() != body_.handles.size()) {
    return input_error("body '{}' has {} handles in the saved state, not the scene's {}", body_.name,
                       state->anchors.size(), body_.handles.size());
  }
  for (std::size_t j = 0; j < state->anchors.size(); ++j) {
    const std::size_t held = state->anchors[j].size() / 3, expected = body_.handles[j].vertices.size();
    if (!state->anchors[j].empty() && state->anchors[j].size() != 3 * expected) {
      return input_error("handle {} of body '{}' holds {} vertices in the saved state, not the scene's {}", j,
                         body_.name, held, expected);
    }
  }
  return {};
}

void NodalMatter::begin_step(const NodalState& from, const StepTimes& step, bool falls_back) {
  from_ = &from;
  step_ = step;
  led_to_state_ = false;
  taken_.clear();
  std::fill(fixed_.begin(), fixed_.end(), std::uint8_t{0});
  scripted_.resize(from.x.size());
  const auto d = static_cast<std::size_t>(dimension());
  for (std::size_t j = 0; j < body_.handles.size(); ++j) {
    const Handle& handle = body_.handles[j];
    if (!holds(handle, step.end(), step.h)) continue;
    const std::vector<double> places = handle.places(anchor_of(j), step.end() - handle.begin);
    for (std::size_t k = 0; k < handle.vertices.size(); ++k) {
      const auto i = static_cast<std::size_t>(handle.vertices[k]);
      fixed_[i] = 1;
      for (std::size_t c = 0; c < d; ++c) scripted_[i * d + c] = places[3 * k + c];
    }
  }
  const bool same_h = step.steps > 0 && std::abs(step.h - step.previous_h) <= 1e-12 * step.h;
  scheme_ = falls_back ? Scheme::BackwardEuler : effective_scheme(world_.scheme, same_h);
  start_a_ = start_accelerations();
  unforced_.resize(from.x.size());
  linalg::add_scaled(from.x, step.h, from.v, unforced_);
  scheme_terms(scheme_, step.h, from, start_a_, std::span<const double>(world_.gravity.data(), d), terms_,
               world_.dissipation);
  if (scheme_ == Scheme::Static) terms_.inertia = holding * squared_frequency(*objective_);
  apply_loads(from.x);
  begin_objective();
}

// The forces from outside at the end of the step, with the nodes at x.
void NodalMatter::apply_loads(std::span<const double> x) {
  const bool equilibrium = world_.scheme == Scheme::Static;
  if (!body_.has_outside() && !equilibrium) return;
  outside_.assign(x.size(), 0.0);
  body_.add_outside(x, step_.end(), outside_, time_slack * step_.h);
  const auto d = static_cast<std::size_t>(dimension());
  for (std::size_t k = 0; k < x.size() && equilibrium; ++k)
    outside_[k] += objective_->masses()[k / d] * world_.gravity[static_cast<Eigen::Index>(k % d)];
}

void NodalMatter::begin_objective() {
  const bool equilibrium = world_.scheme == Scheme::Static;
  objective_->set_time(step_.end());
  objective_->begin_step({terms_.inertia, terms_.target, equilibrium ? 0 : terms_.damping,
                          terms_.damping_target, from_->x, fixed_, outside_, unforced_});
}

// Where the vertices of a handle were when it took hold: now, if it does so in this step.
std::span<const double> NodalMatter::anchor_of(std::size_t handle) {
  if (!from_->anchors[handle].empty()) return from_->anchors[handle];
  auto& [number, anchor] = taken_.emplace_back(handle, std::vector<double>());
  for (const int i : body_.handles[handle].vertices) {
    const Vec3 p = node(from_->x, static_cast<std::size_t>(i), dimension());
    anchor.insert(anchor.end(), p.data(), p.data() + 3);
  }
  return anchor;
}

// The acceleration of a scripted node says nothing about the forces on it. When a handle lets go, its nodes
// begin with what the forces give them.
std::span<const double> NodalMatter::start_accelerations() {
  if (scheme_ != Scheme::Trapezoid || step_.steps == 0) return from_->a;
  const auto d = static_cast<std::size_t>(dimension());
  std::vector<double> free;
  for (const Handle& handle : body_.handles) {
    if (!holds(handle, step_.time, step_.previous_h)) continue;
    for (const int vertex : handle.vertices) {
      const auto i = static_cast<std::size_t>(vertex);
      if (fixed_[i]) continue;
      if (free.empty()) {
        free.resize(from_->a.size());
        free_acceleration(from_->x, step_.time, free);
        released_a_ = from_->a;
      }
      std::copy_n(free.data() + i * d, d, released_a_.data() + i * d);
    }
  }
  return free.empty() ? from_->a : released_a_;
}

bool NodalMatter::hold_at(std::span<const double> x) {
  std::vector<double> moved(x.size());
  linalg::add_scaled(x, -1, from_->x, moved);
  if (objective_->space().max_block_norm(moved, dimension()) > too_far * objective_->scales().length) return false;
  terms_.target.assign(x.begin(), x.end());
  apply_loads(x);
  begin_objective();
  return true;
}

void NodalMatter::end_step(std::span<const double> x) {
  finish_step(scheme_, step_.h, x, fixed_, terms_, *from_, start_a_, end_);
}

void NodalMatter::put_scripted(std::span<double> x) const {
  const std::size_t d = x.size() / fixed_.size();
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (fixed_[k / d]) x[k] = scripted_[k];
  }
}

bool NodalMatter::same_handles(const StepTimes& a, const StepTimes& b) const {
  return std::all_of(body_.handles.begin(), body_.handles.end(), [&](const Handle& handle) {
    return holds(handle, a.end(), a.h) == holds(handle, b.end(), b.h);
  });
}

std::vector<double> NodalMatter::fitted_rest_shape(std::span<const double> x) const {
  std::vector<Vec3> shape = body_.rest_positions(), places(shape.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = node(x, i, dimension());
  const geometry::RigidPose pose = geometry::rigid_fit(dimension(), shape, places, objective_->masses());
  for (Vec3& p : shape) p = pose.place(p);
  return interleave(shape, dimension());
}

void NodalMatter::swap_anchors(NodalState& state) {
  for (auto& [handle, anchor] : taken_) state.anchors[handle].swap(anchor);
}

void NodalMatter::commit(BodyState& state) {
  auto& mine = dynamic_cast<NodalState&>(state);
  matter::commit(mine, end_);
  swap_anchors(mine);
  led_to_state_ = true;
}

void NodalMatter::take_back(BodyState& state) {
  auto& mine = dynamic_cast<NodalState&>(state);
  matter::take_back(mine, end_);
  swap_anchors(mine);
}

BodyReport NodalMatter::report(const BodyState& state, const StepTimes& last) {
  const auto& now = dynamic_cast<const NodalState&>(state);
  const int d = dimension();
  BodyReport result;
  result.name = body_.name;
  result.kind = body_.kind();
  objective_->set_time(last.end());
  objective_->move_to(now.x);
  result.energy.elastic = objective_->potential();
  result.angular_momentum = Vec3::Zero();
  const auto masses = objective_->masses();
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const Vec3 x = node(now.x, i, d), v = node(now.v, i, d);
    result.energy.kinetic += 0.5 * masses[i] * v.squaredNorm();
    result.energy.gravity -= masses[i] * world_.gravity.dot(x);
    result.momentum += masses[i] * v;
    *result.angular_momentum +=
        masses[i] * Vec3(x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2], x[0] * v[1] - x[1] * v[0]);
  }
  result.add("inverted_elements", "", std::int64_t{objective_->inverted_elements()});
  if (led_to_state_) report_handles(now, last, result);
  return result;
}

// What the handles did to their vertices in the step that led to the state: mass times acceleration, less the other
// forces, inner and outer, damping among them.
void NodalMatter::report_handles(const NodalState& now, const StepTimes& last, BodyReport& result) {
  const int d = dimension();
  const Vec3 gravity = world_.scheme == Scheme::Static ? Vec3(Vec3::Zero()) : world_.gravity;  // then in `outside_`
  objective_->potential_gradient(work_);
  objective_->add_damping_gradient(work_);
  for (std::size_t j = 0; j < body_.handles.size(); ++j) {
    const Handle& handle = body_.handles[j];
    if (!holds(handle, last.end(), last.h)) continue;
    Vec3 center = Vec3::Zero(), force = Vec3::Zero(), torque = Vec3::Zero();
    for (const int i : handle.vertices) center += node(now.x, static_cast<std::size_t>(i), d);
    center /= static_cast<double>(handle.vertices.size());
    for (const int vertex : handle.vertices) {
      const auto i = static_cast<std::size_t>(vertex);
      Vec3 own = objective_->masses()[i] * (node(now.a, i, d) - gravity) + node(work_, i, d) -
                 node(contact_force_, i, d);
      if (d == 2) own[2] = 0;
      if (!outside_.empty()) own -= node(outside_, i, d);
      force += own;
      torque += (node(now.x, i, d) - center).cross(own);
    }
    const std::string name = "handles/" + handle_name(body_.handles, j);
    result.add(name + "/force", "N", force);
    result.add(name + "/torque", "N m", torque);
  }
}

std::vector<Field> NodalMatter::fields(const BodyState& state, const FieldFilter& wanted) {
  const auto& now = dynamic_cast<const NodalState&>(state);
  const int d = dimension();
  const auto velocity = [&](std::size_t i) { return node(now.v, i, d); };
  const auto contact = [&](std::size_t i) -> Vec3 {
    return led_to_state_ ? node(contact_force_, i, d) : Vec3(Vec3::Zero());
  };
  objective_->move_to(now.x);
  std::vector<Field> result = objective_->fields(wanted);
  const auto add = [&](const char* name, const char* unit, int components, const auto& value_at) {
    if (!wanted(name)) return;
    Field& field = result.emplace_back(Field{name, unit, Field::Place::Vertex, {}, components});
    field.values.reserve(fixed_.size() * static_cast<std::size_t>(components));
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      const Vec3 value = value_at(i);
      if (components == 1) {
        field.values.push_back(value.norm());
      } else {
        field.values.insert(field.values.end(), value.data(), value.data() + 3);
      }
    }
  };
  add("displacement", "m", 3, [&](std::size_t i) -> Vec3 { return node(now.x, i, d) - body_.rest_positions()[i]; });
  add("velocity", "m/s", 3, velocity);
  add("speed", "m/s", 1, velocity);
  add("contact_force", "N", 1, contact);
  if (led_to_state_ && wanted("residual")) objective_->gradient(work_);
  add("residual", "N", 1, [&](std::size_t i) -> Vec3 {
    return led_to_state_ ? Vec3(node(work_, i, d) - contact(i)) : Vec3(Vec3::Zero());
  });
  return result;
}

void NodalMatter::draw(const BodyState& state, double /*time*/, const FieldFilter& wanted, geometry::Drawable& drawable) {
  const auto& now = dynamic_cast<const NodalState&>(state);
  const auto d = static_cast<std::size_t>(dimension());
  geometry::DrawnSurface& surface = drawable.surface;
  surface.positions.assign(fixed_.size() * 3, 0.0F);
  for (std::size_t k = 0; k < now.x.size(); ++k) surface.positions[k / d * 3 + k % d] = static_cast<float>(now.x[k]);
  for (const Field& field : fields(state, wanted)) {
    auto& drawn = field.place == Field::Place::Vertex ? surface.vertex_fields : surface.element_fields;
    drawn.push_back({field.name, field.unit, field.components, std::vector<float>(field.values.begin(), field.values.end())});
  }
}

}  // namespace lope::matter
