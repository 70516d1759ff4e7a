// Forward and backward substitution with a panel (dense_kernels_body.h).
#pragma once

#include <lope/linalg/dense_kernels_slivers.h>

namespace lope::linalg {
namespace {

template <class T>
struct SolveKernels : Slivers<T> {
  using Base = Slivers<T>;
  using typename Base::Vector, typename Base::Loose, typename Base::Offset, typename Base::Rows;
  using Base::W, Base::S, Base::smaller, Base::slivers, Base::height, Base::below_sliver, Base::rows,
      Base::with_height;

  // The chains of the backward kernels, and their vectors.
  static constexpr int chains = backward_chains<T>, chain_vectors = chains / W;
  static_assert(chains % W == 0);

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
};

}  // namespace
}  // namespace lope::linalg
