// What loops over batches of elements (solid/elastic_kernels_impl.h) and of material points (mpm/kernels_impl.h) have in common: both
// keep a singular value decomposition per lane in their rows, and the rotated second derivative Ĉ of an isotropic density, the
// stretches' part and flip and twist of every pair (material/density.h), times the rest volume.
//
// L is the layout: the rows `mu`, `lambda`, `volume` of the rest data, `sigma` of the state, `same` and `crossed` of the tangent after the upper
// triangle of its first part, and the numbers of rows. See solid/elastic_kernels_impl.h for what such a file may do.
#pragma once

#include <lope/material/dispatch.h>
#include <lope/math/psd.h>
#include <lope/math/svd.h>
#include <lope/matter/element_rows.h>

#include <cstdint>

namespace lope::matter {

template <int d, int W, class Isa, class L>
struct StretchRows {
  using T = math::Pack<W, Isa>;
  template <class X>
  using Square = material::Square<X, d>;
  // For the iterations (SVD, projection): two packs at a time where a batch holds them.
  template <bool wide, class = void>
  struct WideOf {
    using Type = T;
  };
  template <class Unused>
  struct WideOf<true, Unused> {
    using Type = math::Twin<T>;
  };
  using Wide = typename WideOf<(2 * W <= lanes)>::Type;

  template <class X = T>
  [[gnu::always_inline]] static X row(const Row* rows, int index, int lane) {
    return math::load<X>(rows[index].lane + lane);
  }
  template <class X>
  [[gnu::always_inline]] static void set_row(Row* rows, int index, int lane, X value) {
    math::store(rows[index].lane + lane, value);
  }
  template <class X = T>
  [[gnu::always_inline]] static Square<X> square(const Row* rows, int index, int lane) {
    Square<X> result;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) result(i, j) = row<X>(rows, index + d * i + j, lane);
    }
    return result;
  }
  template <class X = T>
  [[gnu::always_inline]] static material::Column<X, d> stretches(const Row* state, int lane) {
    material::Column<X, d> s;
    for (int i = 0; i < d; ++i) s[i] = row<X>(state, L::sigma + i, lane);
    return s;
  }
  template <class X = T>
  [[gnu::always_inline]] static material::Lame<X> lame(const Row* rest, int lane) {
    return {row<X>(rest, L::mu, lane), row<X>(rest, L::lambda, lane)};
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

  template <class Batches>
  static void tangent(const Batches& batches, int begin, int end, bool projected) {
    for (int batch = begin; batch < end; ++batch) {
      const Row* rest = batches.rest + static_cast<std::int64_t>(batch) * L::rest_rows;
      const Row* state = batches.state + static_cast<std::int64_t>(batch) * L::state_rows;
      Row* out = batches.tangent + static_cast<std::int64_t>(batch) * L::tangent_rows;
      material::StretchHessian<Wide, d> h[lanes / Wide::width];
      material::visit_density(batches.density[batch], [&](auto model) {
        for (int lane = 0; lane < lanes; lane += Wide::width) {
          model.template hessian<Wide, d>(lame<Wide>(rest, lane), stretches<Wide>(state, lane),
                                          h[lane / Wide::width]);
        }
      });
      for (int lane = 0; lane < lanes; lane += Wide::width) {
        material::StretchHessian<Wide, d>& here = h[lane / Wide::width];
        if (projected) project(here);
        const Wide volume = row<Wide>(rest, L::volume, lane);
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
