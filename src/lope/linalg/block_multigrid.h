// Geometric multigrid for block matrices: Galerkin levels A_{l+1} = Pᵀ A_l P from prolongations that somebody else
// knows (hierarchy.h), symmetric multi-colour Gauss–Seidel between them, a solve on the coarsest. The V-cycle of HOT
// (Wang et al. 2020, Alg. 2) and the levels of nonlinear full multigrid for cloth (CLOTH §4), which uses them one by one.
//
// Level 0 is the finest. Rows of the matrix that are decoupled from all others (fixed nodes) and rows of P without
// entries are smoothed only; rows with a projector N_i (slip) take N_i P_i. Coarse rows that lost all their children are
// left alone.
// Couplings of the matrix (contact) belong to it like its other blocks: they are smoothed (coloured_rows.h) and go into
// the coarse matrices, as blocks or as couplings of these; rows with couplings are coloured anew in every update, and a
// coarsest matrix that has any is ordered anew when they change place.
//
// In a cycle, rows of the finest level that are nearly the same, scaled by their diagonals, are also relaxed together (row_groups.h),
// after the sweeps on the way down and before those on the way up.
//
// Smoothing may be accelerated by Chebyshev's weights (smoothing.h), and may be adaptive: rows of a level whose part of the right-hand side is small
// when the level is reached are skipped, before and after the coarse correction (CLOTH §4.3). CLOTH looks at the residual of every row
// whenever it is visited; that costs as much as what is skipped, unlike on a GPU, and makes pre- and post-smoothing different. With one
// decision the cycle stays symmetric, though perhaps only semi-definite, and no longer linear.
//
// The matrix may be one of single numbers (`components`): each counts for as many components of the vectors, as in projective dynamics.
// There are no projectors and no groups then, and the coarsest level has a factor whatever its size.
//
// Deviations from HOT: these groups; a small coarsest level is factorised, which makes the cycle linear; the matrix is not assumed to come from
// a grid.
#pragma once

#include <lope/linalg/hierarchy.h>
#include <lope/linalg/preconditioner.h>

#include <memory>
#include <span>
#include <vector>

namespace lope::linalg {

struct BlockMultigridOptions {
  // A coarsest level of more rows is not factorised but solved by block-Jacobi CG until √(rᵀD⁻¹r) ≤ ½√(bᵀD⁻¹b) (HOT); the
  // cycle is then not linear. A factor has to be ordered anew whenever the pattern changes.
  int most_factored = 800;
  int sweeps = 1;                 // symmetric ones, before and after the coarse correction
  int most_levels = 0;            // if positive
  bool groups = true;             // of rows that are nearly the same are relaxed together
  int components = 0;             // if positive: the matrix's block size is 1, that of the vectors this, 3 at most
  bool single_precision = false;  // of the matrices that are smoothed with, and of vectors; not of the coarsest solve
};

struct SmootherOptions {
  double radius = 0;      // of Chebyshev's method; 0: plain sweeps. It takes two sweeps to make a difference
  double skip_below = 0;  // rows below so many times the root mean square are skipped; 0: none
  bool is_plain() const { return !(radius > 0) && !(skip_below > 0); }
};

class BlockMultigrid final : public Preconditioner {
 public:
  explicit BlockMultigrid(const BlockMultigridOptions& options = {});
  ~BlockMultigrid() override;

  // Before the first update(). Another hierarchy (by its id): symbolic work is redone in the next update().
  void set_hierarchy(HierarchyPtr hierarchy);
  // For the next update(): one per row at most.
  void set_projectors(std::span<const RowProjector> projectors);

  // From now on; plain sweeps at first.
  void set_smoother(const SmootherOptions& smoother);
  // Rows that were skipped when each level was smoothed last, and all that were looked at; since the last call.
  struct Skipped {
    std::int64_t rows = 0, of = 0;
  };
  Skipped take_skipped();

  // False if a diagonal block or the coarsest matrix is not positive definite.
  bool update(const BlockMatrix& matrix) override;
  // One V-cycle from zero.
  void apply(ConstVector r, Vector z) override;
  // After an update().
  bool is_linear() const override;
  bool is_symmetric() const override { return is_linear(); }
  bool is_global() const override { return true; }
  // Of the matrix itself, not of a scalar model of it.
  bool has_levels() const override { return options_.components == 0; }

  // The levels one by one, after an update(). Vectors have size(level) numbers.
  int levels() const;
  std::size_t size(int level) const;
  int colours(int level) const;
  // A_l; level > 0 (the finest belongs to whoever called update()). The diagonal of the coarsest is shifted by 10⁻¹⁰ of it.
  const BlockMatrix& matrix(int level) const;
  // Symmetric Gauss–Seidel sweeps for A_l x = f from x, or from zero. Not on the coarsest level.
  enum class Start { X, Zero };
  void smooth(int level, ConstVector f, Vector x, int sweeps, Start start);
  // r = f − A_l x. Not on the coarsest level.
  void residual(int level, ConstVector f, ConstVector x, Vector r);
  // Pᵀ r from level to level + 1.
  void restrict_residual(int level, ConstVector r, Vector coarse);
  // fine = P x from level + 1 to level.
  void prolong(int level, ConstVector coarse, Vector fine);
  // On the coarsest level.
  void coarse_solve(ConstVector f, Vector x);
  // One V-cycle from zero that begins at this level.
  void cycle(int level, ConstVector f, Vector x);

 private:
  class Levels;
  template <class T, int b, bool numbers>
  class LevelsOf;
  template <class T>
  void make_levels();

  BlockMultigridOptions options_;
  SmootherOptions smoother_;
  HierarchyPtr hierarchy_;
  std::vector<RowProjector> projectors_;
  std::unique_ptr<Levels> levels_;
  std::uint64_t made_for_ = 0;  // id of the hierarchy
  int block_size_ = 0;  // of the vectors
};

}  // namespace lope::linalg
