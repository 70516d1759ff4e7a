// The kernels of the finest level, whose matrix is given by the weights of faces (see multigrid_kernels_rows.h).
#pragma once

#include <lope/matter/liquid/multigrid_kernels_transfers.h>

namespace lope::matter::multigrid {
namespace {

// Weights of the faces of a row, as V.
template <class V, int Dim>
struct Faces {
  V below_x, above_x, below_y, above_y, below_z, above_z;

  LOPE_INLINE Faces(const FineGrid<Dim>& g, const Row<Dim>& row) {
    const auto get = [](const float* from) __attribute__((always_inline)) {
      if constexpr (sizeof(V) == sizeof(F8)) {
        return load<F8>(from);
      } else {
        return wide(load<F8>(from));
      }
    };
    below_x = get(g.weight[0] + row.here);
    above_x = from_above(below_x, get(g.weight[0] + row.above_x));
    below_y = get(g.weight[1] + row.here);
    above_y = get(g.weight[1] + row.above_y);
    if constexpr (Dim == 3) {
      below_z = get(g.weight[2] + row.here);
      above_z = get(g.weight[2] + row.above_z);
    }
  }
};

// A x of one row of the finest level.
template <class V, class T, int Dim>
LOPE_INLINE V apply_row(const FineGrid<Dim>& g, const Row<Dim>& row, bool uniform, const T* x) {
  const V here = load<V>(x + row.here);
  const V below = from_below(load<V>(x + row.below_x), here),
          above = from_above(here, load<V>(x + row.above_x));
  const V below_y = load<V>(x + row.below_y), above_y = load<V>(x + row.above_y);
  if (uniform) {
    V result = (2 * Dim) * here - (below + above) - (below_y + above_y);
    if constexpr (Dim == 3) result -= load<V>(x + row.below_z) + load<V>(x + row.above_z);
    return result;
  }
  const Faces<V, Dim> w(g, row);
  V ghost;
  if constexpr (sizeof(V) == sizeof(F8)) {
    ghost = load<F8>(g.ghost + row.here);
  } else {
    ghost = wide(load<F8>(g.ghost + row.here));
  }
  V result = add_product(w.above_x, here - above, add_product(w.below_x, here - below, ghost * here));
  result = add_product(w.above_y, here - above_y, add_product(w.below_y, here - below_y, result));
  if constexpr (Dim == 3) {
    result = add_product(w.below_z, here - load<V>(x + row.below_z), result);
    result = add_product(w.above_z, here - load<V>(x + row.above_z), result);
  }
  return result;
}

template <int Dim>
double defect(const FineGrid<Dim>& g, int brick, const double* p, float* r, float* bound, double* objective) {
  const Rows<Dim> rows(g.around, brick);
  D8 worst = {}, value = {};
  for_rows<Dim>([&](int y, int z) __attribute__((always_inline)) {
    const int index = brick * brick_rows<Dim> + y + 8 * z;
    const RowKind kind = g.row_kind[index];
    if (kind == RowKind::Empty) return;
    const Row<Dim> row(rows, y, z);
    const D8 b = load<D8>(g.rhs + row.here), here = load<D8>(p + row.here);
    const D8 w = apply_row<D8>(g, row, kind == RowKind::Uniform, p) + b;
    store(r + row.here, narrow(-w));
    value = add_product(here, w + b, value);
    D8 violation = w;
    if (kind == RowKind::Wall) {
      const I8 wall = lanes(g.wall[index]);
      const L8 wide_wall = __builtin_convertvector(wall, L8);
      violation = wide_wall ? (here < w ? here : w) : w;
      store(bound + row.here, wall ? narrow(-here) : all(no_bound));
    }
    violation = violation < 0 ? -violation : violation;
    worst = violation <= worst ? worst : violation;  // keeps a NaN
  });
  *objective += 0.5 * sum(value);
  double largest = 0;
  for (int k = 0; k < 8; ++k) largest = worst[k] <= largest ? largest : worst[k];
  return largest;
}

template <int Dim, bool Bounded>
LOPE_INLINE void relax_rows(const FineGrid<Dim>& g, int brick, int parity, bool upper_first, const float* r,
                            const float* bound, float* c) {
  const Rows<Dim> rows(g.around, brick);
  const I8 even = {-1, 0, -1, 0, -1, 0, -1, 0};
  const I8 first = upper_first ? ~even : even;
  for (int z = 0; z < side_z<Dim>; ++z) {
    for (int y = (parity + z) & 1; y < 8; y += 2) {
      const RowKind kind = g.row_kind[brick * brick_rows<Dim> + y + 8 * z];
      if (kind == RowKind::Empty) continue;
      const Row<Dim> row(rows, y, z);
      F8 here = load<F8>(c + row.here);
      const F8 before = load<F8>(c + row.below_x), after = load<F8>(c + row.above_x);
      F8 across = load<F8>(r + row.here);
      const F8 below_y = load<F8>(c + row.below_y), above_y = load<F8>(c + row.above_y);
      if (kind == RowKind::Uniform) {
        across += below_y + above_y;
        if constexpr (Dim == 3) across += load<F8>(c + row.below_z) + load<F8>(c + row.above_z);
        constexpr float share = 1.0f / (2 * Dim);
        F8 next = (across + (from_below(before, here) + from_above(here, after))) * share;
        here = first ? next : here;
        next = (across + (from_below(before, here) + from_above(here, after))) * share;
        store(c + row.here, first ? here : next);
        continue;
      }
      const Faces<F8, Dim> w(g, row);
      across = add_product(w.above_y, above_y, add_product(w.below_y, below_y, across));
      if constexpr (Dim == 3) {
        across = add_product(w.below_z, load<F8>(c + row.below_z), across);
        across = add_product(w.above_z, load<F8>(c + row.above_z), across);
      }
      const F8 inverse = load<F8>(g.inverse_diagonal + row.here);
      const F8 lowest = Bounded && kind == RowKind::Wall ? load<F8>(bound + row.here) : all(no_bound);
      const auto solved = [&](F8 now) __attribute__((always_inline)) {
        return add_product(w.above_x, from_above(now, after),
                           add_product(w.below_x, from_below(before, now), across)) *
               inverse;
      };
      F8 next = solved(here);
      here = first ? larger(next, lowest) : here;
      next = solved(here);
      store(c + row.here, first ? here : larger(next, lowest));
    }
  }
}

template <int Dim>
void relax(const FineGrid<Dim>& g, int brick, bool backwards, const float* r, const float* bound, float* c) {
  for (int half = 0; half < 2; ++half) {
    const int parity = half ^ static_cast<int>(backwards);
    if (bound) {
      relax_rows<Dim, true>(g, brick, parity, backwards, r, bound, c);
    } else {
      relax_rows<Dim, false>(g, brick, parity, backwards, r, bound, c);
    }
  }
}

template <int Dim>
void restrict_fine(const FineGrid<Dim>& g, const Interpolation<Dim>& p, const Parent& parent, int brick,
                   const float* r, const float* c, const Messages<Dim>& m) {
  const Rows<Dim> rows(g.around, brick);
  send<Dim>(
      p, parent, brick,
      [&](int y, int z) __attribute__((always_inline)) {
        const Row<Dim> row(rows, y, z);
        const bool uniform = g.row_kind[brick * brick_rows<Dim> + y + 8 * z] == RowKind::Uniform;
        return load<F8>(r + row.here) - apply_row<F8>(g, row, uniform, c);
      },
      m);
}

template <int Dim>
void prolong_fine(const FineGrid<Dim>& g, const Interpolation<Dim>& p, const Parent& parent,
                  const int* coarse_around, int brick, const float* e, const float* bound, float* c) {
  const CoarseCopy<Dim> copy(coarse_around, parent, e);
  for_rows<Dim>([&](int y, int z) __attribute__((always_inline)) {
    const int index = brick * brick_rows<Dim> + y + 8 * z;
    if (p.present[index] == 0) return;
    const Place here = Place{index} * 8;
    F8 value = load<F8>(c + here) + interpolate<Dim>(p, copy, brick, y, z);
    if (bound && g.row_kind[index] == RowKind::Wall) value = larger(value, load<F8>(bound + here));
    store(c + here, value);
  });
}

template <int Dim>
void product(const FineGrid<Dim>& g, int brick, const float* c, const float* s, const float* r, float* y,
             double* dots) {
  const Rows<Dim> rows(g.around, brick);
  // Sums over one brick fit single precision: they decide a step's length.
  F8 cy = {}, sy = {}, cr = {}, sr = {};
  for_rows<Dim>([&](int ry, int rz) __attribute__((always_inline)) {
    const RowKind kind = g.row_kind[brick * brick_rows<Dim> + ry + 8 * rz];
    if (kind == RowKind::Empty) return;
    const Row<Dim> row(rows, ry, rz);
    const F8 result = apply_row<F8>(g, row, kind == RowKind::Uniform, c);
    const F8 c_here = load<F8>(c + row.here), s_here = load<F8>(s + row.here),
             r_here = load<F8>(r + row.here);
    store(y + row.here, result);
    cy = add_product(c_here, result, cy);
    sy = add_product(s_here, result, sy);
    cr = add_product(c_here, r_here, cr);
    sr = add_product(s_here, r_here, sr);
  });
  dots[0] += sum(cy);
  dots[1] += sum(sy);
  dots[2] += sum(cr);
  dots[3] += sum(sr);
}

// The lanes that a move leaves at 0: those below it, and those whose correction is at its bound.
LOPE_INLINE I8 kept_at_zero(const MoveFields& m, Place here, unsigned wall, F8 value) {
  return lanes(wall) & ((value < 0) | (load<F8>(m.c + here) <= load<F8>(m.bound + here)));
}

// With p' = p + αc + βs, g = Ap' + b and δ what takes p' to its bounds, the quadratic grows by g·δ + ½ δ·Aδ
// at most, and A ≤ 2D.
template <int Dim>
double clipping(const FineGrid<Dim>& g, int brick, float alpha, float beta, const MoveFields& m) {
  F8 growth = {};
  for (int row = 0; row < brick_rows<Dim>; ++row) {
    const int index = brick * brick_rows<Dim> + row;
    if (g.row_kind[index] != RowKind::Wall) continue;
    const Place here = Place{index} * 8;
    const F8 value = alpha * load<F8>(m.c + here) + beta * load<F8>(m.s + here) - load<F8>(m.bound + here);
    const I8 kept = kept_at_zero(m, here, g.wall[index], value);
    const F8 delta = kept ? -value : F8{};
    const F8 gradient =
        alpha * load<F8>(m.c_product + here) + beta * load<F8>(m.s_product + here) - load<F8>(m.r + here);
    const F8 inverse = load<F8>(g.inverse_diagonal + here);
    growth += kept ? delta * (gradient + delta / inverse) : F8{};
  }
  return sum(growth);
}

template <int Dim>
void step(const FineGrid<Dim>& g, int brick, float alpha, float beta, const MoveFields& m) {
  for (int row = 0; row < brick_rows<Dim>; ++row) {
    const int index = brick * brick_rows<Dim> + row;
    if (g.row_kind[index] == RowKind::Empty) continue;
    const Place here = Place{index} * 8;
    const F8 direction = alpha * load<F8>(m.c + here) + beta * load<F8>(m.s + here);
    store(m.s + here, direction);
    store(m.s_product + here, alpha * load<F8>(m.c_product + here) + beta * load<F8>(m.s_product + here));
    D8 value = load<D8>(m.p + here) + wide(direction);
    if (g.row_kind[index] == RowKind::Wall) {
      const L8 kept = __builtin_convertvector(kept_at_zero(m, here, g.wall[index], narrow(value)), L8);
      value = kept ? D8{} : value;
    }
    store(m.p + here, value);
  }
}

}  // namespace
}  // namespace lope::matter::multigrid
