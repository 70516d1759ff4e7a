#include <lope/geometry/brick_halo.h>
#include <lope/matter/liquid/particles.h>
#include <lope/matter/mpm/particles.h>
#include <lope/matter/particles/binning.h>
#include <lope/matter/particles/particle_arrays.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::matter {
namespace {

RC_GTEST_PROP(Binning, IsAStableSort, ()) {
  Binning binning;
  binning.place = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 20U));
  const bool moved = binning.sort(20);
  std::vector<std::uint32_t> expected(binning.place.size());
  std::iota(expected.begin(), expected.end(), 0U);
  RC_ASSERT(moved == !std::is_sorted(binning.place.begin(), binning.place.end()));
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return binning.place[a] < binning.place[b]; });
  RC_ASSERT(binning.order == expected);
  for (std::uint32_t c = 0; c < 20; ++c) {
    for (std::uint32_t k = binning.first[c]; k < binning.first[c + 1]; ++k) RC_ASSERT(binning.place[binning.order[k]] == c);
  }
  RC_ASSERT(binning.first[20] == binning.place.size());
}

TEST(Binning, FindsTheBoxesWithAllTheirMarks) {
  const std::size_t count = 200000;  // more than one part
  const auto box = [](std::size_t i) { return geometry::GridIndex<2>{static_cast<int>(i / 70000) - 1, static_cast<int>(i % 3)}; };
  const auto marks = marked_boxes<2>(count, [&](std::size_t i, const auto& mark) { mark(box(i), 1U << i / 70000); });
  ASSERT_EQ(marks.size(), 9U);
  for (const auto& [index, bits] : marks) EXPECT_EQ(bits, 1U << (index[0] + 1));
}

TEST(ParityGroups, AreInTheOrderOfTheAxes) {
  const auto groups = geometry::parity_groups<2>(4, [](int k) { return geometry::GridIndex<2>{k & 1, -(k >> 1)}; });
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(groups[k], std::vector<int>{static_cast<int>(k)});
}

TEST(ParticleArrays, AreReorderedTogetherAndComeBackFromTheirViews) {
  mpm::Particles<2> particles, spare;
  for (int k = 0; k < 3; ++k) particles.add(Vec2(k, 0), Vec2(0, k), 1 + k, 2 + k, 0.5 * k, k);
  reorder(particles, std::vector<std::uint32_t>{2, 0}, spare);
  ASSERT_EQ(particles.size(), 2U);
  EXPECT_EQ(particles.x[0], Vec2(2, 0));
  EXPECT_EQ(particles.mass, (std::vector<double>{4, 2}));
  EXPECT_EQ(particles.id, (std::vector<std::int32_t>{2, 0}));

  const AnyParticles<mpm::Particles> saved = particles;
  NamedArrays arrays;
  arrays.add("", particle_views(saved));
  AnyParticles<mpm::Particles> read;
  ArrayReader reader(arrays);
  read_particles(reader, read);
  EXPECT_EQ(reader.missing(), "");
  EXPECT_EQ(dimension_of(read), 2);
  EXPECT_EQ(std::get<0>(read).v, particles.v);
  EXPECT_EQ(std::get<0>(read).plastic, particles.plastic);

  AnyParticles<liquid::Particles> others;
  std::get<0>(others).add(Vec2::Zero(), Vec2::Zero());
  std::get<0>(others).v.clear();
  NamedArrays short_of_one;
  short_of_one.add("", particle_views(others));
  ArrayReader strict(short_of_one);
  read_particles(strict, others);
  EXPECT_EQ(strict.missing(), "v");
}

TEST(ParticleArrays, TheLargestSpeedIsNotANumberWhereAVelocityIsNot) {
  EXPECT_EQ(largest_speed(std::vector<Vec3>{}), 0);
  EXPECT_EQ(largest_speed(std::vector<Vec3>{Vec3(3, 4, 0), Vec3(1, 0, 0)}), 5);
  EXPECT_TRUE(std::isnan(largest_speed(std::vector<Vec3>{Vec3(3, std::nan(""), 0), Vec3(9, 0, 0)})));
}

}  // namespace
}  // namespace lope::matter
