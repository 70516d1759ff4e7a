// The inner loops of the pressure multigrid on bricks, compiled once per instruction set: an implementation
// detail of pressure_multigrid.
//
// A row of a brick is eight consecutive cells along x: one vector. Every field has one more brick than the
// grid, empty, which stands for all bricks that are missing, so that no loop asks whether a neighbour exists.
//
// Finest level: the matrix is given by the weights of lower faces (and what the surface adds to the
// diagonal), 4 numbers per cell, none at all in uniform rows. The sweeps are Gauss–Seidel: bricks in 2^Dim
// colours by the parities of their coordinates, so that bricks of one colour never read what another one
// writes; within a brick rows by the parity of y + z, cells of a row by the parity of x in registers. Coarser
// levels: a fixed list of offsets, coefficients row by row in a pool; all uniform rows share one entry of it.
#pragma once

#include <lope/base/cpu.h>

#include <cstdint>

namespace lope::matter::multigrid {

constexpr int row_cells = 8;
constexpr float no_bound = -1e30f;

// What a row of the finest level holds.
enum class RowKind : std::uint8_t {
  Empty,    // no unknowns
  Uniform,  // eight unknowns with the stencil of the infinite grid
  General,  // anything else
  Wall,     // with unknowns that have a bound
};

// The finest level. `around`: 3^Dim brick numbers per brick.
template <int Dim>
struct FineGrid {
  const int* around = nullptr;
  const RowKind* row_kind = nullptr;
  const std::uint8_t* wall = nullptr;  // per row: one bit per cell with a bound
  const float* weight[Dim] = {};
  const float* ghost = nullptr;
  const float* inverse_diagonal = nullptr;
  const double* rhs = nullptr;
};

// Interpolation from the next coarser level: weights of a cell's own parent, and of the parent's neighbour
// along each axis on the side where the cell lies. Uniform rows (all bits of `uniform` set) do not read them.
template <int Dim>
struct Interpolation {
  const std::uint8_t* present = nullptr;  // per row, one bit per unknown; rows without any are skipped
  const std::uint8_t* uniform = nullptr;  // per row, one bit per cell that looks like the infinite grid
  const float* weight[Dim + 1] = {};
  float own = 0, neighbour = 0;  // in uniform rows
};

// Where a brick lies in the coarser grid: the brick above it, and which corner of that (bit a: upper half
// along a).
struct Parent {
  int brick = 0;
  int corner = 0;
};

// What cells hand to their coarse neighbours in a restriction: to the parent, and per axis to the parent's
// lower and upper neighbour. Fields over the coarse bricks.
template <int Dim>
struct Messages {
  float* own = nullptr;
  float* low[Dim] = {};
  float* high[Dim] = {};
};

// A coarser level. Coefficients of the row r: pool + 8·size·slot[r], offset by offset, eight cells each; slot
// −1: no unknowns. `step`: place of each offset in the padded copy of a brick (see padded_* below).
template <int Dim>
struct StencilGrid {
  const int* around = nullptr;
  const int* slot = nullptr;
  const float* pool = nullptr;
  const float* inverse_diagonal = nullptr;
  const int* step = nullptr;
  int size = 0;
};

// A brick with two more cells on every side: rows of 16 numbers, cell x at place x + 4.
constexpr int padded_row = 16;
constexpr int padded_rows = 12;
constexpr int padded_place(int x, int y, int z) { return x + padded_row * (y + padded_rows * z); }

// One term of a Galerkin product: coefficient of a fine offset times an interpolation weight goes to a coarse
// offset.
struct GalerkinTerm {
  int weight;  // place of the column's weight in the copy of the weights
  int target;  // coarse offset
};
// A fine cell in the support of a coarse one. Its terms: per fine offset Dim + 1 of them.
struct GalerkinCell {
  int weight;   // place of the row's weight in the copy of the weights
  int row;      // which of the fine rows
  int variant;  // where its x lies: 0 even, 1 odd, 2 odd one below, 3 even one above
};
// Fine rows around a coarse row, and how many of them also need the variants 2 and 3 (they come first).
template <int Dim>
constexpr int galerkin_rows = Dim == 3 ? 12 : 4;
template <int Dim>
constexpr int galerkin_inner_rows = Dim == 3 ? 4 : 2;
template <int Dim>
constexpr int galerkin_cells = Dim == 3 ? 32 : 12;
constexpr int galerkin_reach = 3;                       // cells of the weights' copy beyond the fine bricks
constexpr int galerkin_side = 16 + 2 * galerkin_reach;  // rows of the copy along y and z
// Place in the copy of the weights: field, parity of x, row (from −reach), coarse x.
template <int Dim>
constexpr int galerkin_place(int field, int parity, int x, int y, int z) {
  const int rows = Dim == 3 ? galerkin_side * galerkin_side : galerkin_side;
  const int row = (y + galerkin_reach) + (Dim == 3 ? galerkin_side * (z + galerkin_reach) : 0);
  return ((field * 2 + parity) * rows + row) * 16 + x + 4;
}
template <int Dim>
constexpr int galerkin_scratch = (Dim + 1) * 2 * (Dim == 3 ? galerkin_side * galerkin_side : galerkin_side) *
                                 16;

// The coarse rows of a brick between which those lie that are wanted.
struct GalerkinRows {
  int low_y = 8, high_y = -1, low_z = 8, high_z = -1;

  bool empty() const { return high_y < low_y; }
  void include(int y, int z) {
    low_y = y < low_y ? y : low_y;
    high_y = y > high_y ? y : high_y;
    low_z = z < low_z ? z : low_z;
    high_z = z > high_z ? z : high_z;
  }
};

template <int Dim>
struct GalerkinPlan {
  const GalerkinCell* cell = nullptr;  // galerkin_cells<Dim> of them
  const GalerkinTerm* term = nullptr;  // per cell: per fine offset: Dim + 1
  int fine_size = 0;                   // offsets of the fine and of the coarse stencil
  int coarse_size = 0;
  int centre = 0;               // of the coarse stencil
  float row_sum = 0;            // Σ|a_ij| / a_ii of the infinite grid
  const int* bricks = nullptr;  // 4^Dim fine bricks around and below the coarse one, x fastest
};

// A move of p along the correction c and the last direction s. Cells with a bound end at 0 where they would
// be below, and where the correction is at its bound.
struct MoveFields {
  const float* c = nullptr;
  const float* bound = nullptr;      // −p in cells with a bound
  const float* r = nullptr;          // −(A p + b)
  const float* c_product = nullptr;  // A c
  float* s = nullptr;
  float* s_product = nullptr;  // A s
  double* p = nullptr;
};

template <int Dim>
struct Kernels {
  // r = −(A p + b) in single precision and the bounds −p of corrections; returns the largest violation of a
  // row and adds half of Σ p (Ap + b + b) to `objective`.
  double (*defect)(const FineGrid<Dim>& grid, int brick, const double* p, float* r, float* bound,
                   double* objective);
  // One Gauss–Seidel sweep of a brick; `backwards`: in the opposite order. `bound` may be null.
  void (*relax)(const FineGrid<Dim>& grid, int brick, bool backwards, const float* r, const float* bound,
                float* c);
  // Messages of Pᵀ(r − A c).
  void (*restrict_fine)(const FineGrid<Dim>& grid, const Interpolation<Dim>& p, const Parent& parent,
                        int brick, const float* r, const float* c, const Messages<Dim>& messages);
  // c ← max(c + P e, bound). `bound` may be null.
  void (*prolong_fine)(const FineGrid<Dim>& grid, const Interpolation<Dim>& p, const Parent& parent,
                       const int* coarse_around, int brick, const float* e, const float* bound, float* c);
  // y = A c; adds c·y, s·y, c·r and s·r to `dots`.
  void (*product)(const FineGrid<Dim>& grid, int brick, const float* c, const float* s, const float* r,
                  float* y, double* dots);
  // What keeping the bounds adds at most to ½ pᵀAp + bᵀp when p moves along α c + β s (see MoveFields).
  double (*clipping)(const FineGrid<Dim>& grid, int brick, float alpha, float beta, const MoveFields& move);
  // s ← α c + β s, y ← α y_c + β y, p ← p + s within the bounds.
  void (*step)(const FineGrid<Dim>& grid, int brick, float alpha, float beta, const MoveFields& move);

  // f = s times what the messages add up to.
  void (*collect)(const StencilGrid<Dim>& grid, int brick, float s, const Messages<Dim>& messages, float* f);
  // d ← α d + β D⁻¹ (f − A x), x_new = x + d; `x` null: x = 0, d is not read.
  void (*chebyshev)(const StencilGrid<Dim>& grid, int brick, float alpha, float beta, const float* f,
                    const float* x, float* d, float* x_new);
  void (*restrict_coarse)(const StencilGrid<Dim>& grid, const Interpolation<Dim>& p, const Parent& parent,
                          int brick, const float* f, const float* x, const Messages<Dim>& messages);
  void (*prolong_coarse)(const StencilGrid<Dim>& grid, const Interpolation<Dim>& p, const Parent& parent,
                         const int* coarse_around, int brick, const float* e, float* x);

  // Copies the weights that these rows of a coarse brick need into `scratch` (galerkin_scratch numbers).
  void (*galerkin_weights)(const Interpolation<Dim>& p, const GalerkinPlan<Dim>& plan,
                           const GalerkinRows& rows, float* scratch);
  // Coefficients of the coarse row (y, z) into `target` (8·coarse_size). The fine matrix: `finest` or
  // `stencil`, the other is null. Into `inverse` what Chebyshev's polynomials use as D⁻¹: the inverse
  // diagonal, divided by ρ² where Σ|a_ij| / a_ii is ρ > 1 times that of the infinite grid (cut cells), so
  // that D⁻¹A has no eigenvalue far above the infinite grid's.
  void (*galerkin_row)(const FineGrid<Dim>* finest, const StencilGrid<Dim>* stencil,
                       const GalerkinPlan<Dim>& plan, int y, int z, const float* scratch, float* target,
                       float* inverse);
};

// One per instruction set, each compiled for it. Not for AVX-512: a row is eight single-precision numbers, wider vectors than
// AVX2's would not be filled.
template <int Dim, Isa isa>
const Kernels<Dim>& compiled_kernels();

}  // namespace lope::matter::multigrid
