// Quadratic B-splines at one point: weights of the 3^Dim nodes around it.
#pragma once

#include <lope/math/types.h>
#include <lope/matter/mpm/kernels.h>

namespace lope::matter::mpm {

// `at`: distance from the first node along each axis, in cells (Grid::Place).
template <int Dim>
struct Spline {
  double w[Dim][3], slope[Dim][3];  // slopes per cell

  explicit Spline(const Vec<Dim>& at) {
    for (int k = 0; k < Dim; ++k) {
      const double a = 1.5 - at[k], b = at[k] - 1, c = at[k] - 0.5;
      w[k][0] = 0.5 * a * a;
      w[k][1] = 0.75 - b * b;
      w[k][2] = 0.5 * c * c;
      slope[k][0] = -a;
      slope[k][1] = -2 * b;
      slope[k][2] = c;
    }
  }

  // visit(local node relative to the first one, weight) for all nodes.
  template <class Visit>
  void each(const Visit& visit) const {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        if constexpr (Dim == 2) {
          visit(block_reach * i + j, w[0][i] * w[1][j]);
        } else {
          const double both = w[0][i] * w[1][j];
          for (int k = 0; k < 3; ++k) visit(block_reach * (block_reach * i + j) + k, both * w[2][k]);
        }
      }
    }
  }
  // visit(local node, weight, offset of the node from the first one in cells).
  template <class Visit>
  void each_offset(const Visit& visit) const {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        if constexpr (Dim == 2) {
          visit(block_reach * i + j, w[0][i] * w[1][j], Vec2(i, j));
        } else {
          const double both = w[0][i] * w[1][j];
          for (int k = 0; k < 3; ++k)
            visit(block_reach * (block_reach * i + j) + k, both * w[2][k], Vec3(i, j, k));
        }
      }
    }
  }
};

}  // namespace lope::matter::mpm
