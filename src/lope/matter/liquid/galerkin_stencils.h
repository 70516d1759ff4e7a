// The stencils of the pressure multigrid's coarse matrices: which coarse cells a row of Pᵀ A P reaches, which
// products of weights and fine coefficients add up to it, and what it is on the infinite grid. They depend on
// the dimension and the level alone. An implementation detail of pressure_multigrid, which describes P.
#pragma once

#include <lope/matter/liquid/multigrid_kernels.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lope::matter::multigrid {

using Offset = std::array<int, 3>;

// Interpolation weights of a cell's parent and of the parent's neighbours.
constexpr double neighbour_weight = 0.2;
template <int Dim>
constexpr double own_weight = 1 - Dim* neighbour_weight;
// Energy of an interpolated linear function relative to the function's own: with weights below ¼ the coarse
// matrix is too stiff by this factor, so its right-hand side is scaled by it.
constexpr double stiffness =
    2 * (4 * neighbour_weight * neighbour_weight + (1 - 2 * neighbour_weight) * (1 - 2 * neighbour_weight));

// What lies behind a face of a cell: two bits per direction 2·axis + (upper).
enum Link : unsigned { Closed = 0, ToAir = 1, Open = 2 };
using Links = std::uint16_t;
inline unsigned link_of(Links links, int direction) { return links >> 2 * direction & 3u; }

// Weights of a cell's donors, parent first.
template <int Dim>
using DonorWeights = std::array<float, Dim + 1>;
// By what is behind the faces towards them: entry Σ link_a 3^a.
template <int Dim>
std::span<const DonorWeights<Dim>> donor_weights();

template <int Dim>
struct GalerkinStencil {
  // From the stencil of the finer level: its offsets (the finest one's as the kernels order them) and
  // coefficients on the infinite grid.
  GalerkinStencil(const std::vector<Offset>& fine, std::span<const float> fine_uniform);

  std::vector<Offset> offsets;  // sorted; symmetric about `centre`
  int centre = 0;
  int reach = 0;  // largest coordinate of an offset
  std::vector<GalerkinCell> cells;
  std::vector<GalerkinTerm> terms;
  std::vector<float> uniform;  // the stencil of the infinite grid,
  double row_sum = 0;          // its Σ|a_ij| / a_ii,
  double lambda = 0;           // and the largest eigenvalue of D⁻¹A there
};

// The stencil of the level below `level`. Below the last of the stencils, all have its shape, but no cell
// counts as uniform.
constexpr int stencil_count = 8;
template <int Dim>
const GalerkinStencil<Dim>& stencil_below(int level);

}  // namespace lope::matter::multigrid
