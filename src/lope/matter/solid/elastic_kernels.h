// The loops over batches of elements, compiled once per instruction set and chosen at run time.
// An implementation detail of elastic_elements.h.
#pragma once

#include <lope/base/cpu.h>
#include <lope/material/parameters.h>
#include <lope/matter/element_kernels.h>
#include <lope/matter/stretch_layout.h>

namespace lope::matter::elastic {

// Rows of one batch: the matrix of the rest data is the inverse B of the rest edges (row a: gradient of the shape function of
// node a + 1).
template <int d>
struct Layout : StretchLayout<d> {
  static constexpr int nodes = d + 1;
  static constexpr int rest_rows = StretchLayout<d>::more_rest;
};

using Batches = ElementBatches<material::Density>;
using Kernels = ElementKernels<material::Density>;

// One per instruction set, each compiled for it.
template <int d, Isa isa>
const Kernels& compiled_kernels();

}  // namespace lope::matter::elastic
