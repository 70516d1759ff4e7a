// The loops over material points, compiled once per instruction set and chosen at run time. An implementation detail of
// mpm_objective.h.
//
// Points stand in batches of `lanes`, none of which leaves its block of cells (grid.h) or mixes densities; quantity q of a
// batch is one row of `lanes` doubles, as in element_rows.h. A block sees the nodes it reaches as a small dense
// array ("local"), node-major: entry d·(node in block) + component.
//
// With u the nodes' displacements and Fₙ the deformation at the beginning of the step, F = (I + Σ_a u_a ∇w_aᵀ) Fₙ
// (quadratic B-splines w_a, 3^d per point).
#pragma once

#include <lope/base/cpu.h>
#include <lope/material/parameters.h>
#include <lope/matter/element_rows.h>
#include <lope/matter/stretch_layout.h>

#include <cstdint>

namespace lope::matter::mpm {

template <int d>
constexpr int power(int base) {
  return d == 3 ? base * base * base : base * base;
}

// Of blocks of cells.
inline constexpr int block_side = 4;               // cells along an axis
inline constexpr int block_reach = block_side + 2;  // nodes along an axis that its points touch
template <int d>
inline constexpr int local_nodes = power<d>(block_reach);
template <int d>
inline constexpr int touched_nodes = power<d>(3);  // by one point
// Nodes along an axis that share points with a node, and the lines of them along the last axis.
inline constexpr int window = 5;
template <int d>
inline constexpr int window_lines = d == 3 ? window * window : window;

// Rows of one batch: the matrix of the rest data is Fₙ. Behind it the place in the cell: distance from the first node touched
// along each axis, in cells, in [½, 3⁄2]; and for matter that yields within the step, the constants of
// material/yielding_hencky.h.
template <int d>
struct Layout : StretchLayout<d> {
  static constexpr int place = StretchLayout<d>::more_rest, yield = place + d, left = yield + 1, correction = left + 1,
                       tension = correction + 1, rest_rows = tension + 1;
};

// What the points of a batch are made of.
struct PointModel {
  material::Density density;
  bool yields;  // within the step; then the density is StvkHencky
  bool operator==(const PointModel&) const = default;
};

struct Batches {
  const PointModel* model;         // one per batch
  const int* filled;               // points in the batch, the rest is padding
  const IndexRow* base;            // the first node touched, as a local node of the block
  const Row* rest;
  Row* state;
  Row* tangent;
  double inverse_dx;
};

// Where the Hessian of one block goes: blocks of the upper triangle, at shift[window_lines·row + line] + column.
struct HessianTarget {
  const int* node;            // number of each local node; −1: not an unknown (its weights vanish)
  const std::int64_t* shift;  // line: that of the column relative to the row, the last axis left out
  double* values;             // d×d, row-major
  double* scratch;            // hessian_scratch<d> doubles, 64-byte aligned
};
template <int d>
inline constexpr int padded_nodes = d == 3 ? 32 : 16;
template <int d>
inline constexpr int hessian_scratch = touched_nodes<d> * d * d * padded_nodes<d>;

// All of them handle the batches [begin, end) of one block.
struct Kernels {
  // state ← signed SVD of F at the displacements u.
  void (*decompose)(const Batches& batches, int begin, int end, const double* u);
  EnergySums (*energy)(const Batches& batches, int begin, int end);
  // g += Σ V P Fₙᵀ∇w_a.
  void (*gradient)(const Batches& batches, int begin, int end, double* g);
  // tangent ← rotated dP/dF.
  void (*tangent)(const Batches& batches, int begin, int end, bool projected);
  // y += ∂²Φ p, from tangent.
  void (*product)(const Batches& batches, int begin, int end, const double* p, double* y);
  // The diagonal blocks of ∂²Φ (d×d, row-major), from tangent, are added to those of the local nodes.
  void (*diagonal)(const Batches& batches, int begin, int end, double* blocks);
  // The upper triangle of ∂²Φ, from tangent.
  void (*hessian)(const Batches& batches, int begin, int end, const HessianTarget& target);
};

// One per instruction set, each compiled for it.
template <int d, Isa isa>
const Kernels& compiled_kernels();

}  // namespace lope::matter::mpm
