// The kernels of multigrid_kernels.h; included by one source per instruction set, each with its own unnamed
// namespace. Nothing but this file and builtins may be called from here: an inline function compiled with
// wider instructions could otherwise take the place of its twin in the rest of the program.
//
// One answer on every processor with fused instructions: products are fused with sums exactly where
// add_product() is written; the compiler's own contraction is switched off.
#include <lope/matter/liquid/multigrid_kernels.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace lope::matter::multigrid {
namespace {

typedef float F8 __attribute__((vector_size(32)));
typedef float F4 __attribute__((vector_size(16)));
typedef int I8 __attribute__((vector_size(32)));
typedef double D8 __attribute__((vector_size(64)));
typedef long long L8 __attribute__((vector_size(64)));
using Place = long;

#define LOPE_INLINE [[gnu::always_inline]] inline

template <class V, class T>
LOPE_INLINE V load(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T>
LOPE_INLINE void store(T* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}
LOPE_INLINE F8 all(float x) { return x - F8{}; }
LOPE_INLINE D8 wide(F8 v) { return __builtin_convertvector(v, D8); }
LOPE_INLINE F8 narrow(D8 v) { return __builtin_convertvector(v, F8); }
LOPE_INLINE F8 larger(F8 a, F8 b) { return a > b ? a : b; }
// a b + c, rounded once where the instruction set has it; in double precision, which waits for memory, always
// rounded twice.
LOPE_INLINE F8 add_product(F8 a, F8 b, F8 c) {
#if defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  F4 x[2], y[2], z[2];
  __builtin_memcpy(x, &a, sizeof a);
  __builtin_memcpy(y, &b, sizeof b);
  __builtin_memcpy(z, &c, sizeof c);
  for (int k = 0; k < 2; ++k) z[k] = vfmaq_f32(z[k], x[k], y[k]);
  __builtin_memcpy(&c, z, sizeof c);
  return c;
#else
  return a * b + c;
#endif
}
LOPE_INLINE D8 add_product(D8 a, D8 b, D8 c) { return a * b + c; }
// The row one cell further down (up) along x, with the last (first) cell of the row before (after).
template <class V>
LOPE_INLINE V from_below(V before, V row) {
  return __builtin_shufflevector(before, row, 7, 8, 9, 10, 11, 12, 13, 14);
}
template <class V>
LOPE_INLINE V from_above(V row, V after) {
  return __builtin_shufflevector(row, after, 1, 2, 3, 4, 5, 6, 7, 8);
}
template <class V>
LOPE_INLINE V evens(V a, V b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
}
template <class V>
LOPE_INLINE V odds(V a, V b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}
LOPE_INLINE F4 even_half(F8 v) { return __builtin_shufflevector(v, v, 0, 2, 4, 6); }
LOPE_INLINE F4 odd_half(F8 v) { return __builtin_shufflevector(v, v, 1, 3, 5, 7); }
LOPE_INLINE float sum(F8 v) { return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7])); }
LOPE_INLINE double sum(D8 v) { return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7])); }

template <int Dim>
constexpr int brick_cells = Dim == 3 ? 512 : 64;
template <int Dim>
constexpr int brick_rows = Dim == 3 ? 64 : 8;
template <int Dim>
constexpr int around_count = Dim == 3 ? 27 : 9;
template <int Dim>
constexpr int side_z = Dim == 3 ? 8 : 1;

// Places of the rows next to the rows of a brick.
template <int Dim>
struct Rows {
  Place self, below_x, above_x, below_y, above_y, below_z, above_z;

  LOPE_INLINE Rows(const int* around, int brick) {
    const int* a = around + Place{brick} * around_count<Dim> + around_count<Dim> / 2;
    self = Place{brick} * brick_cells<Dim>;
    below_x = Place{a[-1]} * brick_cells<Dim>;
    above_x = Place{a[1]} * brick_cells<Dim>;
    below_y = Place{a[-3]} * brick_cells<Dim>;
    above_y = Place{a[3]} * brick_cells<Dim>;
    if constexpr (Dim == 3) {
      below_z = Place{a[-9]} * brick_cells<Dim>;
      above_z = Place{a[9]} * brick_cells<Dim>;
    }
  }
};
template <int Dim>
struct Row {
  Place here, below_x, above_x, below_y, above_y, below_z, above_z;

  LOPE_INLINE Row(const Rows<Dim>& b, int y, int z) {
    const Place row = Place{8} * (y + 8 * z);
    here = b.self + row;
    below_x = b.below_x + row;
    above_x = b.above_x + row;
    below_y = y > 0 ? here - 8 : b.below_y + row + 56;
    above_y = y < 7 ? here + 8 : b.above_y + row - 56;
    if constexpr (Dim == 3) {
      below_z = z > 0 ? here - 64 : b.below_z + row + 448;
      above_z = z < 7 ? here + 64 : b.above_z + row - 448;
    }
  }
};

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

// All bits of the lanes that a byte names.
LOPE_INLINE I8 lanes(unsigned bits) {
  const I8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
  return (bit & static_cast<int>(bits)) != 0;
}

template <int Dim, class Body>
LOPE_INLINE void for_rows(const Body& body) {
  for (int z = 0; z < side_z<Dim>; ++z) {
    for (int y = 0; y < 8; ++y) body(y, z);
  }
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

template <int Dim>
constexpr Kernels<Dim> table = {
    defect<Dim>,      relax<Dim>,           restrict_fine<Dim>,  prolong_fine<Dim>,
    product<Dim>,     clipping<Dim>,        step<Dim>,           collect<Dim>,
    chebyshev<Dim>,   restrict_coarse<Dim>, prolong_coarse<Dim>, galerkin_weights<Dim>,
    galerkin_row<Dim>};

#undef LOPE_INLINE

}  // namespace
}  // namespace lope::matter::multigrid
