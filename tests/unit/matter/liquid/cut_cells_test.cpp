#include <lope/matter/liquid/cut_cells.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::matter::liquid {
namespace {

double number(double low, double high) { return low + (high - low) * *rc::gen::inRange(0, 1000001) / 1e6; }

// Signed distances of a plane at the corners of the unit cell.
template <int Dim>
std::array<double, std::size_t{1} << Dim> plane(const Vec<Dim>& normal, double offset) {
  std::array<double, std::size_t{1} << Dim> corners;
  for (std::size_t c = 0; c < corners.size(); ++c) {
    corners[c] = offset;
    for (int a = 0; a < Dim; ++a) corners[c] += normal[a] * static_cast<double>((c >> a) & 1);
  }
  return corners;
}

TEST(CutCells, FaceInAWallIsClosedAndBesideItOpen) {
  EXPECT_EQ(open_part_of_square({0, 0, 0, 0}), 0);
  EXPECT_EQ(open_part_of_square({0, 0, 1, 1}), 1);
  EXPECT_EQ(open_part_of_edge(0, 0), 0);
  EXPECT_EQ(open_part_of_edge(0, 2), 1);
  EXPECT_DOUBLE_EQ(open_part_of_edge(-1, 3), 0.75);
}

RC_GTEST_PROP(CutCells, PlanesAcrossAnAxisAreExact, ()) {
  const double at = number(0.001, 0.999);
  const int axis = *rc::gen::inRange(0, 3);
  RC_ASSERT(std::abs(open_part_of_cube(plane<3>(Vec3::Unit(axis), -at)) - (1 - at)) < 1e-12);
  RC_ASSERT(std::abs(open_part_of_square(plane<2>(Vec2::Unit(axis % 2), -at)) - (1 - at)) < 1e-12);
}

RC_GTEST_PROP(CutCells, WallAndOpenPartsAddUpAndMirror, ()) {
  std::array<double, 8> v, opposite, mirrored;
  for (std::size_t c = 0; c < 8; ++c) {
    v[c] = number(-1, 1);
    RC_PRE(std::abs(v[c]) > 1e-4);
    opposite[c] = -v[c];
  }
  for (std::size_t c = 0; c < 8; ++c) mirrored[c] = v[c ^ 1];
  RC_ASSERT(std::abs(open_part_of_cube(v) + open_part_of_cube(opposite) - 1) < 1e-9);
  RC_ASSERT(std::abs(open_part_of_cube(v) - open_part_of_cube(mirrored)) < 1e-12);
}

RC_GTEST_PROP(CutCells, PlanesAgreeWithSampling, ()) {
  const Vec3 normal = Vec3(number(-1, 1), number(-1, 1), number(-1, 1));
  RC_PRE(normal.norm() > 0.1);
  const double offset = number(-1, 1);
  constexpr int n = 24;
  int open = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) open += normal.dot(Vec3(i + 0.5, j + 0.5, k + 0.5) / n) + offset > 0;
    }
  }
  RC_ASSERT(std::abs(open_part_of_cube(plane<3>(normal, offset)) - open / double(n * n * n)) < 0.03);
}

}  // namespace
}  // namespace lope::matter::liquid
