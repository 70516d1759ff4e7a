// The multigrid hierarchy of a pressure system: levels of bricks, barycentric transfers, Galerkin matrices,
// in single precision (LCP §4.3, NUMERICS §8 for the truncation).
//
// The hierarchy holds corrections c of an iterate p that is kept in double precision outside: A c = r with r
// = −(Ap + b), and c ≥ −p in wall cells. Single precision limits the size of a correction's error, not that
// of p's.
//
// Transfers: a fine cell takes its value from its parent and from the parent's neighbour along each axis on
// the side where the cell lies: LCP's barycentric pattern, but with weights 0.2 for each neighbour and the
// rest for the parent. LCP's ¼ for each neighbour maps checkerboards to 0, so that the coarse matrices are
// nearly singular for the roughest functions and the cycle gets worse with every level; with 0.2 the energy
// of a linear function is 4% too large, which a factor in front of every coarse right-hand side makes up for
// (docs/pressure_multigrid.md). Each neighbour lies behind exactly one face of the fine cell: if that face is
// closed, the donor is on the other side of a wall and is dropped, the other weights are scaled to sum 1
// (LCP's one-sided weights); if air is behind it, the donor counts as 0. A coarse cell with one unknown child
// is an unknown. R = Pᵀ, A_coarse = Pᵀ A P (LCP scales R by 2^−Dim; the corrections are the same).
//
// Truncation: cells that are active (at their bound) have no row in P, so the coarse matrices are those of
// the free cells; set_active recomputes only the coarse rows that saw a cell whose state changed. Coarse
// cells whose children are all active keep the little that their neighbours give them (NUMERICS drops them;
// keeping them only makes the coarse space larger and needs no bookkeeping).
//
// Smoothing: projected Gauss–Seidel in colours on the finest level, backwards after the coarse correction;
// Chebyshev polynomials of D⁻¹A below (Galerkin stencils reach two cells far: they have no cheap colouring).
// The same bits for any number of threads.
#pragma once

#include <lope/matter/liquid/multigrid_kernels.h>
#include <lope/matter/liquid/pressure_system.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

struct HierarchyOptions {
  int sweeps = 2;              // Gauss–Seidel sweeps before and after, finest level
  int degree = 2;              // of the Chebyshev polynomials before and after, coarser levels
  double chebyshev_ratio = 4;  // they damp the eigenvalues of D⁻¹A in [λ/ratio, λ], λ ≥ the largest
  int coarsest_unknowns = 120;
  Isa isa = selected_isa();  // of the kernels
};

template <int Dim>
class PressureHierarchy {
 public:
  explicit PressureHierarchy(const HierarchyOptions& options = {});
  ~PressureHierarchy();
  PressureHierarchy(PressureHierarchy&&) noexcept;
  PressureHierarchy& operator=(PressureHierarchy&&) noexcept;

  // Takes a system (which must outlive the use of this object): levels, transfers and stencils of the
  // infinite grid. No cell is active. The memory of the previous system is used again.
  void attach(const PressureSystem<Dim>& system, bool bounded);
  // The coarse matrices, for the cells that are active now.
  void build_matrices();

  // Fields of the finest level have this many numbers: one brick more than the system's, which stays 0.
  std::size_t field_size() const;

  struct Defect {
    double violation = 0;  // as PressureSystem::violation
    double objective = 0;  // ½ pᵀAp + bᵀp
  };
  // r ← −(Ap + b), bounds ← −p, c ← 0.
  Defect defect(std::span<const double> p);
  // r ← given (a preconditioner's right-hand side), c ← 0.
  void set_residual(std::span<const double> r);
  // Active cells are those whose correction is at its bound. Transfers follow, and matrices too if more than
  // a few cells changed.
  void update_active();
  // Moves p along the combination of c and the last move's direction that conjugate gradients would take.
  // Wall cells that would fall below 0, or whose correction is at its bound, end at 0; if that could make ½
  // pᵀAp + bᵀp larger than c alone does, p moves by c or less of it. The quadratic never grows.
  void move(std::span<double> p);
  // z ← c.
  void copy_correction(std::span<double> z) const;

  // What the cycle needs (linalg::MultigridLevels).
  int level_count() const;
  void smooth_before(int level);
  void restrict_residual(int level);
  void prolong_correction(int level);
  void smooth_after(int level);
  void solve_coarsest();

  // Sizes, for reports: unknowns per level.
  std::vector<std::int64_t> unknowns() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

extern template class PressureHierarchy<2>;
extern template class PressureHierarchy<3>;

}  // namespace lope::matter
