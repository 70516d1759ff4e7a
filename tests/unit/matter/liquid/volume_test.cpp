// Masks of bricks, the extension of velocities and the control of volume, which work by them.
#include <lope/matter/liquid/extrapolation.h>
#include <lope/matter/liquid/volume.h>

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::matter::liquid {
namespace {

// The bricks 0 … n − 1 along every axis.
template <int Dim>
geometry::BrickSet<Dim> block(int n) {
  std::vector<geometry::GridIndex<Dim>> bricks;
  for (int z = 0; z < (Dim == 3 ? n : 1); ++z) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        geometry::GridIndex<Dim> brick{x, y};
        if constexpr (Dim == 3) brick[2] = z;
        bricks.push_back(brick);
      }
    }
  }
  return geometry::BrickSet<Dim>(bricks);
}

template <int Dim>
CellMasks<Dim> masks_of(const std::vector<bool>& cells) {
  constexpr std::size_t size = geometry::BrickSet<Dim>::cells;
  CellMasks<Dim> result(cells.size() / size);
  for (std::size_t b = 0; b < result.size(); ++b)
    result[b] = geometry::BrickMask<Dim>::of([&](std::size_t local) { return cells[b * size + local]; });
  return result;
}

template <int Dim>
void expect_neighbours_as_in_the_set() {
  const auto bricks = block<Dim>(2);
  const auto chosen = *rc::gen::container<std::vector<bool>>(bricks.size(), rc::gen::arbitrary<bool>());
  const CellMasks<Dim> masks = masks_of<Dim>(chosen);
  int three = 1;
  for (int axis = 0; axis < Dim; ++axis, three *= 3) {
    for (const int direction : {-1, 1}) {
      for (int b = 0; b < bricks.count(); ++b) {
        const int other = bricks.neighbours(
            b)[static_cast<std::size_t>(geometry::BrickSet<Dim>::around / 2 + direction * three)];
        const auto beside = geometry::next_to<Dim>(
            masks[static_cast<std::size_t>(b)],
            other < 0 ? geometry::BrickMask<Dim>() : masks[static_cast<std::size_t>(other)], axis, direction);
        for (std::size_t local = 0; local < geometry::BrickSet<Dim>::cells; ++local) {
          const auto place = static_cast<std::int64_t>(b) * geometry::BrickSet<Dim>::cells +
                             static_cast<std::int64_t>(local);
          const std::int64_t next = bricks.next(place, axis, direction);
          RC_ASSERT(beside[local] == (next >= 0 && chosen[static_cast<std::size_t>(next)]));
        }
      }
    }
  }
}
RC_GTEST_PROP(BrickMask, NeighboursAreThoseOfTheSet, ()) {
  expect_neighbours_as_in_the_set<2>();
  expect_neighbours_as_in_the_set<3>();
}

// Known in a column of cells only: every layer adds one to both sides, and a constant stays one.
TEST(Extrapolation, GrowsByALayerAtATime) {
  const auto bricks = block<2>(3);
  PerAxis<std::vector<double>, 2> velocity;
  KnownFaces<2> known;
  std::vector<bool> column(bricks.size());
  for (std::size_t i = 0; i < column.size(); ++i)
    column[i] = bricks.cell(static_cast<std::int64_t>(i))[0] == 11;
  for (std::size_t a = 0; a < 2; ++a) {
    velocity[a].assign(bricks.size(), 0.0);
    for (std::size_t i = 0; i < column.size(); ++i) velocity[a][i] = column[i] ? 2.5 : 0;
    known.solved[a] = masks_of<2>(column);
    known.flying[a].resize(known.solved[a].size());
  }
  extrapolate<2>(bricks, 4, velocity, known);
  for (std::size_t i = 0; i < bricks.size(); ++i) {
    const int away = std::abs(bricks.cell(static_cast<std::int64_t>(i))[0] - 11);
    for (std::size_t a = 0; a < 2; ++a) EXPECT_EQ(velocity[a][i], away <= 4 ? 2.5 : 0.0) << "away " << away;
  }
}

// What flies is overruled next to what was solved, and kept and handed on elsewhere.
TEST(Extrapolation, OverrulesWhatFliesInTheFirstLayerOnly) {
  const auto bricks = block<2>(1);
  PerAxis<std::vector<double>, 2> velocity;
  KnownFaces<2> known;
  std::vector<bool> solved(64), flying(64);
  for (std::size_t i = 0; i < 64; ++i) {
    solved[i] = i / 8 == 0;
    flying[i] = i / 8 == 1 || i / 8 == 5;
  }
  for (std::size_t a = 0; a < 2; ++a) {
    velocity[a].resize(64);
    for (std::size_t i = 0; i < 64; ++i) velocity[a][i] = solved[i] ? 1 : flying[i] ? -1 : 0;
    known.solved[a] = masks_of<2>(solved);
    known.flying[a] = masks_of<2>(flying);
  }
  extrapolate<2>(bricks, 2, velocity, known);
  const double expected[8] = {1, 1, 1, 0, -1, -1, -1, 0};
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(velocity[1][i], expected[i / 8]) << i;
}

struct Pool {
  geometry::BrickSet<2> bricks = block<2>(2);
  std::vector<double> distance, open_volume, fraction;
  CellMasks<2> deep;

  // Liquid in the cells 2 … 13 along x and y, with a hole.
  Pool() : distance(bricks.size(), 1.0), open_volume(bricks.size(), 1.0), fraction(bricks.size(), 0.0) {
    for (int y = 2; y < 14; ++y) {
      for (int x = 2; x < 14; ++x) {
        distance[at(x, y)] = -1;
        fraction[at(x, y)] = 1;
      }
    }
    distance[at(6, 6)] = 0.5;
    fraction[at(6, 6)] = 0.2;
  }
  std::size_t at(int x, int y) const { return static_cast<std::size_t>(bricks.place({x, y})); }
  bool is_deep(int x, int y) const { return deep[at(x, y) / 64][at(x, y) % 64]; }
};

TEST(Volume, ClosesHolesAndFindsWhatIsDeep) {
  Pool pool;
  close_holes<2>(pool.bricks, pool.open_volume, 1, pool.distance, pool.deep);
  EXPECT_LT(pool.distance[pool.at(6, 6)], 0);
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 16; ++x)
      EXPECT_EQ(pool.is_deep(x, y), x > 2 && x < 13 && y > 2 && y < 13) << x << ' ' << y;
  }
  EXPECT_EQ(pool.distance[pool.at(1, 5)], 1);  // air beside the liquid stays air
}

TEST(Volume, ParticlesDriftIntoGapsAndNowhereElse) {
  Pool pool;
  close_holes<2>(pool.bricks, pool.open_volume, 1, pool.distance, pool.deep);
  PerAxis<std::vector<double>, 2> open, drift;
  for (auto& values : open) values.assign(pool.bricks.size(), 1.0);
  std::vector<std::uint8_t> drifts;
  drift_to_even<2>(pool.bricks, pool.fraction, open, pool.deep, 4, 1, drift, drifts);
  EXPECT_GT(drift[0][pool.at(6, 6)], 0);
  EXPECT_LT(drift[0][pool.at(7, 6)], 0);
  EXPECT_GT(drift[1][pool.at(6, 6)], 0);
  EXPECT_LT(drift[1][pool.at(6, 7)], 0);
  double sum = 0;
  for (const auto& values : drift) {
    for (const double d : values) sum += std::abs(d);
  }
  EXPECT_DOUBLE_EQ(sum, 4 * drift[0][pool.at(6, 6)]);  // the surface does not drift
  EXPECT_LT(drift[0][pool.at(6, 6)], 0.1);
}

TEST(Volume, ExpansionFollowsWhatIsOpenOfACell) {
  Pool pool;
  close_holes<2>(pool.bricks, pool.open_volume, 1, pool.distance, pool.deep);
  pool.fraction[pool.at(10, 10)] = pool.fraction[pool.at(10, 5)] = 1.6;
  pool.open_volume[pool.at(10, 5)] = 0.1;
  std::vector<double> expansion;
  want_expansion<2>(pool.fraction, pool.open_volume, pool.distance, pool.deep, 4, 1, 0.01, expansion);
  EXPECT_GT(expansion[pool.at(10, 10)], 0);
  EXPECT_NEAR(expansion[pool.at(10, 5)], 0.1 * expansion[pool.at(10, 10)], 1e-9);
  EXPECT_LT(expansion[pool.at(6, 6)], 0);
  EXPECT_EQ(expansion[pool.at(0, 0)], 0);
}

// Crowded liquid in a tank that is full up to one cell expands by what that opening lets out; without it, not at all. A
// crowded cell still expands more than others.
TEST(Volume, ExpansionDoesNotSpoutThroughSmallOpenings) {
  for (const bool opening : {true, false}) {
    Pool pool;
    for (int y = 0; y < 16; ++y) {
      for (int x = 0; x < 16; ++x)
        if (x < 2 || x > 13 || y < 2 || y > 13) pool.open_volume[pool.at(x, y)] = 0;
    }
    if (opening) pool.open_volume[pool.at(8, 14)] = pool.open_volume[pool.at(8, 15)] = 1;
    for (double& fraction : pool.fraction) fraction *= 1.4;
    pool.fraction[pool.at(10, 10)] = 1.8;
    close_holes<2>(pool.bricks, pool.open_volume, 1, pool.distance, pool.deep);
    std::vector<double> expansion;
    constexpr double dt = 0.01, quarter = 0.25 / dt;
    want_expansion<2>(pool.fraction, pool.open_volume, pool.distance, pool.deep, 4, 1, dt, expansion);
    double sum = 0;
    for (const double e : expansion) sum += e;
    EXPECT_NEAR(sum, opening ? quarter : 0, 1e-9);
    EXPECT_GT(expansion[pool.at(10, 10)], expansion[pool.at(10, 5)]);
  }
}

}  // namespace
}  // namespace lope::matter::liquid
