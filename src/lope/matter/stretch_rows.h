// What loops over batches of elements (solid/elastic_kernels_impl.h) and of material points (mpm/kernels_impl.h) have in common: both
// keep a singular value decomposition per lane in their rows, and the rotated second derivative Ĉ of an isotropic density, the
// stretches' part and flip and twist of every pair (material/density.h), times the rest volume. They differ in where F comes
// from and in where forces go.
//
// L is the layout: StretchLayout, with the number `rest_rows`. See solid/elastic_kernels_impl.h for what such a file may do.
#pragma once

#include <lope/material/dispatch.h>
#include <lope/material/yielding_hencky.h>
#include <lope/math/psd.h>
#include <lope/math/svd.h>
#include <lope/matter/pack_rows.h>
#include <lope/matter/stretch_layout.h>

#include <type_traits>

namespace lope::matter {

// The struct of a batch's model. Kinds with models of their own have an overload beside their type.
template <class Visitor>
[[gnu::always_inline]] inline void visit_model(material::Density density, const Visitor& visitor) {
  material::visit_density(density, visitor);
}

template <int d, int W, class Isa, class L>
struct StretchRows : PackRows<W, Isa> {
  using Rows = PackRows<W, Isa>;
  using typename Rows::T;
  using typename Rows::Wide;
  using Rows::row, Rows::rows_of, Rows::set_row;
  template <class X>
  using Square = material::Square<X, d>;
  template <class X>
  using Column = material::Column<X, d>;

  template <class X = T>
  [[gnu::always_inline]] static Square<X> square(const Row* rows, int index, int lane) {
    Square<X> result;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) result(i, j) = pack_of<X>(rows, index + d * i + j, lane);
    }
    return result;
  }
  template <class X = T>
  [[gnu::always_inline]] static Column<X> stretches(const Row* state, int lane) {
    Column<X> s;
    for (int i = 0; i < d; ++i) s[i] = pack_of<X>(state, L::sigma + i, lane);
    return s;
  }
  // The constants that a model works with.
  template <class Model, class X = T>
  [[gnu::always_inline]] static auto constants(const Row* rest, int lane) {
    const X mu = pack_of<X>(rest, L::mu, lane), lambda = pack_of<X>(rest, L::lambda, lane);
    if constexpr (std::is_same_v<Model, material::YieldingHencky>) {
      return material::YieldingLame<X>{mu, lambda, pack_of<X>(rest, L::yield, lane), pack_of<X>(rest, L::left, lane),
                                       pack_of<X>(rest, L::correction, lane), pack_of<X>(rest, L::tension, lane)};
    } else {
      return material::Lame<X>{mu, lambda};
    }
  }

  // A B.
  template <class X>
  [[gnu::always_inline]] static Square<X> product_of(const Square<X>& A, const Square<X>& B) {
    Square<X> result;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        X sum = A(i, 0) * B(0, j);
        for (int k = 1; k < d; ++k) sum = math::fma(A(i, k), B(k, j), sum);
        result(i, j) = sum;
      }
    }
    return result;
  }
  // A Bᵀ.
  [[gnu::always_inline]] static Square<T> product_transposed(const Square<T>& A, const Square<T>& B) {
    Square<T> result;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        T sum = A(i, 0) * B(j, 0);
        for (int k = 1; k < d; ++k) sum = math::fma(A(i, k), B(j, k), sum);
        result(i, j) = sum;
      }
    }
    return result;
  }
  // Aᵀ B.
  [[gnu::always_inline]] static Square<T> transposed_product(const Square<T>& A, const Square<T>& B) {
    Square<T> result;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        T sum = A(0, i) * B(0, j);
        for (int k = 1; k < d; ++k) sum = math::fma(A(k, i), B(k, j), sum);
        result(i, j) = sum;
      }
    }
    return result;
  }

  // state ← signed SVD of F = deformation(batch, rest, lane), as Wide.
  template <class Batches, class Deformation>
  [[gnu::always_inline]] static void decompose_each(const Batches& batches, int begin, int end,
                                                    const Deformation& deformation) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      Row* state = rows_of(batches.state, batch, L::state_rows);
      for (int lane = 0; lane < lanes; lane += Wide::width) {
        const Square<Wide> F = deformation(batch, rest, lane);
        math::SignedSvd<Wide, d> svd;
        math::signed_svd(F, svd);
        for (int i = 0; i < d; ++i) {
          for (int j = 0; j < d; ++j) {
            set_row(state, L::u + d * i + j, lane, svd.U(i, j));
            set_row(state, L::v + d * i + j, lane, svd.V(i, j));
          }
          set_row(state, L::sigma + i, lane, svd.sigma[i]);
        }
      }
    }
  }

  template <class Batches>
  static EnergySums energy(const Batches& batches, int begin, int end) {
    typename Rows::Sums sums;
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      visit_model(batches.model[batch], [&](auto model) {
        for (int lane = 0; lane < lanes; lane += W) {
          const Column<T> s = stretches(state, lane);
          const auto m = constants<decltype(model)>(rest, lane);
          const T volume = row(rest, L::volume, lane);
          const T psi = model.template energy<T, d>(m, s);
          Column<T> g;
          model.template gradient<T, d>(m, s, g);
          T slopes = math::abs(g[0]);
          for (int i = 1; i < d; ++i) slopes += math::abs(g[i]);
          const auto real = volume > T(0);
          sums.add(lane, math::select(real, volume * psi, T(0)),
                   math::select(real, volume * math::fma(s[0], slopes, math::abs(psi)), T(0)));
        }
      });
    }
    return sums.total();
  }

  // ψ_i of a batch, pack by pack.
  template <class Model>
  [[gnu::always_inline]] static void density_slopes(Model which, const Row* rest, const Row* state,
                                                    Column<T> (&slope)[lanes / W]) {
    visit_model(which, [&](auto model) {
      for (int lane = 0; lane < lanes; lane += W)
        model.template gradient<T, d>(constants<decltype(model)>(rest, lane), stretches(state, lane), slope[lane / W]);
    });
  }

  template <class Batches>
  static void tangent(const Batches& batches, int begin, int end, bool projected) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = rows_of(batches.rest, batch, L::rest_rows);
      const Row* state = rows_of(batches.state, batch, L::state_rows);
      Row* out = rows_of(batches.tangent, batch, L::tangent_rows);
      material::StretchHessian<Wide, d> h[lanes / Wide::width];
      visit_model(batches.model[batch], [&](auto model) {
        for (int lane = 0; lane < lanes; lane += Wide::width) {
          model.template hessian<Wide, d>(constants<decltype(model), Wide>(rest, lane), stretches<Wide>(state, lane),
                                          h[lane / Wide::width]);
        }
      });
      for (int lane = 0; lane < lanes; lane += Wide::width) {
        material::StretchHessian<Wide, d>& here = h[lane / Wide::width];
        if (projected) project(here);
        const Wide volume = pack_of<Wide>(rest, L::volume, lane);
        int index = 0;
        for (int i = 0; i < d; ++i) {
          for (int j = i; j < d; ++j) set_row(out, index++, lane, volume * here.stretch(i, j));
        }
        const Wide half = Wide(0.5) * volume;
        for (int pair = 0; pair < L::pairs; ++pair) {
          set_row(out, L::same + pair, lane, half * (here.flip[pair] + here.twist[pair]));
          set_row(out, L::crossed + pair, lane, half * (here.flip[pair] - here.twist[pair]));
        }
      }
    }
  }

  [[gnu::always_inline]] static void project(material::StretchHessian<Wide, d>& h) {
    math::project_psd(h.stretch);
    for (int pair = 0; pair < L::pairs; ++pair) {
      h.flip[pair] = math::max(h.flip[pair], Wide(0));
      h.twist[pair] = math::max(h.twist[pair], Wide(0));
    }
  }

  // Ĉ read back from its rows.
  struct Tangent {
    Square<T> stretch;
    Square<T> same, crossed;  // off-diagonal entries only

    // Uᵀ dP V of Uᵀ dF V.
    [[gnu::always_inline]] Square<T> times(const Square<T>& dF) const {
      Square<T> dP;
      for (int i = 0; i < d; ++i) {
        T sum = stretch(i, 0) * dF(0, 0);
        for (int j = 1; j < d; ++j) sum = math::fma(stretch(i, j), dF(j, j), sum);
        dP(i, i) = sum;
        for (int j = 0; j < d; ++j) {
          if (j != i) dP(i, j) = math::fma(same(i, j), dF(i, j), crossed(i, j) * dF(j, i));
        }
      }
      return dP;
    }
  };
  [[gnu::always_inline]] static Tangent read_tangent(const Row* rows, int lane) {
    Tangent c;
    int index = 0;
    for (int i = 0; i < d; ++i) {
      for (int j = i; j < d; ++j) c.stretch(i, j) = c.stretch(j, i) = row(rows, index++, lane);
    }
    for (int pair = 0; pair < L::pairs; ++pair) {
      const int i = material::first_of_pair<d>(pair), j = material::second_of_pair<d>(pair);
      c.same(i, j) = c.same(j, i) = row(rows, L::same + pair, lane);
      c.crossed(i, j) = c.crossed(j, i) = row(rows, L::crossed + pair, lane);
    }
    return c;
  }
};

}  // namespace lope::matter
