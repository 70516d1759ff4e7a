#include <lope/linalg/space.h>
#include <lope/matter/island_objective.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace lope::matter {
namespace {

// Nodes nearer to an obstacle than this fraction of the smallest body touch it, and are moved onto it while they are
// held: a tenth of the floor of the stopping test (displacement_budget.h), since a longer move changes the energy by more
// than a last step can win. With rounding in its place, nodes that are released and caught again by turns can
// stop each other (the zigzagging of projected gradients; Bertsekas 1982). Where revise() decides what is held there is no
// zigzagging, and what is held wrongly costs a stiff body newtons per nanometre.
constexpr double touching = 1e-9, touching_revised = 1e-12;

// Of the normal forces on a body, the part that may be wrong. They decide friction: without this the weight of a block of steel, whose nodes carry
// tens of newtons per nanometre, rests on the floor with errors that friction, which has no negative normal forces, adds up.
constexpr double imbalance = 0.01;
// … for which it need not be known better where a direction leads.
constexpr double model_imbalance = 0.05;

std::shared_ptr<const linalg::BlockPattern> joint_pattern(const std::vector<StepObjective*>& bodies) {
  std::vector<std::shared_ptr<const linalg::BlockPattern>> parts;
  for (const StepObjective* body : bodies) parts.push_back(body->pattern());
  return linalg::BlockPattern::concatenate(parts);
}

// The global scale is that of DOT eq. 15 for one material: √Σ(⟨ξ⟩‖ℓ‖)². The length is that of the smallest
// body, so that the default accuracy suits every one of them.
optimize::CharacteristicScales joint_scales(const std::vector<StepObjective*>& bodies) {
  optimize::CharacteristicScales result;
  result.length = std::numeric_limits<double>::infinity();
  for (const StepObjective* body : bodies) {
    const optimize::CharacteristicScales& scales = body->scales();
    result.global = std::hypot(result.global, scales.global);
    result.per_block.insert(result.per_block.end(), scales.per_block.begin(), scales.per_block.end());
    result.length = std::min(result.length, scales.length);
  }
  return result;
}

}  // namespace

IslandObjective::IslandObjective(std::vector<StepObjective*> bodies)
    : bodies_(std::move(bodies)),
      dimension_(bodies_.front()->dimension()),
      first_node_(1, 0),
      first_slot_(1, 0),
      scales_(joint_scales(bodies_)),
      pattern_(joint_pattern(bodies_)),
      constraints_(dimension_, scales_.per_block.size(), {touching * scales_.length, touching_revised * scales_.length}) {
  for (const StepObjective* body : bodies_) {
    assert(body->dimension() == dimension_);
    first_node_.push_back(first_node_.back() + body->masses().size());
    first_slot_.push_back(first_slot_.back() + body->pattern()->blocks());
  }
  fixed_.resize(first_node_.back());
  for (auto* work : {&point_, &direction_, &gradient_}) work->resize(size());
}

std::size_t IslandObjective::body_of(std::size_t node) const {
  return static_cast<std::size_t>(std::upper_bound(first_node_.begin(), first_node_.end(), node) -
                                  first_node_.begin()) -
         1;
}

void IslandObjective::begin_step(std::span<const PlacedObstacle> obstacles) {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const auto fixed = bodies_[b]->fixed_blocks();
    std::copy(fixed.begin(), fixed.end(), fixed_.begin() + static_cast<std::ptrdiff_t>(first_node_[b]));
  }
  constraints_.begin_step(obstacles, fixed_);
  forces_before_.clear();
  let_go();
}

void IslandObjective::let_go() {
  settled_ = false;
  for (ContactTerm* term : terms_) term->let_go();
}

bool IslandObjective::settle() {
  if (settled_) return false;
  settled_ = true;
  bool changes = constraints_.settle();
  for (ContactTerm* term : terms_) changes = term->hold() || changes;
  if (changes) gradient_known_ = false;
  return changes;
}

optimize::ErrorBudget IslandObjective::budget(std::span<const double> d, double accuracy) const {
  optimize::ErrorBudget worst = bodies_[0]->budget(part(d, 0), accuracy);
  for (std::size_t b = 1; b < bodies_.size() && std::isfinite(worst.error); ++b) {
    const optimize::ErrorBudget next = bodies_[b]->budget(part(d, b), accuracy);
    if (worst < next || !std::isfinite(next.error)) worst = next;
  }
  return worst;
}

std::vector<double> IslandObjective::forces() const {
  std::vector<double> pressed(bodies_.size(), 0.0);
  for (const ActivePair& pair : constraints_.active()) pressed[body_of(static_cast<std::size_t>(pair.node))] += pair.force;
  return pressed;
}

// Sums of lengths over nodes.
bool IslandObjective::is_small_beside(const std::vector<double>& forces, std::span<const double> left,
                                      double part_of_forces) const {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (forces[b] == 0) continue;
    const std::span<const double> rest = part(left, b);
    double sum = 0;
    for (std::size_t k = 0; k < rest.size(); k += block()) sum += space().norm(rest.subspan(k, block()));
    if (sum > part_of_forces * forces[b]) return false;
  }
  return true;
}

// A body that was pressed and hovers now has lost what carried it: it is held against the forces from before.
bool IslandObjective::is_balanced() {
  std::vector<double> pressed = forces();
  for (std::size_t b = 0; b < pressed.size() && !forces_before_.empty(); ++b)
    pressed[b] = std::max(pressed[b], forces_before_[b]);
  if (std::all_of(pressed.begin(), pressed.end(), [](double force) { return force == 0; })) return true;
  gradient(direction_);
  return is_small_beside(pressed, direction_, imbalance);
}

bool IslandObjective::begin_iteration() {
  bool changed = false;
  for (StepObjective* body : bodies_) changed = body->begin_iteration() || changed;
  for (ContactTerm* term : terms_) changed = term->begin_iteration() || changed;
  if (changed) gradient_known_ = false;
  if (constraints_.any()) {
    forces_before_ = forces();
    unconstrained_gradient(direction_);
    constraints_.register_active(point_, direction_);
    changed = true;
  }
  if (renewal_ && renewal_()) {
    gradient_known_ = false;
    changed = true;
  }
  return changed;
}

void IslandObjective::gradient_after(optimize::HessianKind kind, std::span<const double> d, std::span<double> g) {
  for (std::size_t b = 0; b < bodies_.size(); ++b) bodies_[b]->hessian_times(kind, part(d, b), part(g, b));
  for (ContactTerm* term : terms_) term->add_hessian_times(kind, d, g);
  unconstrained_gradient(direction_);
  linalg::combine(1, direction_, 1, g);
  clear_fixed(g);
}

// Friction takes the normal forces of a direction that is in balance: before, they may be any times too large.
optimize::Revision IslandObjective::revise(optimize::HessianKind kind, std::span<double> d, std::span<double> g) {
  using optimize::Revision;
  gradient_after(kind, d, g);
  Revision found = constraints_.revise(point_, d, g) ? Revision::Changed : Revision::None;
  const auto left_free = [&] {
    gradient_known_ = false;
    constraints_.lead(d);
    gradient_after(kind, d, g);
  };
  if (found == Revision::Changed) left_free();
  constraints_.project_to_tangents(g);
  if (found == Revision::Changed) return found;
  if (!is_small_beside(forces(), g, model_imbalance)) return Revision::Inexact;
  if (!revision_ || !revision_()) return Revision::None;
  left_free();
  constraints_.project_to_tangents(g);
  return Revision::Changed;
}

void IslandObjective::forget() {
  constraints_.forget();
  if (forgetting_) forgetting_();
  gradient_known_ = false;
}

void IslandObjective::move_to(std::span<const double> x) {
  linalg::copy(x, point_);
  gradient_known_ = false;
  for (std::size_t b = 0; b < bodies_.size(); ++b) bodies_[b]->move_to(part(x, b));
  for (ContactTerm* term : terms_) term->move_to(x);
}

double IslandObjective::value(double give_up_above) {
  double sum = 0;
  for (StepObjective* body : bodies_) sum += body->value(std::numeric_limits<double>::infinity());
  for (ContactTerm* term : terms_) {
    if (!(sum <= give_up_above)) return sum;
    sum += term->value();
  }
  return sum;
}

double IslandObjective::value_noise() {
  double sum = 0;
  for (StepObjective* body : bodies_) sum += body->value_noise();
  for (ContactTerm* term : terms_) sum += term->value_noise();
  return sum;
}

void IslandObjective::clear_fixed(std::span<double> g) const {
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (fixed_[i]) std::fill_n(g.data() + i * block(), block(), 0.0);
  }
}

void IslandObjective::unconstrained_gradient(std::span<double> g) {
  if (!gradient_known_) {
    const std::span<double> all(gradient_);
    for (std::size_t b = 0; b < bodies_.size(); ++b) bodies_[b]->gradient(part(all, b));
    for (ContactTerm* term : terms_) term->add_gradient(all);
    if (!terms_.empty()) clear_fixed(all);
    gradient_known_ = true;
  }
  linalg::copy(gradient_, g);
}

void IslandObjective::gradient(std::span<double> g) {
  unconstrained_gradient(g);
  constraints_.project_gradient(g);
}

const linalg::BlockMatrix& IslandObjective::hessian(optimize::HessianKind kind) {
  if (!hessian_) hessian_.emplace(pattern_, dimension_);
  hessian_->set_zero();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const std::shared_ptr<const linalg::BlockPattern> pattern = bodies_[b]->pattern();
    linalg::BlockPart own(*hessian_, *pattern, static_cast<int>(first_node_[b]), first_slot_[b]);
    bodies_[b]->add_hessian(kind, own);
  }
  finish_hessian(kind, *hessian_);
  return *hessian_;
}

// What contact couples becomes couplings, which nobody reads.
void IslandObjective::hessian_diagonal(optimize::HessianKind kind, std::span<double> blocks) {
  if (!diagonal_) {
    diagonal_.emplace(linalg::BlockPattern::diagonal_only(static_cast<int>(first_node_.back())), dimension_);
  }
  diagonal_->set_zero();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    bodies_[b]->add_hessian_diagonal(kind, diagonal_->block(static_cast<std::int64_t>(first_node_[b])));
  }
  finish_hessian(kind, *diagonal_);
  diagonal_->diagonal_blocks(blocks);
}

// Adds contact to what the bodies have, projects it and takes fixed nodes out.
void IslandObjective::finish_hessian(optimize::HessianKind kind, linalg::BlockMatrix& hessian) {
  for (ContactTerm* term : terms_) term->add_hessian(kind, hessian);
  const double largest = largest_diagonal(hessian);
  constraints_.project_hessian(kind, hessian);
  hessian.make_identity(fixed_, largest);
}

void IslandObjective::hessian_times(optimize::HessianKind kind, std::span<const double> direction,
                                    std::span<double> y) {
  linalg::copy(direction, direction_);
  clear_fixed(direction_);
  constraints_.project_to_tangents(direction_);
  const std::span<const double> along(direction_);
  for (std::size_t b = 0; b < bodies_.size(); ++b)
    bodies_[b]->hessian_times(kind, part(along, b), part(y, b));
  for (ContactTerm* term : terms_) term->add_hessian_times(kind, along, y);
  constraints_.project_product(kind, direction, along, y);
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (fixed_[i]) std::copy_n(direction.data() + i * block(), block(), y.data() + i * block());
  }
}

double IslandObjective::largest_step(std::span<const double> direction) const {
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    smallest = std::min(smallest, bodies_[b]->largest_step(part(direction, b)));
  }
  for (ContactTerm* term : terms_) smallest = std::min(smallest, term->largest_step(direction));
  return smallest;
}

bool IslandObjective::buckles() const {
  return std::any_of(bodies_.begin(), bodies_.end(), [](const StepObjective* body) { return body->buckles(); });
}

void IslandObjective::project_partly(double part) {
  for (StepObjective* body : bodies_) body->project_partly(part);
}

bool IslandObjective::keeps_its_hessian() const {
  return terms_.empty() && std::all_of(bodies_.begin(), bodies_.end(),
                                       [](const StepObjective* body) { return body->keeps_its_hessian(); });
}

std::vector<std::vector<int>> IslandObjective::cover(int parts) const {
  std::vector<std::vector<int>> all;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const double share =
        static_cast<double>(first_node_[b + 1] - first_node_[b]) / static_cast<double>(first_node_.back());
    std::vector<std::vector<int>> sets =
        bodies_[b]->cover(std::max(1, static_cast<int>(std::lround(share * parts))));
    if (sets.empty()) return {};
    for (std::vector<int>& set : sets) {
      for (int& node : set) node += static_cast<int>(first_node_[b]);
      all.push_back(std::move(set));
    }
  }
  return all;
}

linalg::Prolongation IslandObjective::coarse_space(int functions) const {
  std::vector<linalg::Prolongation> parts;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const double share =
        static_cast<double>(first_node_[b + 1] - first_node_[b]) / static_cast<double>(first_node_.back());
    parts.push_back(bodies_[b]->coarse_space(std::max(1, static_cast<int>(std::lround(share * functions)))));
    if (parts.back().empty()) return {};
  }
  return linalg::block_diagonal(parts);
}

linalg::HierarchyPtr IslandObjective::hierarchy() {
  std::vector<linalg::HierarchyPtr> parts;
  std::vector<int> rows;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    parts.push_back(bodies_[b]->hierarchy());
    rows.push_back(static_cast<int>(first_node_[b + 1] - first_node_[b]));
  }
  if (parts != hierarchy_parts_) {
    hierarchy_ = parts.size() == 1 ? parts[0] : linalg::side_by_side(parts, rows);
    hierarchy_parts_ = std::move(parts);
  }
  return hierarchy_;
}

std::vector<linalg::RowProjector> IslandObjective::projectors() const {
  std::vector<linalg::RowProjector> all;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    for (linalg::RowProjector projector : bodies_[b]->projectors()) {
      projector.row += static_cast<int>(first_node_[b]);
      all.push_back(projector);
    }
  }
  constraints_.add_projectors(all);
  return all;
}

optimize::Objective::ScalarModel IslandObjective::scalar_model() {
  std::vector<std::uint64_t> versions;
  std::vector<const linalg::BlockMatrix*> models;
  for (StepObjective* body : bodies_) {
    const ScalarModel model = body->scalar_model();
    if (model.matrix == nullptr) return {};
    models.push_back(model.matrix);
    versions.push_back(model.version);
  }
  if (!scalar_) scalar_.emplace(pattern_, 1);
  if (versions != scalar_versions_) {
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      const std::span<const double> values = models[b]->values();
      std::copy(values.begin(), values.end(), scalar_->values().begin() + first_slot_[b]);
    }
    scalar_versions_ = std::move(versions);
    ++scalar_version_;
  }
  return {&*scalar_, scalar_version_};
}

}  // namespace lope::matter
