// Rows of a batch (element_rows.h) as packs of W lanes, and sums over batches: what the loops that are compiled once per
// instruction set begin with. See solid/elastic_kernels_impl.h for what such a file may do.
#pragma once

#include <lope/math/pack.h>
#include <lope/matter/element_rows.h>

#include <cstdint>

namespace lope::matter {

template <class X>
[[gnu::always_inline]] inline X pack_of(const Row* rows, int index, int lane) {
  return math::load<X>(rows[index].lane + lane);
}

template <int W, class Isa>
struct PackRows {
  using T = math::Pack<W, Isa>;
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

  [[gnu::always_inline]] static T row(const Row* rows, int index, int lane) { return pack_of<T>(rows, index, lane); }
  template <class X>
  [[gnu::always_inline]] static void set_row(Row* rows, int index, int lane, X value) {
    math::store(rows[index].lane + lane, value);
  }
  // The first of the rows of a batch, of which each has `count`.
  template <class R>
  [[gnu::always_inline]] static R* rows_of(R* rows, int batch, int count) {
    return rows + static_cast<std::int64_t>(batch) * count;
  }

  // One sum per lane of a batch, whatever the width of a pack: added up lane by lane at the end.
  struct Sums {
    Row value = {}, magnitude = {};

    [[gnu::always_inline]] void add(int lane, T its_value, T its_magnitude) {
      math::store(value.lane + lane, math::load<T>(value.lane + lane) + its_value);
      math::store(magnitude.lane + lane, math::load<T>(magnitude.lane + lane) + its_magnitude);
    }
    [[gnu::always_inline]] EnergySums total() const {
      EnergySums sums;
      for (int lane = 0; lane < lanes; ++lane) {
        sums.value += value.lane[lane];
        sums.magnitude += magnitude.lane[lane];
      }
      return sums;
    }
  };

  // Adds force[a][i], component i of the force on node a, for the elements of the pack that are not padding, which stands last.
  template <int nodes, int d>
  [[gnu::always_inline]] static void scatter_forces(const double (&force)[nodes][d][W], const IndexRow* node, int lane,
                                                    int filled, double* y) {
    const int count = filled - lane < W ? filled - lane : W;
    for (int w = 0; w < count; ++w) {
      for (int a = 0; a < nodes; ++a) {
        double* target = y + static_cast<std::int64_t>(d) * node[a].lane[lane + w];
        for (int i = 0; i < d; ++i) target[i] += force[a][i][w];
      }
    }
  }
};

}  // namespace lope::matter
