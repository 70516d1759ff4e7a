#include <lope/geometry/regions.h>
#include <lope/geometry/shapes.h>

#include <limits>
#include <string>

#include "mesh_checks.h"
#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

// 5×3×3 nodes of [0,2]×[0,1]×[0,1]; node (i, j, k) is i + 5j + 15k.
Mesh beam() {
  MeshingOptions options;
  options.lattice = {5, 3, 3};
  return *tetrahedralize(box_between(Vec3::Zero(), Vec3(2, 1, 1)), 1, options);
}

std::vector<int> chosen(const Region& region) {
  const auto selection = select_vertices(beam(), region);
  EXPECT_TRUE(selection.has_value());
  return selection.value_or(std::vector<int>{});
}

const std::vector<int> low_x = {0, 5, 10, 15, 20, 25, 30, 35, 40};

TEST(Regions, Ends) {
  EXPECT_EQ(chosen({NearEnd{0, false, 0.01}}), low_x);
  EXPECT_EQ(chosen({NearEnd{0, false, 0}}), low_x);
  std::vector<int> high_x;
  for (const int v : low_x) high_x.push_back(v + 4);
  EXPECT_EQ(chosen({NearEnd{0, true, 0.01}}), high_x);
  EXPECT_EQ(chosen({NearEnd{2, true, 1}}).size(), 45u);
}

TEST(Regions, Shapes) {
  EXPECT_EQ(chosen({EveryVertex{}}).size(), 45u);
  EXPECT_EQ(chosen({InBox{Vec3(-1, -1, -1), Vec3(0, 2, 2)}}), low_x);
  EXPECT_EQ(chosen({InBox{Vec3(5, 5, 5), Vec3(6, 6, 6)}}), std::vector<int>{});
  EXPECT_EQ(chosen({InHalfSpace{Vec3(0, 0, 0), Vec3(-3, 0, 0)}}), low_x);
  EXPECT_EQ(chosen({InSphere{Vec3(0, 0, 0), 0.5}}), (std::vector<int>{0, 1, 5, 15}));
  EXPECT_EQ(chosen({NearestTo{Vec3(1.1, 0.4, 0.6)}}), (std::vector<int>{22}));
  EXPECT_EQ(chosen({WithIndices{{7, 3, 7, 0}}}), (std::vector<int>{0, 3, 7}));
}

TEST(Regions, SurfaceOnly) {
  const std::vector<int> inner = {21, 22, 23};
  const std::vector<int> surface = chosen({EveryVertex{}, true});
  EXPECT_EQ(surface.size(), 42u);
  for (const int v : inner) EXPECT_EQ(std::count(surface.begin(), surface.end(), v), 0);
  EXPECT_EQ(chosen({WithIndices{{21, 1}}, true}), (std::vector<int>{1}));
  EXPECT_NE(chosen({NearestTo{Vec3(1, 0.5, 0.5)}, true}).front(), 22);
}

TEST(Regions, SurfaceOfAPlanarMeshIsItsRim) {
  PlanarOptions options;
  options.lattice = {4, 4};
  const Mesh mesh = *triangulate(Rectangle{}, 1, options);
  EXPECT_EQ(select_vertices(mesh, {EveryVertex{}, true})->size(), 12u);
}

TEST(Regions, RefuseNonsense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto complaint = [](const Region& region) {
    const auto selection = select_vertices(beam(), region);
    return selection ? std::string() : selection.error().message;
  };
  EXPECT_NE(complaint({WithIndices{{3, 45}}}).find("vertex 45"), std::string::npos);
  EXPECT_NE(complaint({WithIndices{{-1}}}).find("vertex -1"), std::string::npos);
  EXPECT_NE(complaint({NearEnd{0, false, 1.5}}).find("1.5"), std::string::npos);
  EXPECT_NE(complaint({NearEnd{3, false, 0.5}}).find("axis"), std::string::npos);
  EXPECT_NE(complaint({InHalfSpace{Vec3::Zero(), Vec3::Zero()}}).find("normal"), std::string::npos);
  EXPECT_NE(complaint({InSphere{Vec3::Zero(), nan}}).find("radius"), std::string::npos);
  EXPECT_NE(complaint({InBox{Vec3(1, 0, 0), Vec3(0, 1, 1)}}).find("empty"), std::string::npos);
  EXPECT_NE(complaint({NearestTo{Vec3(nan, 0, 0)}}).find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace lope::geometry
