// The kernels of the coarser levels, whose matrices are stencils (see multigrid_kernels_rows.h).
#pragma once

#include <lope/matter/liquid/multigrid_kernels_transfers.h>

namespace lope::matter::multigrid {
namespace {

template <int Dim>
void collect(const StencilGrid<Dim>& g, int brick, float s, const Messages<Dim>& m, float* f) {
  const Rows<Dim> rows(g.around, brick);
  for_rows<Dim>([&](int y, int z) __attribute__((always_inline)) {
    if (g.slot[brick * brick_rows<Dim> + y + 8 * z] < 0) return;
    const Row<Dim> row(rows, y, z);
    F8 value = load<F8>(m.own + row.here);
    value += from_above(load<F8>(m.low[0] + row.here), load<F8>(m.low[0] + row.above_x));
    value += from_below(load<F8>(m.high[0] + row.below_x), load<F8>(m.high[0] + row.here));
    value += load<F8>(m.low[1] + row.above_y) + load<F8>(m.high[1] + row.below_y);
    if constexpr (Dim == 3) value += load<F8>(m.low[2] + row.above_z) + load<F8>(m.high[2] + row.below_z);
    store(f + row.here, s * value);
  });
}

// A brick of x with two cells around it.
template <int Dim>
struct PaddedCopy {
  float value[padded_row * padded_rows * (Dim == 3 ? padded_rows : 1)];

  LOPE_INLINE PaddedCopy(const int* around, int brick, const float* x) {
    const int* centre = around + Place{brick} * around_count<Dim> + around_count<Dim> / 2;
    float* to = value;
    for (int z = Dim == 3 ? -2 : 0; z < (Dim == 3 ? 10 : 1); ++z) {
      for (int y = -2; y < 10; ++y, to += padded_row) {
        const int* middle = centre + (3 * Place{y >> 3} + (Dim == 3 ? 9 * Place{z >> 3} : 0));
        const Place row = Place{8} * ((y & 7) + 8 * (Dim == 3 ? z & 7 : 0));
        store(to, load<F4>(x + Place{middle[-1]} * brick_cells<Dim> + row + 4));
        store(to + 4, load<F8>(x + Place{middle[0]} * brick_cells<Dim> + row));
        store(to + 12, load<F4>(x + Place{middle[1]} * brick_cells<Dim> + row));
      }
    }
  }
  LOPE_INLINE const float* row(int y, int z) const {
    return value + padded_place(4, y + 2, Dim == 3 ? z + 2 : 0);
  }
};

template <int Dim>
LOPE_INLINE F8 apply_stencil(const StencilGrid<Dim>& g, int slot, const float* x) {
  const float* a = g.pool + Place{slot} * g.size * 8;
  F8 s0 = {}, s1 = {}, s2 = {}, s3 = {};
  int k = 0;
  for (; k + 4 <= g.size; k += 4, a += 32) {
    s0 = add_product(load<F8>(a), load<F8>(x + g.step[k]), s0);
    s1 = add_product(load<F8>(a + 8), load<F8>(x + g.step[k + 1]), s1);
    s2 = add_product(load<F8>(a + 16), load<F8>(x + g.step[k + 2]), s2);
    s3 = add_product(load<F8>(a + 24), load<F8>(x + g.step[k + 3]), s3);
  }
  for (; k < g.size; ++k, a += 8) s0 = add_product(load<F8>(a), load<F8>(x + g.step[k]), s0);
  return (s0 + s1) + (s2 + s3);
}

template <int Dim>
void chebyshev(const StencilGrid<Dim>& g, int brick, float alpha, float beta, const float* f, const float* x,
               float* d, float* x_new) {
  if (!x) {
    for (int row = 0; row < brick_rows<Dim>; ++row) {
      const int index = brick * brick_rows<Dim> + row;
      if (g.slot[index] < 0) continue;
      const Place here = Place{index} * 8;
      const F8 step = beta * load<F8>(g.inverse_diagonal + here) * load<F8>(f + here);
      store(d + here, step);
      store(x_new + here, step);
    }
    return;
  }
  const PaddedCopy<Dim> copy(g.around, brick, x);
  for_rows<Dim>([&](int y, int z) __attribute__((always_inline)) {
    const int index = brick * brick_rows<Dim> + y + 8 * z;
    const int slot = g.slot[index];
    if (slot < 0) return;
    const Place here = Place{index} * 8;
    const float* row = copy.row(y, z);
    F8 step =
        beta * load<F8>(g.inverse_diagonal + here) * (load<F8>(f + here) - apply_stencil<Dim>(g, slot, row));
    if (alpha != 0) step = add_product(all(alpha), load<F8>(d + here), step);
    store(d + here, step);
    store(x_new + here, load<F8>(row) + step);
  });
}

template <int Dim>
void restrict_coarse(const StencilGrid<Dim>& g, const Interpolation<Dim>& p, const Parent& parent, int brick,
                     const float* f, const float* x, const Messages<Dim>& m) {
  const PaddedCopy<Dim> copy(g.around, brick, x);
  send<Dim>(
      p, parent, brick,
      [&](int y, int z) __attribute__((always_inline)) {
        const int index = brick * brick_rows<Dim> + y + 8 * z;
        const F8 ax = apply_stencil<Dim>(g, g.slot[index], copy.row(y, z));
        return load<F8>(f + Place{index} * 8) - ax;
      },
      m);
}

template <int Dim>
void prolong_coarse(const StencilGrid<Dim>&, const Interpolation<Dim>& p, const Parent& parent,
                    const int* coarse_around, int brick, const float* e, float* x) {
  const CoarseCopy<Dim> copy(coarse_around, parent, e);
  for_rows<Dim>([&](int y, int z) __attribute__((always_inline)) {
    const int index = brick * brick_rows<Dim> + y + 8 * z;
    if (p.present[index] == 0) return;
    const Place here = Place{index} * 8;
    store(x + here, load<F8>(x + here) + interpolate<Dim>(p, copy, brick, y, z));
  });
}

}  // namespace
}  // namespace lope::matter::multigrid
