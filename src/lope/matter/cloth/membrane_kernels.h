// The loops over batches of triangles of a membrane, compiled once per instruction set and chosen at run time.
// An implementation detail of membrane.h.
#pragma once

#include <lope/base/cpu.h>
#include <lope/material/membrane.h>
#include <lope/matter/element_kernels.h>

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

using Batches = ElementBatches<material::MembraneModel>;
using Kernels = ElementKernels<material::MembraneModel>;

// One per instruction set, each compiled for it.
template <Isa isa>
const Kernels& compiled_kernels();

}  // namespace lope::matter::membrane
