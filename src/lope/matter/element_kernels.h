// The loops over batches of elements with fixed nodes, compiled once per instruction set and chosen at run time
// (kernel_choice.h): of solids (solid/elastic_kernels.h) and of cloth (cloth/membrane_kernels.h).
#pragma once

#include <lope/matter/element_rows.h>

namespace lope::matter {

// Everything the loops read and write, for all batches. Model names the energy.
template <class Model>
struct ElementBatches {
  const Model* model;     // one per batch
  const int* filled;      // number of elements in the batch, the rest is padding
  const IndexRow* nodes;  // node numbers
  const IndexRow* slots;  // matrix block of each pair of nodes, row-major
  const Row* rest;
  Row* state;
  Row* tangent;
  double projection = 1;  // how much of their projection projected tangents of membranes take
};

// All of them handle the batches [begin, end).
template <class Model>
struct ElementKernels {
  using Batches = ElementBatches<Model>;
  // state ← what is needed of F at x: its singular values and vectors, principal frames.
  void (*decompose)(const Batches& batches, int begin, int end, const double* x);
  EnergySums (*energy)(const Batches& batches, int begin, int end);
  // g += ∂Φ/∂x.
  void (*gradient)(const Batches& batches, int begin, int end, double* g);
  // tangent ← the second derivative in the rotated frame times the rest volume.
  void (*tangent)(const Batches& batches, int begin, int end, bool projected);
  // values += scale·∂²Φ, from tangent: row-major blocks at their slots.
  void (*hessian)(const Batches& batches, int begin, int end, double scale, double* values);
  // y += scale·∂²Φ·p, from tangent.
  void (*product)(const Batches& batches, int begin, int end, double scale, const double* p, double* y);
};

}  // namespace lope::matter
