// Rows that are nearly the same, relaxed together.
#include <lope/base/parallel.h>
#include <lope/linalg/block_multigrid.h>
#include <lope/linalg/row_groups.h>

#include <cmath>

#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

// A chain of rows with springs between neighbours and a little mass, every second row scaled by `part`.
template <int b>
BlockMatrix chain(int rows, double part) {
  std::vector<int> pairs;
  for (int i = 0; i + 1 < rows; ++i) pairs.insert(pairs.end(), {i, i + 1});
  BlockMatrix a(BlockPattern::from_groups(rows, pairs, 2), b);
  const auto scale = [&](int row) { return row % 2 == 1 ? part : 1.0; };
  const auto add = [&](int row, int column, double value) {
    double* block = a.block(a.pattern().slot(row, column));
    for (int i = 0; i < b; ++i) {
      for (int j = 0; j < b; ++j)
        block[i * b + j] += value * scale(row) * scale(column) * (i == j ? 1.0 : 0.2);
    }
  };
  for (int i = 0; i < rows; ++i) add(i, i, 1e-3);
  for (int i = 0; i + 1 < rows; ++i) {
    const double spring = 1 + 0.5 * (i % 3);
    add(i, i, spring);
    add(i + 1, i + 1, spring);
    add(i, i + 1, -spring);
    add(i + 1, i, -spring);
  }
  return a;
}

template <int b>
std::vector<double> swept(const BlockMatrix& a, const std::vector<double>& f,
                          typename RowGroups<double, b>::Order order) {
  ColouredRows<double, b> rows;
  EXPECT_TRUE(rows.update(a, false));
  RowGroups<double, b> groups;
  groups.update(a);
  const std::size_t count = f.size() / b;
  std::vector<double> right(packed * count), x(packed * count, 0.0), result(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) right[packed * (i / b) + i % b] = f[i];
  groups.sweep(rows, right.data(), x.data(), order);
  for (std::size_t i = 0; i < f.size(); ++i) result[i] = x[packed * (i / b) + i % b];
  return result;
}

using Order3 = RowGroups<double, 3>::Order;

TEST(RowGroups, AreThoseOfLightRowsThatAreNearlyLikeOthers) {
  RowGroups<double, 3> groups;
  groups.update(chain<3>(41, 1.0));
  EXPECT_TRUE(groups.empty());
  groups.update(chain<3>(41, 1e-3));
  EXPECT_EQ(groups.groups(), 20U);
  // Alone it is light, but coupled to nothing.
  BlockMatrix loose = chain<3>(41, 1e-3);
  for (int i = 0; i + 1 < 41; ++i) {
    for (const auto slot : {loose.pattern().slot(i, i + 1), loose.pattern().slot(i + 1, i)})
      std::fill_n(loose.block(slot), 9, 0.0);
  }
  groups.update(loose);
  EXPECT_TRUE(groups.empty());
}

TEST(RowGroups, RowsWithCouplingsAreInNone) {
  BlockMatrix a = chain<2>(5, 1e-3);
  Coupling contact{1, 4, {}};
  contact.block[0] = contact.block[3] = -0.1;
  a.set_couplings(std::vector<Coupling>{contact});
  RowGroups<double, 2> groups;
  groups.update(a);
  EXPECT_EQ(groups.groups(), 1U);  // of row 3 with row 2
}

TEST(RowGroups, OneThatIsTheWholeMatrixSolvesIt) {
  const BlockMatrix a = chain<3>(3, 1e-4);
  const std::vector<double> x = random_vector(a.size(), 1);
  std::vector<double> f(a.size());
  a.multiply(x, f);
  const std::vector<double> found = swept<3>(a, f, Order3::Forward);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(found[i], x[i], 1e-7 * (1 + std::abs(x[i])));
}

TEST(RowGroups, OneOrderIsTheAdjointOfTheOther) {
  const BlockMatrix a = chain<2>(60, 1e-2);
  const auto f = random_vector(a.size(), 2), g = random_vector(a.size(), 3);
  using Order = RowGroups<double, 2>::Order;
  const double there = dot(g, swept<2>(a, f, Order::Forward)), back = dot(f, swept<2>(a, g, Order::Backward));
  EXPECT_NE(there, 0);
  EXPECT_NEAR(there, back, 1e-10 * std::abs(there));
  EXPECT_GT(std::abs(there - dot(g, swept<2>(a, f, Order::Backward))), 1e-6 * std::abs(there));
}

TEST(RowGroups, SweepsLessenTheEnergyOfErrors) {
  const BlockMatrix a = chain<3>(60, 1e-2);
  const auto energy = [&](const std::vector<double>& e) {
    std::vector<double> product(e.size());
    a.multiply(e, product);
    return dot(e, product);
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<double> x = random_vector(a.size(), seed), f(a.size());
    const double before = energy(x);
    a.multiply(x, f);
    const std::vector<double> found = swept<3>(a, f, Order3::Forward);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= found[i];
    EXPECT_LT(energy(x), 0.5 * before);
  }
}

TEST(RowGroups, GiveTheSameBitsForAnyNumberOfThreads) {
  const BlockMatrix a = chain<3>(2000, 1e-2);
  const auto f = random_vector(a.size(), 4);
  const std::vector<double> many = swept<3>(a, f, Order3::Forward);
  const ThreadLimit one(1);
  EXPECT_EQ(swept<3>(a, f, Order3::Forward), many);
}

// Linear interpolation from every second row.
HierarchyPtr halves(int rows) {
  Prolongation p;
  p.columns = rows / 2 + 1;
  p.start.push_back(0);
  for (int i = 0; i < rows; ++i) {
    p.column.push_back(i / 2);
    p.weight.push_back(i % 2 == 0 ? 1 : 0.5);
    if (i % 2 == 1) {
      p.column.push_back(i / 2 + 1);
      p.weight.push_back(0.5);
    }
    p.start.push_back(static_cast<int>(p.column.size()));
  }
  return std::make_shared<const Hierarchy>(std::vector<Prolongation>{p});
}

TEST(RowGroups, CyclesWithThemAreSymmetricAndDefinite) {
  for (const bool single : {false, true}) {
    const BlockMatrix a = chain<3>(61, 1e-2);
    BlockMultigrid cycle({.single_precision = single});
    cycle.set_hierarchy(halves(61));
    ASSERT_TRUE(cycle.update(a));
    std::vector<double> du(a.size()), dv(a.size());
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto u = random_vector(a.size(), seed), v = random_vector(a.size(), seed + 50);
      cycle.apply(u, du);
      cycle.apply(v, dv);
      EXPECT_GT(dot(u, du), 0);
      EXPECT_NEAR(dot(u, dv), dot(v, du), (single ? 1e-3 : 1e-10) * std::sqrt(dot(u, du) * dot(v, dv)));
    }
  }
}

}  // namespace
}  // namespace lope::linalg
