// The loops of membrane_kernels.h, written once over packs of W lanes; see solid/elastic_kernels_impl.h for what such a file may
// do. With b_a the shape gradients and β_a = Vᵀ b_a, the block of nodes a, b is Q M Qᵀ, Q = [r₁ r₂ n],
//   M_ij = Σ_kl A_(ik)(jl) β_a[k] β_b[l] for i, j in the plane,   M_nn = Σ_kl S_kl β_a[k] β_b[l].
// The blocks of node 0 follow from Σ_a b_a = 0.
#pragma once

#include <lope/math/psd.h>
#include <lope/math/svd.h>
#include <lope/matter/block_scatter.h>
#include <lope/matter/cloth/membrane_kernels.h>
#include <lope/matter/pack_rows.h>

namespace lope::matter::membrane {

using material::MembraneModel;

template <int W, class Isa>
struct KernelsOf : PackRows<W, Isa> {
  using Rows = PackRows<W, Isa>;
  using typename Rows::T;
  using typename Rows::Wide;
  using Rows::row, Rows::rows_of, Rows::set_row;
  using L = Layout;
  using Scatter = BlockScatter<3, 3, W, Isa>;
  using Blocks = typename Scatter::Blocks;

  template <class X>
  [[gnu::always_inline]] static material::MembraneConstants<X> constants(const Row* rest, int lane) {
    return {pack_of<X>(rest, L::warp, lane),  pack_of<X>(rest, L::weft, lane),
            pack_of<X>(rest, L::coupling, lane), pack_of<X>(rest, L::shear, lane),
            pack_of<X>(rest, L::largest_stretch, lane), pack_of<X>(rest, L::limit_stiffness, lane)};
  }
  template <class X>
  [[gnu::always_inline]] static material::PrincipalFrame<X> principal(const Row* state, int lane) {
    return {pack_of<X>(state, L::c, lane), pack_of<X>(state, L::s, lane), pack_of<X>(state, L::first, lane),
            pack_of<X>(state, L::second, lane)};
  }

  template <class X>
  struct Vector {
    X x, y, z;
  };
  template <class X>
  [[gnu::always_inline]] static X dot(const Vector<X>& a, const Vector<X>& b) {
    return math::fma(a.z, b.z, math::fma(a.y, b.y, a.x * b.x));
  }
  template <class X>
  [[gnu::always_inline]] static Vector<X> cross(const Vector<X>& a, const Vector<X>& b) {
    return {math::fma(a.y, b.z, -(a.z * b.y)), math::fma(a.z, b.x, -(a.x * b.z)), math::fma(a.x, b.y, -(a.y * b.x))};
  }
  template <class X>
  [[gnu::always_inline]] static Vector<X> scaled(const Vector<X>& a, X s) {
    return {a.x * s, a.y * s, a.z * s};
  }
  // p a + q b.
  template <class X>
  [[gnu::always_inline]] static Vector<X> combined(X p, const Vector<X>& a, X q, const Vector<X>& b) {
    return {math::fma(p, a.x, q * b.x), math::fma(p, a.y, q * b.y), math::fma(p, a.z, q * b.z)};
  }
  template <class X, class M>
  [[gnu::always_inline]] static Vector<X> chosen(M mask, const Vector<X>& yes, const Vector<X>& no) {
    return {math::select(mask, yes.x, no.x), math::select(mask, yes.y, no.y), math::select(mask, yes.z, no.z)};
  }
  // The vector of node a.
  template <class X = T>
  [[gnu::always_inline]] static Vector<X> gathered(const IndexRow* node, int a, int lane, const double* x) {
    return {math::gather<X>(x, node[a].lane + lane, 3), math::gather<X>(x + 1, node[a].lane + lane, 3),
            math::gather<X>(x + 2, node[a].lane + lane, 3)};
  }
  template <class X>
  [[gnu::always_inline]] static Vector<X> difference(const Vector<X>& a, const Vector<X>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }

  static void decompose(const Batches& batches, int begin, int end, const double* x) {
    using X = Wide;
    constexpr double vanishing = 1e-280;
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      Row* state = rows_of(batches.state, batch, L::state_rows);
      const IndexRow* node = rows_of(batches.nodes, batch, 3);
      for (int lane = 0; lane < lanes; lane += X::width) {
        const Vector<X> origin = gathered<X>(node, 0, lane, x);
        const Vector<X> e1 = difference(gathered<X>(node, 1, lane, x), origin);
        const Vector<X> e2 = difference(gathered<X>(node, 2, lane, x), origin);
        const Vector<X> f1 = combined(pack_of<X>(rest, 0, lane), e1, pack_of<X>(rest, 2, lane), e2);
        const Vector<X> f2 = combined(pack_of<X>(rest, 1, lane), e1, pack_of<X>(rest, 3, lane), e2);
        // t₁ along the longer column of F, n across both, whatever they are.
        const X square1 = dot(f1, f1), square2 = dot(f2, f2);
        const Vector<X> longer = chosen(square1 >= square2, f1, f2);
        const X square = math::max(square1, square2);
        const auto point = square < X(vanishing);
        const X inverse = X(1) / math::sqrt(math::select(point, X(1), square));
        const Vector<X> t1 = chosen(point, Vector<X>{X(1), X(0), X(0)}, scaled(longer, inverse));
        Vector<X> n = cross(f1, f2);
        const auto line = dot(n, n) < X(vanishing);
        if (math::any_of(line)) {
          const auto flat = math::abs(t1.z) < math::abs(t1.x);  // the larger of t₁ × e_z and t₁ × e_x
          n = chosen(line, chosen(flat, Vector<X>{t1.y, -t1.x, X(0)}, Vector<X>{X(0), t1.z, -t1.y}), n);
        }
        n = scaled(n, X(1) / math::sqrt(dot(n, n)));
        const Vector<X> t2 = cross(n, t1);
        const math::Square<X, 2> F = {{{dot(t1, f1), dot(t1, f2)}, {dot(t2, f1), dot(t2, f2)}}};
        math::SignedSvd<X, 2> svd;
        math::signed_svd(F, svd);
        const Vector<X> r1 = combined(svd.U(0, 0), t1, svd.U(1, 0), t2), r2 = combined(svd.U(0, 1), t1, svd.U(1, 1), t2);
        const Vector<X> columns[3] = {r1, r2, n};
        for (int k = 0; k < 3; ++k) {
          set_row(state, L::frame + 3 * k, lane, columns[k].x);
          set_row(state, L::frame + 3 * k + 1, lane, columns[k].y);
          set_row(state, L::frame + 3 * k + 2, lane, columns[k].z);
        }
        set_row(state, L::c, lane, svd.V(0, 0));
        set_row(state, L::s, lane, svd.V(1, 0));
        set_row(state, L::first, lane, svd.sigma[0]);
        set_row(state, L::second, lane, math::max(svd.sigma[1], X(0)));
      }
    }
  }

  template <class X = T>
  [[gnu::always_inline]] static material::MembraneStress<X> stress(MembraneModel model, const Row* rest, const Row* state,
                                                                   int lane) {
    material::MembraneStress<X> result;
    const material::MembraneConstants<X> m = constants<X>(rest, lane);
    const material::PrincipalFrame<X> f = principal<X>(state, lane);
    if (model == MembraneModel::Corotated) {
      material::membrane_stress<MembraneModel::Corotated>(m, f, result);
    } else {
      material::membrane_stress<MembraneModel::StVenantKirchhoff>(m, f, result);
    }
    return result;
  }

  static EnergySums energy(const Batches& batches, int begin, int end) {
    typename Rows::Sums sums;
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      for (int lane = 0; lane < lanes; lane += W) {
        const material::MembraneStress<T> s = stress(batches.model[batch], rest, state, lane);
        const T area = row(rest, L::area, lane);
        const T slopes = math::abs(s.p11) + math::abs(s.p22) + math::abs(s.p12) + math::abs(s.p21);
        sums.add(lane, area * s.energy, area * math::fma(row(state, L::first, lane), slopes, math::abs(s.energy)));
      }
    }
    return sums.total();
  }

  // β_a of nodes 1 and 2.
  struct Shape {
    T beta[2][2];
  };
  [[gnu::always_inline]] static Shape shape(const Row* rest, const Row* state, int lane) {
    const T c = row(state, L::c, lane), s = row(state, L::s, lane);
    Shape result;
    for (int a = 0; a < 2; ++a) {
      const T x = row(rest, 2 * a, lane), y = row(rest, 2 * a + 1, lane);
      result.beta[a][0] = math::fma(c, x, s * y);
      result.beta[a][1] = math::fma(c, y, -(s * x));
    }
    return result;
  }
  [[gnu::always_inline]] static Vector<T> frame(const Row* state, int column, int lane) {
    const int first = L::frame + 3 * column;
    return {row(state, first, lane), row(state, first + 1, lane), row(state, first + 2, lane)};
  }

  // Adds f[a] to node a + 1 and minus their sum to node 0.
  [[gnu::always_inline]] static void scatter_edge_forces(const Vector<T> (&f)[2], const IndexRow* node, int lane, int filled,
                                                         double* y) {
    double force[3][3][W];
    math::store(force[0][0], -(f[0].x + f[1].x));
    math::store(force[0][1], -(f[0].y + f[1].y));
    math::store(force[0][2], -(f[0].z + f[1].z));
    for (int a = 0; a < 2; ++a) {
      math::store(force[a + 1][0], f[a].x);
      math::store(force[a + 1][1], f[a].y);
      math::store(force[a + 1][2], f[a].z);
    }
    Rows::scatter_forces(force, node, lane, filled, y);
  }

  static void gradient(const Batches& batches, int begin, int end, double* g) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      const IndexRow* node = rows_of(batches.nodes, batch, 3);
      for (int lane = 0; lane < lanes && lane < batches.filled[batch]; lane += W) {
        const material::MembraneStress<T> s = stress(batches.model[batch], rest, state, lane);
        const Shape b = shape(rest, state, lane);
        const T area = row(rest, L::area, lane);
        const Vector<T> r1 = frame(state, 0, lane), r2 = frame(state, 1, lane);
        Vector<T> f[2];
        for (int a = 0; a < 2; ++a) {
          const T along = area * math::fma(s.p11, b.beta[a][0], s.p12 * b.beta[a][1]);
          const T across = area * math::fma(s.p21, b.beta[a][0], s.p22 * b.beta[a][1]);
          f[a] = combined(along, r1, across, r2);
        }
        scatter_edge_forces(f, node, lane, batches.filled[batch], g);
      }
    }
  }

  // A ← A + part·(its projection − A).
  template <class X, int n>
  [[gnu::always_inline]] static void project_partly(math::Square<X, n>& A, X part) {
    math::Square<X, n> projected = A;
    math::project_psd(projected);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) A(i, j) = math::fma(part, projected(i, j) - A(i, j), A(i, j));
    }
  }

  static void tangent(const Batches& batches, int begin, int end, bool projected) {
    using X = Wide;
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      Row* out = rows_of(batches.tangent, batch, L::tangent_rows);
      for (int lane = 0; lane < lanes; lane += X::width) {
        const MembraneModel model = batches.model[batch];
        const material::MembraneStress<X> s = stress<X>(model, rest, state, lane);
        const material::MembraneConstants<X> m = constants<X>(rest, lane);
        const material::PrincipalFrame<X> f = principal<X>(state, lane);
        material::MembraneTangent<X> A;
        if (model == MembraneModel::Corotated) {
          material::membrane_tangent<MembraneModel::Corotated>(m, f, s, A);
        } else {
          material::membrane_tangent<MembraneModel::StVenantKirchhoff>(m, f, s, A);
        }
        math::Square<X, 2> normal = {{{s.s11, s.s12}, {s.s12, s.s22}}};
        if (projected && batches.projection == 1) {
          math::project_psd(A);
          math::project_psd(normal);
        } else if (projected) {
          project_partly(A, X(batches.projection));
          project_partly(normal, X(batches.projection));
        }
        const X area = pack_of<X>(rest, L::area, lane);
        int index = L::plane;
        for (int i = 0; i < 4; ++i) {
          for (int j = i; j < 4; ++j) set_row(out, index++, lane, area * A(i, j));
        }
        set_row(out, L::normal, lane, area * normal(0, 0));
        set_row(out, L::normal + 1, lane, area * normal(1, 1));
        set_row(out, L::normal + 2, lane, area * normal(0, 1));
      }
    }
  }

  struct Tangent {
    math::Square<T, 4> A;
    T s11, s22, s12;
  };
  [[gnu::always_inline]] static Tangent read_tangent(const Row* rows, int lane, T scale) {
    Tangent t;
    int index = L::plane;
    for (int i = 0; i < 4; ++i) {
      for (int j = i; j < 4; ++j) t.A(i, j) = t.A(j, i) = scale * row(rows, index++, lane);
    }
    t.s11 = scale * row(rows, L::normal, lane);
    t.s22 = scale * row(rows, L::normal + 1, lane);
    t.s12 = scale * row(rows, L::normal + 2, lane);
    return t;
  }
  // Where entry (i, k) of W stands in A.
  static constexpr int entry(int i, int k) { return i == k ? i : i == 0 ? 2 : 3; }

  // Q M Qᵀ of nodes a + 1 and b + 1.
  [[gnu::always_inline]] static math::Square<T, 3> node_block(const Tangent& t, const Shape& shape, const Vector<T>& r1,
                                                              const Vector<T>& r2, const Vector<T>& n, int a, int b) {
    const T* p = shape.beta[a];
    const T* q = shape.beta[b];
    T products[2][2];
    for (int k = 0; k < 2; ++k) {
      for (int l = 0; l < 2; ++l) products[k][l] = p[k] * q[l];
    }
    T M[2][2];
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (a == b && j < i) {
          M[i][j] = M[j][i];
          continue;
        }
        T sum = t.A(entry(i, 0), entry(j, 0)) * products[0][0];
        sum = math::fma(t.A(entry(i, 0), entry(j, 1)), products[0][1], sum);
        sum = math::fma(t.A(entry(i, 1), entry(j, 0)), products[1][0], sum);
        M[i][j] = math::fma(t.A(entry(i, 1), entry(j, 1)), products[1][1], sum);
      }
    }
    const T N = math::fma(t.s11, products[0][0],
                          math::fma(t.s22, products[1][1], t.s12 * (products[0][1] + products[1][0])));
    const T first[3] = {r1.x, r1.y, r1.z}, second[3] = {r2.x, r2.y, r2.z}, third[3] = {n.x, n.y, n.z};
    math::Square<T, 3> H;
    for (int i = 0; i < 3; ++i) {
      const T left1 = math::fma(first[i], M[0][0], second[i] * M[1][0]);
      const T left2 = math::fma(first[i], M[0][1], second[i] * M[1][1]);
      const T left3 = third[i] * N;
      for (int j = a == b ? i : 0; j < 3; ++j) {
        H(i, j) = math::fma(left1, first[j], math::fma(left2, second[j], left3 * third[j]));
        if (a == b) H(j, i) = H(i, j);
      }
    }
    return H;
  }

  [[gnu::always_inline]] static void fill_blocks(const Tangent& t, const Shape& shape, const Vector<T>& r1,
                                                 const Vector<T>& r2, const Vector<T>& n, Blocks& blocks) {
    const math::Square<T, 3> H11 = node_block(t, shape, r1, r2, n, 0, 0);
    const math::Square<T, 3> H12 = node_block(t, shape, r1, r2, n, 0, 1);
    const math::Square<T, 3> H22 = node_block(t, shape, r1, r2, n, 1, 1);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        math::store(blocks.entry[Blocks::index(1, 1)][3 * i + j], H11(i, j));
        math::store(blocks.entry[Blocks::index(1, 2)][3 * i + j], H12(i, j));
        math::store(blocks.entry[Blocks::index(2, 2)][3 * i + j], H22(i, j));
        // H_0b = −Σ_a H_ab, and H_00 = Σ_ab H_ab.
        math::store(blocks.entry[Blocks::index(0, 1)][3 * i + j], -(H11(i, j) + H12(j, i)));
        math::store(blocks.entry[Blocks::index(0, 2)][3 * i + j], -(H12(i, j) + H22(i, j)));
        if (j < i) continue;
        const T sum = (H11(i, j) + H22(i, j)) + (H12(i, j) + H12(j, i));
        math::store(blocks.entry[Blocks::index(0, 0)][3 * i + j], sum);
        math::store(blocks.entry[Blocks::index(0, 0)][3 * j + i], sum);
      }
    }
  }

  static void hessian(const Batches& batches, int begin, int end, double scale, double* values) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      const Row* rows = rows_of(batches.tangent, batch, L::tangent_rows);
      const IndexRow* slots = rows_of(batches.slots, batch, 9);
      for (int lane = 0; lane < lanes && lane < batches.filled[batch]; lane += W) {
        Blocks blocks;
        fill_blocks(read_tangent(rows, lane, T(scale)), shape(rest, state, lane), frame(state, 0, lane),
                    frame(state, 1, lane), frame(state, 2, lane), blocks);
        Scatter::scatter(blocks, slots, lane, batches.filled[batch], values);
      }
    }
  }

  static void product(const Batches& batches, int begin, int end, double scale, const double* p, double* y) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      const Row* rows = rows_of(batches.tangent, batch, L::tangent_rows);
      const IndexRow* node = rows_of(batches.nodes, batch, 3);
      for (int lane = 0; lane < lanes && lane < batches.filled[batch]; lane += W) {
        const Tangent t = read_tangent(rows, lane, T(scale));
        const Shape b = shape(rest, state, lane);
        const Vector<T> frames[3] = {frame(state, 0, lane), frame(state, 1, lane), frame(state, 2, lane)};
        const Vector<T> origin = gathered(node, 0, lane, p);
        const Vector<T> e1 = difference(gathered(node, 1, lane, p), origin);
        const Vector<T> e2 = difference(gathered(node, 2, lane, p), origin);
        T w[4], d[2];  // the entries of W, and of the change along n
        for (int k = 0; k < 2; ++k) {
          const Vector<T> change = combined(b.beta[0][k], e1, b.beta[1][k], e2);
          w[entry(0, k)] = dot(frames[0], change);
          w[entry(1, k)] = dot(frames[1], change);
          d[k] = dot(frames[2], change);
        }
        T stress[4];
        for (int i = 0; i < 4; ++i) {
          stress[i] = math::fma(t.A(i, 0), w[0], math::fma(t.A(i, 1), w[1], math::fma(t.A(i, 2), w[2], t.A(i, 3) * w[3])));
        }
        const T normal[2] = {math::fma(t.s11, d[0], t.s12 * d[1]), math::fma(t.s12, d[0], t.s22 * d[1])};
        Vector<T> f[2];
        for (int a = 0; a < 2; ++a) {
          const T* q = b.beta[a];
          const T along = math::fma(stress[entry(0, 0)], q[0], stress[entry(0, 1)] * q[1]);
          const T across = math::fma(stress[entry(1, 0)], q[0], stress[entry(1, 1)] * q[1]);
          const T out = math::fma(normal[0], q[0], normal[1] * q[1]);
          f[a] = combined(T(1), combined(along, frames[0], across, frames[1]), out, frames[2]);
        }
        scatter_edge_forces(f, node, lane, batches.filled[batch], y);
      }
    }
  }

  static constexpr Kernels table = {decompose, energy, gradient, tangent, hessian, product};
};

}  // namespace lope::matter::membrane
