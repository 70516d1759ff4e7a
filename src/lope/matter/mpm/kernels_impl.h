// The loops of kernels.h, written once over packs of W lanes; see solid/elastic_kernels_impl.h for the rules. W decides
// speed, never bits: every sum is one chain of operations per point or per entry, whatever the width.
//
// Hessian. With β = Fₙᵀ∇w, H_ab[i, k] = Σ_jl ∇w_a[j] Ā_ijkl ∇w_b[l], Ā the derivative dP/dF with Fₙ multiplied onto both
// sides. All points of a cell touch the same nodes: their blocks are added up in a dense matrix of the cell, which stays in
// the cache, and scattered once per cell.
#pragma once

#include <lope/matter/mpm/kernels.h>
#include <lope/matter/stretch_rows.h>

namespace lope::matter::mpm {

using material::Column;
using material::Square;

template <class Visitor>
[[gnu::always_inline]] inline void visit_model(PointModel model, const Visitor& visitor) {
  if (model.yields) return visitor(material::YieldingHencky{});
  material::visit_density(model.density, visitor);
}

template <int d, int W, class Isa>
struct KernelsOf : StretchRows<d, W, Isa, Layout<d>> {
  using Rows = StretchRows<d, W, Isa, Layout<d>>;
  using typename Rows::T;
  using typename Rows::Wide;
  using Rows::product_of, Rows::product_transposed, Rows::row, Rows::rows_of, Rows::square;
  using L = Layout<d>;
  static constexpr int touched = touched_nodes<d>;
  static constexpr int square_size = d * d;

  // The spline and its derivative (per metre) at the three nodes along each axis.
  template <class X>
  struct Weights {
    X w[d][3], slope[d][3];
  };
  template <class X = T>
  [[gnu::always_inline]] static Weights<X> weights(const Row* rest, int lane, double inverse_dx) {
    Weights<X> r;
    const X scale(inverse_dx);
    for (int k = 0; k < d; ++k) {
      const X at = pack_of<X>(rest, L::place + k, lane);
      const X a = X(1.5) - at, b = at - X(1), c = at - X(0.5);
      r.w[k][0] = X(0.5) * a * a;
      r.w[k][1] = X(0.75) - b * b;
      r.w[k][2] = X(0.5) * c * c;
      r.slope[k][0] = -(a * scale);
      r.slope[k][1] = X(-2) * b * scale;
      r.slope[k][2] = c * scale;
    }
    return r;
  }

  // Σ_a u_a ∇w_aᵀ, contracted axis by axis.
  template <class X = T>
  [[gnu::always_inline]] static Square<X, d> gradient_of(const Weights<X>& w, const IndexRow& base, int lane,
                                                         const double* u) {
    int at[X::width];
    for (int k = 0; k < X::width; ++k) at[k] = d * base.lane[lane + k];
    Square<X, d> G;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) G(i, j) = X(0);
    }
    for (int ax = 0; ax < 3; ++ax) {
      if constexpr (d == 2) {
        for (int i = 0; i < d; ++i) {
          X value(0), slope(0);
          add_line(w, at, u + d * block_reach * ax + i, value, slope);
          G(i, 0) = math::fma(value, w.slope[0][ax], G(i, 0));
          G(i, 1) = math::fma(slope, w.w[0][ax], G(i, 1));
        }
      } else {
        for (int i = 0; i < d; ++i) {
          X value(0), slope_y(0), slope_z(0);
          for (int ay = 0; ay < 3; ++ay) {
            X line(0), line_slope(0);
            add_line(w, at, u + d * block_reach * (block_reach * ax + ay) + i, line, line_slope);
            value = math::fma(line, w.w[1][ay], value);
            slope_y = math::fma(line, w.slope[1][ay], slope_y);
            slope_z = math::fma(line_slope, w.w[1][ay], slope_z);
          }
          G(i, 0) = math::fma(value, w.slope[0][ax], G(i, 0));
          G(i, 1) = math::fma(slope_y, w.w[0][ax], G(i, 1));
          G(i, 2) = math::fma(slope_z, w.w[0][ax], G(i, 2));
        }
      }
    }
    return G;
  }
  template <class X>
  [[gnu::always_inline]] static void add_line(const Weights<X>& w, const int* at, const double* u, X& value, X& slope) {
    for (int a = 0; a < 3; ++a) {
      const X node = math::gather<X>(u + d * a, at);
      value = math::fma(node, w.w[d - 1][a], value);
      slope = math::fma(node, w.slope[d - 1][a], slope);
    }
  }

  // y_a += K ∇w_a for the points of the pack, one after another.
  [[gnu::always_inline]] static void scatter(const Square<T, d>& K, const Weights<T>& w, const IndexRow& base, int lane,
                                             int filled, double* y) {
    double force[touched][d][W];
    int a = 0;
    for (int ax = 0; ax < 3; ++ax) {
      if constexpr (d == 2) {
        for (int ay = 0; ay < 3; ++ay, ++a) {
          for (int i = 0; i < d; ++i) {
            const T first = K(i, 0) * w.slope[0][ax], second = K(i, 1) * w.w[0][ax];
            math::store(force[a][i], math::fma(first, w.w[1][ay], second * w.slope[1][ay]));
          }
        }
      } else {
        for (int ay = 0; ay < 3; ++ay) {
          const T sx = w.slope[0][ax] * w.w[1][ay], sy = w.w[0][ax] * w.slope[1][ay], both = w.w[0][ax] * w.w[1][ay];
          T first[d], second[d];
          for (int i = 0; i < d; ++i) {
            first[i] = math::fma(K(i, 0), sx, K(i, 1) * sy);
            second[i] = K(i, 2) * both;
          }
          for (int az = 0; az < 3; ++az, ++a) {
            for (int i = 0; i < d; ++i)
              math::store(force[a][i], math::fma(first[i], w.w[2][az], second[i] * w.slope[2][az]));
          }
        }
      }
    }
    const int count = filled - lane < W ? filled - lane : W;
    for (int k = 0; k < count; ++k) {
      double* target = y + d * base.lane[lane + k];
      int node = 0;
      for (int line = 0; line < touched / 3; ++line) {
        double* at = target + d * (d == 3 ? block_reach * (block_reach * (line / 3) + line % 3) : block_reach * line);
        for (int az = 0; az < 3; ++az, ++node) {
          for (int i = 0; i < d; ++i) at[d * az + i] += force[node][i][k];
        }
      }
    }
  }

  static void decompose(const Batches& batches, int begin, int end, const double* u) {
    Rows::decompose_each(batches, begin, end, [&](int batch, const Row* rest, int lane) __attribute__((always_inline)) {
      const Weights<Wide> w = weights<Wide>(rest, lane, batches.inverse_dx);
      const Square<Wide, d> before = Rows::template square<Wide>(rest, 0, lane);
      const Square<Wide, d> G = gradient_of<Wide>(w, batches.base[batch], lane, u);
      Square<Wide, d> F = product_of(G, before);
      for (int i = 0; i < d; ++i) {
        for (int j = 0; j < d; ++j) F(i, j) += before(i, j);
      }
      return F;
    });
  }

  static void gradient(const Batches& batches, int begin, int end, double* g) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      Column<T, d> slope[lanes / W];
      Rows::density_slopes(batches.model[batch], rest, state, slope);
      for (int lane = 0; lane < lanes && lane < batches.filled[batch]; lane += W) {
        const T volume = row(rest, L::volume, lane);
        Square<T, d> US = square(state, L::u, lane);
        for (int j = 0; j < d; ++j) {
          const T scaled = volume * slope[lane / W][j];
          for (int i = 0; i < d; ++i) US(i, j) = US(i, j) * scaled;
        }
        scatter(product_transposed(US, carried_frame(rest, state, lane)), weights(rest, lane, batches.inverse_dx),
                batches.base[batch], lane, batches.filled[batch], g);
      }
    }
  }

  // Fₙ V.
  [[gnu::always_inline]] static Square<T, d> carried_frame(const Row* rest, const Row* state, int lane) {
    return product_of(square(rest, 0, lane), square(state, L::v, lane));
  }

  static void product(const Batches& batches, int begin, int end, const double* p, double* y) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      const Row* rows = rows_of(batches.tangent, batch, L::tangent_rows);
      for (int lane = 0; lane < lanes && lane < batches.filled[batch]; lane += W) {
        const Weights<T> w = weights(rest, lane, batches.inverse_dx);
        const Square<T, d> U = square(state, L::u, lane);
        const Square<T, d> FV = carried_frame(rest, state, lane);
        const Square<T, d> right = product_of(gradient_of(w, batches.base[batch], lane, p), FV);
        const Square<T, d> dP = Rows::read_tangent(rows, lane).times(Rows::transposed_product(U, right));
        scatter(product_transposed(product_of(U, dP), FV), w, batches.base[batch], lane, batches.filled[batch], y);
      }
    }
  }

  // Ā of the points of a pack: entry [j][d·d·… ] see below, one array per lane. tensor[lane][j][(i, k, l)] = Ā_ijkl.
  static constexpr int faces = d * d * d;
  static constexpr int padded_faces = (faces + W - 1) / W * W;
  struct Tensors {
    alignas(64) double entry[W][d][padded_faces];
  };
  [[gnu::always_inline]] static void tensors(const Row* rest, const Row* state, const Row* rows, int lane, Tensors& out) {
    const Square<T, d> U = square(state, L::u, lane);
    const Square<T, d> FV = carried_frame(rest, state, lane);
    const typename Rows::Tangent c = Rows::read_tangent(rows, lane);
    // X_pq[i, j] = U_ip FV_jq, Y_pq the same after the rotated derivative: Ā = Σ_pq X_pq Y_pqᵀ.
    Square<T, d> X[d][d], Y[d][d];
    for (int p = 0; p < d; ++p) {
      for (int q = 0; q < d; ++q) {
        for (int i = 0; i < d; ++i) {
          for (int j = 0; j < d; ++j) X[p][q](i, j) = U(i, p) * FV(j, q);
        }
      }
    }
    for (int p = 0; p < d; ++p) {
      for (int i = 0; i < d; ++i) {
        for (int j = 0; j < d; ++j) {
          T sum = c.stretch(p, 0) * X[0][0](i, j);
          for (int r = 1; r < d; ++r) sum = math::fma(c.stretch(p, r), X[r][r](i, j), sum);
          Y[p][p](i, j) = sum;
          for (int q = 0; q < d; ++q) {
            if (q != p) Y[p][q](i, j) = math::fma(c.same(p, q), X[p][q](i, j), c.crossed(p, q) * X[q][p](i, j));
          }
        }
      }
    }
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        for (int k = 0; k < d; ++k) {
          for (int l = 0; l < d; ++l) {
            T sum(0);
            for (int p = 0; p < d; ++p) {
              for (int q = 0; q < d; ++q) sum = math::fma(X[p][q](i, j), Y[p][q](k, l), sum);
            }
            double value[W];
            math::store(value, sum);
            for (int w = 0; w < W; ++w) out.entry[w][j][(i * d + k) * d + l] = value[w];
          }
        }
      }
    }
    for (int w = 0; w < W; ++w) {
      for (int j = 0; j < d; ++j) {
        for (int k = faces; k < padded_faces; ++k) out.entry[w][j][k] = 0;
      }
    }
  }

  // ∇w at all nodes of one point, component by component.
  static constexpr int padded = padded_nodes<d>;
  struct Slopes {
    alignas(64) double entry[d][padded];
  };
  [[gnu::always_inline]] static void slopes_of(const Row* rest, int lane, double inverse_dx, Slopes& out) {
    double w[d][3], slope[d][3];
    for (int k = 0; k < d; ++k) {
      const double at = rest[L::place + k].lane[lane];
      const double a = 1.5 - at, b = at - 1, c = at - 0.5;
      w[k][0] = 0.5 * a * a;
      w[k][1] = 0.75 - b * b;
      w[k][2] = 0.5 * c * c;
      slope[k][0] = -(a * inverse_dx);
      slope[k][1] = -2 * b * inverse_dx;
      slope[k][2] = c * inverse_dx;
    }
    int a = 0;
    for (int ax = 0; ax < 3; ++ax) {
      for (int ay = 0; ay < 3; ++ay) {
        if constexpr (d == 2) {
          out.entry[0][a] = slope[0][ax] * w[1][ay];
          out.entry[1][a++] = w[0][ax] * slope[1][ay];
        } else {
          const double sx = slope[0][ax] * w[1][ay], sy = w[0][ax] * slope[1][ay], both = w[0][ax] * w[1][ay];
          for (int az = 0; az < 3; ++az, ++a) {
            out.entry[0][a] = sx * w[2][az];
            out.entry[1][a] = sy * w[2][az];
            out.entry[2][a] = both * slope[2][az];
          }
        }
      }
    }
    for (int k = 0; k < d; ++k) {
      for (int b = touched; b < padded; ++b) out.entry[k][b] = 0;
    }
  }

  // scratch[a][(i, k)][b] += Σ_jl ∇w_a[j] Ā_ijkl ∇w_b[l] for b from the pack that holds a on.
  static void add_point(const double (&tensor)[d][padded_faces], const Slopes& slopes, double* scratch) {
    constexpr int packs = padded / W;
    for (int a = 0; a < touched; ++a) {
      alignas(64) double face[padded_faces];  // Σ_j ∇w_a[j] Ā_ijkl
      const T s0(slopes.entry[0][a]), s1(slopes.entry[1][a]);
      for (int k = 0; k < padded_faces; k += W) {
        T sum = math::fma(s1, math::load<T>(tensor[1] + k), s0 * math::load<T>(tensor[0] + k));
        if constexpr (d == 3) sum = math::fma(T(slopes.entry[2][a]), math::load<T>(tensor[2] + k), sum);
        math::store(face + k, sum);
      }
      for (int pack = a / W; pack < packs && pack * W < touched; ++pack) {
        const T g0 = math::load<T>(slopes.entry[0] + pack * W), g1 = math::load<T>(slopes.entry[1] + pack * W);
        T g2(0);
        if constexpr (d == 3) g2 = math::load<T>(slopes.entry[2] + pack * W);
        double* to = scratch + a * square_size * padded + pack * W;
        for (int ik = 0; ik < square_size; ++ik) {
          T sum = math::fma(T(face[d * ik]), g0, math::load<T>(to + ik * padded));
          sum = math::fma(T(face[d * ik + 1]), g1, sum);
          if constexpr (d == 3) sum = math::fma(T(face[d * ik + 2]), g2, sum);
          math::store(to + ik * padded, sum);
        }
      }
    }
  }

  // Four blocks at a time: their entries become neighbours by transposing.
  static constexpr int S = W < 4 ? W : 4;  // NOLINT(bugprone-branch-clone): the same only where W = 4
  using Strip = math::Pack<S, Isa>;

  // The cell's matrix goes to its place, and is zero afterwards.
  static void flush(int base, const HessianTarget& target) {
    int number[touched];
    int a = 0;
    for (int line = 0; line < touched / 3; ++line) {
      const int first = d == 3 ? block_reach * (block_reach * (line / 3) + line % 3) : block_reach * line;
      for (int az = 0; az < 3; ++az) number[a++] = target.node[base + first + az];
    }
    for (a = 0; a < touched; ++a) {
      double* from = target.scratch + a * square_size * padded;
      if (number[a] >= 0) scatter_row(a, number, from, target);
      for (int ik = 0; ik < square_size; ++ik) {
        for (int b = a / W * W; b < padded; b += W) math::store(from + ik * padded + b, T(0));
      }
    }
  }

  [[gnu::always_inline]] static void scatter_row(int a, const int (&number)[touched], const double* from,
                                                 const HessianTarget& target) {
    const std::int64_t* shift = target.shift + static_cast<std::int64_t>(window_lines<d>) * number[a];
    const auto place = [&](int b) __attribute__((always_inline)) {
      const int line = d == 3 ? window * (b / 9 - a / 9 + 2) + (b / 3 % 3 - a / 3 % 3 + 2) : b / 3 - a / 3 + 2;
      return target.values + square_size * (shift[line] + number[b]);
    };
    for (int first = a / S * S; first < touched; first += S) {
      constexpr int whole = square_size / S * S;
      for (int ik = 0; ik < whole; ik += S) {
        Strip rows[S];
        for (int k = 0; k < S; ++k) rows[k] = math::load<Strip>(from + (ik + k) * padded + first);
        math::transpose(rows);
        for (int w = 0; w < S; ++w) {
          const int b = first + w;
          if (b < a || b >= touched || number[b] < 0) continue;
          double* to = place(b) + ik;
          math::store(to, math::load<Strip>(to) + rows[w]);
        }
      }
      for (int ik = whole; ik < square_size; ++ik) {
        for (int b = first < a ? a : first; b < first + S && b < touched; ++b) {
          if (number[b] >= 0) place(b)[ik] += from[ik * padded + b];
        }
      }
    }
  }

  // Block (a, a) of one point: Σ_jl ∇w_a[j] Ā_ijkl ∇w_a[l].
  static void add_diagonal(const double (&tensor)[d][padded_faces], const Slopes& slopes, int base,
                           double* blocks) {
    int a = 0;
    for (int line = 0; line < touched / 3; ++line) {
      const int first = d == 3 ? block_reach * (block_reach * (line / 3) + line % 3) : block_reach * line;
      for (int last = 0; last < 3; ++last, ++a) {
        double* to = blocks + square_size * (base + first + last);
        for (int ik = 0; ik < square_size; ++ik) {
          for (int l = 0; l < d; ++l) {
            double face = slopes.entry[0][a] * tensor[0][d * ik + l];
            for (int j = 1; j < d; ++j) face += slopes.entry[j][a] * tensor[j][d * ik + l];
            to[ik] += face * slopes.entry[l][a];
          }
        }
      }
    }
  }

  // visit(tensor, slopes, first node touched) of every point.
  template <class Visit>
  static void each_tensor(const Batches& batches, int begin, int end, const Visit& visit) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      const Row* rows = rows_of(batches.tangent, batch, L::tangent_rows);
      for (int lane = 0; lane < batches.filled[batch]; lane += W) {
        Tensors made;
        tensors(rest, state, rows, lane, made);
        for (int w = 0; w < W && lane + w < batches.filled[batch]; ++w) {
          Slopes slopes;
          slopes_of(rest, lane + w, batches.inverse_dx, slopes);
          visit(made.entry[w], slopes, batches.base[batch].lane[lane + w]);
        }
      }
    }
  }

  static void hessian(const Batches& batches, int begin, int end, const HessianTarget& target) {
    int base = -1;
    each_tensor(batches, begin, end, [&](const auto& tensor, const Slopes& slopes, int here) {
      if (here != base && base >= 0) flush(base, target);
      base = here;
      add_point(tensor, slopes, target.scratch);
    });
    if (base >= 0) flush(base, target);
  }

  static void diagonal(const Batches& batches, int begin, int end, double* blocks) {
    each_tensor(batches, begin, end, [&](const auto& tensor, const Slopes& slopes, int base) {
      add_diagonal(tensor, slopes, base, blocks);
    });
  }

  static constexpr Kernels table = {decompose, Rows::energy, gradient, Rows::tangent,
                                    product,   diagonal,     hessian};
};

}  // namespace lope::matter::mpm
