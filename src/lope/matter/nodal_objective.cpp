#include <lope/base/parallel.h>
#include <lope/linalg/space.h>
#include <lope/matter/displacement_budget.h>
#include <lope/matter/nodal_objective.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace lope::matter {
namespace {

constexpr std::size_t grain = 4096;

}  // namespace

template <int d>
NodalObjective<d>::NodalObjective(Common common)
    : pattern_(std::move(common.pattern)),
      masses_(std::move(common.masses)),
      scales_(std::move(common.scales)),
      mass_damping_(common.mass_damping),
      stiffness_damping_(common.stiffness_damping) {
  for (auto* work : {&point_, &offset_, &product_, &force_}) work->resize(size());
}

template <int d>
void NodalObjective<d>::begin_step(const StepSetup& setup) {
  setup_ = setup;
  if (stiffness_damping_ > 0) {
    if (!lagged_stiffness_) lagged_stiffness_.emplace(pattern_, d);
    lagged_stiffness_->set_zero();
    move_potential(setup.start);
    potential_moved_ = false;
    add_potential_hessian(optimize::HessianKind::Projected, 1, *lagged_stiffness_);
  }
}

template <int d>
void NodalObjective<d>::move_to(std::span<const double> x) {
  // The end of one step, its report and the first guesses of the next are evaluated at the same point.
  if (potential_moved_ && std::memcmp(x.data(), point_.data(), x.size_bytes()) == 0) return;
  linalg::copy(x, point_);
  move_potential(point_);
  potential_moved_ = true;
}

template <int d>
double NodalObjective<d>::inertia_energy() const {
  return 0.5 * setup_.inertia * space().sum(masses_.size(), grain, [&](std::size_t begin, std::size_t end) {
           double sum = 0;
           for (std::size_t i = begin; i < end; ++i) {
             if (setup_.fixed[i]) continue;
             double square = 0;
             for (std::size_t k = i * d; k < (i + 1) * d; ++k)
               square += std::pow(point_[k] - setup_.target[k], 2);
             sum += masses_[i] * square;
           }
           return sum;
         });
}

template <int d>
optimize::ErrorBudget NodalObjective<d>::budget(std::span<const double> displacement, double accuracy) const {
  const optimize::ErrorBudget plain = Objective::budget(displacement, accuracy);
  if (setup_.unforced.empty() || !std::isfinite(plain.error)) return plain;
  return displacement_budget({d, scales_.length, masses_, setup_.fixed, setup_.start, setup_.unforced}, point_,
                             displacement, plain.allowed);
}

// w (k_M M + k_D D)(x − y), added to g; leaves x − y in offset_.
template <int d>
void NodalObjective<d>::add_damping_force(std::span<const double> x, std::span<double> g) const {
  linalg::add_scaled(x, -1, setup_.damping_target, offset_);
  if (stiffness_damping_ > 0) {
    lagged_stiffness_->multiply(offset_, product_);
  } else {
    linalg::fill(product_, 0);
  }
  parallel_for(size(), grain, [&](std::size_t k) {
    g[k] += setup_.damping * (stiffness_damping_ * product_[k] + mass_damping_ * masses_[k / d] * offset_[k]);
  });
}

template <int d>
double NodalObjective<d>::damping_energy() const {
  linalg::fill(force_, 0);
  add_damping_force(point_, force_);
  return 0.5 * space().dot(force_, offset_);
}

template <int d>
double NodalObjective<d>::value(double /*give_up_above*/) {
  return inertia_energy() + (damped() ? damping_energy() : 0.0) + potential() - outside_work();
}

// f·(x − xₙ) of the free nodes.
template <int d>
double NodalObjective<d>::outside_work() const {
  if (setup_.force.empty()) return 0;
  return space().sum(masses_.size(), grain, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = i * d; k < (i + 1) * d && !setup_.fixed[i]; ++k)
        sum += setup_.force[k] * (point_[k] - setup_.start[k]);
    }
    return sum;
  });
}

// Rounding of the positions (ε|x|) times the forces that act there, added like independent errors, and the
// rounding of the sums.
template <int d>
double NodalObjective<d>::value_noise() {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const double force_square = space().sum(masses_.size(), grain, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (setup_.fixed[i]) continue;
      for (std::size_t k = i * d; k < (i + 1) * d; ++k) {
        sum += std::pow(setup_.inertia * masses_[i] * (point_[k] - setup_.target[k]), 2);
      }
    }
    return sum;
  });
  const double reach = space().max_block_norm(point_, d);
  const double outside = setup_.force.empty() ? 0 : space().norm(setup_.force);
  return 4 * epsilon *
             (inertia_energy() + potential_magnitude() + reach * (std::sqrt(force_square) + outside)) +
         potential_noise(epsilon * reach) + 4 * epsilon * damping_magnitude();
}

// Size of the products that cancel in ½w k_D |x − y|²_D: a rigid motion costs nothing but is large.
template <int d>
double NodalObjective<d>::damping_magnitude() const {
  if (stiffness_damping_ == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    const double* block =
        lagged_stiffness_->block(lagged_stiffness_->pattern().diagonal(static_cast<int>(i)));
    for (std::size_t k = 0; k < d; ++k) {
      sum += block[k * (d + 1)] * std::pow(point_[i * d + k] - setup_.damping_target[i * d + k], 2);
    }
  }
  return setup_.damping * stiffness_damping_ * sum;
}

template <int d>
void NodalObjective<d>::gradient(std::span<double> g) {
  parallel_for(size(), grain, [&](std::size_t k) {
    g[k] = setup_.inertia * masses_[k / d] * (point_[k] - setup_.target[k]);
  });
  add_potential_gradient(g);
  if (damped()) add_damping_force(point_, g);
  if (!setup_.force.empty()) linalg::combine(-1, setup_.force, 1, g);
  clear_fixed(g);
}

template <int d>
void NodalObjective<d>::clear_fixed(std::span<double> g) const {
  parallel_for(masses_.size(), grain, [&](std::size_t i) {
    if (setup_.fixed[i]) std::fill_n(g.data() + i * d, d, 0.0);
  });
}

template <int d>
void NodalObjective<d>::quadratic_gradient_at(std::span<const double> x, std::span<double> g) const {
  parallel_for(size(), grain,
               [&](std::size_t k) { g[k] = setup_.inertia * masses_[k / d] * (x[k] - setup_.target[k]); });
  if (damped()) add_damping_force(x, g);
  if (!setup_.force.empty()) linalg::combine(-1, setup_.force, 1, g);
  clear_fixed(g);
}

template <int d>
void NodalObjective<d>::add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& H) const {
  add_potential_hessian(kind, 1, H);
  double* blocks = H.blocks();
  if (stiffness_damping_ > 0) {
    const auto lagged = lagged_stiffness_->values();
    const double scale = setup_.damping * stiffness_damping_;
    parallel_for(lagged.size(), grain, [&](std::size_t k) { blocks[k] += scale * lagged[k]; });
  }
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    double* block = blocks + pattern_->diagonal(static_cast<int>(i)) * d * d;
    for (std::ptrdiff_t k = 0; k < d; ++k) block[k * (d + 1)] += diagonal_weight() * masses_[i];
  }
}

template <int d>
void NodalObjective<d>::add_hessian_diagonal(optimize::HessianKind kind, double* blocks) const {
  add_potential_hessian_diagonal(kind, 1, blocks);
  const double lagged = stiffness_damping_ > 0 ? setup_.damping * stiffness_damping_ : 0;
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    double* block = blocks + i * d * d;
    if (lagged > 0) {
      const double* from = lagged_stiffness_->block(pattern_->diagonal(static_cast<int>(i)));
      for (std::ptrdiff_t k = 0; k < d * d; ++k) block[k] += lagged * from[k];
    }
    for (std::ptrdiff_t k = 0; k < d; ++k) block[k * (d + 1)] += diagonal_weight() * masses_[i];
  }
}

template <int d>
void NodalObjective<d>::add_potential_hessian_diagonal(optimize::HessianKind kind, double scale, double* blocks) const {
  linalg::BlockMatrix whole(pattern_, d);
  add_potential_hessian(kind, scale, whole);
  add_diagonal(whole, blocks);
}

template <int d>
const linalg::BlockMatrix& NodalObjective<d>::hessian(optimize::HessianKind kind) {
  if (!hessian_) hessian_.emplace(pattern_, d);
  hessian_->set_zero();
  add_hessian(kind, *hessian_);
  hessian_->make_identity(setup_.fixed, largest_diagonal(*hessian_));
  return *hessian_;
}

template <int d>
void NodalObjective<d>::hessian_times(optimize::HessianKind kind, std::span<const double> direction,
                                      std::span<double> y) {
  // Fixed nodes do not move and feel nothing: their part of the direction is passed through unchanged.
  linalg::copy(direction, offset_);
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    if (setup_.fixed[i]) std::fill_n(offset_.data() + i * d, d, 0.0);
  }
  if (stiffness_damping_ > 0) {
    lagged_stiffness_->multiply(offset_, y);
    linalg::combine(diagonal_weight(), offset_, 0, product_);
    parallel_for(size(), grain, [&](std::size_t k) {
      y[k] = setup_.damping * stiffness_damping_ * y[k] + masses_[k / d] * product_[k];
    });
  } else {
    parallel_for(size(), grain,
                 [&](std::size_t k) { y[k] = diagonal_weight() * masses_[k / d] * offset_[k]; });
  }
  add_potential_hessian_times(kind, 1, offset_, y);
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    if (setup_.fixed[i]) std::copy_n(direction.data() + i * d, d, y.data() + i * d);
  }
}

template <int d>
optimize::Objective::ScalarModel NodalObjective<d>::scalar_model() {
  const double mass_weight = diagonal_weight(), stiffness_weight = 1 + setup_.damping * stiffness_damping_;
  if (!scalar_) scalar_.emplace(Scalar{linalg::BlockMatrix(pattern_, 1), 0, 0, {}, 0});
  if (scalar_->mass_weight != mass_weight || scalar_->stiffness_weight != stiffness_weight ||
      !std::equal(scalar_->fixed.begin(), scalar_->fixed.end(), setup_.fixed.begin(), setup_.fixed.end())) {
    linalg::BlockMatrix& matrix = scalar_->matrix;
    matrix.set_zero();
    add_laplacian(stiffness_weight, matrix);
    double largest = 0;
    for (std::size_t i = 0; i < masses_.size(); ++i) {
      double* diagonal = matrix.block(matrix.pattern().diagonal(static_cast<int>(i)));
      *diagonal += mass_weight * masses_[i];
      largest = std::max(largest, *diagonal);
    }
    matrix.make_identity(setup_.fixed, largest);
    scalar_->mass_weight = mass_weight;
    scalar_->stiffness_weight = stiffness_weight;
    scalar_->fixed.assign(setup_.fixed.begin(), setup_.fixed.end());
    ++scalar_->version;
  }
  return {&scalar_->matrix, scalar_->version};
}

template <int d>
void NodalObjective<d>::potential_gradient(std::span<double> g) const {
  linalg::fill(g, 0);
  add_potential_gradient(g);
}

template class NodalObjective<2>;
template class NodalObjective<3>;

void add_diagonal(const linalg::BlockMatrix& matrix, double* blocks) {
  const std::ptrdiff_t b2 = matrix.block_size() * matrix.block_size();
  for (int i = 0; i < matrix.pattern().rows(); ++i) {
    const double* from = matrix.block(matrix.pattern().diagonal(i));
    for (std::ptrdiff_t k = 0; k < b2; ++k) blocks[i * b2 + k] += from[k];
  }
}

void StepObjective::add_hessian_diagonal(optimize::HessianKind kind, double* blocks) const {
  linalg::BlockMatrix whole(pattern(), dimension());
  add_hessian(kind, whole);
  add_diagonal(whole, blocks);
}

double largest_diagonal(const linalg::BlockMatrix& matrix) {
  double largest = 0;
  for (int i = 0; i < matrix.pattern().rows(); ++i) {
    largest = std::max(largest, std::abs(*matrix.block(matrix.pattern().diagonal(i))));
  }
  return largest;
}

}  // namespace lope::matter
