// Friction never adds kinetic energy in the frame of what is touched, obeys Coulomb's cone and leaves the
// normal direction alone.
#include <lope/matter/contact/friction.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::matter {
namespace {

double between(double low, double high) {
  return low + (high - low) * static_cast<double>(*rc::gen::inRange(0, 1000001)) / 1e6;
}
Vec3 vector(double size) { return {between(-size, size), between(-size, size), between(-size, size)}; }
Vec3 direction() {
  Vec3 n = vector(1);
  while (n.norm() < 0.1) n = vector(1);
  return n.normalized();
}

RC_GTEST_PROP(Friction, TakesEnergyFromANodeInTheFrameOfTheObstacle, ()) {
  const Vec3 v = vector(5), carried = vector(5), n = direction();
  const double force = between(0, 100), mass = between(0.01, 10), mu = between(0, 2), h = between(1e-4, 0.1);
  const Vec3 after = slide(v, carried, n, force, mass, mu, h);
  const Vec3 before_relative = v - carried, after_relative = after - carried;
  RC_ASSERT(after_relative.norm() <= before_relative.norm() * (1 + 1e-14));
  RC_ASSERT(std::abs(n.dot(after - v)) <= 1e-13 * (1 + v.norm() + carried.norm()));
  RC_ASSERT(mass * (after - v).norm() <= mu * h * force * (1 + 1e-12) + 1e-13);
  const Vec3 slip = after_relative - n.dot(after_relative) * n;
  const Vec3 slipped = before_relative - n.dot(before_relative) * n;
  RC_ASSERT(slip.dot(slipped) >= -1e-12);  // stops at most, never turns round
}

RC_GTEST_PROP(Friction, TakesEnergyFromTouchingBodiesAndKeepsTheirMomentum, ()) {
  std::array<Vec3, 4> v{vector(5), vector(5), vector(5), vector(5)};
  const std::array<double, 4> mass{between(0.01, 10), between(0.01, 10), between(0.01, 10),
                                   between(0.01, 10)};
  const double a = between(0, 1), b = between(0, 1 - a);
  const std::array<double, 4> weight{-1, a, b, 1 - a - b};
  const Vec3 n = direction();
  const double force = between(0, 100), mu = between(0, 2), h = between(1e-4, 0.1);
  const auto energy = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += 0.5 * mass[i] * v[i].squaredNorm();
    return sum;
  };
  const auto momentum = [&] {
    Vec3 sum = Vec3::Zero();
    for (std::size_t i = 0; i < 4; ++i) sum += mass[i] * v[i];
    return sum;
  };
  const double energy_before = energy();
  const Vec3 momentum_before = momentum();
  slide(v, mass, weight, n, force, mu, h);
  RC_ASSERT(energy() <= energy_before * (1 + 1e-13));
  RC_ASSERT((momentum() - momentum_before).norm() <= 1e-12 * (1 + momentum_before.norm()));
}

TEST(Friction, StopsSlowNodesAndSlowsFastOnes) {
  const Vec3 n = Vec3::UnitY();
  EXPECT_NEAR((slide(Vec3(0.1, -1, 0), Vec3::Zero(), n, 10, 1, 0.5, 0.1) - Vec3(0, -1, 0)).norm(), 0, 1e-15);
  EXPECT_NEAR((slide(Vec3(2, 0, 0), Vec3::Zero(), n, 10, 1, 0.5, 0.1) - Vec3(1.5, 0, 0)).norm(), 0, 1e-15);
  // A conveyor drags.
  EXPECT_NEAR((slide(Vec3::Zero(), Vec3(2, 0, 0), n, 10, 1, 0.5, 0.1) - Vec3(0.5, 0, 0)).norm(), 0, 1e-15);
}

}  // namespace
}  // namespace lope::matter
