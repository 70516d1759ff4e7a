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
  }
  return 0;
}

double resolved_tolerance(const StoppingOptions& options, const Objective& objective) {
  if (options.tolerance > 0) return options.tolerance;
  const double unit = options.test == StoppingTest::Displacement ? objective.scales().length : 1;
  return unit * default_epsilon(options.test);
}

double gradient_measure(StoppingTest test, const Objective& objective, linalg::ConstVector gradient) {
  assert(test != StoppingTest::Displacement);
  if (test == StoppingTest::CharacteristicNodewise) return nodewise_norm(objective, gradient);
  const double scale = test == StoppingTest::CharacteristicGlobal ? objective.scales().global : 1.0;
  return objective.space().norm(gradient) / scale;
}

namespace {

// Decides when CG's iterate e is within 10% of the solution of H e = g although the preconditioner is local,
// so that the residual tells nothing of the smooth part: at iterations 32, 45, 64, 91, … (from 8 on with a
// preconditioner that acts on smooth errors as well) three things must hold. The residual has fallen to 10%; the
// second half of the iterations added less than 1% to the energy eᵀHe (the delayed estimate of the error's energy
// norm of Hestenes & Stiefel 1952, Strakoš & Tichý 2002); the largest |e_i| grew by less than 10% in it.
class SettledIterate {
 public:
  SettledIterate(const linalg::Space& space, int block_size, bool global)
      : space_(&space), block_size_(block_size), next_(global ? 4 : 16) {}

  bool operator()(int iteration, linalg::ConstVector e, double decrease, double relative_residual) {
    energy_ += decrease;
    if (relative_residual <= 1e-8) return true;
    if (iteration != static_cast<int>(next_)) return false;
    next_ *= std::numbers::sqrt2;
    const Checkpoint here = {energy_, space_->max_block_norm(e, block_size_)}, half = before_[0];
    const bool has_half = ++checkpoints_ > 2;
    before_[0] = before_[1];
    before_[1] = here;
    return has_half && relative_residual <= 0.1 && here.energy - half.energy <= 0.01 * here.energy &&
           here.largest <= 1.1 * half.largest;
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

}  // namespace

DisplacementEstimate estimate_displacement(const linalg::Space& space, const linalg::Operator& hessian,
                                           linalg::Preconditioner& preconditioner,
                                           linalg::ConjugateGradient& cg, linalg::ConstVector gradient,
                                           linalg::Vector error, int max_iterations) {
  const auto product = [&](linalg::ConstVector x, linalg::Vector y) { hessian.multiply(x, y); };
  linalg::CgOptions options{
      .relative_tolerance = 0.1, .max_iterations = max_iterations, .follows_negative_curvature = true, .monitor = {}};
  if (!preconditioner.is_near_inverse() || hessian.has_couplings()) {
    options.monitor = [settled = SettledIterate(space, hessian.block_size(), preconditioner.is_global())](
                          int iteration, linalg::ConstVector e, double decrease, double residual) mutable {
      return settled(iteration, e, decrease, residual);
    };
  }
  const linalg::CgSummary solve = cg.solve(space, product, preconditioner, gradient, error, options);
  return {solve.converged, solve.negative_curvature, space.max_block_norm(error, hessian.block_size()),
          solve.iterations};
}

}  // namespace lope::optimize
