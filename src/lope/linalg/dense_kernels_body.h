// The kernels of dense_kernels.h over compiler vector extensions. Included once by each
// dense_kernels_<isa>.cpp, which first defines (in its unnamed namespace) vector_bytes, sliver_vectors and
// tile_columns. Everything here has internal linkage and calls nothing outside, so that no function compiled
// for one processor can be taken by the linker for another one's.
//
// The micro-kernel multiplies a sliver of V vectors of rows by `tile_columns` columns and keeps the whole
// tile in registers (Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", 2008);
// triangular solves are the same kernel with a small triangle at the end, so that they run at nearly the same
// speed.
//
// One answer on every processor: the shape of slivers and tiles decides speed, never bits. Each number is
// made by the same chain of fused operations (where there are such instructions) for every shape:
//   factor     l_ij = (a_ij − Σ over blocks of 128 columns before c0, each summed up from zero
//              − Σ over [c0, 4⌊j/4⌋), summed up from zero, − one by one the columns [4⌊j/4⌋, j)) / l_jj
//   forward    even and odd columns are subtracted in two chains, added at the end
//   backward   rows are summed up in 64 / sizeof(T) chains, row r in chain r mod that, added in a tree

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace lope::linalg {
namespace {

typedef double Doubles __attribute__((vector_size(vector_bytes), may_alias));
typedef float Floats __attribute__((vector_size(vector_bytes), may_alias));
typedef double LooseDoubles __attribute__((vector_size(vector_bytes), aligned(alignof(double)), may_alias));
typedef float LooseFloats __attribute__((vector_size(vector_bytes), aligned(alignof(float)), may_alias));

template <class T>
struct Types;
template <>
struct Types<double> {
  using Vector = Doubles;
  using Loose = LooseDoubles;
};
template <>
struct Types<float> {
  using Vector = Floats;
  using Loose = LooseFloats;
};

// a b + c, rounded once where the instruction set has it.
[[gnu::always_inline]] inline Doubles add_product(Doubles a, Doubles b, Doubles c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f64(c, a, b);
#else
  return a * b + c;
#endif
}
[[gnu::always_inline]] inline Floats add_product(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

// Columns that a triangular solve takes together.
constexpr int solve_columns = 4;

// Depth of one multiplication: a sliver of the left operand and one of the right stay in the first-level
// cache.
constexpr int depth_block = 128;

template <class T>
struct Kernels {
  using Vector = typename Types<T>::Vector;
  using Loose = typename Types<T>::Loose;
  using Offset = std::ptrdiff_t;

  static constexpr int W = vector_bytes / sizeof(T);
  static constexpr int S = sliver_vectors * W;
  static constexpr int C = tile_columns;
  static constexpr int P = W > C ? W : C;
  static_assert(S % P == 0 && P % W == 0 && P % C == 0 && S % solve_columns == 0);
  // The chains of the backward kernels, and their vectors.
  static constexpr int chains = backward_chains<T>, chain_vectors = chains / W;
  static_assert(chains % W == 0);

  [[gnu::always_inline]] static int smaller(int a, int b) { return a < b ? a : b; }
  [[gnu::always_inline]] static int padded(int rows) { return (rows + P - 1) / P * P; }
  [[gnu::always_inline]] static int slivers(int rows) { return (rows + S - 1) / S; }
  [[gnu::always_inline]] static int height(int rows, int i) {
    return (i + 1) * S <= rows ? S : padded(rows - i * S);
  }
  [[gnu::always_inline]] static T* diagonal_sliver(const Panel<T>& panel, int i) {
    return panel.diagonal + Offset(S) * S * i * (i + 1) / 2;
  }
  [[gnu::always_inline]] static T* below_sliver(const Panel<T>& panel, int i) {
    return panel.below + Offset(S) * i * panel.w;
  }
  // Column j of an update matrix, such that [i] is its entry in row i.
  template <class Pointer>
  [[gnu::always_inline]] static Pointer update_column(Pointer u, int m, int j) {
    const Offset n = padded(m), q = j / S;
    return u + S * (q * n - S * q * (q - 1) / 2) + (j - q * S) * (n - q * S) - q * S;
  }
  // A sliver of the whole panel: rows of the diagonal part first, then those below.
  struct Rows {
    T* data;
    int height;
  };
  [[gnu::always_inline]] static Rows rows(const Panel<T>& panel, int r) {
    const int count = slivers(panel.w);
    if (r < count) return {diagonal_sliver(panel, r), height(panel.w, r)};
    return {below_sliver(panel, r - count), height(panel.m, r - count)};
  }

  // Calls body.template operator()<V>() with V = vectors, the height of a sliver in vectors.
  template <class Body>
  [[gnu::always_inline]] static void with_height(int rows_of_sliver, const Body& body) {
    if constexpr (sliver_vectors == 3) {
      if (rows_of_sliver == 3 * W) return body.template operator()<3>();
    }
    if (rows_of_sliver == 2 * W) return body.template operator()<2>();
    body.template operator()<1>();
  }

  // Cuts the columns [0, columns) into groups of `width` and of what is left: body.template
  // operator()<N>(first).
  template <int width, class Body>
  [[gnu::always_inline]] static void for_groups(int columns, const Body& body) {
    int j = 0;
    for (; j + width <= columns; j += width) body.template operator()<width>(j);
    if constexpr (width > 4) {
      if (j + 4 <= columns) {
        body.template operator()<4>(j);
        j += 4;
      }
    }
    if (columns - j == 3) return body.template operator()<3>(j);
    if (columns - j == 2) return body.template operator()<2>(j);
    if (columns - j == 1) return body.template operator()<1>(j);
  }

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
    for_groups<C>(columns, [&]<int N>(int j) {
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
      for_groups<solve_columns>(smaller(S, c1 - c), [&]<int N>(int j) {
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
    for_groups<solve_columns>(columns, [&]<int N>(int j) {
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

  // Subtracts L x over the columns [0, depth) of a sliver from the two chains.
  template <int V>
  [[gnu::always_inline]] static void subtract_columns(const T* l, const T* x, int depth, Vector (&even)[V],
                                                      Vector (&odd)[V]) {
    int k = 0;
    for (; k + 2 <= depth; k += 2, l += 2 * V * W) {
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) {
        even[v] = add_product(-reinterpret_cast<const Vector*>(l)[v], x[k] - Vector{}, even[v]);
        odd[v] = add_product(-reinterpret_cast<const Vector*>(l)[V + v], x[k + 1] - Vector{}, odd[v]);
      }
    }
    if (k == depth) return;
    for (int v = 0; v < V; ++v) {
      even[v] = add_product(-reinterpret_cast<const Vector*>(l)[v], x[k] - Vector{}, even[v]);
    }
  }

  static void forward_diagonal(const Panel<T>& panel, T* x) {
    for (int c = 0; c < panel.w; c += S) {
      const Rows l = rows(panel, c / S);
      const int columns = smaller(S, panel.w - c);
      with_height(l.height, [&]<int V>() {
        Vector chain[2][V] = {};
        const auto entry = [&](int parity) { return reinterpret_cast<T*>(chain[parity]); };
        for (int i = 0; i < columns; ++i) entry(0)[i] = x[c + i];
        subtract_columns<V>(l.data, x, c, chain[0], chain[1]);
        for (int i = 0; i < columns; ++i) {
          const T solved = (entry(0)[i] + entry(1)[i]) * panel.inverse[c + i];
          x[c + i] = solved;
          const auto* column = reinterpret_cast<const Vector*>(l.data + Offset(c + i) * V * W);
          Vector(&y)[V] = chain[i % 2];
          for (int v = 0; v < V; ++v) y[v] = add_product(-column[v], solved - Vector{}, y[v]);
        }
      });
    }
  }

  static void forward_below(const Panel<T>& panel, const T* x, T* y, int i0, int i1) {
    for (int i = i0; i < i1; ++i) {
      with_height(height(panel.m, i), [&]<int V>() {
        auto* target = reinterpret_cast<Loose*>(y + i * S);
        Vector even[V], odd[V] = {};
        for (int v = 0; v < V; ++v) even[v] = target[v];
        subtract_columns<V>(below_sliver(panel, i), x, panel.w, even, odd);
        for (int v = 0; v < V; ++v) target[v] = even[v] + odd[v];
      });
    }
  }

  // The sums of one column of Lᵀ y: a chain per lane, in chain_vectors vectors.
  struct Chains {
    Vector at[chain_vectors];

    [[gnu::always_inline]] explicit Chains(const T* from) {
      for (int q = 0; q < chain_vectors; ++q) at[q] = reinterpret_cast<const Loose*>(from)[q];
    }
    [[gnu::always_inline]] void store(T* to) const {
      for (int q = 0; q < chain_vectors; ++q) reinterpret_cast<Loose*>(to)[q] = at[q];
    }
    // Adds l·y of a sliver's column; vector v belongs to the chains `phase` + v, rows in rising or falling
    // order.
    template <int V, int phase, bool falling>
    [[gnu::always_inline]] void add(const T* l, const Vector (&y)[V]) {
#pragma GCC unroll 3
      for (int k = 0; k < V; ++k) {
        const int v = falling ? V - 1 - k : k;
        Vector& sum = at[(phase + v) % chain_vectors];
        sum = add_product(reinterpret_cast<const Vector*>(l)[v], y[v], sum);
      }
    }
    [[gnu::always_inline]] T total() const {
      T sum[chains];
      __builtin_memcpy(sum, at, sizeof sum);
#pragma GCC unroll 4
      for (int half = chains / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) sum[i] += sum[i + half];
      }
      return sum[0];
    }
  };

  // Calls body.template operator()<phase>() with the chain that the first vector of sliver i belongs to.
  template <class Body>
  [[gnu::always_inline]] static void with_phase(int i, const Body& body) {
    const int phase = i * sliver_vectors % chain_vectors;
    if constexpr (chain_vectors > 1 && sliver_vectors % 2 == 1) {
      if (phase == 1) return body.template operator()<1>();
    }
    if constexpr (chain_vectors > 2) {
      if (phase == 2) return body.template operator()<2>();
    }
    body.template operator()<0>();
  }

  // sums (of each of the `columns` columns) += Lᵀ y over the rows of one sliver.
  template <int V, int phase, bool falling>
  [[gnu::always_inline]] static void add_transposed(const T* l, const Vector (&y)[V], int columns, T* sums) {
    for (int k = 0; k < columns; ++k, l += V * W, sums += chains) {
      Chains sum(sums);
      sum.template add<V, phase, falling>(l, y);
      sum.store(sums);
    }
  }

  static void backward_below(const Panel<T>& panel, const T* y, T* x, int k0, int k1, T* scratch) {
    // Blocks of columns whose sums stay in the first-level cache.
    for (int begin = k0; begin < k1; begin += depth_block) {
      const int columns = smaller(depth_block, k1 - begin);
      for (int k = 0; k < columns * chains; ++k) scratch[k] = 0;
      for (int i = 0; i < slivers(panel.m); ++i) {
        with_height(height(panel.m, i), [&]<int V>() {
          Vector part[V];
          for (int v = 0; v < V; ++v) part[v] = reinterpret_cast<const Loose*>(y + i * S)[v];
          with_phase(i, [&]<int phase>() {
            add_transposed<V, phase, false>(below_sliver(panel, i) + Offset(begin) * V * W, part, columns,
                                            scratch);
          });
        });
      }
      for (int k = 0; k < columns; ++k) x[begin + k] -= Chains(scratch + k * chains).total();
    }
  }

  static void backward_diagonal(const Panel<T>& panel, T* x, T* scratch) {
    for (int k = 0; k < panel.w * chains; ++k) scratch[k] = 0;
    for (int i = slivers(panel.w) - 1; i >= 0; --i) {
      const Rows l = rows(panel, i);
      const int c = i * S, columns = smaller(S, panel.w - c);
      with_height(l.height, [&]<int V>() {
        with_phase(i, [&]<int phase>() {
          Vector y[V] = {};
          T* entry = reinterpret_cast<T*>(y);
          for (int k = columns - 1; k >= 0; --k) {
            Chains sum(scratch + (c + k) * chains);
            sum.template add<V, phase, true>(l.data + Offset(c + k) * V * W, y);
            entry[k] = (x[c + k] - sum.total()) * panel.inverse[c + k];
            x[c + k] = entry[k];
          }
          add_transposed<V, phase, true>(l.data, y, c, scratch);
        });
      });
    }
  }

  static constexpr DenseKernels<T> table = {S,
                                            P,
                                            update,
                                            diagonal,
                                            solve,
                                            outer_product,
                                            add_to_panel,
                                            add_to_update,
                                            forward_diagonal,
                                            forward_below,
                                            backward_below,
                                            backward_diagonal};
};

}  // namespace
}  // namespace lope::linalg
