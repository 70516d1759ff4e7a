#include <lope/optimize/automatic.h>
#include <lope/optimize/methods.h>

#include <array>

#include <gtest/gtest.h>
#include <unit/optimize/test_objectives.h>

namespace lope::optimize {
namespace {

// Cubes of eight nodes, a lattice of the given numbers of nodes.
linalg::BlockMatrix lattice(const std::array<int, 3>& n) {
  std::vector<int> groups;
  const auto node = [&](int i, int j, int k) { return (i * n[1] + j) * n[2] + k; };
  for (int i = 0; i + 1 < n[0]; ++i) {
    for (int j = 0; j + 1 < n[1]; ++j) {
      for (int k = 0; k + 1 < n[2]; ++k) {
        for (int corner = 0; corner < 8; ++corner)
          groups.push_back(node(i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2)));
      }
    }
  }
  return {linalg::BlockPattern::from_groups(n[0] * n[1] * n[2], groups, 8), 3};
}

TEST(Automatic, AFactorIsCheapWhereTheBodyIsSlender) {
  const OperationCosts bar = operation_costs(lattice({256, 4, 4})), cube = operation_costs(lattice({16, 16, 16}));
  EXPECT_LT(4 * bar.factor, cube.factor);
  EXPECT_LT(1.5 * bar.factor_solve, cube.factor_solve);
  EXPECT_LT(bar.factor_solve / bar.two_level_solve, cube.factor_solve / cube.two_level_solve);
  // What is local is proportional to the matrix.
  const OperationCosts half = operation_costs(lattice({128, 4, 4}));
  EXPECT_NEAR(bar.two_level_solve / half.two_level_solve, 2, 0.05);
  EXPECT_NEAR(bar.factor_solve / half.factor_solve, 2, 0.2);
}

// With a margin that anything meets it changes at every comparison; and everything that this depends on is kept. The incomplete
// factor of a chain is exact, so that with the usual margin there is no reason to change.
TEST(Automatic, RemembersWhatItChoosesBy) {
  SpringChain chain(60, 100, 1);
  const auto start = [&](std::size_t seed) {
    std::vector<double> x(chain.size(), 0.0);
    for (std::size_t i = 0; i < 60; ++i) x[2 * i] = static_cast<double>(i);
    for (std::size_t k = 2; k < x.size(); ++k) x[k] += 0.1 * ((seed * k * 7919 + k) % 100 / 100.0 - 0.5);
    return x;
  };
  Automatic straight(1e6), usual;
  std::vector<KeptModelPtr> kept = {nullptr};
  std::vector<std::vector<double>> found;
  for (std::size_t i = 0; i < 9; ++i) {
    found.push_back(start(i));
    ASSERT_TRUE(straight.minimize(chain, found.back(), {}).converged());
    EXPECT_EQ(straight.choice(), (i + 1) / 4 == 1 ? Automatic::Newton : Automatic::Dot) << i;
    auto x = start(i);
    ASSERT_TRUE(usual.minimize(chain, x, {}).converged());
    EXPECT_EQ(usual.choice(), Automatic::Dot);
    kept.push_back(straight.kept());
  }
  // Any of these minimisations again, by one that went on, from what was kept.
  for (const std::size_t i : {8u, 2u, 5u, 0u}) {
    straight.recall(chain, kept[i]);
    std::vector<double> x = start(i);
    ASSERT_TRUE(straight.minimize(chain, x, {}).converged());
    EXPECT_EQ(x, found[i]) << i;
    EXPECT_EQ(straight.kept()->account, kept[i + 1]->account) << i;
  }
}

TEST(Automatic, WithoutItsModelTheAccountStays) {
  KeptModel model;
  model.point = {1, 2};
  EXPECT_EQ(without_model(nullptr), nullptr);
  EXPECT_EQ(without_model(std::make_shared<const KeptModel>(model)), nullptr);
  model.account = {3, 4};
  const KeptModelPtr rest = without_model(std::make_shared<const KeptModel>(model));
  ASSERT_NE(rest, nullptr);
  EXPECT_TRUE(rest->point.empty());
  EXPECT_EQ(rest->account, model.account);
}

}  // namespace
}  // namespace lope::optimize
