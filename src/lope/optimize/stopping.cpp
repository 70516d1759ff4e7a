#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace lope::optimize {
namespace {

// ‖(g_i/scale_i)_i‖₂ / √n over the free blocks.
double nodewise_norm(const Objective& objective, linalg::ConstVector g) {
  const auto& scale = objective.scales().per_block;
  const auto fixed = objective.fixed_blocks();
  const auto b = static_cast<std::size_t>(objective.block_size());
  const double square = objective.space().sum(scale.size(), 4096, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (fixed[i]) continue;
      for (std::size_t k = 0; k < b; ++k) sum += std::pow(g[i * b + k] / scale[i], 2);
    }
    return sum;
  });
  const double free = objective.space().sum(fixed.size(), 4096, [&](std::size_t begin, std::size_t end) {
    const auto part = fixed.subspan(begin, end - begin);
    return static_cast<double>(std::count(part.begin(), part.end(), std::uint8_t{0}));
  });
  return free == 0 ? 0 : std::sqrt(square / free);
}

}  // namespace

ErrorBudget Objective::budget(std::span<const double> d, double accuracy) const {
  return {space().max_block_norm(d, block_size()),
          accuracy > 0 ? accuracy : default_epsilon(StoppingTest::Displacement) * scales().length};
}

KeptModelPtr without_model(const KeptModelPtr& kept) {
  if (!kept || kept->account.empty()) return nullptr;
  KeptModel rest;
  rest.account = kept->account;
  return std::make_shared<const KeptModel>(std::move(rest));
}

void MinimizerSummary::append(const MinimizerSummary& next) {
  MinimizerSummary sum = next;
  sum.initial_measure = initial_measure;
  sum.history = std::move(history);
  for (Iteration iteration : next.history) {
    iteration.number += iterations;
    iteration.seconds += timings.total;
    sum.history.push_back(iteration);
  }
  sum.settled_at = settled_at >= 0 ? settled_at : next.settled_at >= 0 ? iterations + next.settled_at : -1;
  sum.iterations += iterations;
  sum.linear_solves += linear_solves;
  sum.linear_iterations += linear_iterations;
  sum.models += models;
  sum.timings.evaluate += timings.evaluate;
  sum.timings.hessian += timings.hessian;
  sum.timings.factorize += timings.factorize;
  sum.timings.solve += timings.solve;
  sum.timings.total += timings.total;
  *this = std::move(sum);
}

double default_epsilon(StoppingTest test) {
  switch (test) {
    case StoppingTest::Displacement:
      return 1e-4;
    case StoppingTest::CharacteristicGlobal:
      return 1e-5;
    case StoppingTest::CharacteristicNodewise:
      return 1e-7;
    case StoppingTest::GradientNorm:
      return 1e-3;
    case StoppingTest::RmsStep:
      return 1e-5;
  }
  return 0;
}

double resolved_tolerance(const StoppingOptions& options, const Objective& objective) {
  if (options.tolerance > 0) return options.tolerance;
  const double unit = tests_gradient(options.test) ? 1 : objective.scales().length;
  return unit * default_epsilon(options.test);
}

double gradient_measure(StoppingTest test, const Objective& objective, linalg::ConstVector gradient) {
  assert(tests_gradient(test));
  if (test == StoppingTest::CharacteristicNodewise) return nodewise_norm(objective, gradient);
  const double scale = test == StoppingTest::CharacteristicGlobal ? objective.scales().global : 1.0;
  return objective.space().norm(gradient) / scale;
}

namespace {

// How well an estimate must be known, relative to itself.
constexpr double meticulous = 0.03;
constexpr double careful = 0.1;
constexpr double careless = 0.2;
// A relative residual that ends CG whatever else.
constexpr double solved = 1e-8;

// Decides when CG's iterate e is within 10% of the solution of H e = g although the preconditioner is local,
// so that the residual tells nothing of the smooth part: at iterations 32, 45, 64, 91, … (from 8 on with a
// preconditioner that acts on smooth errors as well, if not as much as on others) three things must hold. The residual has fallen to 10%; the
// second half of the iterations added less than 1% to the energy eᵀHe (the delayed estimate of the error's energy
// norm of Hestenes & Stiefel 1952, Strakoš & Tichý 2002); the largest |e_i| grew by less than 10% in it.
class SettledIterate {
 public:
  SettledIterate(const linalg::Space& space, int block_size, bool global)
      : space_(&space), block_size_(block_size), next_(global ? 4 : 16) {}

  bool operator()(const linalg::CgProgress& progress) {
    energy_ += progress.decrease();
    if (progress.relative_residual <= solved) return true;
    if (progress.iteration != static_cast<int>(next_)) return false;
    next_ *= std::numbers::sqrt2;
    const Checkpoint here = {energy_, space_->max_block_norm(progress.x, block_size_)}, half = before_[0];
    const bool has_half = ++checkpoints_ > 2;
    before_[0] = before_[1];
    before_[1] = here;
    return has_half && progress.relative_residual <= careful &&
           here.energy - half.energy <= careful * careful * here.energy &&
           here.largest <= (1 + careful) * half.largest;
  }

 private:
  struct Checkpoint {
    double energy = 0, largest = 0;
  };
  const linalg::Space* space_;
  int block_size_;
  double next_;
  double energy_ = 0;
  int checkpoints_ = 0;
  Checkpoint before_[2];  // two checkpoints ago, at half of the iterations, and the last one
};

// Decides when e says what the test needs, with a cycle of multigrid, which acts on errors of every wavelength, though perhaps not
// equally well on all: at iterations 4, 5, 8, 11, 16, … the second half of the iterations must have added less than a tenth of what is allowed,
// or, to a direction that is far from passing, less than a small part of it. What a step's test gives no weight to (light nodes of material
// points, which may go anywhere) need not have settled.
class UsefulIterate {
 public:
  UsefulIterate(const Strain& strain, std::size_t size) : strain_(strain), change_(size) {
    for (auto* at : {&before_[0], &before_[1]}) at->resize(size);
  }

  bool operator()(const linalg::CgProgress& progress) {
    if (progress.relative_residual <= solved) return true;
    if (progress.iteration != static_cast<int>(next_)) return false;
    next_ *= std::numbers::sqrt2;
    linalg::add_scaled(progress.x, -1, before_[0], change_);  // since half of the iterations
    std::swap(before_[0], before_[1]);
    linalg::copy(progress.x, before_[1]);
    if (++checkpoints_ <= 2) return false;
    return strain_(change_) <= std::max(careful, meticulous * strain_(progress.x));
  }

 private:
  const Strain& strain_;
  double next_ = 4;
  int checkpoints_ = 0;
  std::vector<double> change_;
  std::vector<double> before_[2];  // the iterates two checkpoints ago and at the last one
};

// Decides the same, or what the test needs, with a preconditioner M that is equivalent to H, so that the smallest eigenvalue of M⁻¹H soon shows in CG's
// coefficients. With μ below it, φ rᵀM⁻¹r / μ bounds the squared energy norm of e's error, 1/φ = rᵀM⁻¹r Σ 1/(rᵀM⁻¹r) over
// all residuals so far (Meurant & Tichý 2019); here μ is half of the smallest Ritz value, which comes down to that eigenvalue
// from above. Two things must hold for an accuracy ε: the bound is at most ε² of the energy eᵀHe, and the largest |e_i| grew by
// less than a part ε in the second half of the iterations.
class BoundedIterate {
 public:
  BoundedIterate(const linalg::Space& space, int block_size, const Strain& strain)
      : space_(&space), block_size_(block_size), strain_(strain) {}

  bool operator()(const linalg::CgProgress& progress) {
    include(progress);
    if (progress.relative_residual <= solved) return true;
    largest_.push_back(space_->max_block_norm(progress.x, block_size_));
    if (progress.iteration < fewest) return false;
    const double bound = std::sqrt(weight_ * progress.after / (0.5 * smallest_ritz() * energy_));
    const double half = largest_[static_cast<std::size_t>(progress.iteration / 2 - 1)];
    const double uncertainty = std::max(bound, 1 - half / largest_.back());
    return uncertainty <= careless && uncertainty <= needed(progress.x);
  }

 private:
  static constexpr int fewest = 4;

  void include(const linalg::CgProgress& progress) {
    energy_ += progress.decrease();
    diagonal_.push_back(1 / progress.step + coupling_ * coupling_ * last_step_);
    squares_.push_back(coupling_ * coupling_);
    const double ratio = progress.after / progress.before;
    coupling_ = std::sqrt(ratio) / progress.step;
    last_step_ = progress.step;
    weight_ = weight_ / (weight_ + ratio);
  }

  // The part of itself that e may be wrong by; asked for once it is known to within `careless`.
  double needed(linalg::ConstVector e) {
    if (needed_ == 0) needed_ = strain_ ? std::clamp(careful / strain_(e), meticulous, careless) : careful;
    return needed_;
  }

  // Whether all eigenvalues of the Lanczos matrix are above x: the pivots of its difference to x I (Sturm).
  bool all_above(double x) const {
    double pivot = 1;
    for (std::size_t k = 0; k < diagonal_.size(); ++k) {
      pivot = diagonal_[k] - x - (k > 0 ? squares_[k] / pivot : 0);
      if (!(pivot > 0)) return false;
    }
    return true;
  }

  // To 10%. It never grows from one iteration to the next.
  double smallest_ritz() {
    if (ritz_ == 0) ritz_ = diagonal_.front();
    while (ritz_ > 0 && !all_above(ritz_)) ritz_ *= 0.9;
    return ritz_;
  }

  const linalg::Space* space_;
  int block_size_;
  const Strain& strain_;
  double needed_ = 0;  // 0: not asked for yet
  double energy_ = 0;
  double weight_ = 1;                       // φ
  double ritz_ = 0;                         // 0: not known yet
  double coupling_ = 0, last_step_ = 0;     // √β/α and α of the last iteration
  std::vector<double> diagonal_, squares_;  // of the Lanczos matrix, and of its entries left of the diagonal
  std::vector<double> largest_;             // max |e_i| after every iteration
};

}  // namespace

DisplacementEstimate estimate_displacement(const linalg::Space& space, const linalg::Operator& hessian,
                                           linalg::Preconditioner& preconditioner,
                                           linalg::ConjugateGradient& cg, linalg::ConstVector gradient,
                                           linalg::Vector error, int max_iterations, const Strain& strain) {
  const auto product = [&](linalg::ConstVector x, linalg::Vector y) { hessian.multiply(x, y); };
  linalg::CgOptions options{.relative_tolerance = careful,
                            .max_iterations = max_iterations,
                            .follows_negative_curvature = true,
                            .monitor = {}};
  if (!preconditioner.is_near_inverse() || hessian.has_couplings()) {
    if (preconditioner.is_equivalent() && !hessian.has_couplings()) {
      options.monitor = BoundedIterate(space, hessian.block_size(), strain);
    } else if (preconditioner.has_levels() && !hessian.has_couplings() && strain) {
      options.monitor = UsefulIterate(strain, gradient.size());
    } else {
      options.monitor = SettledIterate(space, hessian.block_size(), preconditioner.is_global());
    }
  }
  const linalg::CgSummary solve = cg.solve(space, product, preconditioner, gradient, error, options);
  return {solve.converged, solve.negative_curvature, space.max_block_norm(error, hessian.block_size()),
          solve.iterations};
}

}  // namespace lope::optimize
