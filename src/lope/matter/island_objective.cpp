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

std::vector<std::vector<int>> IslandObjective::cover(int parts) const {
  std::vector<std::vector<int>> all;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const double share = static_cast<double>(first_node_[b + 1] - first_node_[b]) / static_cast<double>(first_node_.back());
    std::vector<std::vector<int>> sets = bodies_[b]->cover(std::max(1, static_cast<int>(std::lround(share * parts))));
    if (sets.empty()) return {};
    for (std::vector<int>& set : sets) {
      for (int& node : set) node += static_cast<int>(first_node_[b]);
      all.push_back(std::move(set));
    }
  }
  return all;
}

linalg::Prolongation IslandObjective::coarse_space(int functions) const {
  linalg::Prolongation all;
  all.start.push_back(0);
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const double share = static_cast<double>(first_node_[b + 1] - first_node_[b]) / static_cast<double>(first_node_.back());
    const linalg::Prolongation body = bodies_[b]->coarse_space(std::max(1, static_cast<int>(std::lround(share * functions))));
    if (body.empty()) return {};
    const int first = all.start.back();
    for (std::size_t i = 1; i < body.start.size(); ++i) all.start.push_back(first + body.start[i]);
    for (const int column : body.column) all.column.push_back(all.columns + column);
    all.weight.insert(all.weight.end(), body.weight.begin(), body.weight.end());
    all.columns += body.columns;
  }
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
  if (!scalar_) scalar_.emplace(joint_pattern(bodies_), 1);
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
