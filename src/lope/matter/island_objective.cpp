#include <lope/linalg/space.h>
#include <lope/matter/island_objective.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace lope::matter {
namespace {

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

IslandObjective::IslandObjective(std::vector<StepObjective*> bodies,
                                 std::vector<std::unique_ptr<ContactTerm>> terms)
    : bodies_(std::move(bodies)),
      terms_(std::move(terms)),
      dimension_(bodies_.front()->dimension()),
      first_node_(1, 0),
      first_slot_(1, 0),
      scales_(joint_scales(bodies_)),
      hessian_(joint_pattern(bodies_), dimension_) {
  for (const StepObjective* body : bodies_) {
    assert(body->dimension() == dimension_);
    first_node_.push_back(first_node_.back() + body->masses().size());
    first_slot_.push_back(first_slot_.back() + body->pattern()->blocks());
  }
  fixed_.resize(first_node_.back());
  free_direction_.resize(size());
}

void IslandObjective::begin_step() {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const auto fixed = bodies_[b]->fixed_blocks();
    std::copy(fixed.begin(), fixed.end(), fixed_.begin() + static_cast<std::ptrdiff_t>(first_node_[b]));
  }
}

bool IslandObjective::begin_iteration() {
  bool changed = false;
  for (StepObjective* body : bodies_) changed = body->begin_iteration() || changed;
  for (const auto& term : terms_) changed = term->begin_iteration() || changed;
  return changed;
}

void IslandObjective::move_to(std::span<const double> x) {
  for (std::size_t b = 0; b < bodies_.size(); ++b) bodies_[b]->move_to(part(x, b));
  for (const auto& term : terms_) term->move_to(x);
}

double IslandObjective::value(double give_up_above) {
  double sum = 0;
  for (StepObjective* body : bodies_) sum += body->value(std::numeric_limits<double>::infinity());
  for (const auto& term : terms_) {
    if (!(sum <= give_up_above)) return sum;
    sum += term->value();
  }
  return sum;
}

double IslandObjective::value_noise() {
  double sum = 0;
  for (StepObjective* body : bodies_) sum += body->value_noise();
  for (const auto& term : terms_) sum += term->value_noise();
  return sum;
}

void IslandObjective::clear_fixed(std::span<double> g) const {
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (fixed_[i]) std::fill_n(g.data() + i * block(), block(), 0.0);
  }
}

void IslandObjective::gradient(std::span<double> g) {
  for (std::size_t b = 0; b < bodies_.size(); ++b) bodies_[b]->gradient(part(g, b));
  if (terms_.empty()) return;
  for (const auto& term : terms_) term->add_gradient(g);
  clear_fixed(g);
}

const linalg::BlockMatrix& IslandObjective::hessian(optimize::HessianKind kind) {
  hessian_.set_zero();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    bodies_[b]->add_hessian(kind, hessian_.block(first_slot_[b]));
  }
  for (const auto& term : terms_) term->add_hessian(kind, hessian_);
  hessian_.make_identity(fixed_, largest_diagonal(hessian_));
  return hessian_;
}

void IslandObjective::hessian_times(optimize::HessianKind kind, std::span<const double> direction,
                                    std::span<double> y) {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    bodies_[b]->hessian_times(kind, part(direction, b), part(y, b));
  }
  if (terms_.empty()) return;
  linalg::copy(direction, free_direction_);
  clear_fixed(free_direction_);
  for (const auto& term : terms_) term->add_hessian_times(kind, free_direction_, y);
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (fixed_[i]) std::copy_n(direction.data() + i * block(), block(), y.data() + i * block());
  }
}

double IslandObjective::largest_step(std::span<const double> direction) const {
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    smallest = std::min(smallest, bodies_[b]->largest_step(part(direction, b)));
  }
  return smallest;
}

}  // namespace lope::matter
