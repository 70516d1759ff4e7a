#include <lope/base/random.h>
#include <lope/geometry/rigid_fit.h>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

struct Points {
  std::vector<Vec3> a, b;
  std::vector<double> weights;

  double distance(const RigidPose& pose) const {
    double result = 0;
    for (std::size_t i = 0; i < a.size(); ++i) result += weights[i] * (pose.place(a[i]) - b[i]).squaredNorm();
    return result;
  }
};

Vec3 random_point(std::uint64_t seed, std::size_t i) {
  return {random_unit(seed, 3 * i) - 0.5, random_unit(seed, 3 * i + 1) - 0.5,
          random_unit(seed, 3 * i + 2) - 0.5};
}

Points random_points(std::uint64_t seed, std::size_t count) {
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    points.a.push_back(random_point(seed, i));
    points.b.push_back(random_point(seed + 100, i));
    points.weights.push_back(0.1 + random_unit(seed + 200, i));
  }
  return points;
}

RigidPose turned(const RigidPose& pose, const Vec3& axis, double angle, const Vec3& shift) {
  RigidPose result = pose;
  result.rotation = Eigen::AngleAxisd(angle, axis.normalized()) * pose.rotation;
  result.translation += shift;
  return result;
}

// The best translation for a rotation.
Vec3 mean_shift(const Points& points, const Mat3& rotation) {
  Vec3 shift = Vec3::Zero();
  double total = 0;
  for (std::size_t i = 0; i < points.a.size(); ++i) {
    shift += points.weights[i] * (points.b[i] - rotation * points.a[i]);
    total += points.weights[i];
  }
  return shift / total;
}

TEST(RigidFit, FindsARigidMotion) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Points points = random_points(seed, 8);
    const RigidPose pose =
        turned({}, random_point(seed, 50), 3 * random_unit(seed, 200), random_point(seed, 60));
    for (std::size_t i = 0; i < points.a.size(); ++i) points.b[i] = pose.place(points.a[i]);
    const RigidPose found = rigid_fit(3, points.a, points.b, points.weights);
    EXPECT_LT((found.rotation - pose.rotation).norm(), 1e-12);
    EXPECT_LT((found.translation - pose.translation).norm(), 1e-12);
  }
}

TEST(RigidFit, NoOtherPlacementIsNearer) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Points points = random_points(seed, 12);
    const RigidPose found = rigid_fit(3, points.a, points.b, points.weights);
    EXPECT_NEAR(found.rotation.determinant(), 1, 1e-12);
    for (std::size_t k = 0; k < 40; ++k) {
      const double angle = k < 20 ? 0.01 : 6.0 * random_unit(seed, 300 + k);
      const RigidPose other =
          turned(found, random_point(seed, 400 + k), angle, 0.01 * random_point(seed, 500 + k));
      EXPECT_GE(points.distance(other), points.distance(found));
    }
  }
}

TEST(RigidFit, StaysInThePlane) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Points points = random_points(seed, 6);
    for (auto* side : {&points.a, &points.b}) {
      for (Vec3& p : *side) p.z() = 0;
    }
    // Even where a mirror image would be nearer: the third axis stays.
    const RigidPose found = rigid_fit(2, points.a, points.b, points.weights);
    EXPECT_NEAR(found.rotation(2, 2), 1, 1e-12);
    for (std::size_t k = 0; k < 40; ++k) {
      const RigidPose other =
          turned(found, Vec3::UnitZ(), k < 20 ? 0.01 : 6.0 * random_unit(seed, k), Vec3::Zero());
      EXPECT_GE(points.distance({other.rotation, mean_shift(points, other.rotation)}),
                points.distance(found));
    }
    EXPECT_NEAR(found.rotation.determinant(), 1, 1e-12) << seed;
  }
}

TEST(RigidFit, PointsInOnePlaceGiveATranslation) {
  Points points = random_points(3, 5);
  for (Vec3& p : points.b) p = Vec3(1, 2, 3);
  const RigidPose found = rigid_fit(3, points.a, points.b, points.weights);
  EXPECT_NEAR(found.rotation.determinant(), 1, 1e-12);
  EXPECT_TRUE(found.rotation.allFinite());
  Vec3 centre = Vec3::Zero();
  double total = 0;
  for (std::size_t i = 0; i < points.a.size(); ++i) {
    centre += points.weights[i] * found.place(points.a[i]);
    total += points.weights[i];
  }
  EXPECT_LT((centre / total - Vec3(1, 2, 3)).norm(), 1e-12);
}

}  // namespace
}  // namespace lope::geometry
