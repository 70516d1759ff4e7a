// The kernels that make the matrix of a coarser level from that of the finer one (see multigrid_kernels_rows.h).
#pragma once

#include <lope/matter/liquid/multigrid_kernels_finest.h>

namespace lope::matter::multigrid {
namespace {

// One row of weights (field k) of a fine brick.
template <int Dim>
LOPE_INLINE F8 weights_of(const Interpolation<Dim>& p, int brick, int row, int field) {
  const int index = brick * brick_rows<Dim> + row;
  if (p.present[index] == 0) return F8{};
  if (p.uniform[index] == 0xff) return all(field == 0 ? p.own : p.neighbour);
  return load<F8>(p.weight[field] + Place{index} * 8);
}

template <int Dim>
void galerkin_weights(const Interpolation<Dim>& p, const GalerkinPlan<Dim>& plan, const GalerkinRows& rows,
                      float* scratch) {
  constexpr int reach = galerkin_reach;
  const int low_z = Dim == 3 ? 2 * rows.low_z - reach : 0,
            high_z = Dim == 3 ? 2 * rows.high_z + 1 + reach : 0;
  for (int z = low_z; z <= high_z; ++z) {
    for (int y = 2 * rows.low_y - reach; y <= 2 * rows.high_y + 1 + reach; ++y) {
      const int* bricks = plan.bricks + 4 * ((y >> 3) + 1) + (Dim == 3 ? 16 * ((z >> 3) + 1) : 0);
      const int row = (y & 7) + 8 * (Dim == 3 ? z & 7 : 0);
      for (int field = 0; field <= Dim; ++field) {
        const F8 v0 = weights_of<Dim>(p, bricks[0], row, field),
                 v1 = weights_of<Dim>(p, bricks[1], row, field);
        const F8 v2 = weights_of<Dim>(p, bricks[2], row, field),
                 v3 = weights_of<Dim>(p, bricks[3], row, field);
        float* even = scratch + galerkin_place<Dim>(field, 0, -4, y, z);
        float* odd = scratch + galerkin_place<Dim>(field, 1, -4, y, z);
        store(even, evens(v0, v1));
        store(even + 8, evens(v2, v3));
        store(odd, odds(v0, v1));
        store(odd + 8, odds(v2, v3));
      }
    }
  }
}

// Coefficients of one row of the finest level in the order centre, x below, x above, y below, …
template <int Dim>
LOPE_INLINE void finest_coefficients(const FineGrid<Dim>& g, int brick, int y, int z, F8* a) {
  const RowKind kind = g.row_kind[brick * brick_rows<Dim> + y + 8 * z];
  if (kind == RowKind::Empty) {
    for (int k = 0; k <= 2 * Dim; ++k) a[k] = F8{};
  } else if (kind == RowKind::Uniform) {
    a[0] = all(2 * Dim);
    for (int k = 1; k <= 2 * Dim; ++k) a[k] = all(-1);
  } else {
    const Row<Dim> row(Rows<Dim>(g.around, brick), y, z);
    const Faces<F8, Dim> w(g, row);
    a[0] = load<F8>(g.ghost + row.here) + (w.below_x + w.above_x) + (w.below_y + w.above_y);
    if constexpr (Dim == 3) a[0] += w.below_z + w.above_z;
    a[1] = -w.below_x;
    a[2] = -w.above_x;
    a[3] = -w.below_y;
    a[4] = -w.above_y;
    if constexpr (Dim == 3) {
      a[5] = -w.below_z;
      a[6] = -w.above_z;
    }
  }
}

constexpr int largest_stencil = 125;

template <int Dim>
void galerkin_row(const FineGrid<Dim>* finest, const StencilGrid<Dim>* stencil, const GalerkinPlan<Dim>& plan,
                  int y, int z, const float* scratch, float* target, float* inverse) {
  // Coefficients of the fine rows around, by variant of x.
  static thread_local float fine[galerkin_rows<Dim>][4][largest_stencil][8];
  for (int n = 0; n < galerkin_rows<Dim>; ++n) {
    // Inner rows first: offsets (0|1, 0|1); then one of y, z outside (−1 or 2).
    int oy, oz;
    if constexpr (Dim == 2) {
      oy = n < 2 ? n : n == 2 ? -1 : 2;
      oz = 0;
    } else {
      oy = n < 4 ? n & 1 : n < 8 ? (n & 1 ? 2 : -1) : n & 1;
      oz = n < 4 ? n >> 1 : n < 8 ? n >> 1 & 1 : (n & 2 ? 2 : -1);
    }
    const int fy = 2 * y + oy, fz = Dim == 3 ? 2 * z + oz : 0;
    const int* bricks = plan.bricks + 4 * ((fy >> 3) + 1) + (Dim == 3 ? 16 * ((fz >> 3) + 1) : 0);
    const int ly = fy & 7, lz = Dim == 3 ? fz & 7 : 0;
    const bool inner = n < galerkin_inner_rows<Dim>;
    F8 near[4][2 * Dim + 1];
    const float* far[4] = {};
    for (int b = inner ? 0 : 1; b < (inner ? 4 : 3); ++b) {
      if (finest) {
        finest_coefficients<Dim>(*finest, bricks[b], ly, lz, near[b]);
      } else {
        const int slot = stencil->slot[bricks[b] * brick_rows<Dim> + ly + 8 * lz];
        if (slot >= 0) far[b] = stencil->pool + Place{slot} * stencil->size * 8;
      }
    }
    for (int k = 0; k < plan.fine_size; ++k) {
      const auto get = [&](int b) __attribute__((always_inline)) {
        if (finest) return near[b][k];
        return far[b] ? load<F8>(far[b] + Place{8} * k) : F8{};
      };
      const F8 v1 = get(1), v2 = get(2);
      const F8 even = evens(v1, v2), odd = odds(v1, v2);
      store(fine[n][0][k], even);
      store(fine[n][1][k], odd);
      if (!inner) continue;
      store(fine[n][2][k], from_below(get(0), odd));
      store(fine[n][3][k], from_above(even, get(3)));
    }
  }

  F8 sum_of[largest_stencil];
  for (int k = 0; k < plan.coarse_size; ++k) sum_of[k] = F8{};
  const Place origin =
      galerkin_place<Dim>(0, 0, 0, 2 * y, Dim == 3 ? 2 * z : 0) - galerkin_place<Dim>(0, 0, 0, 0, 0);
  const float* base = scratch + origin;
  const GalerkinTerm* term = plan.term;
  for (int i = 0; i < galerkin_cells<Dim>; ++i) {
    const GalerkinCell& cell = plan.cell[i];
    const F8 weight = load<F8>(base + cell.weight);
    const auto& coefficient = fine[cell.row][cell.variant];
    for (int k = 0; k < plan.fine_size; ++k) {
      const F8 product = weight * load<F8>(coefficient[k]);
      for (int d = 0; d <= Dim; ++d, ++term) {
        F8& sum = sum_of[term->target];
        sum = add_product(product, load<F8>(base + term->weight), sum);
      }
    }
  }

  F8 magnitude = {};
  for (int k = 0; k < plan.coarse_size; ++k) {
    store(target + Place{8} * k, sum_of[k]);
    magnitude += sum_of[k] < 0 ? -sum_of[k] : sum_of[k];
  }
  const F8 diagonal = sum_of[plan.centre], limited = magnitude * (1 / plan.row_sum);
  const F8 scale = limited > diagonal ? limited * limited / diagonal : diagonal;
  store(inverse, diagonal > 0 ? 1 / scale : F8{});
}

}  // namespace
}  // namespace lope::matter::multigrid
