// The corrections of which full multigrid cycles are made (CLOTH §4.2, Fig. 2b): those that are to be applied to the iterate one by one,
// each found from the residual −∇E at the finest level. What the matrix is, how long a step along a correction is, and when matrix and
// residual are renewed is for others: nonlinear_multigrid.h (a Hessian, line searches), projective_dynamics.h (a constant matrix, none).
//
// A full cycle visits V-cycles of growing size, from the coarsest level alone to all levels. Which of their corrections are applied one by one
// (§4.2.2, Fig. 7):
// - EveryLevel: those of every smoothing on every level;
// - EveryCycle: those of every V-cycle;
// - LastCycle:  that of the smaller V-cycles together, then in the last, largest V-cycle those of its coarser half of levels and
//               of all levels (the paper's choice);
// - Never:      that of the whole full multigrid cycle (as a linear solver).
//
// Smoothing is symmetric multi-colour Gauss–Seidel, so each correction but the sums of the linear full cycle is one of descent (Theorems 4.1, 4.2).
// High-order interpolation (of no use in the paper) is not there.
#pragma once

#include <lope/linalg/block_multigrid.h>
#include <lope/optimize/objective.h>

#include <vector>

namespace lope::optimize {

class FullMultigrid {
 public:
  enum class Residual { EveryLevel, EveryCycle, LastCycle, Never };
  // A smoothing on one level, a V-cycle from one level downwards, or the linear full cycle that ends there.
  struct Correction {
    enum class Kind { Smoothing, Cycle, FullCycle };
    Kind kind = Kind::Cycle;
    int level = 0;
  };

  explicit FullMultigrid(const linalg::BlockMultigridOptions& options)
      : sweeps_(options.sweeps), grid_(options) {}

  // The levels of a matrix. False if it is not positive definite.
  bool renew(const linalg::BlockMatrix& matrix, linalg::HierarchyPtr hierarchy,
             std::span<const linalg::RowProjector> projectors);
  // The corrections of one full cycle, after renew().
  std::vector<Correction> plan(Residual residual) const;
  // c ≈ A⁻¹ r as far as this correction goes.
  void correct(const Correction& correction, linalg::ConstVector r, linalg::Vector c);

  linalg::BlockMultigrid& grid() { return grid_; }

 private:
  void full_cycle(int top);

  // Per level: right-hand side, correction, residual, a further correction.
  struct LevelWork {
    std::vector<double> f, x, r, c;
  };
  int sweeps_;
  linalg::BlockMultigrid grid_;
  std::vector<LevelWork> levels_;
};

// What a method with levels says of an objective without.
constexpr const char* no_hierarchy =
    "this method needs a hierarchy of coarser levels, and what is to be minimised has none";

}  // namespace lope::optimize
