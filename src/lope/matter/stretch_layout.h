// Rows of a batch (element_rows.h) of what has a deformation gradient F and an isotropic density: elements of solids, material
// points. What stretch_rows.h works on.
#pragma once

namespace lope::matter {

template <int d>
struct StretchLayout {
  static constexpr int pairs = d == 3 ? 3 : 1;
  // Rest data: a d×d matrix (row-major) from which F is made, the volume at rest (0 marks padding), μ, λ, and what else the
  // kind keeps from `more_rest` on.
  static constexpr int volume = d * d, mu = volume + 1, lambda = volume + 2, more_rest = volume + 3;
  // State: U, V (row-major) and σ of F.
  static constexpr int u = 0, v = d * d, sigma = 2 * d * d, state_rows = sigma + d;
  // dP/dF in the rotated frame times the rest volume: upper triangle of the stretch block, (flip + twist)/2,
  // (flip − twist)/2.
  static constexpr int triangle = d * (d + 1) / 2;
  static constexpr int same = triangle, crossed = triangle + pairs, tangent_rows = triangle + 2 * pairs;
};

}  // namespace lope::matter
