// Small dense matrices and vectors (Eigen, fixed size).
#pragma once

#include <Eigen/Core>

namespace lope {

template <int d>
using Vec = Eigen::Matrix<double, d, 1>;
template <int d>
using Mat = Eigen::Matrix<double, d, d>;

using Vec2 = Vec<2>;
using Vec3 = Vec<3>;
using Mat2 = Mat<2>;
using Mat3 = Mat<3>;

// In the plane z = 0 where d = 2.
template <int d>
Vec3 in_space(const Vec<d>& x) {
  Vec3 result = Vec3::Zero();
  result.template head<d>() = x;
  return result;
}

}  // namespace lope
