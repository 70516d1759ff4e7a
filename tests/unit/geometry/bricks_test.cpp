#include <lope/geometry/bricks.h>

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::geometry {
namespace {

template <int Dim>
std::vector<GridIndex<Dim>> random_cells(int reach) {
  const auto count = *rc::gen::inRange(0, 60);
  std::vector<GridIndex<Dim>> cells(static_cast<std::size_t>(count));
  for (auto& cell : cells)
    for (int& coordinate : cell) coordinate = *rc::gen::inRange(-reach, reach);
  return cells;
}

template <int Dim>
void check_places() {
  const auto cells = random_cells<Dim>(60);
  const auto bricks = BrickSet<Dim>::holding(cells);
  std::set<GridIndex<Dim>> expected;
  for (const auto& cell : cells) expected.insert(BrickSet<Dim>::brick_of(cell));
  RC_ASSERT(static_cast<std::size_t>(bricks.count()) == expected.size());
  for (const auto& cell : cells) {
    const auto place = bricks.place(cell);
    RC_ASSERT(place >= 0);
    RC_ASSERT(bricks.cell(place) == cell);
  }
  for (const auto& cell : random_cells<Dim>(60))
    RC_ASSERT((bricks.place(cell) >= 0) == (expected.count(BrickSet<Dim>::brick_of(cell)) == 1));
}

RC_GTEST_PROP(Bricks, PlacesAndCellsAreInverseInThePlane, ()) { check_places<2>(); }
RC_GTEST_PROP(Bricks, PlacesAndCellsAreInverseInSpace, ()) { check_places<3>(); }

template <int Dim>
void check_steps() {
  const auto bricks = BrickSet<Dim>::holding(random_cells<Dim>(20));
  RC_PRE(bricks.count() > 0);
  for (int trial = 0; trial < 50; ++trial) {
    const auto place = *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(bricks.size()));
    const int axis = *rc::gen::inRange(0, Dim), direction = *rc::gen::element(-1, 1);
    auto cell = bricks.cell(place);
    cell[static_cast<std::size_t>(axis)] += direction;
    RC_ASSERT(bricks.next(place, axis, direction) == bricks.place(cell));
  }
}

RC_GTEST_PROP(Bricks, StepsLeadToTheNextCellInThePlane, ()) { check_steps<2>(); }
RC_GTEST_PROP(Bricks, StepsLeadToTheNextCellInSpace, ()) { check_steps<3>(); }

TEST(Bricks, OrderDoesNotDependOnTheOrderGiven) {
  std::vector<GridIndex<3>> some = {{3, -1, 2}, {0, 0, 0}, {-5, 4, 1}, {1, 0, 0}, {3, -1, 2}};
  const BrickSet<3> first(some);
  std::reverse(some.begin(), some.end());
  EXPECT_EQ(first, BrickSet<3>(some));
  EXPECT_EQ(first.count(), 4);
}

TEST(Bricks, TheEightBricksBelowOneCoarserBrickFollowEachOther) {
  std::vector<GridIndex<3>> all;
  for (int z = -4; z < 4; ++z)
    for (int y = -4; y < 4; ++y)
      for (int x = -4; x < 4; ++x) all.push_back({x, y, z});
  const BrickSet<3> bricks(all);
  for (int b = 0; b < bricks.count(); b += 8) {
    for (int k = 1; k < 8; ++k)
      for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(bricks.brick(b)[a] >> 1, bricks.brick(b + k)[a] >> 1);
  }
}

TEST(Bricks, DilationAddsAllThatTouch) {
  const std::vector<GridIndex<2>> one = {{7, -2}};
  const BrickSet<2> dilated = BrickSet<2>(one).dilated();
  EXPECT_EQ(dilated.count(), 9);
  const int middle = dilated.find({7, -2});
  for (const int neighbour : dilated.neighbours(middle)) EXPECT_NE(neighbour, BrickSet<2>::none);
  EXPECT_EQ(dilated.neighbours(middle)[4], middle);
  EXPECT_EQ(dilated.find({9, -2}), BrickSet<2>::none);
}

TEST(Bricks, TheEmptySetHasNothing) {
  const BrickSet<3> empty;
  EXPECT_EQ(empty.count(), 0);
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_EQ(empty.find({0, 0, 0}), BrickSet<3>::none);
  EXPECT_EQ(empty.dilated().count(), 0);
}

}  // namespace
}  // namespace lope::geometry
