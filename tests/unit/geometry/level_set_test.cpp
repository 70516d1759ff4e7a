#include <lope/base/random.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/surface_check.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Geometry>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::geometry {
namespace {

struct Named {
  std::string name;
  LevelSetPtr set;
  bool closed = true;  // its surface encloses a volume
};

RigidPose some_pose() {
  return {Eigen::AngleAxisd(0.7, Vec3(1, 2, -1).normalized()).toRotationMatrix(), Vec3(0.2, -0.1, 0.3)};
}

const std::vector<Named>& shapes() {
  static const std::vector<Named> all = [] {
    const Vec3 center(0.1, -0.2, 0.05), axis(0.3, 1, -0.4);
    std::vector<Named> list = {
        {"half-space", *level_set(HalfSpace{center, axis}), false},
        {"sphere", *level_set(Sphere{center, 0.6})},
        {"box", *level_set(Box{center, Vec3(1, 0.7, 1.3)})},
        {"cylinder", *level_set(Cylinder{center, axis, 0.4, 0.9})},
        {"capsule", *level_set(Capsule{center, axis, 0.3, 0.8})},
        {"torus", *level_set(Torus{center, axis, 0.5, 0.2})},
        {"cone", *level_set(Cone{center, axis, 0.5, 0.8})},
    };
    list.push_back({"moved box", moved(list[2].set, some_pose())});
    list.push_back({"moved cone", moved(list[6].set, some_pose())});
    list.push_back({"container", complement_of(list[2].set), false});
    list.push_back({"apart", union_of({*level_set(Sphere{Vec3(-0.8, 0, 0), 0.3}),
                                       *level_set(Torus{Vec3(0.7, 0, 0), axis, 0.4, 0.1})})});
    return list;
  }();
  return all;
}

Vec3 point(std::uint64_t index, double range = 1.4) {
  Vec3 x;
  for (int axis = 0; axis < 3; ++axis) x[axis] = range * (2 * random_unit(11, 3 * index + axis) - 1);
  return x;
}

// Away from kinks: derivatives a little to both sides agree.
bool is_smooth_at(const LevelSet& set, const Vec3& x, double step) {
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3 shift = step * Vec3::Unit(axis);
    if ((set.sample(x + shift).gradient - set.sample(x - shift).gradient).norm() > 0.05) return false;
    if ((set.sample(x + shift).hessian - set.sample(x - shift).hessian).norm() > 0.5) return false;
  }
  return true;
}

TEST(LevelSet, DerivativesAgreeWithFiniteDifferences) {
  const double step = 1e-5;
  for (const Named& shape : shapes()) {
    int tested = 0;
    for (std::uint64_t k = 0; k < 300; ++k) {
      const Vec3 x = point(k);
      const LevelSetSample s = shape.set->sample(x);
      EXPECT_NEAR(s.value, shape.set->value(x), 1e-15) << shape.name;
      EXPECT_NEAR(s.gradient.norm(), 1, 1e-13) << shape.name;
      // A distance does not change its slope along its own gradient.
      EXPECT_LE((s.hessian * s.gradient).norm(), 1e-12 * (1 + s.hessian.norm())) << shape.name;
      EXPECT_LE((s.hessian - s.hessian.transpose()).norm(), 1e-13 * (1 + s.hessian.norm()));
      if (!is_smooth_at(*shape.set, x, 100 * step)) continue;
      ++tested;
      for (int axis = 0; axis < 3; ++axis) {
        const Vec3 shift = step * Vec3::Unit(axis);
        const LevelSetSample plus = shape.set->sample(x + shift), minus = shape.set->sample(x - shift);
        EXPECT_NEAR((plus.value - minus.value) / (2 * step), s.gradient[axis], 1e-7) << shape.name;
        EXPECT_LE(((plus.gradient - minus.gradient) / (2 * step) - s.hessian.col(axis)).norm(),
                  1e-6 * (1 + s.hessian.norm()))
            << shape.name;
      }
    }
    EXPECT_GT(tested, 200) << shape.name;
  }
}

TEST(LevelSet, ClosestPointsLieOnTheSurfaceAndStay) {
  for (const Named& shape : shapes()) {
    for (std::uint64_t k = 0; k < 300; ++k) {
      const Vec3 x = point(k, 3.0);
      const Vec3 p = shape.set->closest_point(x);
      EXPECT_LE(std::abs(shape.set->value(p)), 1e-15) << shape.name;
      EXPECT_NEAR((p - x).norm(), std::abs(shape.set->value(x)), 1e-14) << shape.name;
      EXPECT_LE((shape.set->closest_point(p) - p).norm(), 1e-15) << shape.name;
    }
  }
}

// |φ| is the distance: no point of the drawn surface is nearer, and some point is about as near.
TEST(LevelSet, IsTheDistanceToTheDrawnSurface) {
  const SurfaceOptions fine{.segments = 100};
  for (const Named& shape : shapes()) {
    const Mesh mesh = shape.set->surface(fine);
    double largest_edge = 0;
    for (const Triangle& t : mesh.triangles) {
      for (int i = 0; i < 3; ++i) {
        largest_edge = std::max(largest_edge, (mesh.vertices[t[i]] - mesh.vertices[t[(i + 1) % 3]]).norm());
      }
    }
    for (const Vec3& v : mesh.vertices) EXPECT_NEAR(shape.set->value(v), 0, 1e-14) << shape.name;
    for (std::uint64_t k = 0; k < 20; ++k) {
      const Vec3 x = point(k);
      double nearest = std::numeric_limits<double>::infinity();
      for (const Triangle& t : mesh.triangles) {
        // Enough samples to come close to any point of the triangle.
        for (int i = 0; i <= 12; ++i) {
          for (int j = 0; i + j <= 12; ++j) {
            const Vec3 y =
                ((12 - i - j) * mesh.vertices[t[0]] + i * mesh.vertices[t[1]] + j * mesh.vertices[t[2]]) / 12;
            nearest = std::min(nearest, (x - y).norm());
          }
        }
      }
      const double distance = std::abs(shape.set->value(x));
      EXPECT_GE(nearest, distance - 1e-3) << shape.name;
      if (shape.closed) {
        EXPECT_LE(nearest, distance + 0.05 * largest_edge) << shape.name;
      }
    }
  }
}

TEST(LevelSet, DrawnSurfacesAreClosedAndFaceOutward) {
  for (const Named& shape : shapes()) {
    const Mesh mesh = shape.set->surface({.segments = 24});
    for (const Triangle& t : mesh.triangles) {
      const Vec3 a = mesh.vertices[t[0]], b = mesh.vertices[t[1]], c = mesh.vertices[t[2]];
      const Vec3 normal = (b - a).cross(c - a).normalized();
      EXPECT_GT(shape.set->value((a + b + c) / 3 + 0.15 * normal),
                shape.set->value((a + b + c) / 3 - 0.15 * normal))
          << shape.name;
    }
    if (!shape.closed) continue;
    const Expected<Mesh> checked = check_surface(mesh);
    ASSERT_TRUE(checked) << shape.name << ": " << checked.error().message;
    EXPECT_GT(enclosed_volume(mesh), 0);
    const Bounds box = shape.set->bounds();
    for (const Vec3& v : mesh.vertices) {
      EXPECT_TRUE((v.array() >= box.min.array() - 1e-12).all()) << shape.name;
      EXPECT_TRUE((v.array() <= box.max.array() + 1e-12).all()) << shape.name;
    }
  }
}

TEST(LevelSet, ComplementAndUnionLaws) {
  const LevelSetPtr a = shapes()[1].set, b = shapes()[2].set, both = union_of({a, b});
  const LevelSetPtr not_a = complement_of(a), twice = complement_of(not_a);
  for (std::uint64_t k = 0; k < 200; ++k) {
    const Vec3 x = point(k);
    EXPECT_EQ(not_a->value(x), -a->value(x));
    EXPECT_EQ(not_a->sample(x).gradient, -a->sample(x).gradient);
    EXPECT_EQ(twice->value(x), a->value(x));
    EXPECT_EQ(both->value(x), std::min(a->value(x), b->value(x)));
    EXPECT_EQ(union_of({b, a})->value(x), both->value(x));
    EXPECT_EQ(union_of({a})->value(x), a->value(x));
    const LevelSet& nearer = a->value(x) <= b->value(x) ? *a : *b;
    EXPECT_EQ(both->sample(x).gradient, nearer.sample(x).gradient);
  }
}

TEST(LevelSet, MotionCarriesTheField) {
  Motion motion;
  motion.displacement = {{0, 2}, {Vec3::Zero(), Vec3(1, 2, 3)}, AfterLastKey::Extend};
  motion.angle = {{0, 2}, {0.0, 3.0}, AfterLastKey::Extend};
  motion.axis = Vec3(1, -1, 2);
  motion.pivot = Vec3(0.3, 0.1, 0);
  const LevelSetPtr at_rest = shapes()[6].set;
  for (const double t : {0.0, 0.4, 1.7, 5.0}) {
    const RigidPose pose = motion.pose(t);
    const LevelSetPtr there = moved(at_rest, pose);
    for (std::uint64_t k = 0; k < 50; ++k) {
      const Vec3 x = point(k);
      EXPECT_LE((pose.place(x) - motion.position(x, t)).norm(), 1e-13);
      EXPECT_LE((pose.unplace(pose.place(x)) - x).norm(), 1e-13);
      const Vec3 y = pose.place(x);
      EXPECT_NEAR(there->value(y), at_rest->value(x), 1e-13);
      const double h = 1e-6;
      const Vec3 velocity = carried_velocity(motion.pose(t - h), pose, h, y);
      // ω × r + v of this uniform motion.
      const Vec3 omega = 1.5 * motion.axis.normalized();
      const Vec3 center = motion.pivot + motion.displacement.at(t);
      if (t > h) {
        EXPECT_LE((velocity - omega.cross(y - center) - Vec3(0.5, 1, 1.5)).norm(), 2e-5);
      }
    }
  }
}

TEST(LevelSet, BoxesInThePlaneHaveNoEndAcrossIt) {
  const double none = std::numeric_limits<double>::infinity();
  const LevelSetPtr box = *level_set(Box{Vec3::Zero(), Vec3(2, 1, none)});
  EXPECT_EQ(box->value(Vec3(0, 0.1, 0)), -0.4);
  EXPECT_EQ(box->value(Vec3(4, 4.5, 0)), 5);
  EXPECT_TRUE(box->sample(Vec3(4, 4.5, 0)).hessian.allFinite());
  EXPECT_EQ(box->sample(Vec3(4, 4.5, 0)).gradient.z(), 0);
  std::vector<LevelSetSample> features;
  complement_of(box)->free_features(Vec3(1, 0.5, 0), 1e-9, features);
  EXPECT_EQ(features.size(), 2u);
}

int count_features(const LevelSet& set, const Vec3& x) {
  std::vector<LevelSetSample> features;
  set.free_features(x, 1e-9, features);
  for (const LevelSetSample& f : features) EXPECT_NEAR(f.gradient.norm(), 1, 1e-14);
  return static_cast<int>(features.size());
}

TEST(LevelSet, FeaturesCountTheFacesThatMeet) {
  const LevelSetPtr box = *level_set(Box{Vec3::Zero(), Vec3(2, 2, 2)}), inside = complement_of(box);
  EXPECT_EQ(count_features(*inside, Vec3(0, 0, 0)), 0);
  EXPECT_EQ(count_features(*inside, Vec3(1, 0, 0)), 1);
  EXPECT_EQ(count_features(*inside, Vec3(1, 0, -1)), 2);
  EXPECT_EQ(count_features(*inside, Vec3(1, 1, -1)), 3);
  EXPECT_EQ(count_features(*box, Vec3(1, 1, -1)), 1);
  EXPECT_EQ(count_features(*moved(inside, some_pose()), some_pose().place(Vec3(1, 1, -1))), 3);
  const LevelSetPtr tube = complement_of(*level_set(Cylinder{Vec3::Zero(), Vec3::UnitY(), 1, 2}));
  EXPECT_EQ(count_features(*tube, Vec3(1, 0, 0)), 1);
  EXPECT_EQ(count_features(*tube, Vec3(0.6, 1, 0.8)), 2);
  const LevelSetPtr ground = *level_set(HalfSpace{}), ball = *level_set(Sphere{Vec3::Zero(), 1});
  EXPECT_EQ(count_features(*union_of({ground, ball}), Vec3(1, 0, 0)), 2);
  EXPECT_EQ(count_features(*union_of({ground, ball}), Vec3(0, 1, 0)), 1);
}

TEST(LevelSet, ProjectionReachesEdgesAndCornersOfContainers) {
  const LevelSetPtr inside = complement_of(*level_set(Box{Vec3::Zero(), Vec3(2, 2, 2)}));
  const LevelSet* const obstacles[] = {inside.get()};
  for (std::uint64_t k = 0; k < 300; ++k) {
    const Vec3 x = point(k, 2.5);
    const FeasiblePoint p = project_to_free_side(obstacles, x);
    EXPECT_EQ(p.violation, 0);
    EXPECT_LE((p.x - x.cwiseMin(1.0).cwiseMax(-1.0)).norm(), 1e-15);
    EXPECT_LE((inside->closest_point(x) - p.x).norm(),
              inside->value(x) < 0 ? 1e-14 : std::numeric_limits<double>::infinity());
  }
}

TEST(LevelSet, ProjectionLeavesEveryObstacle) {
  const LevelSetPtr ground = *level_set(HalfSpace{}),
                    wall = *level_set(HalfSpace{Vec3(0.2, 0, 0), Vec3(1, 0.3, 0)});
  const LevelSetPtr ball = *level_set(Sphere{Vec3(0.9, 0, 0.2), 0.4});
  const LevelSetPtr tilted = moved(*level_set(Box{Vec3(0.5, 0, -0.6), Vec3(0.6, 0.5, 0.4)}), some_pose());
  const LevelSet* const obstacles[] = {ground.get(), wall.get(), ball.get(), tilted.get()};
  const LevelSetPtr as_one = union_of({ground, wall, ball, tilted});
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const Vec3 x = point(k);
    const FeasiblePoint p = project_to_free_side(obstacles, x);
    EXPECT_LE(p.violation, 2e-15) << x.transpose();
    EXPECT_NEAR(p.violation, std::max(0.0, -as_one->value(p.x)), 1e-15);
    if (as_one->value(x) >= 0) {
      EXPECT_EQ(p.x, x);
    }
    EXPECT_LE((project_to_free_side(obstacles, p.x).x - p.x).norm(), 1e-14);
  }
}

RC_GTEST_PROP(LevelSet, NearestFeasiblePointIsNearest, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 100000);
  const int count = *rc::gen::inRange(1, 6);
  std::vector<LinearConstraint> constraints;
  for (int i = 0; i < count; ++i) {
    // All hold at the origin, so there is a feasible point.
    const Vec3 normal = point(seed + 1000 * (i + 1)).normalized();
    constraints.push_back({normal, random_unit(seed, i)});
  }
  const Vec3 x = 3 * point(seed);
  const Vec3 y = nearest_feasible(constraints, x);
  double worst = 0;
  for (const LinearConstraint& c : constraints) worst = std::min(worst, c.normal.dot(y) + c.offset);
  RC_ASSERT(worst >= -1e-12);
  // The variational inequality of a projection, for points that are feasible.
  for (std::uint64_t k = 0; k < 200; ++k) {
    const Vec3 z = 2 * point(seed + 77 * k);
    bool feasible = true;
    for (const LinearConstraint& c : constraints) feasible = feasible && c.normal.dot(z) + c.offset >= 0;
    if (feasible) RC_ASSERT((x - y).dot(z - y) <= 1e-10);
  }
}

TEST(LevelSet, BadShapesAreRefused) {
  EXPECT_FALSE(level_set(Sphere{Vec3::Zero(), -1}));
  EXPECT_FALSE(level_set(Box{Vec3::Zero(), Vec3(1, 0, 1)}));
  EXPECT_FALSE(level_set(Box{Vec3::Zero(), Vec3::Constant(std::numeric_limits<double>::infinity())}));
  EXPECT_FALSE(level_set(Torus{Vec3::Zero(), Vec3::UnitY(), 0.2, 0.3}));
  EXPECT_FALSE(level_set(Cone{Vec3::Zero(), Vec3::Zero(), 1, 1}));
  EXPECT_FALSE(level_set(HalfSpace{Vec3::Zero(), Vec3::Zero()}));
  const Expected<LevelSetPtr> bad = level_set(Cylinder{Vec3::Zero(), Vec3::UnitY(), 1, std::nan("")});
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("length of the cylinder"), std::string::npos);
}

}  // namespace
}  // namespace lope::geometry
