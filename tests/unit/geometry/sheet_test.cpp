#include <lope/base/random.h>
#include <lope/geometry/sheet_hierarchy.h>

#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

double area(const Sheet& sheet) {
  double sum = 0;
  for (const Triangle& t : sheet.flat_triangles)
    sum += 0.5 * twice_area(sheet.flat[index(t[0])], sheet.flat[index(t[1])], sheet.flat[index(t[2])]);
  return sum;
}

TEST(Sheets, ShapesHaveTheirAreaAndEdges) {
  const Sheet rectangle = rectangle_sheet(0.9, 0.5, 0.03), disc = disc_sheet(0.5, 0.02);
  for (const Sheet* sheet : {&rectangle, &disc}) {
    ASSERT_TRUE(check_sheet(*sheet)) << check_sheet(*sheet).error().message;
    EXPECT_EQ(sheet_pieces(*sheet), 1);
    const auto inner = static_cast<int>(hinges(*sheet).size());
    const int edges = (3 * static_cast<int>(sheet->triangles.size()) + (3 * static_cast<int>(sheet->triangles.size()) - 2 * inner)) / 2;
    EXPECT_EQ(static_cast<int>(sheet->vertices.size()) - edges + static_cast<int>(sheet->triangles.size()), 1);
  }
  EXPECT_NEAR(area(rectangle), 0.45, 1e-12);
  EXPECT_NEAR(area(disc), 0.25 * std::numbers::pi, 2e-3);
  double longest = 0, mean = 0;
  for (const Hinge& hinge : hinges(rectangle)) {
    const double length = (rectangle.vertices[index(hinge.nodes[0])] - rectangle.vertices[index(hinge.nodes[1])]).norm();
    longest = std::max(longest, length);
    mean += length / static_cast<double>(hinges(rectangle).size());
  }
  EXPECT_NEAR(mean, 0.03, 0.002);
  EXPECT_LT(longest, 0.045);
}

// A developable surface: its triangles are in space what they are flat, but for chords in place of arcs.
TEST(Sheets, FunnelsAndTubesAreClosedAndFlattenWithoutStretch) {
  const double edge = 0.02;
  for (const auto& [bottom, top] :
       {std::pair{0.3, 0.1}, std::pair{0.1, 0.3}, std::pair{0.2, 0.2}, std::pair{0.2, 0.2000001}}) {
    const Sheet sheet = funnel_sheet(bottom, top, 0.4, edge);
    ASSERT_TRUE(check_sheet(sheet)) << check_sheet(sheet).error().message;
    EXPECT_EQ(sheet_pieces(sheet), 1);
    // Euler's number of an annulus is 0.
    const int triangles = static_cast<int>(sheet.triangles.size()),
              inner = static_cast<int>(hinges(sheet).size());
    EXPECT_EQ(static_cast<int>(sheet.vertices.size()) - (3 * triangles - inner) + triangles, 0);
    EXPECT_NEAR(area(sheet), std::numbers::pi * (bottom + top) * std::hypot(0.4, top - bottom),
                1e-3 * area(sheet));
    const double shorter = std::pow(edge / std::min(bottom, top), 2) / 24;
    double outward = 0;
    for (std::size_t t = 0; t < sheet.triangles.size(); ++t) {
      const auto node = [&](std::size_t k) { return sheet.vertices[index(sheet.triangles[t][k])]; };
      for (std::size_t k = 0; k < 3; ++k) {
        const double flat = (sheet.flat[index(sheet.flat_triangles[t][k])] -
                             sheet.flat[index(sheet.flat_triangles[t][(k + 1) % 3])])
                                .norm();
        EXPECT_NEAR((node(k) - node((k + 1) % 3)).norm(), flat, 1.5 * shorter * flat);
      }
      const Vec3 u = node(1) - node(0), v = node(2) - node(0);
      outward += (u[1] * v[2] - u[2] * v[1]) * node(0)[0] + (u[0] * v[1] - u[1] * v[0]) * node(0)[2];
    }
    EXPECT_GT(outward, 0);
  }
  // However long the edge, it goes around.
  EXPECT_TRUE(check_sheet(funnel_sheet(0.1, 0.1, 0.1, 1)));
}

TEST(Sheets, BadOnesAreNamed) {
  const Sheet good = rectangle_sheet(1, 1, 0.25);
  const auto message = [&](const std::function<void(Sheet&)>& spoil) {
    Sheet bad = good;
    spoil(bad);
    const auto checked = check_sheet(bad);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(message([](Sheet&) {}), "");
  EXPECT_NE(message([](Sheet& s) { s.triangles[3][1] = 999; }).find("triangle 3"), std::string::npos);
  EXPECT_NE(message([](Sheet& s) { std::swap(s.flat_triangles[2][0], s.flat_triangles[2][1]), std::swap(s.triangles[2][0], s.triangles[2][1]); })
                .find("flipped"), std::string::npos);
  EXPECT_NE(message([](Sheet& s) { s.vertices.emplace_back(0, 0, 0); }).find("no triangle uses"), std::string::npos);
  EXPECT_NE(message([](Sheet& s) { s.triangles.push_back(s.triangles[0]), s.flat_triangles.push_back(s.flat_triangles[0]); })
                .find("opposite orientation"), std::string::npos);
  EXPECT_NE(message([](Sheet& s) {
              const Triangle t = s.flat_triangles[0];
              s.flat[index(t[2])] = 0.5 * (s.flat[index(t[0])] + s.flat[index(t[1])]);
            }).find("degenerate"), std::string::npos);
  EXPECT_NE(message([](Sheet& s) {
              const Hinge hinge = hinges(s)[0];
              const int apex = static_cast<int>(s.vertices.size());
              s.vertices.emplace_back(0, 0, 1);
              s.flat.emplace_back(5, 5), s.flat.emplace_back(6, 5), s.flat.emplace_back(5, 6);
              s.triangles.push_back({hinge.nodes[0], hinge.nodes[1], apex});
              const int first = static_cast<int>(s.flat.size()) - 3;
              s.flat_triangles.push_back({first, first + 1, first + 2});
            }).find("more than two triangles"), std::string::npos);
}

// Nested with identity rows (hence of full rank), partitions of unity, about a quarter each.
void expect_hierarchy(const Sheet& sheet, const std::vector<SheetLevel>& levels, double least, double most) {
  std::size_t nodes = sheet.vertices.size();
  for (const SheetLevel& level : levels) {
    ASSERT_EQ(level.parents.size(), nodes);
    std::vector<bool> taken(level.kept.size(), false);
    for (std::size_t c = 0; c < level.kept.size(); ++c) {
      const std::size_t fine = index(level.kept[c]);
      EXPECT_EQ(level.parents[fine][0], static_cast<int>(c));
      EXPECT_EQ(level.weights[fine], (std::array<double, 3>{1, 0, 0}));
      EXPECT_FALSE(taken[c]);
      taken[c] = true;
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        sum += level.weights[i][k];
        EXPECT_GE(level.weights[i][k], -0.51);
        EXPECT_LT(index(level.parents[i][k]), level.kept.size());
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    const double factor = static_cast<double>(nodes) / static_cast<double>(level.kept.size());
    EXPECT_GT(factor, least);
    EXPECT_LT(factor, most);
    nodes = level.kept.size();
  }
}

// The largest error of interpolating f, level after level, from its values at the kept vertices.
double interpolation_error(const Sheet& sheet, const std::vector<SheetLevel>& levels, const std::function<double(int)>& f) {
  std::vector<double> values;
  for (int i = 0; i < static_cast<int>(sheet.vertices.size()); ++i) values.push_back(f(i));
  double largest = 0;
  for (const SheetLevel& level : levels) {
    std::vector<double> coarse;
    for (const int fine : level.kept) coarse.push_back(values[index(fine)]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double mean = 0;
      for (std::size_t k = 0; k < 3; ++k) mean += level.weights[i][k] * coarse[index(level.parents[i][k])];
      largest = std::max(largest, std::abs(mean - values[i]));
    }
    values = coarse;
  }
  return largest;
}

TEST(SheetHierarchy, HalvesARectangleAgainAndAgain) {
  const Sheet sheet = rectangle_sheet(1, 1, 0.01);
  const std::vector<SheetLevel> levels = coarsen_sheet(sheet);
  ASSERT_GE(levels.size(), 2U);
  expect_hierarchy(sheet, levels, 3, 5);
  EXPECT_LE(levels.back().kept.size(), 400U);
  EXPECT_GE(levels.back().kept.size(), 80U);
  EXPECT_LT(interpolation_error(sheet, levels, [&](int i) { return 1 + 2 * sheet.vertices[index(i)][0] - sheet.vertices[index(i)][1]; }), 1e-12);
  // The four corners stay.
  std::vector<int> fine(sheet.vertices.size());
  for (std::size_t i = 0; i < fine.size(); ++i) fine[i] = static_cast<int>(i);
  for (const SheetLevel& level : levels) {
    std::vector<int> next;
    for (const int v : level.kept) next.push_back(fine[index(v)]);
    fine = next;
  }
  int corners = 0;
  for (const int v : fine) corners += std::abs(sheet.vertices[index(v)][0]) > 0.4999 && std::abs(sheet.vertices[index(v)][1]) > 0.4999;
  EXPECT_EQ(corners, 4);
}

TEST(SheetHierarchy, SquareLatticesDiscsAndUnevenMeshes) {
  // Squares with diagonals all one way.
  Sheet squares;
  const int n = 60;
  std::vector<Vec3> points;
  std::vector<Triangle> triangles;
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) points.emplace_back(i * 0.01, j * 0.01, 0);
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const int a = j * (n + 1) + i;
      triangles.push_back({a, a + 1, a + n + 2});
      triangles.push_back({a, a + n + 2, a + n + 1});
    }
  }
  squares = flat_sheet(points, triangles);
  expect_hierarchy(squares, coarsen_sheet(squares), 3, 5);

  const Sheet disc = disc_sheet(0.5, 0.01);
  const std::vector<SheetLevel> levels = coarsen_sheet(disc);
  expect_hierarchy(disc, levels, 3, 5);
  EXPECT_LT(interpolation_error(disc, levels, [&](int i) { return disc.vertices[index(i)][0] - 0.5 * disc.vertices[index(i)][1]; }), 1e-12);

  // A conformal map: edges that grow five times across the sheet.
  for (Vec3& p : points) {
    const double x = p[0] + 0.2, y = p[1];
    p = Vec3(x * x - y * y, 2 * x * y, 0);
  }
  const Sheet graded = flat_sheet(points, triangles);
  const std::vector<SheetLevel> uneven = coarsen_sheet(graded);
  expect_hierarchy(graded, uneven, 3, 5);
  EXPECT_LT(interpolation_error(graded, uneven, [&](int i) { return graded.vertices[index(i)][0]; }), 1e-12);
}

// Two panels that lie apart in the material and are stitched along an edge; and one panel rolled to a tube.
TEST(SheetHierarchy, SeamsCoarsenTogether) {
  const int n = 40;
  for (const bool tube : {false, true}) {
    SCOPED_TRACE(tube);
    Sheet sheet;
    const int panels = tube ? 1 : 2, columns = tube ? n : 2 * n + 1;
    for (int j = 0; j <= n; ++j) {
      for (int i = 0; i < columns; ++i) sheet.vertices.emplace_back(i, j, 0);
    }
    const auto node = [&](int i, int j) { return j * columns + (tube ? i % n : i); };
    for (int panel = 0; panel < panels; ++panel) {
      const int first = static_cast<int>(sheet.flat.size());
      for (int j = 0; j <= n; ++j) {
        for (int i = 0; i <= n; ++i) sheet.flat.emplace_back(0.01 * i + 0.1 * panel, 0.01 * j);
      }
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          const int f = first + j * (n + 1) + i, x = panel * n + i;
          sheet.flat_triangles.push_back({f, f + 1, f + n + 2});
          sheet.flat_triangles.push_back({f, f + n + 2, f + n + 1});
          sheet.triangles.push_back({node(x, j), node(x + 1, j), node(x + 1, j + 1)});
          sheet.triangles.push_back({node(x, j), node(x + 1, j + 1), node(x, j + 1)});
        }
      }
    }
    ASSERT_TRUE(check_sheet(sheet)) << check_sheet(sheet).error().message;
    EXPECT_EQ(sheet_pieces(sheet), 1);
    const std::vector<SheetLevel> levels = coarsen_sheet(sheet, 200);
    ASSERT_GE(levels.size(), 1U);
    expect_hierarchy(sheet, levels, 2.5, 5);
    // Along the seam every other vertex is left, and what is between them depends on them alone.
    int seam = 0;
    for (const int v : levels[0].kept) seam += v % columns == (tube ? 0 : n);
    EXPECT_NEAR(seam, n / 2 + 1, 1);
    for (int j = 0; j <= n; ++j) {
      const std::size_t i = index(node(tube ? 0 : n, j));
      for (std::size_t k = 0; k < 3; ++k) {
        const int parent = levels[0].kept[index(levels[0].parents[i][k])];
        if (std::abs(levels[0].weights[i][k]) > 1e-12) {
          EXPECT_EQ(parent % columns, tube ? 0 : n);
        }
      }
    }
    EXPECT_LT(interpolation_error(sheet, levels, [&](int i) { return i / columns; }), 1e-9);
  }
}

TEST(SheetHierarchy, SmallPatchesStayBesideLargeOnes) {
  Sheet sheet = rectangle_sheet(1, 1, 0.02);
  const int first = static_cast<int>(sheet.vertices.size());
  for (const Vec3& p : {Vec3(3, 0, 0), Vec3(3.01, 0, 0), Vec3(3, 0.01, 0)}) {
    sheet.vertices.push_back(p);
    sheet.flat.emplace_back(p[0], p[1]);
  }
  sheet.triangles.push_back({first, first + 1, first + 2});
  sheet.flat_triangles.push_back({first, first + 1, first + 2});
  EXPECT_EQ(sheet_pieces(sheet), 2);
  const std::vector<SheetLevel> levels = coarsen_sheet(sheet);
  ASSERT_FALSE(levels.empty());
  expect_hierarchy(sheet, levels, 3, 5);
  EXPECT_TRUE(coarsen_sheet(disc_sheet(0.1, 0.02)).empty());
}

}  // namespace
}  // namespace lope::geometry
