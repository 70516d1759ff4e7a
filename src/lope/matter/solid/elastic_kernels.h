// The loops over batches of elements, compiled once per instruction set and chosen at run time.
// An implementation detail of elastic_elements.h.
#pragma once

#include <lope/base/cpu.h>
#include <lope/material/parameters.h>
#include <lope/matter/element_rows.h>

#include <cstdint>

namespace lope::matter::elastic {

using matter::IndexRow;
using matter::lanes;
using matter::Row;

// Rows of one batch.
template <int d>
struct Layout {
  static constexpr int nodes = d + 1;
  static constexpr int pairs = d == 3 ? 3 : 1;
  // Rest data: the inverse B of the rest edge matrix (row a: gradient of the shape function of node a+1), the
  // rest volume (0 marks padding), μ, λ.
  static constexpr int volume = d * d, mu = volume + 1, lambda = volume + 2, rest_rows = volume + 3;
  // State: U, V (row-major) and σ.
  static constexpr int u = 0, v = d * d, sigma = 2 * d * d, state_rows = sigma + d;
  // dP/dF in the rotated frame times the rest volume: upper triangle of the stretch block, (flip + twist)/2,
  // (flip − twist)/2.
  static constexpr int triangle = d * (d + 1) / 2;
  static constexpr int same = triangle, crossed = triangle + pairs, tangent_rows = triangle + 2 * pairs;
};

// Everything the loops read and write, for all batches.
struct Batches {
  const material::Density* density;  // one per batch
  const int* filled;                 // number of elements in the batch, the rest is padding
  const IndexRow* nodes;             // node numbers
  const IndexRow* slots;             // matrix block of each pair of nodes, row-major
  const Row* rest;
  Row* state;
  Row* tangent;
};

struct EnergySums {
  double value = 0;  // Σ Vψ
  double magnitude = 0;  // Σ V(|ψ| + σ₁ Σ|ψ_i|): times the machine epsilon, what rounding may do to the value
};

// All of them handle the batches [begin, end).
struct Kernels {
  // state ← signed SVD of F at x.
  void (*decompose)(const Batches& batches, int begin, int end, const double* x);
  EnergySums (*energy)(const Batches& batches, int begin, int end);
  // Vψ' scattered: g += ∂Φ/∂x.
  void (*gradient)(const Batches& batches, int begin, int end, double* g);
  // tangent ← rotated dP/dF.
  void (*tangent)(const Batches& batches, int begin, int end, bool projected);
  // values += scale·∂²Φ, from tangent: d×d row-major blocks at their slots.
  void (*hessian)(const Batches& batches, int begin, int end, double scale, double* values);
  // y += scale·∂²Φ·p, from tangent.
  void (*product)(const Batches& batches, int begin, int end, double scale, const double* p, double* y);
};

// isa must be supported (base/cpu.h).
template <int d>
const Kernels& kernels(Isa isa);

// One per translation unit.
template <int d>
const Kernels& baseline_kernels();
template <int d>
const Kernels& avx2_kernels();
template <int d>
const Kernels& avx512_kernels();

}  // namespace lope::matter::elastic
