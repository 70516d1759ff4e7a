// The loops of elastic_kernels.h, written once over packs of W lanes. Included by one source file per
// instruction set, which brings its own tag type Isa; see math/pack.h for what such a file may use. W decides
// speed, never bits: iterations run over eight lanes at a time (a twin of packs of four), sums are kept per
// lane of a batch, and elements are scattered in their order.
//
// With b_a the shape gradients, β_a = Vᵀ b_a and Ĉ the rotated dP/dF, the block of nodes a, b is
//   H_ab = U M Uᵀ,  M_ii = Ĉ_ii β_a[i]β_b[i] + Σ_{j≠i} same_ij β_a[j]β_b[j],
//                   M_ij = Ĉ_ij β_a[i]β_b[j] + crossed_ij β_a[j]β_b[i],
// so no d²×d² matrix is ever formed. The blocks of node 0 follow from Σ_a b_a = 0.
#pragma once

#include <lope/matter/block_scatter.h>
#include <lope/matter/solid/elastic_kernels.h>
#include <lope/matter/stretch_rows.h>

namespace lope::matter::elastic {

using material::Column;
using material::Square;

template <int d, int W, class Isa>
struct KernelsOf : StretchRows<d, W, Isa, Layout<d>> {
  using Rows = StretchRows<d, W, Isa, Layout<d>>;
  using typename Rows::T;
  using typename Rows::Tangent;
  using typename Rows::Wide;
  using Rows::product_of, Rows::product_transposed, Rows::read_tangent, Rows::row, Rows::rows_of, Rows::square;
  using L = Layout<d>;
  static constexpr int nodes = L::nodes;

  // Entry (i, a): component i of the edge from node 0 to node a+1.
  template <class X = T>
  [[gnu::always_inline]] static Square<X, d> edges(const IndexRow* node, int lane, const double* x) {
    Square<X, d> result;
    for (int i = 0; i < d; ++i) {
      const X origin = math::gather<X>(x + i, node[0].lane + lane, d);
      for (int a = 0; a < d; ++a) result(i, a) = math::gather<X>(x + i, node[a + 1].lane + lane, d) - origin;
    }
    return result;
  }

  // Adds the columns of f (forces on nodes 1…d) and minus their sum (node 0) to y.
  [[gnu::always_inline]] static void scatter_edge_forces(const Square<T, d>& f, const IndexRow* node, int lane,
                                                         int filled, double* y) {
    double force[nodes][d][W];
    for (int i = 0; i < d; ++i) {
      T sum = f(i, 0);
      for (int a = 1; a < d; ++a) sum += f(i, a);
      math::store(force[0][i], -sum);
      for (int a = 0; a < d; ++a) math::store(force[a + 1][i], f(i, a));
    }
    Rows::scatter_forces(force, node, lane, filled, y);
  }

  static void decompose(const Batches& batches, int begin, int end, const double* x) {
    Rows::decompose_each(batches, begin, end, [&](int batch, const Row* rest, int lane) __attribute__((always_inline)) {
      return product_of(edges<Wide>(rows_of(batches.nodes, batch, nodes), lane, x), Rows::template square<Wide>(rest, 0, lane));
    });
  }

  static void gradient(const Batches& batches, int begin, int end, double* g) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      const IndexRow* node = rows_of(batches.nodes, batch, nodes);
      Column<T, d> slope[lanes / W];
      Rows::density_slopes(batches.model[batch], rest, state, slope);
      for (int lane = 0; lane < lanes; lane += W) {
        const T volume = row(rest, L::volume, lane);
        // f = U (V ψ' Vᵀ Bᵀ), entry (i, a) of the inner matrix is Vψ_i β_a[i].
        Square<T, d> inner = rotated_shape(rest, state, lane);
        for (int i = 0; i < d; ++i) {
          const T scaled = volume * slope[lane / W][i];
          for (int a = 0; a < d; ++a) inner(i, a) = inner(i, a) * scaled;
        }
        scatter_edge_forces(product_of(square(state, L::u, lane), inner), node, lane, batches.filled[batch], g);
      }
    }
  }

  // Column a is β_a of node a+1: entry (i, a) = Σ_j V_ji B_aj.
  [[gnu::always_inline]] static Square<T, d> rotated_shape(const Row* rest, const Row* state, int lane) {
    Square<T, d> result;
    for (int i = 0; i < d; ++i) {
      for (int a = 0; a < d; ++a) {
        T sum = row(state, L::v + i, lane) * row(rest, d * a, lane);
        for (int j = 1; j < d; ++j) {
          sum = math::fma(row(state, L::v + d * j + i, lane), row(rest, d * a + j, lane), sum);
        }
        result(i, a) = sum;
      }
    }
    return result;
  }

  // H_ab from β_a and β_b (columns a and b of `shape`).
  [[gnu::always_inline]] static Square<T, d> node_block(const Tangent& c, const Square<T, d>& U,
                                                        const Square<T, d>& shape, int a, int b) {
    Square<T, d> M;
    Column<T, d> products;
    for (int i = 0; i < d; ++i) products[i] = shape(i, a) * shape(i, b);
    for (int i = 0; i < d; ++i) {
      T sum = c.stretch(i, i) * products[i];
      for (int j = 0; j < d; ++j) {
        if (j != i) sum = math::fma(c.same(i, j), products[j], sum);
      }
      M(i, i) = sum;
      for (int j = 0; j < d; ++j) {
        if (j == i || (a == b && j < i)) continue;
        M(i, j) = math::fma(c.stretch(i, j), shape(i, a) * shape(j, b),
                            c.crossed(i, j) * (shape(j, a) * shape(i, b)));
      }
      if (a == b) {
        for (int j = 0; j < i; ++j) M(i, j) = M(j, i);
      }
    }
    const Square<T, d> UM = product_of(U, M);
    Square<T, d> H;
    for (int i = 0; i < d; ++i) {
      for (int j = a == b ? i : 0; j < d; ++j) {
        T sum = UM(i, 0) * U(j, 0);
        for (int k = 1; k < d; ++k) sum = math::fma(UM(i, k), U(j, k), sum);
        H(i, j) = sum;
        if (a == b) H(j, i) = sum;
      }
    }
    return H;
  }

  using Scatter = BlockScatter<d, nodes, W, Isa>;
  using Blocks = typename Scatter::Blocks;

  [[gnu::always_inline]] static void fill_blocks(const Tangent& c, const Square<T, d>& U,
                                                 const Square<T, d>& shape, Blocks& blocks) {
    // Row 0: H_0b = −Σ_a H_ab, and H_00 = −Σ_b H_0b.
    Square<T, d> with_origin[d];
    for (int a = 0; a < d; ++a) {
      for (int i = 0; i < d; ++i) {
        for (int j = 0; j < d; ++j) with_origin[a](i, j) = T(0);
      }
    }
    for (int a = 0; a < d; ++a) {
      for (int b = a; b < d; ++b) {
        const Square<T, d> H = node_block(c, U, shape, a, b);
        for (int i = 0; i < d; ++i) {
          for (int j = 0; j < d; ++j) {
            math::store(blocks.entry[Blocks::index(a + 1, b + 1)][d * i + j], H(i, j));
            with_origin[b](i, j) -= H(i, j);
            if (a != b) with_origin[a](j, i) -= H(i, j);
          }
        }
      }
    }
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        T sum(0);
        for (int b = 0; b < d; ++b) {
          math::store(blocks.entry[Blocks::index(0, b + 1)][d * i + j], with_origin[b](i, j));
          sum -= with_origin[b](i, j);
        }
        if (j < i) continue;  // symmetric to the last bit: the upper half is stored twice
        math::store(blocks.entry[Blocks::index(0, 0)][d * i + j], sum);
        math::store(blocks.entry[Blocks::index(0, 0)][d * j + i], sum);
      }
    }
  }

  static void hessian(const Batches& batches, int begin, int end, double scale, double* values) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      const Row* rows = rows_of(batches.tangent, batch, L::tangent_rows);
      const IndexRow* slots = rows_of(batches.slots, batch, nodes * nodes);
      for (int lane = 0; lane < lanes && lane < batches.filled[batch]; lane += W) {
        Square<T, d> U = square(state, L::u, lane);
        Tangent c = read_tangent(rows, lane);
        Square<T, d> shape = rotated_shape(rest, state, lane);
        scale_tangent(c, T(scale));
        Blocks blocks;
        fill_blocks(c, U, shape, blocks);
        Scatter::scatter(blocks, slots, lane, batches.filled[batch], values);
      }
    }
  }

  [[gnu::always_inline]] static void scale_tangent(Tangent& c, T scale) {
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        c.stretch(i, j) *= scale;
        if (i == j) continue;
        c.same(i, j) *= scale;
        c.crossed(i, j) *= scale;
      }
    }
  }

  static void product(const Batches& batches, int begin, int end, double scale, const double* p, double* y) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      const Row* rows = rows_of(batches.tangent, batch, L::tangent_rows);
      const IndexRow* node = rows_of(batches.nodes, batch, nodes);
      for (int lane = 0; lane < lanes && lane < batches.filled[batch]; lane += W) {
        const Square<T, d> U = square(state, L::u, lane);
        const Square<T, d> shape = rotated_shape(rest, state, lane);
        // Uᵀ dF V = (Uᵀ edges) shapeᵀ.
        const Square<T, d> dF = product_transposed(Rows::transposed_product(U, edges(node, lane, p)), shape);
        Square<T, d> dP = read_tangent(rows, lane).times(dF);
        for (int i = 0; i < d; ++i) {
          for (int j = 0; j < d; ++j) dP(i, j) = T(scale) * dP(i, j);
        }
        scatter_edge_forces(product_of(U, product_of(dP, shape)), node, lane, batches.filled[batch], y);
      }
    }
  }

  static constexpr Kernels table = {decompose, Rows::energy, gradient, Rows::tangent, hessian, product};
};

}  // namespace lope::matter::elastic
