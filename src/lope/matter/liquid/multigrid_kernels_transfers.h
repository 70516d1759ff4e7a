// Restriction and interpolation between a brick and the coarser brick above it (see multigrid_kernels_rows.h).
#pragma once

#include <lope/matter/liquid/multigrid_kernels_rows.h>

namespace lope::matter::multigrid {
namespace {

// Sums of r·weight that a pair (2D) or four (3D) of rows send to a coarse row; residual(y, z) gives r of one
// row.
template <int Dim, class Residual>
LOPE_INLINE void send(const Interpolation<Dim>& p, const Parent& parent, int brick, const Residual& residual,
                      const Messages<Dim>& m) {
  for (int z = 0; z < (Dim == 3 ? 4 : 1); ++z) {
    for (int y = 0; y < 4; ++y) {
      F8 own = {}, along = {}, low_y = {}, high_y = {}, low_z = {}, high_z = {};
      bool any = false;
      for (int k = 0; k < (Dim == 3 ? 2 : 1); ++k) {
        for (int j = 0; j < 2; ++j) {
          const int fy = 2 * y + j, fz = 2 * z + k;
          const int index = brick * brick_rows<Dim> + fy + 8 * fz;
          if (p.present[index] == 0) continue;
          any = true;
          const F8 r = residual(fy, fz);
          F8 to_own, to_x, to_y, to_z = {};
          if (p.uniform[index] == 0xff) {
            to_own = r * p.own;
            to_x = to_y = to_z = r * p.neighbour;
          } else {
            const Place here = Place{index} * 8;
            to_own = r * load<F8>(p.weight[0] + here);
            to_x = r * load<F8>(p.weight[1] + here);
            to_y = r * load<F8>(p.weight[2] + here);
            if constexpr (Dim == 3) to_z = r * load<F8>(p.weight[3] + here);
          }
          own += to_own;
          along += to_x;
          (j == 0 ? low_y : high_y) += to_y;
          if constexpr (Dim == 3) (k == 0 ? low_z : high_z) += to_z;
        }
      }
      const int cy = y + 4 * (parent.corner >> 1 & 1), cz = Dim == 3 ? z + 4 * (parent.corner >> 2) : 0;
      const Place to = Place{parent.brick} * brick_cells<Dim> + (cy + 8 * cz) * 8 + 4 * (parent.corner & 1);
      if (!any) own = along = low_y = high_y = low_z = high_z = F8{};
      const auto halves = [](F8 v) __attribute__((always_inline)) { return even_half(v) + odd_half(v); };
      store(m.own + to, halves(own));
      store(m.low[0] + to, even_half(along));
      store(m.high[0] + to, odd_half(along));
      store(m.low[1] + to, halves(low_y));
      store(m.high[1] + to, halves(high_y));
      if constexpr (Dim == 3) {
        store(m.low[2] + to, halves(low_z));
        store(m.high[2] + to, halves(high_z));
      }
    }
  }
}

// The coarse cells above a brick, one more on each side: rows of eight numbers, the first is x = −1.
template <int Dim>
struct CoarseCopy {
  float value[Dim == 3 ? 6 : 1][6][8];

  LOPE_INLINE CoarseCopy(const int* coarse_around, const Parent& parent, const float* e) {
    const int* around = coarse_around + Place{parent.brick} * around_count<Dim> + around_count<Dim> / 2;
    const int x0 = 4 * (parent.corner & 1), y0 = 4 * (parent.corner >> 1 & 1),
              z0 = 4 * (parent.corner >> 2 & 1);
    for (int z = Dim == 3 ? -1 : 0; z < (Dim == 3 ? 5 : 1); ++z) {
      for (int y = -1; y < 5; ++y) {
        const bool outside_y = y < 0 || y > 3, outside_z = Dim == 3 && (z < 0 || z > 3);
        if (outside_y && outside_z) continue;  // no cell reads the edges
        const int cy = y0 + y, cz = z0 + z;
        const int* centre = around + (3 * Place{cy >> 3} + (Dim == 3 ? 9 * Place{cz >> 3} : 0));
        const Place row = Place{8} * ((cy & 7) + 8 * (Dim == 3 ? cz & 7 : 0));
        const float* from = e + Place{centre[0]} * brick_cells<Dim> + row;
        float* to = value[Dim == 3 ? z + 1 : 0][y + 1];
        store(to + 1, load<F4>(from + x0));
        to[0] = x0 ? from[3] : e[Place{centre[-1]} * brick_cells<Dim> + row + 7];
        to[5] = x0 ? e[Place{centre[1]} * brick_cells<Dim> + row] : from[4];
        to[6] = to[7] = 0;
      }
    }
  }
};

// P e for one row.
template <int Dim>
LOPE_INLINE F8 interpolate(const Interpolation<Dim>& p, const CoarseCopy<Dim>& copy, int brick, int y,
                           int z) {
  const int cy = y / 2 + 1, cz = Dim == 3 ? z / 2 + 1 : 0;
  const F8 row = load<F8>(copy.value[cz][cy]);
  const F8 own = __builtin_shufflevector(row, row, 1, 1, 2, 2, 3, 3, 4, 4);
  const F8 along = __builtin_shufflevector(row, row, 0, 2, 1, 3, 2, 4, 3, 5);
  const F8 row_y = load<F8>(copy.value[cz][y & 1 ? cy + 1 : cy - 1]);
  const F8 in_y = __builtin_shufflevector(row_y, row_y, 1, 1, 2, 2, 3, 3, 4, 4);
  F8 in_z = {};
  if constexpr (Dim == 3) {
    const F8 row_z = load<F8>(copy.value[z & 1 ? cz + 1 : cz - 1][cy]);
    in_z = __builtin_shufflevector(row_z, row_z, 1, 1, 2, 2, 3, 3, 4, 4);
  }
  const int index = brick * brick_rows<Dim> + y + 8 * z;
  if (p.uniform[index] == 0xff) return add_product(all(p.neighbour), along + in_y + in_z, p.own * own);
  const Place here = Place{index} * 8;
  F8 result = add_product(load<F8>(p.weight[1] + here), along, load<F8>(p.weight[0] + here) * own);
  result = add_product(load<F8>(p.weight[2] + here), in_y, result);
  if constexpr (Dim == 3) result = add_product(load<F8>(p.weight[3] + here), in_z, result);
  return result;
}

}  // namespace
}  // namespace lope::matter::multigrid
