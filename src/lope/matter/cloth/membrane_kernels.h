// The loops over batches of triangles of a membrane, compiled once per instruction set and chosen at run time.
// An implementation detail of membrane.h.
#pragma once

#include <lope/base/cpu.h>
#include <lope/material/membrane.h>
#include <lope/matter/element_rows.h>

namespace lope::matter::membrane {

// Rows of one batch.
struct Layout {
  static constexpr int nodes = 3;
  // Rest data: the inverse B of the rest edges in the material frame (row a: gradient of the shape function of node a + 1),
  // the rest area (0 marks padding) and the constants of the material.
  static constexpr int area = 4, warp = 5, weft = 6, coupling = 7, shear = 8, largest_stretch = 9, limit_stiffness = 10,
                       rest_rows = 11;
  // State: the columns r₁, r₂, n of the frame one after the other, c and s of V, λ₁ and λ₂.
  static constexpr int frame = 0, c = 9, s = 10, first = 11, second = 12, state_rows = 13;
  // The second derivative in the principal frame times the rest area: upper triangle of A, then S₁₁, S₂₂, S₁₂.
  static constexpr int plane = 0, normal = 10, tangent_rows = 13;
};

// Everything the loops read and write, for all batches.
struct Batches {
  const material::MembraneModel* model;  // one per batch
  const int* filled;                     // number of elements in the batch, the rest is padding
  const IndexRow* nodes;                 // node numbers
  const IndexRow* slots;                 // matrix block of each pair of nodes, row-major
  const Row* rest;
  Row* state;
  Row* tangent;
};

struct EnergySums {
  double value = 0;      // Σ Aψ
  double magnitude = 0;  // Σ A(|ψ| + λ₁ Σ|P|): times the machine epsilon, what rounding may do to the value
};

// All of them handle the batches [begin, end).
struct Kernels {
  // state ← principal frames at x.
  void (*decompose)(const Batches& batches, int begin, int end, const double* x);
  EnergySums (*energy)(const Batches& batches, int begin, int end);
  void (*gradient)(const Batches& batches, int begin, int end, double* g);
  void (*tangent)(const Batches& batches, int begin, int end, bool projected);
  // values += scale·∂²Φ, from tangent: 3×3 row-major blocks at their slots.
  void (*hessian)(const Batches& batches, int begin, int end, double scale, double* values);
  // y += scale·∂²Φ·p, from tangent.
  void (*product)(const Batches& batches, int begin, int end, double scale, const double* p, double* y);
};

// isa must be supported (base/cpu.h).
const Kernels& kernels(Isa isa);

// One per translation unit.
const Kernels& baseline_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();

}  // namespace lope::matter::membrane
