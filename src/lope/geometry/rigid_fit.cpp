#include <lope/geometry/rigid_fit.h>

#include <cmath>

#include <Eigen/Geometry>
#include <Eigen/SVD>

namespace lope::geometry {
namespace {

Mat3 nearest_rotation_3d(const Mat3& c) {
  const Eigen::JacobiSVD<Mat3> svd(c, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Mat3 u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0) u.col(2) *= -1;
  return u * svd.matrixV().transpose();
}

Mat3 nearest_rotation_2d(const Mat3& c) {
  const double angle = std::atan2(c(1, 0) - c(0, 1), c(0, 0) + c(1, 1));
  return Mat3(Eigen::AngleAxisd(angle, Vec3::UnitZ()));
}

}  // namespace

Mat3 nearest_rotation(int dimension, const Mat3& c) {
  return dimension == 2 ? nearest_rotation_2d(c) : nearest_rotation_3d(c);
}

RigidPose rigid_fit(int dimension, std::span<const Vec3> a, std::span<const Vec3> b,
                    std::span<const double> weights) {
  double total = 0;
  Vec3 a_mean = Vec3::Zero(), b_mean = Vec3::Zero();
  for (std::size_t i = 0; i < a.size(); ++i) {
    total += weights[i];
    a_mean += weights[i] * a[i];
    b_mean += weights[i] * b[i];
  }
  a_mean /= total;
  b_mean /= total;
  Mat3 covariance = Mat3::Zero();
  for (std::size_t i = 0; i < a.size(); ++i) {
    covariance += weights[i] * (b[i] - b_mean) * (a[i] - a_mean).transpose();
  }
  RigidPose pose;
  pose.rotation = nearest_rotation(dimension, covariance);
  pose.translation = b_mean - pose.rotation * a_mean;
  return pose;
}

}  // namespace lope::geometry
