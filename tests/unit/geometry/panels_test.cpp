// Panels that are sewn together: matching vertices, one sheet, what is refused.
#include <lope/geometry/panel_mesh.h>
#include <lope/geometry/panels.h>
#include <lope/geometry/sheet_hierarchy.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

double flat_area(const Sheet& sheet) {
  double sum = 0;
  for (const Triangle& t : sheet.flat_triangles)
    sum += 0.5 * twice_area(sheet.flat[index(t[0])], sheet.flat[index(t[1])], sheet.flat[index(t[2])]);
  return sum;
}

int euler_number(const Sheet& sheet) {
  const int triangles = static_cast<int>(sheet.triangles.size()),
            inner = static_cast<int>(hinges(sheet).size());
  return static_cast<int>(sheet.vertices.size()) - (3 * triangles - inner) + triangles;
}

// The smallest angle of any triangle, degrees.
double smallest_angle(const std::vector<Vec2>& points, const std::vector<Triangle>& triangles) {
  double least = 180;
  for (const Triangle& t : triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec2 u = points[index(t[(k + 1) % 3])] - points[index(t[k])],
                 v = points[index(t[(k + 2) % 3])] - points[index(t[k])];
      least = std::min(least, std::acos(u.normalized().dot(v.normalized())) * 180 / std::numbers::pi);
    }
  }
  return least;
}

RigidPose placed(double angle, const Vec3& where) {
  return {Eigen::AngleAxisd(angle, Vec3::UnitY()).toRotationMatrix(), where};
}

// Front and back of a skirt, wider below; the back is turned over.
std::vector<Panel> skirt() {
  const std::vector<Vec2> outline = {{-0.3, 0}, {0.3, 0}, {0.2, 0.5}, {-0.2, 0.5}};
  const std::vector<PanelEdge> edges = {{"hem", 0, 1}, {"right", 1, 2}, {"waist", 2, 3}, {"left", 3, 0}};
  return {{"front", outline, {}, edges, placed(0, {0, 0, 0.1})},
          {"back", outline, {}, edges, placed(std::numbers::pi, {0, 0, -0.1})}};
}
std::vector<PanelSeam> sides() {
  return {{{"front", "back"}, {"left", "right"}, 0.05}, {{"front", "back"}, {"right", "left"}, 0.05}};
}

TEST(PanelMesh, KeepsItsBorderAndHasGoodTriangles) {
  std::vector<Vec2> border;
  const double edge = 0.05;
  // A disc with a bite.
  for (int k = 0; k < 120; ++k) {
    const double angle = 2 * std::numbers::pi * k / 120,
                 r = 1 - (k < 12 ? 0.3 * std::sin(std::numbers::pi * k / 12) : 0);
    border.emplace_back(r * std::cos(angle), r * std::sin(angle));
  }
  const auto mesh = mesh_panel(border, edge);
  ASSERT_TRUE(mesh) << mesh.error().message;
  for (std::size_t i = 0; i < border.size(); ++i) EXPECT_EQ(mesh->points[i], border[i]);
  double sum = 0, expected = 0;
  for (const Triangle& t : mesh->triangles)
    sum += 0.5 * twice_area(mesh->points[index(t[0])], mesh->points[index(t[1])], mesh->points[index(t[2])]);
  for (std::size_t i = 0; i < border.size(); ++i)
    expected += 0.5 * twice_area(Vec2::Zero(), border[i], border[(i + 1) % border.size()]);
  EXPECT_NEAR(sum, expected, 1e-12);
  EXPECT_GT(smallest_angle(mesh->points, mesh->triangles), 22);
  // About as many triangles as equilateral ones have room.
  EXPECT_NEAR(static_cast<double>(mesh->triangles.size()) * 0.25 * std::sqrt(3.0) * edge * edge, expected,
              0.15 * expected);
}

TEST(Panels, SidesOfASkirtBecomeOneSheet) {
  const auto sewn = sew(skirt(), sides(), 0.04);
  ASSERT_TRUE(sewn) << sewn.error().message;
  ASSERT_TRUE(check_sheet(*sewn)) << check_sheet(*sewn).error().message;
  EXPECT_EQ(sheet_pieces(*sewn), 1);
  EXPECT_EQ(euler_number(*sewn), 0);  // a tube
  EXPECT_NEAR(flat_area(*sewn), 0.5, 1e-12);
  // What is shared lies in the middle, everything else where its panel is.
  int shared = 0;
  for (const Vec3& p : sewn->vertices) {
    const double way = std::abs(std::abs(p[2]) - 0.1);
    if (way > 1e-12) {
      EXPECT_NEAR(p[2], 0, 1e-12);
      EXPECT_NEAR(std::abs(p[0]), 0.3 - 0.2 * p[1], 1e-9);
      ++shared;
    }
  }
  EXPECT_EQ(shared, 2 * (static_cast<int>(std::lround(std::hypot(0.1, 0.5) / 0.04)) + 1));
  EXPECT_EQ(sewn->flat.size(), sewn->vertices.size() + index(shared));
}

// Both sides of a seam coarsen together: means of its vertices are of its vertices.
TEST(Panels, SewnSheetsHaveLevels) {
  const auto sewn = sew(skirt(), sides(), 0.02);
  ASSERT_TRUE(sewn) << sewn.error().message;
  const std::vector<SheetLevel> levels = coarsen_sheet(*sewn, 200);
  ASSERT_GE(levels.size(), 1U);
  EXPECT_LT(levels.front().kept.size(), sewn->vertices.size() / 3);
  for (std::size_t i = 0; i < sewn->vertices.size(); ++i) {
    double sum = 0;
    Vec3 mean = Vec3::Zero();
    for (std::size_t k = 0; k < 3; ++k) {
      const double weight = levels[0].weights[i][k];
      sum += weight;
      if (weight != 0) mean += weight * sewn->vertices[index(levels[0].kept[index(levels[0].parents[i][k])])];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    if (std::abs(sewn->vertices[i][2]) < 1e-12) {
      EXPECT_LT((mean - sewn->vertices[i]).norm(), 1e-9);
    }
  }
}

TEST(Panels, OrientationOfOutlinesDoesNotMatter) {
  std::vector<Panel> panels = skirt();
  const auto expected = sew(panels, sides(), 0.04);
  std::reverse(panels[0].outline.begin(), panels[0].outline.end());
  panels[0].edges = {{"waist", 0, 1}, {"right", 1, 2}, {"hem", 2, 3}, {"left", 3, 0}};
  const auto sewn = sew(panels, sides(), 0.04);
  ASSERT_TRUE(expected && sewn) << sewn.error().message;
  EXPECT_TRUE(check_sheet(*sewn));
  EXPECT_EQ(euler_number(*sewn), 0);
  EXPECT_EQ(sewn->vertices.size(), expected->vertices.size());
}

// A straight side to a bent one with a sharp corner: the corner keeps a vertex, on both sides.
TEST(Panels, SharpCornersKeepVertices) {
  const Panel bent = {"bent", {{0, 0}, {1, 0}, {1, 0.7}, {0.5, 1}, {0, 0.7}}, {}, {{"roof", 2, 4}}, {}};
  const double slope = std::hypot(0.5, 0.3);
  const Panel straight = {"straight",
                          {{0, 0}, {2 * slope, 0}, {2 * slope, 0.5}, {0, 0.5}},
                          {},
                          {{"bottom", 0, 1}},
                          placed(0, {-0.1, 1, 0})};
  const auto sewn = sew({bent, straight}, {{{"bent", "straight"}, {"roof", "bottom"}, 0.01}}, 0.07);
  ASSERT_TRUE(sewn) << sewn.error().message;
  EXPECT_TRUE(check_sheet(*sewn));
  const auto has = [&](const Vec2& p) {
    return std::any_of(sewn->flat.begin(), sewn->flat.end(),
                       [&](const Vec2& q) { return (p - q).norm() < 1e-12; });
  };
  EXPECT_TRUE(has({0.5, 1}));
  EXPECT_TRUE(has({slope, 0}));
}

// One panel: a dart, whose sides meet in a point, and a tube.
TEST(Panels, APanelMayBeSewnToItself) {
  const Panel dart = {"dart",
                      {{0, 0}, {1, 0}, {1, 1}, {0.6, 1}, {0.5, 0.5}, {0.4, 1}, {0, 1}},
                      {},
                      {{"left", 3, 4}, {"right", 4, 5}},
                      {}};
  const auto folded = sew({dart}, {{{"dart", "dart"}, {"left", "right"}, 0.05}}, 0.08);
  ASSERT_TRUE(folded) << folded.error().message;
  EXPECT_TRUE(check_sheet(*folded));
  EXPECT_EQ(euler_number(*folded), 1);
  const Panel sleeve = {
      "sleeve", {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {}, {{"right", 1, 2}, {"left", 3, 0}}, {}};
  const auto tube = sew({sleeve}, {{{"sleeve", "sleeve"}, {"left", "right"}, 0.05}}, 0.1);
  ASSERT_TRUE(tube) << tube.error().message;
  EXPECT_TRUE(check_sheet(*tube));
  EXPECT_EQ(euler_number(*tube), 0);
}

// What is taken as it is gives its vertices to what is sewn to it.
TEST(Panels, PatchesDictateTheVertices) {
  Panel patch;
  patch.name = "patch";
  patch.patch = rectangle_sheet(1, 0.5, 0.13);
  const auto corner = [&](double x, double y) {
    for (std::size_t i = 0; i < patch.patch.vertices.size(); ++i) {
      if ((patch.patch.vertices[i] - Vec3(x, y, 0)).norm() < 1e-9) return static_cast<int>(i);
    }
    return -1;
  };
  patch.edges = {{"top", corner(0.5, 0.25), corner(-0.5, 0.25)}};
  const Panel above = {
      "above", {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {}, {{"bottom", 0, 1}}, placed(0, {-0.5, 0.25, 0})};
  const auto sewn = sew({patch, above}, {{{"patch", "above"}, {"top", "bottom"}, 0.05}}, 0.05);
  ASSERT_TRUE(sewn) << sewn.error().message;
  EXPECT_TRUE(check_sheet(*sewn));
  EXPECT_EQ(sheet_pieces(*sewn), 1);
  EXPECT_EQ(euler_number(*sewn), 1);
  Panel other = patch;
  other.name = "other";
  other.patch = rectangle_sheet(1, 0.5, 0.1);
  other.edges = {{"bottom", 0, 10}};
  other.pose = placed(0, {0, 0.5, 0});
  const auto refused = sew({patch, other}, {{{"patch", "other"}, {"top", "bottom"}, 0.05}}, 0.05);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("9 and 11 vertices"), std::string::npos) << refused.error().message;
}

// A square above and one below a border that both have; from and to: the parts of it that are theirs.
std::vector<Panel> halves(const std::vector<Vec2>& upper, const std::vector<Vec2>& lower) {
  std::vector<Vec2> above = upper, below(lower.rbegin(), lower.rend());
  for (const Vec2& p : {Vec2(1, 1), Vec2(0, 1)}) above.push_back(p);
  for (const Vec2& p : {Vec2(0, -1), Vec2(1, -1)}) below.push_back(p);
  const int a = static_cast<int>(upper.size()), b = static_cast<int>(lower.size());
  return {{"above", above, {}, {{"bottom", 0, a - 1}}, {}}, {"below", below, {}, {{"top", 0, b - 1}}, {}}};
}

bool has_vertex(const Sheet& sheet, const Vec2& place) {
  return std::ranges::any_of(sheet.flat, [&](const Vec2& p) { return (p - place).norm() < 1e-12; });
}

// Sharp corners of both sides that are less than half an edge apart from their neighbours, too.
TEST(Panels, SharpCornersMeetTheirNearest) {
  const std::vector<Vec2> notch = {{0, 0}, {0.47, 0}, {0.5, 0.05}, {0.53, 0}, {1, 0}};
  const std::vector<PanelSeam> seam = {{{"above", "below"}, {"bottom", "top"}, 0.05}};
  const auto sewn = sew(halves(notch, notch), seam, 0.15);
  ASSERT_TRUE(sewn) << sewn.error().message;
  for (const Vec2& corner : notch) EXPECT_TRUE(has_vertex(*sewn, corner)) << corner.transpose();
  // What meets is at the same place, so that nothing is stretched.
  double area = 0;
  for (const Triangle& t : sewn->triangles) {
    const Vec3 &a = sewn->vertices[index(t[0])], &b = sewn->vertices[index(t[1])],
               &c = sewn->vertices[index(t[2])];
    area += 0.5 * (b - a).cross(c - a).norm();
  }
  EXPECT_NEAR(area, 2, 1e-12);
  EXPECT_NEAR(flat_area(*sewn), 2, 1e-12);
  // The nearest ones would cross the others.
  const auto refused =
      sew(halves({{0, 0}, {0.5, 0}, {0.52, 0.02}, {1, 0.02}}, {{0, 0}, {0.477, 0}, {0.497, 0.02}, {1, 0.02}}),
          seam, 0.15);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("a shorter edge"), std::string::npos) << refused.error().message;
}

TEST(Panels, PatchesGiveVerticesToSharpCornersOrSayWhere) {
  Panel patch;
  patch.name = "patch";
  patch.patch = rectangle_sheet(1, 0.5, 0.13);  // its sides have vertices every eighth
  const auto corner = [&](double x) {
    const auto at = std::ranges::find_if(patch.patch.vertices,
                                         [&](const Vec3& v) { return (v - Vec3(x, 0.25, 0)).norm() < 1e-9; });
    return static_cast<int>(at - patch.patch.vertices.begin());
  };
  patch.edges = {{"top", corner(0.5), corner(-0.5)}};
  const Panel above = {"above",
                       {{0, 0}, {0.45, -0.2}, {1, 0}, {1, 1}, {0, 1}},
                       {},
                       {{"bottom", 0, 2}},
                       placed(0, {-0.5, 0.25, 0})};
  const std::vector<PanelSeam> seam = {{{"patch", "above"}, {"top", "bottom"}, 0.1}};
  const auto sewn = sew({patch, above}, seam, 0.13);
  ASSERT_TRUE(sewn) << sewn.error().message;
  EXPECT_TRUE(has_vertex(*sewn, {0.45, -0.2}));
  EXPECT_EQ(sheet_pieces(*sewn), 1);
  const auto refused = sew({patch, above}, seam, 0.05);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("edge 'bottom' has a sharp corner at (0.45, -0.2) m"),
            std::string::npos)
      << refused.error().message;
}

TEST(Panels, BadOnesAreNamed) {
  const auto message = [](const std::function<void(std::vector<Panel>&, std::vector<PanelSeam>&)>& spoil) {
    std::vector<Panel> panels = skirt();
    std::vector<PanelSeam> seams = sides();
    spoil(panels, seams);
    const auto sewn = sew(panels, seams, 0.04);
    return sewn ? std::string() : sewn.error().message;
  };
  const auto expect = [&](const std::string& words,
                          const std::function<void(std::vector<Panel>&, std::vector<PanelSeam>&)>& spoil) {
    const std::string said = message(spoil);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  EXPECT_EQ(message([](auto&, auto&) {}), "");
  expect("there is no panel 'side'", [](auto&, auto& s) { s[0].panel[1] = "side"; });
  expect("has no edge 'top'; it has: hem, right, waist, left", [](auto&, auto& s) { s[0].edge[1] = "top"; });
  expect("% apart; its ease is 5 %", [](auto& p, auto&) { p[0].outline[3] = {-0.2, 0.6}; });
  expect("sewn to itself", [](auto&, auto& s) { s[0] = {{"front", "front"}, {"left", "left"}, 0}; });
  expect("two seams share a part of edge", [](auto&, auto& s) { s[1] = s[0]; });
  expect("crosswise", [](auto& p, auto& s) {
    p[1].pose.rotation = Mat3::Identity();
    s.resize(1);
    s[0].edge[1] = "left";
  });
  expect("counted from 0", [](auto& p, auto&) { p[0].edges[1].to = 4; });
  expect("ends where it begins", [](auto& p, auto&) { p[0].edges[1].to = 1; });
  expect("at least three corners", [](auto& p, auto&) { p[0].outline.resize(2); });
  expect("are the same", [](auto& p, auto&) { p[0].outline[1] = p[0].outline[0]; });
  expect("cross", [](auto& p, auto&) { std::swap(p[0].outline[1], p[0].outline[2]); });
  expect("no area", [](auto& p, auto&) { p[0].outline = {{0, 0}, {1, 0}, {2, 0}, {1, 1e-9}}; });
}

}  // namespace
}  // namespace lope::geometry
