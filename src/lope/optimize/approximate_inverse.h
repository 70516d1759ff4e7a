// The approximate inverses D ≈ H⁻¹ that minimisers choose from, and how each takes its numbers from an
// objective (NUMERICS §4). The same objects initialise L-BFGS and precondition CG.
#pragma once

#include <lope/linalg/block_multigrid.h>
#include <lope/linalg/preconditioner.h>
#include <lope/linalg/schwarz.h>
#include <lope/linalg/symmetric_sweep.h>
#include <lope/optimize/minimizer.h>

#include <memory>
#include <string>

namespace lope::optimize {

enum class InverseKind {
  BlockJacobi,
  GaussSeidel,  // a symmetric block sweep
  IncompleteCholesky,
  Cholesky,    // of the projected Hessian (LBFGS-H)
  Laplacian,   // of the objective's scalar model, once for as long as that stays the same (LBFGS-PD)
  LaplacianSweeps,  // symmetric Gauss–Seidel sweeps of the same
  Subdomains,  // Schwarz decomposition of the projected Hessian (DOT)
  Cg,          // block-Jacobi CG, inexact
  Multigrid,   // a V-cycle of the projected Hessian over the objective's hierarchy (HOT)
};

struct InverseOptions {
  InverseKind kind = InverseKind::Cholesky;
  bool single_precision =
      false;  // of factors; where that is not enough, the factor is made again in double precision
  // Subdomains: blocks per subdomain. Their number follows from the size of the objective and nothing else,
  // so that the result does not depend on the machine.
  int subdomain_size = 2000;
  int subdomains = 0;  // if positive: their number
  // Blocks per function of the coarse space (0: no coarse space). For subdomains, incomplete Cholesky and
  // block Jacobi.
  int coarse_size = 0;
  linalg::Weighting weighting = linalg::Weighting::Symmetric;
  linalg::SymmetricSweepOptions sweeps = {};  // of LaplacianSweeps; components are the objective's
  linalg::BlockMultigridOptions multigrid = {};  // single_precision above counts
};

// What a method that works with Objective::scalar_model() says of an objective without.
constexpr const char* no_scalar_model = "this method needs a scalar model of the Hessian, and what is to be minimised has none";

class ApproximateInverse {
 public:
  explicit ApproximateInverse(const InverseOptions& options) : options_(options) {}

  // Takes the numbers at the objective's current point. Subdomains, coarse space and levels are chosen once per pattern of the
  // Hessian. False, with failure(): the matrix is not positive definite, there is no memory for its factor, or the
  // objective does not know what the inverse is made of.
  bool renew(Objective& objective);
  // The same with the projected Hessian in hand. `doubtful`: it may be indefinite, which is not worth a second look in double precision.
  bool renew(Objective& objective, const linalg::BlockMatrix& projected, bool doubtful = false);
  // Before a minimisation that is to begin afresh: Preconditioner::forget().
  void forget();
  // Why renew() returned false.
  const std::string& failure() const { return failure_; }
  // After a successful renew().
  linalg::Preconditioner& preconditioner() { return *in_use_; }
  // Of the matrix that it was made for; 0: none yet.
  std::uint64_t pattern_id() const { return made_for_; }
  // Whether renew() reads the projected Hessian.
  bool uses_hessian() const { return options_.kind != InverseKind::Laplacian && options_.kind != InverseKind::LaplacianSweeps; }

 private:
  void make(Objective& objective, const linalg::BlockPattern& pattern);
  std::unique_ptr<linalg::Preconditioner> made(const InverseOptions& options,
                                               const Objective& objective) const;
  bool update(Objective& objective, const linalg::BlockMatrix& matrix, bool doubtful = false);
  bool update_levels(Objective& objective, const linalg::BlockMatrix& matrix);
  bool renew_laplacian(Objective& objective);

  InverseOptions options_;
  std::unique_ptr<linalg::Preconditioner> preconditioner_;
  std::unique_ptr<linalg::Preconditioner> in_double_;  // made when single precision fails
  linalg::Preconditioner* in_use_ = nullptr;           // one of the two
  linalg::BlockMultigrid* multigrid_ = nullptr;        // preconditioner_, if it is one
  std::uint64_t made_for_ = 0;                         // id of the pattern
  std::uint64_t scalar_version_ = 0;
  std::string failure_;
};

// A model of the Hessian at the objective's current point x, to be remembered (Minimizer::kept).
KeptModel model_at(std::span<const double> x, const Objective& objective);

// What build() returns where a kept model was built; nothing is frozen afterwards.
template <class Build>
auto at_kept_point(Objective& objective, const KeptModel& kept, const Build& build) {
  objective.move_to(kept.point);
  objective.choose(kept.choices);
  const auto result = build();
  objective.choose({});
  return result;
}

// Into how many subdomains a problem of `blocks` blocks is divided.
int subdomain_count(const InverseOptions& options, std::size_t blocks);

}  // namespace lope::optimize
