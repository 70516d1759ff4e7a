// The pressure equations of a liquid on a sparse grid, as a mixed complementarity problem (LCP §3).
//
// The unknown of a liquid cell is q = p Δt / (ρ Δx) [m/s], p the pressure; then every row is a velocity and
// no unit is left in the matrix. Row i of A q + b is the net outflow of cell i after the pressure has acted,
// divided by Δx^(Dim−1):
//   (A q)_i = Σ_f w_f (q_i − q_j) + Σ_g (w_g / θ_g) q_i,      b_i = Σ_f ± (w_f û_f + (1 − w_f) s_f),
// f over the faces of the cell, j the liquid cell behind f, g over the faces towards air; w the open fraction
// of a face, û the velocity of the liquid, s that of the wall (both along the axis, signs outwards), θ the
// fraction of the way to the air cell's centre at which the surface lies (ghost fluid). Rows of wall cells
// (faces not fully open; the set S): 0 ≤ q ⊥ A q + b ≥ 0, the liquid may leave the wall; other rows: A q + b
// = 0.
//
// Deviations from LCP: units (the paper's rows are min(Ap + b, p) with p in Pa); w and w/θ are rounded to
// single precision when the system is made, so that solvers which compute in either precision solve the same
// equations; fractions below `smallest_opening` count as closed and θ is at least `smallest_theta`, so that
// no row is a sliver.
//
// A region of liquid that touches no air has a singular matrix. Its right-hand side is made compatible (its
// mean is subtracted): always where walls hold the liquid; with separating walls only if it is compressed
// (negative sum), since a region that expands can let go of its walls. Equations that were compressed by moving
// walls have no solution before that, and those that are solved instead lose volume: `squeeze` says how much.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/bricks.h>
#include <lope/optimize/complementarity/problem.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

// What the pressure equations are made of. All fields have bricks->size() values; those per axis belong to
// the lower face of each cell along that axis. Cells outside the bricks are closed: a face towards one is
// closed, whatever is given for it. So every brick with liquid needs the bricks around it (BrickSet::dilated)
// where liquid may be near.
template <int Dim>
struct PressureGrid {
  template <class T>
  using PerAxis = std::array<T, static_cast<std::size_t>(Dim)>;

  std::shared_ptr<const geometry::BrickSet<Dim>> bricks;
  double dx = 1;                                // side of a cell [m]
  std::vector<double> liquid;                   // level set at the cells' centres [m], negative in liquid
  PerAxis<std::vector<double>> open;            // open fraction of a face, 0 … 1
  PerAxis<std::vector<double>> velocity;        // of the liquid, normal to the face [m/s]
  PerAxis<std::vector<double>> wall_velocity;  // of the wall there [m/s]; empty: at rest
  std::vector<double> expansion;                // wanted net outflow of a cell, taken from b [m/s]; empty: none
};

struct PressureOptions {
  bool separating = true;  // false: walls hold the liquid (S is empty, the equations are linear)
  double smallest_opening = 0.05;
  double smallest_theta = 1e-2;
};

enum class CellKind : std::uint8_t {
  Closed,  // no open face, or outside the domain
  Air,     // open, no liquid in its centre
  Liquid,  // an unknown
  Wall,    // an unknown of the set S
};

// Liquid that touches no air. Flows are divided by Δx^(Dim−1), as the rows are [m/s].
struct EnclosedRegion {
  std::vector<std::int64_t> cells;
  double removed = 0;  // what was subtracted from its right-hand side in all
  double swept = 0;    // flow of the moving walls through its border, in and out added up
  double squeeze = 0;  // ≥ 0: what of `removed` is inflow of moving walls, and not a wanted expansion
};

template <int Dim>
class PressureSystem {
 public:
  template <class T>
  using PerAxis = std::array<T, static_cast<std::size_t>(Dim)>;

  PressureSystem() = default;
  // Sizes of the fields as the grid demands, finite numbers: asserted.
  PressureSystem(const PressureGrid<Dim>& grid, const PressureOptions& options);
  // Equations from elsewhere, each divided by `scale`: row i is that of cells[i], bounded rows are walls. The problem can be solved
  // (complementarity::fault_of, make_solvable). Fails with the row, counted from 1, where it is not of the form above: where two rows have one cell, a
  // row is coupled to another one than its neighbours along the axes or by a positive number, or has a negative sum.
  static Expected<PressureSystem> from_matrix(const optimize::complementarity::MixedLcp& problem,
                                              std::span<const geometry::GridIndex<Dim>> cells, double scale);

  const geometry::BrickSet<Dim>& bricks() const { return *bricks_; }
  std::shared_ptr<const geometry::BrickSet<Dim>> shared_bricks() const { return bricks_; }
  double dx() const { return dx_; }

  // Per cell of the bricks.
  std::span<const CellKind> kind() const { return kind_; }
  bool is_unknown(std::size_t cell) const { return kind_[cell] >= CellKind::Liquid; }
  // w of the lower face along an axis if unknowns are on both sides, else 0.
  // One brick of zeros follows the cells.
  std::span<const float> coupling(int axis) const { return coupling_[static_cast<std::size_t>(axis)]; }
  // Σ w/θ over a cell's faces towards air.
  std::span<const float> ghost() const { return ghost_; }
  // b; 0 in cells that are no unknowns.
  std::span<const double> rhs() const { return rhs_; }
  // The largest net outflow of a cell before the pressure acts, in or out, without wanted expansions [m/s].
  double largest_outflow() const { return largest_outflow_; }
  // The diagonal entry of an unknown: Σ w + ghost.
  double diagonal(std::size_t cell) const;

  // The unknowns in the order of their cells: cell of each, and number of each cell (−1: no unknown).
  std::span<const std::int64_t> unknown_cells() const { return unknown_cell_; }
  std::span<const std::int32_t> numbering() const { return number_; }
  int unknowns() const { return static_cast<int>(unknown_cell_.size()); }
  int wall_unknowns() const { return walls_; }

  std::span<const EnclosedRegion> enclosed_regions() const { return enclosed_; }

  // A q + b over the cells (0 in cells that are no unknowns).
  void residual(std::span<const double> q, std::span<double> result) const;
  // Largest violation over the unknowns [m/s]: |min(q, Aq + b)| in wall cells, |Aq + b| in the others (§8 of
  // the numerics; the stopping rule of every solver).
  double violation(std::span<const double> q) const;

  // The same problem as a matrix, rows in the order of the unknowns, and fields to and from that order (0
  // elsewhere).
  optimize::complementarity::MixedLcp matrix_form() const;
  std::vector<double> gather(std::span<const double> field) const;
  std::vector<double> scatter(std::span<const double> unknowns) const;

  // About the same problem on cells of twice the size (bricks with unknowns only), discretised directly: mean
  // openings, surfaces seen from the coarse centres, summed right-hand side. A start for the solution, not an
  // operator of a multigrid cycle (LCP Table 12 shows why). `refine`: a solution of it as a field of this
  // system.
  PressureSystem coarser() const;
  void refine(const PressureSystem& coarse, std::span<const double> coarse_q, std::span<double> q) const;

  // The equations that are left where these unknowns have the pressure 0 (1: it has; in the order of the unknowns): those cells
  // count as air, the others are numbered anew (LCP eq. 4.2). Without regions: nothing is made compatible again.
  PressureSystem without(std::span<const std::uint8_t> zero) const;

  // Velocities after the pressure has acted: u ← û − ∇q on open faces next to liquid (divergence-free up to
  // the residual), the wall's velocity on closed faces, û elsewhere. `valid` (may be empty) becomes 1 on the
  // first kind.
  void subtract_gradient(const PressureGrid<Dim>& grid, std::span<const double> q,
                         PerAxis<std::vector<double>>& velocity,
                         PerAxis<std::vector<std::uint8_t>>* valid = nullptr) const;

 private:
  void classify(const PressureGrid<Dim>& grid, const PressureOptions& options);
  void weigh(const PressureGrid<Dim>& grid);
  void number_unknowns();
  void make_compatible(const PressureGrid<Dim>& grid, bool separating);

  std::shared_ptr<const geometry::BrickSet<Dim>> bricks_;
  double dx_ = 1;
  double smallest_opening_ = 0;
  double smallest_theta_ = 0;
  std::vector<CellKind> kind_;
  PerAxis<std::vector<float>> coupling_;
  std::vector<float> ghost_;
  std::vector<double> rhs_;
  std::vector<std::int64_t> unknown_cell_;
  std::vector<std::int32_t> number_;
  int walls_ = 0;
  std::vector<EnclosedRegion> enclosed_;
  double largest_outflow_ = 0;
};

// A field over other bricks on these: the values of cells that both have, 0 in the others. What carries the
// pressure of one step to the next as a start.
template <int Dim>
std::vector<double> carried(const geometry::BrickSet<Dim>& from, std::span<const double> field,
                            const geometry::BrickSet<Dim>& to) {
  std::vector<double> result(to.size());
  for (int brick = 0; brick < to.count(); ++brick) {
    const int source = from.find(to.brick(brick));
    if (source == geometry::BrickSet<Dim>::none) continue;
    const auto first = field.begin() + std::ptrdiff_t{source} * geometry::BrickSet<Dim>::cells;
    std::copy(first, first + geometry::BrickSet<Dim>::cells,
              result.begin() + std::ptrdiff_t{brick} * geometry::BrickSet<Dim>::cells);
  }
  return result;
}

extern template class PressureSystem<2>;
extern template class PressureSystem<3>;

}  // namespace lope::matter
