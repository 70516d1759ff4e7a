// The factorisation of a panel, its update matrix, and where update matrices go (dense_kernels_body.h).
#pragma once

#include <lope/linalg/dense_kernels_slivers.h>

namespace lope::linalg {
namespace {

template <class T>
struct FactorKernels : Slivers<T> {
  using Base = Slivers<T>;
  using typename Base::Vector, typename Base::Loose, typename Base::Offset, typename Base::Rows;
  using Base::W, Base::S, Base::C, Base::smaller, Base::padded, Base::slivers, Base::height,
      Base::below_sliver, Base::update_column, Base::rows, Base::with_height;

  template <int V, int N>
  struct Tile {
    Vector at[N][V];
  };

  // Σ_p a[p]·b[p] over `depth` columns: a is a sliver of V vectors, b one of `stride` rows from its first
  // used row.
  template <int V, int N>
  [[gnu::always_inline]] static Tile<V, N> multiply(const T* a, const T* b, int stride, int depth) {
    Tile<V, N> sum = {};
    // Not unrolled: with AVX2 the tile and its operands take every register there is, and GCC 12 spills an
    // accumulator in each iteration of an unrolled loop, which then runs at about half the speed.
#pragma GCC unroll 1
    for (int p = 0; p < depth; ++p) {
      Vector left[V];
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) left[v] = *reinterpret_cast<const Vector*>(a + v * W);
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) {
        const Vector right = b[c] - Vector{};
#pragma GCC unroll 3
        for (int v = 0; v < V; ++v) sum.at[c][v] = add_product(left[v], right, sum.at[c][v]);
      }
      a += V * W;
      b += stride;
    }
    return sum;
  }

  enum class Store { Negative, Subtract };
  template <int V, int N, Store store>
  [[gnu::always_inline]] static void store_tile(const Tile<V, N>& tile, T* c, Offset stride) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) {
        auto& entry = *reinterpret_cast<Vector*>(c + j * stride + v * W);
        if constexpr (store == Store::Negative) {
          entry = -tile.at[j][v];
        } else {
          entry -= tile.at[j][v];
        }
      }
    }
  }

  // c (V vectors of rows, `columns` columns) −= a bᵀ.
  template <int V>
  [[gnu::always_inline]] static void subtract_product(const T* a, const T* b, int b_height, int depth, T* c,
                                                      Offset c_stride, int columns) {
    Base::template for_groups<C>(columns, [&]<int N>(int j) {
      store_tile<V, N, Store::Subtract>(multiply<V, N>(a, b + j, b_height, depth), c + j * c_stride,
                                        c_stride);
    });
  }

  static void update(const Panel<T>& panel, int c0, int c1, int r0, int r1) {
    const int diagonal_slivers = slivers(panel.w);
    for (int k = 0; k < c0; k += depth_block) {
      const int depth = smaller(depth_block, c0 - k);
      for (int r = r0; r < r1; ++r) {
        const Rows x = rows(panel, r);
        const int last = r < diagonal_slivers ? smaller(c1, (r + 1) * S) : c1;
        with_height(x.height, [&]<int V>() {
          for (int c = c0; c < last; c += S) {
            const Rows b = rows(panel, c / S);
            subtract_product<V>(x.data + Offset(k) * V * W, b.data + Offset(k) * b.height, b.height, depth,
                                x.data + Offset(c) * V * W, V * W, smaller(S, last - c));
          }
        });
      }
    }
  }

  // Columns [j, j + N) of the sliver x, whose columns from c0 on are already solved for: subtracts their
  // part, then solves with the triangle of the rows j.. of the diagonal part.
  template <int V, int N>
  [[gnu::always_inline]] static void solve_group(T* x, const T* triangle, int triangle_height,
                                                 const T* inverse, int c0, int j) {
    Tile<V, N> tile = multiply<V, N>(x + Offset(c0) * V * W, triangle + Offset(c0) * triangle_height,
                                     triangle_height, j - c0);
    auto* target = reinterpret_cast<Vector*>(x + Offset(j) * V * W);
    const T* corner = triangle + Offset(j) * triangle_height;
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) tile.at[c][v] = target[c * V + v] - tile.at[c][v];
    }
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      const Vector scale = inverse[j + c] - Vector{};
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) {
        tile.at[c][v] *= scale;
        target[c * V + v] = tile.at[c][v];
      }
#pragma GCC unroll 8
      for (int e = c + 1; e < N; ++e) {
        const Vector factor = corner[c * triangle_height + e] - Vector{};
#pragma GCC unroll 3
        for (int v = 0; v < V; ++v) tile.at[e][v] = add_product(-tile.at[c][v], factor, tile.at[e][v]);
      }
    }
  }

  template <int V>
  [[gnu::always_inline]] static void solve_sliver(const Panel<T>& panel, T* x, int c0, int c1) {
    for (int c = c0; c < c1; c += S) {
      const Rows b = rows(panel, c / S);
      Base::template for_groups<solve_columns>(smaller(S, c1 - c), [&]<int N>(int j) {
        solve_group<V, N>(x, b.data + j, b.height, panel.inverse, c0, c + j);
      });
    }
  }

  static void solve(const Panel<T>& panel, int c0, int c1, int r0, int r1) {
    for (int r = r0; r < r1; ++r) {
      const Rows x = rows(panel, r);
      with_height(x.height, [&]<int V>() { solve_sliver<V>(panel, x.data, c0, c1); });
    }
  }

  // Cholesky of N columns, of which the rows from `row` on are a triangle; the entries above it become zeros.
  // The first column whose pivot is not positive, or −1.
  template <int V, int N>
  [[gnu::always_inline]] static int factor_group(T* group, T* inverse, int row) {
    for (int c = 0; c < N; ++c) {
      T* pivot_column = group + c * V * W;
      const T pivot = pivot_column[row + c];
      if (!(pivot > 0 && pivot <= largest)) return c;
      const T reciprocal = 1 / root(pivot);
      inverse[c] = reciprocal;
      Vector scaled[V];
      for (int v = 0; v < V; ++v) {
        auto& entry = reinterpret_cast<Vector*>(pivot_column)[v];
        scaled[v] = entry * (reciprocal - Vector{});
        entry = scaled[v];
      }
      for (int e = c + 1; e < N; ++e) {
        auto* column = reinterpret_cast<Vector*>(group + e * V * W);
        const Vector factor = pivot_column[row + e] - Vector{};
        for (int v = 0; v < V; ++v) column[v] = add_product(-scaled[v], factor, column[v]);
      }
      for (int i = 0; i < row + c; ++i) pivot_column[i] = 0;
    }
    return -1;
  }
  // Columns [c, c + columns) of the sliver x that holds their diagonal; its columns [c0, c) are solved for.
  // Like factor_group().
  template <int V>
  [[gnu::always_inline]] static int factor_sliver(T* x, T* inverse, int c0, int c, int columns) {
    const T* solved = x + Offset(c0) * V * W;
    int failed = -1;
    Base::template for_groups<solve_columns>(columns, [&]<int N>(int j) {
      if (failed >= 0) return;
      T* group = x + Offset(c + j) * V * W;
      store_tile<V, N, Store::Subtract>(multiply<V, N>(solved, solved + j, V * W, c + j - c0), group, V * W);
      const int bad = factor_group<V, N>(group, inverse + j, j);
      if (bad >= 0) failed = j + bad;
    });
    return failed;
  }
  static constexpr T largest = sizeof(T) == 8 ? T(__DBL_MAX__) : T(__FLT_MAX__);
  [[gnu::always_inline]] static T root(T x) {
    if constexpr (sizeof(T) == 8) {
      return __builtin_sqrt(x);
    } else {
      return __builtin_sqrtf(x);
    }
  }

  static int diagonal(const Panel<T>& panel, int c0, int c1) {
    for (int c = c0; c < c1; c += S) {
      const Rows x = rows(panel, c / S);
      const int columns = smaller(S, c1 - c);
      int failed = -1;
      with_height(x.height, [&]<int V>() {
        solve_sliver<V>(panel, x.data, c0, c);
        failed = factor_sliver<V>(x.data, panel.inverse + c, c0, c, columns);
      });
      if (failed >= 0) return c + failed;
    }
    return -1;
  }

  template <Store store>
  [[gnu::always_inline]] static void outer_product_block(const Panel<T>& panel, T* u, int i0, int i1, int j0,
                                                         int j1, int k, int depth) {
    const int n = padded(panel.m);
    for (int i = i0; i < i1; ++i) {
      const int a_height = height(panel.m, i);
      const T* a = below_sliver(panel, i) + Offset(k) * a_height;
      with_height(a_height, [&]<int V>() {
        for (int j = j0; j < j1 && j <= i; ++j) {
          const int b_height = height(panel.m, j);
          const T* b = below_sliver(panel, j) + Offset(k) * b_height;
          const Offset stride = n - j * S;
          T* c = update_column(u, panel.m, j * S) + i * S;
          for (int g = 0; g < b_height; g += C) {
            store_tile<V, C, store>(multiply<V, C>(a, b + g, b_height, depth), c + g * stride, stride);
          }
        }
      });
    }
  }

  static void outer_product(const Panel<T>& panel, T* u, int i0, int i1, int j0, int j1) {
    for (int k = 0; k < panel.w; k += depth_block) {
      const int depth = smaller(depth_block, panel.w - k);
      if (k == 0) {
        outer_product_block<Store::Negative>(panel, u, i0, i1, j0, j1, k, depth);
      } else {
        outer_product_block<Store::Subtract>(panel, u, i0, i1, j0, j1, k, depth);
      }
    }
  }

  [[gnu::always_inline]] static void add(const T* from, T* to, Offset count) {
    Offset i = 0;
    for (; i + W <= count; i += W) {
      *reinterpret_cast<Loose*>(to + i) += *reinterpret_cast<const Loose*>(from + i);
    }
    for (; i < count; ++i) to[i] += from[i];
  }

  // Adds the entries of child column j (rows j and below), the column `parent` of the target.
  [[gnu::always_inline]] static void add_column(const T* from, int j, const Segment*& first,
                                                const Segment* end, T* target, Offset parent) {
    while (first->child + first->length <= j) ++first;
    const Offset skip = j > first->child ? j - first->child : 0;
    add(from + first->child + skip, target + first->offset + parent * first->stride + skip,
        first->length - skip);
    for (const Segment* segment = first + 1; segment != end; ++segment) {
      add(from + segment->child, target + segment->offset + parent * segment->stride, segment->length);
    }
  }

  static void add_to_panel(const ChildColumns<T>& columns, const Segment* segments, int count, T* panel) {
    const Segment* first = segments;
    for (int j = columns.first; j < columns.last; ++j) {
      add_column(update_column(columns.update, columns.m, j), j, first, segments + count, panel,
                 columns.parent + (j - columns.first));
    }
  }

  static void add_to_update(const ChildColumns<T>& columns, const Segment* segments, int count, T* u,
                            int parent_m) {
    const Segment* first = segments;
    for (int j = columns.first; j < columns.last; ++j) {
      T* target = update_column(u, parent_m, columns.parent + (j - columns.first));
      add_column(update_column(columns.update, columns.m, j), j, first, segments + count, target, 0);
    }
  }
};

}  // namespace
}  // namespace lope::linalg
