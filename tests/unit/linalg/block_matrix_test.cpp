#include <lope/base/parallel.h>
#include <lope/base/random.h>

#include <set>

#include <Eigen/Dense>
#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

Eigen::MatrixXd dense(const BlockMatrix& matrix) {
  const auto n = static_cast<Eigen::Index>(matrix.size());
  const int b = matrix.block_size();
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(n, n);
  for (int row = 0; row < matrix.pattern().rows(); ++row) {
    for (int column = 0; column < matrix.pattern().rows(); ++column) {
      const auto slot = matrix.pattern().slot(row, column);
      if (slot < 0) continue;
      for (int i = 0; i < b; ++i) {
        for (int j = 0; j < b; ++j) result(row * b + i, column * b + j) = matrix.block(slot)[i * b + j];
      }
    }
  }
  for (const Coupling& c : matrix.couplings()) {
    for (int i = 0; i < b; ++i) {
      for (int j = 0; j < b; ++j) {
        result(c.row * b + i, c.column * b + j) += c.block[static_cast<std::size_t>(i * b + j)];
      }
    }
  }
  return result;
}

// Between random rows, some of them twice.
std::vector<Coupling> random_couplings(const BlockMatrix& matrix, int count, std::uint64_t seed) {
  const auto rows = static_cast<std::uint64_t>(matrix.pattern().rows());
  std::vector<Coupling> couplings;
  for (int k = 0; k < count; ++k) {
    const auto index = static_cast<std::uint64_t>(16 * k);
    Coupling c;
    c.row = static_cast<int>(random_bits(seed, index) % rows);
    c.column = static_cast<int>(
        (static_cast<std::uint64_t>(c.row) + 1 + random_bits(seed, index + 1) % (rows - 1)) % rows);
    for (std::size_t i = 0; i < 9; ++i) c.block[i] = random_unit(seed, index + 2 + i) - 0.5;
    couplings.push_back(c);
    if (k % 5 == 0) couplings.push_back(c);
  }
  return couplings;
}

TEST(BlockPattern, OfGroupsOfSeveralSizesIsTheUnion) {
  const std::vector<int> triangles = {0, 1, 2, 2, 1, 3}, hinges = {0, 1, 2, 3}, pair = {4, 0};
  const std::vector<BlockPattern::Groups> lists = {{triangles, 3}, {hinges, 4}, {pair, 2}};
  const auto pattern = BlockPattern::from_groups(6, lists);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      const bool coupled = i == j || (i < 4 && j < 4) || (i + j == 4 && i * j == 0);
      EXPECT_EQ(pattern->slot(i, j) >= 0, coupled) << i << " " << j;
    }
    EXPECT_EQ(pattern->slot(i, i), pattern->diagonal(i));
  }
  EXPECT_EQ(BlockPattern::diagonal_only(7)->blocks(), 7);
}

TEST(BlockMatrix, HandsOutItsDiagonalBlocks) {
  const BlockMatrix a = random_matrix(3, 2, 1);
  std::vector<double> blocks(2 * a.size());
  a.diagonal_blocks(blocks);
  const Operator& known_by_what_it_does = a;
  std::vector<double> e(a.size()), column(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    std::fill(e.begin(), e.end(), 0.0);
    e[k] = 1;
    known_by_what_it_does.multiply(e, column);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(blocks[4 * (k / 2) + 2 * i + k % 2], column[k / 2 * 2 + i]);
    }
  }
}

TEST(BlockPattern, HasExactlyTheCoupledPairs) {
  const std::vector<int> triangles = {0, 1, 2, 2, 1, 3};
  const auto pattern = BlockPattern::from_groups(5, triangles, 3);
  const std::set<std::pair<int, int>> missing = {{0, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4},
                                                 {3, 4}, {4, 0}, {4, 1}, {4, 2}, {4, 3}};
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j)
      EXPECT_EQ(pattern->slot(i, j) < 0, missing.count({i, j}) == 1) << i << " " << j;
    EXPECT_EQ(pattern->diagonal(i), pattern->slot(i, i));
  }
  EXPECT_NE(pattern->id(), BlockPattern::from_groups(5, triangles, 3)->id());
}

class BlockSizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, BlockSizes, testing::Values(2, 3));

TEST_P(BlockSizes, MultiplyAgreesWithDense) {
  const BlockMatrix a = random_matrix(4, GetParam(), 1);
  const auto x = random_vector(a.size(), 1);
  std::vector<double> y(a.size());
  a.multiply(x, y);
  const Eigen::VectorXd expected =
      dense(a) * Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected(static_cast<Eigen::Index>(i)), 1e-13);
}

TEST_P(BlockSizes, IdentityRowsDecouple) {
  BlockMatrix a = random_matrix(3, GetParam(), 1);
  std::vector<std::uint8_t> marked(static_cast<std::size_t>(a.pattern().rows()), 0);
  marked[5] = marked[26] = 1;
  const Eigen::MatrixXd before = dense(a);
  a.make_identity(marked, 7);
  const Eigen::MatrixXd after = dense(a);
  const int b = GetParam();
  for (Eigen::Index i = 0; i < after.rows(); ++i) {
    for (Eigen::Index j = 0; j < after.cols(); ++j) {
      const bool touched = marked[static_cast<std::size_t>(i / b)] || marked[static_cast<std::size_t>(j / b)];
      EXPECT_EQ(after(i, j), touched ? (i == j ? 7 : 0) : before(i, j));
    }
  }
}

TEST_P(BlockSizes, CouplingsTakePartInProducts) {
  BlockMatrix a = random_matrix(4, GetParam(), 1);
  const int b = GetParam();
  Eigen::MatrixXd expected = dense(a);
  a.set_couplings(random_couplings(a, 10, 3));  // replaced below
  const auto couplings = random_couplings(a, 40, 2);
  const std::span<const Coupling> given = couplings;
  a.set_couplings(given.first(15));
  a.add_couplings(given.subspan(15));
  for (const Coupling& c : couplings) {
    for (int i = 0; i < b; ++i) {
      for (int j = 0; j < b; ++j) {
        const double value = c.block[static_cast<std::size_t>(i * b + j)];
        expected(c.row * b + i, c.column * b + j) += value;
        expected(c.column * b + j, c.row * b + i) += value;
      }
    }
  }
  EXPECT_LE((dense(a) - expected).norm(), 1e-13);
  EXPECT_EQ(a.couplings().size(), 2 * couplings.size());
  for (std::size_t i = 1; i < a.couplings().size(); ++i) {
    EXPECT_LE(a.couplings()[i - 1].row, a.couplings()[i].row);
  }
  const auto x = random_vector(a.size(), 1);
  std::vector<double> y(a.size());
  a.multiply(x, y);
  const Eigen::VectorXd product =
      expected * Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], product(static_cast<Eigen::Index>(i)), 1e-13);

  std::vector<std::uint8_t> marked(static_cast<std::size_t>(a.pattern().rows()), 0);
  const auto marked_row = static_cast<Eigen::Index>(couplings[0].row);
  marked[static_cast<std::size_t>(marked_row)] = 1;
  a.make_identity(marked, 5);
  EXPECT_NEAR(dense(a).row(marked_row * b).norm(), 5, 1e-13);
  EXPECT_NEAR(dense(a).col(marked_row * b).norm(), 5, 1e-13);
  a.set_zero();
  EXPECT_EQ(dense(a).norm(), 0);
}

TEST(BlockMatrix, ProductsHaveTheSameBitsForAnyNumberOfThreads) {
  BlockMatrix a = random_matrix(12, 3, 1);
  a.set_couplings(random_couplings(a, 500, 4));
  const auto x = random_vector(a.size(), 1);
  std::vector<double> one(a.size()), two(a.size());
  double dot_one = 0, dot_two = 0;
  {
    const ThreadLimit limit(1);
    a.multiply(x, one);
    dot_one = dot(one, x);
  }
  {
    const ThreadLimit limit(2);
    a.multiply(x, two);
    dot_two = dot(two, x);
  }
  EXPECT_EQ(one, two);
  EXPECT_EQ(dot_one, dot_two);
}

}  // namespace
}  // namespace lope::linalg
