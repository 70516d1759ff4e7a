#include <lope/base/random.h>
#include <lope/geometry/grid_embedding.h>

#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

std::vector<Vec3> random_points(int count, int dimension) {
  std::vector<Vec3> points;
  for (int i = 0; i < count; ++i) {
    Vec3 p = Vec3::Zero();
    for (int k = 0; k < dimension; ++k)
      p[k] = (k + 1) * random_unit(7, static_cast<std::uint64_t>(3 * i + k)) - 0.3;
    points.push_back(p);
  }
  return points;
}

TEST(GridEmbedding, InterpolatesContinuouslyWithWeightsThatAddUpToOne) {
  for (const int dimension : {2, 3}) {
    const auto points = random_points(3000, dimension);
    const GridEmbedding grid = embed_in_grid(points, dimension, 60);
    ASSERT_EQ(grid.places.size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        ASSERT_GE(grid.places[i].weight[k], 0);
        sum += grid.places[i].weight[k];
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    // Neighbouring points have nearby weights: continuity across the simplices.
    auto moved = points;
    for (Vec3& p : moved) p[0] += 1e-7;
    moved[0] = points[0];  // the box, and with it the grid, stays about the same
    const GridEmbedding other = embed_in_grid(moved, dimension, 60);
    ASSERT_EQ(other.nodes, grid.nodes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::vector<double> difference(static_cast<std::size_t>(grid.nodes), 0.0);
      for (std::size_t k = 0; k < 4; ++k) {
        difference[static_cast<std::size_t>(grid.places[i].node[k])] += grid.places[i].weight[k];
        difference[static_cast<std::size_t>(other.places[i].node[k])] -= other.places[i].weight[k];
      }
      for (const double d : difference) EXPECT_LT(std::abs(d), 1e-4);
    }
  }
}

TEST(GridEmbedding, UsesAboutAsManyNodesAsWanted) {
  const auto points = random_points(20000, 3);
  for (const int wanted : {1, 20, 200, 1000}) {
    const GridEmbedding grid = embed_in_grid(points, 3, wanted);
    EXPECT_LE(grid.nodes, std::max(8, 2 * wanted));
    EXPECT_GE(grid.nodes, wanted / 3);
    std::vector<int> used(static_cast<std::size_t>(grid.nodes), 0);
    for (const auto& place : grid.places) {
      for (std::size_t k = 0; k < 4; ++k)
        used[static_cast<std::size_t>(place.node[k])] += place.weight[k] > 0;
    }
    for (const int count : used) EXPECT_GT(count, 0);
  }
}

}  // namespace
}  // namespace lope::geometry
