#include <lope/base/parallel.h>
#include <lope/linalg/cholesky.h>
#include <lope/linalg/sparse_cholesky_symbolic.h>

#include <cmath>
#include <limits>
#include <set>

#include <Eigen/Dense>
#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

using Pattern = std::shared_ptr<const BlockPattern>;

// Pairs of rows, in the form from_groups() wants them.
Pattern from_pairs(int rows, const std::vector<int>& pairs) {
  return BlockPattern::from_groups(rows, pairs, 2);
}

Pattern chain(int rows) {
  std::vector<int> pairs;
  for (int i = 0; i + 1 < rows; ++i) pairs.insert(pairs.end(), {i, i + 1});
  return from_pairs(rows, pairs);
}

Pattern star(int rows) {
  std::vector<int> pairs;
  for (int i = 0; i < rows; ++i) pairs.insert(pairs.end(), {rows / 2, i});
  return from_pairs(rows, pairs);
}

Pattern complete(int rows) {
  std::vector<int> all(static_cast<std::size_t>(rows));
  for (int i = 0; i < rows; ++i) all[static_cast<std::size_t>(i)] = i;
  return BlockPattern::from_groups(rows, all, rows);
}

// About `degree` random neighbours per row.
Pattern random_graph(int rows, double degree, std::uint64_t seed) {
  std::vector<int> pairs;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < i; ++j) {
      const auto pair = static_cast<std::uint64_t>(i) * 100003 + static_cast<std::uint64_t>(j);
      if (random_unit(seed, pair) < degree / rows) pairs.insert(pairs.end(), {i, j});
    }
  }
  return from_pairs(rows, pairs);
}

// Three pieces that are not connected, and rows without neighbours.
Pattern pieces() {
  std::vector<int> pairs;
  for (const int start : {0, 10, 25}) {
    for (int i = start; i < start + 8; ++i) pairs.insert(pairs.end(), {i, i + 1, i, start});
  }
  return from_pairs(40, pairs);
}

// Symmetric random numbers; diagonally dominant, so positive definite.
BlockMatrix fill(const Pattern& pattern, int b) {
  BlockMatrix matrix(pattern, b);
  for (int row = 0; row < pattern->rows(); ++row) {
    const auto begin = pattern->row_start()[static_cast<std::size_t>(row)];
    const auto end = pattern->row_start()[static_cast<std::size_t>(row) + 1];
    for (auto slot = begin; slot < end; ++slot) {
      const int column = pattern->column()[static_cast<std::size_t>(slot)];
      for (int i = 0; i < b; ++i) {
        for (int j = 0; j < b; ++j) {
          const int low = std::min(row * b + i, column * b + j), high = std::max(row * b + i, column * b + j);
          const double value =
              random_unit(static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)) - 0.5;
          matrix.block(slot)[i * b + j] =
              low == high ? 1 + value + 0.5 * b * static_cast<double>(end - begin) : value;
        }
      }
    }
  }
  return matrix;
}

Eigen::MatrixXd dense(const BlockMatrix& matrix) {
  const int b = matrix.block_size(), rows = matrix.pattern().rows();
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rows * b, rows * b);
  for (int row = 0; row < rows; ++row) {
    for (auto slot = matrix.pattern().row_start()[static_cast<std::size_t>(row)];
         slot < matrix.pattern().row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
      const int column = matrix.pattern().column()[static_cast<std::size_t>(slot)];
      for (int i = 0; i < b; ++i) {
        for (int j = 0; j < b; ++j) result(row * b + i, column * b + j) = matrix.block(slot)[i * b + j];
      }
    }
  }
  return result;
}

// ‖x − y‖ / ‖y‖ of the solutions of ours and of a dense factorisation.
template <class T>
double distance_from_dense(const BlockMatrix& matrix, SparseCholesky<T>& factor) {
  const auto right = random_vector(matrix.size(), 9);
  std::vector<double> x(matrix.size());
  factor.apply(right, x);
  const auto n = static_cast<Eigen::Index>(x.size());
  const Eigen::VectorXd expected =
      dense(matrix).llt().solve(Eigen::Map<const Eigen::VectorXd>(right.data(), n));
  return (Eigen::Map<const Eigen::VectorXd>(x.data(), n) - expected).norm() / expected.norm();
}

std::vector<double> solve(SparseCholesky<double>& factor, const BlockMatrix& matrix) {
  std::vector<double> x(matrix.size());
  if (!factor.update(matrix)) return {};
  factor.apply(random_vector(matrix.size(), 2), x);
  return x;
}

double residual(const BlockMatrix& a, ConstVector x, ConstVector b) {
  std::vector<double> r(a.size());
  a.multiply(x, r);
  combine(1, b, -1, r);
  return norm(r) / norm(b);
}

// Every instruction set of this processor, blocks of 2 and of 3.
class EveryKernel : public testing::TestWithParam<std::tuple<Isa, int>> {
 protected:
  Isa isa = std::get<0>(GetParam());
  int b = std::get<1>(GetParam());

  void expect_solved(const BlockMatrix& matrix, const char* what) {
    SparseCholesky<double> in_double(isa);
    ASSERT_TRUE(in_double.update(matrix)) << what;
    EXPECT_LT(distance_from_dense(matrix, in_double), 1e-13)
        << what << ", " << matrix.pattern().rows() << " rows";
    SparseCholesky<float> in_float(isa);
    ASSERT_TRUE(in_float.update(matrix)) << what;
    EXPECT_LT(distance_from_dense(matrix, in_float), 1e-5)
        << what << ", " << matrix.pattern().rows() << " rows";
  }
};
INSTANTIATE_TEST_SUITE_P(All, EveryKernel,
                         testing::Combine(testing::ValuesIn(supported_isas().begin(), supported_isas().end()),
                                          testing::Values(2, 3)),
                         [](const auto& param) {
                           return std::string(name(std::get<0>(param.param))) + "_" +
                                  std::to_string(std::get<1>(param.param));
                         });

TEST_P(EveryKernel, SolvesDenseMatricesOfEverySize) {
  for (int rows = 1; rows <= 36; ++rows) expect_solved(fill(complete(rows), b), "complete");
  // More columns than one block of them, than one depth of multiplication.
  for (const int rows : {50, 64, 97}) expect_solved(fill(complete(rows), b), "complete");
}

TEST_P(EveryKernel, SolvesSparseMatricesOfManyShapes) {
  for (const int rows : {1, 2, 3, 10, 57}) {
    expect_solved(fill(chain(rows), b), "chain");
    expect_solved(fill(star(rows), b), "star");
    expect_solved(fill(from_pairs(rows, {}), b), "no neighbours");
  }
  expect_solved(fill(pieces(), b), "pieces");
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    expect_solved(
        fill(random_graph(30 + 13 * static_cast<int>(seed), 1 + 0.5 * static_cast<double>(seed), seed), b),
        "random graph");
  }
  expect_solved(random_matrix(6, b, 1), "lattice");
}

TEST_P(EveryKernel, SolvesWithIdentityRows) {
  BlockMatrix matrix = random_matrix(5, b, 1);
  std::vector<std::uint8_t> marked(static_cast<std::size_t>(matrix.pattern().rows()), 0);
  for (std::size_t i = 0; i < marked.size(); i += 3) marked[i] = 1;
  matrix.make_identity(marked, 2);
  expect_solved(matrix, "identity rows");
}

TEST_P(EveryKernel, SolvesLattices) {
  const BlockMatrix matrix = random_matrix(11, b, 0.5);
  SparseCholesky<double> factor(isa);
  ASSERT_TRUE(factor.update(matrix));
  const auto right = random_vector(matrix.size(), 4);
  std::vector<double> x(matrix.size());
  factor.apply(right, x);
  EXPECT_LT(residual(matrix, x, right), 1e-14);
}

TEST_P(EveryKernel, HasTheSameBitsForAnyNumberOfThreads) {
  const BlockMatrix matrix = random_matrix(12, b, 0.5);
  std::vector<std::vector<double>> solutions;
  for (const int threads : {1, 2, 1, 2}) {
    const ThreadLimit limit(threads);
    SparseCholesky<double> factor(isa);
    solutions.push_back(solve(factor, matrix));
    solutions.push_back(solve(factor, matrix));
  }
  ASSERT_FALSE(solutions[0].empty());
  for (const auto& x : solutions) EXPECT_EQ(x, solutions[0]);
}

// The solution of one system by every fused instruction set that this processor has.
template <class T>
void expect_same_bits(const BlockMatrix& matrix, const char* what) {
  std::vector<double> first;
  for (const Isa isa : supported_isas()) {
    if (is_fused(isa) != is_fused(supported_isas().back())) continue;
    SparseCholesky<T> factor(isa);
    ASSERT_TRUE(factor.update(matrix)) << what;
    std::vector<double> x(matrix.size());
    factor.apply(random_vector(matrix.size(), 2), x);
    if (first.empty()) first = x;
    EXPECT_EQ(x, first) << name(isa) << ", " << what << ", " << matrix.pattern().rows() << " rows";
  }
}

TEST(SparseCholesky, HasTheSameBitsForFusedInstructionSets) {
  const auto check = [](const BlockMatrix& matrix, const char* what) {
    expect_same_bits<double>(matrix, what);
    expect_same_bits<float>(matrix, what);
  };
  for (const int b : {2, 3}) {
    for (int rows = 1; rows <= 36; ++rows) check(fill(complete(rows), b), "complete");
    for (const int rows : {50, 64, 97, 150}) check(fill(complete(rows), b), "complete");
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      check(fill(random_graph(60 + 29 * static_cast<int>(seed), 2 + static_cast<double>(seed), seed), b),
            "random graph");
    }
    check(random_matrix(12, b, 0.5), "lattice");
  }
}

TEST(SparseCholesky, NamesTheFailedPivotAndRecovers) {
  const BlockMatrix good = random_matrix(8, 3, 1);
  SparseCholesky<double> factor;
  EXPECT_EQ(factor.failed_pivot(), -1);
  for (const double wrong : {-1.0, 0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const int row : {0, 100, 511}) {
      // Nothing else is coupled to the row: its pivot is its own number.
      BlockMatrix bad = good;
      std::vector<std::uint8_t> marked(static_cast<std::size_t>(bad.pattern().rows()), 0);
      marked[static_cast<std::size_t>(row)] = 1;
      bad.make_identity(marked, 1);
      bad.block(bad.pattern().diagonal(row))[4] = wrong;
      EXPECT_FALSE(factor.update(bad));
      EXPECT_EQ(factor.failed_pivot(), row * 3 + 1) << wrong;
      const auto x = solve(factor, good);
      ASSERT_FALSE(x.empty());
      EXPECT_EQ(factor.failed_pivot(), -1);
      EXPECT_LT(residual(good, x, random_vector(good.size(), 2)), 1e-14);
    }
  }
}

TEST(SparseCholesky, FailsAtTheSamePivotForAnyNumberOfThreads) {
  const BlockMatrix matrix = random_matrix(12, 3, 0);
  std::set<std::int64_t> pivots;
  for (const int threads : {1, 2, 2, 2}) {
    const ThreadLimit limit(threads);
    SparseCholesky<double> factor;
    EXPECT_FALSE(factor.update(matrix));
    pivots.insert(factor.failed_pivot());
  }
  EXPECT_EQ(pivots.size(), 1u);
  EXPECT_GE(*pivots.begin(), 0);
}

TEST(SparseCholesky, TakesNewNumbersPatternsAndBlockSizes) {
  const Pattern shared = random_graph(60, 4, 5);
  SparseCholesky<double> factor;
  for (const auto& matrix : {random_matrix(9, 3, 1), random_matrix(3, 2, 1), fill(shared, 3), fill(shared, 2),
                             fill(chain(1), 2), random_matrix(10, 3, 1)}) {
    BlockMatrix doubled = matrix;
    for (double& value : doubled.values()) value *= 2;
    const auto x = solve(factor, matrix), half = solve(factor, doubled);
    ASSERT_EQ(x.size(), matrix.size());
    EXPECT_LT(residual(matrix, x, random_vector(matrix.size(), 2)), 1e-13);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(half[i], 0.5 * x[i], 1e-12 * std::abs(x[i]));
  }
}

TEST(SparseCholesky, AcceptsAnEmptyMatrix) {
  SparseCholesky<double> factor;
  EXPECT_TRUE(factor.update(BlockMatrix(from_pairs(0, {}), 3)));
  factor.apply({}, {});
}

// The factor's blocks below the diagonal by plain elimination, in the order of `order`.
std::set<std::pair<int, int>> eliminate(const BlockPattern& pattern, const std::vector<int>& order) {
  const int n = pattern.rows();
  std::vector<std::set<int>> below(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) {
      if (pattern.slot(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]) >= 0) {
        below[static_cast<std::size_t>(j)].insert(i);
      }
    }
  }
  std::set<std::pair<int, int>> result;
  for (int j = 0; j < n; ++j) {
    const auto& rows = below[static_cast<std::size_t>(j)];
    for (const int i : rows) result.insert({i, j});
    if (rows.empty()) continue;
    below[static_cast<std::size_t>(*rows.begin())].insert(std::next(rows.begin()), rows.end());
  }
  return result;
}

TEST(SymbolicCholesky, StoresTheWholeFactorOnce) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Pattern pattern =
        random_graph(10 + 5 * static_cast<int>(seed), 0.5 + 0.15 * static_cast<double>(seed), seed);
    const SymbolicCholesky symbolic = analyze(*pattern, 3);
    ASSERT_EQ(std::set<int>(symbolic.order.begin(), symbolic.order.end()).size(),
              static_cast<std::size_t>(pattern->rows()));
    std::set<std::pair<int, int>> stored;
    std::set<std::int64_t> slots;
    for (int s = 0; s < symbolic.supernodes(); ++s) {
      const int begin = symbolic.first_column[static_cast<std::size_t>(s)], w = symbolic.columns(s);
      const auto rows = symbolic.rows(s);
      const auto row_at = [&](int i) { return i < w ? begin + i : rows[static_cast<std::size_t>(i - w)]; };
      for (int j = 0; j < w; ++j) {
        for (int i = j + 1; i < w + static_cast<int>(rows.size()); ++i) {
          EXPECT_TRUE(stored.insert({row_at(i), begin + j}).second);
        }
      }
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
      for (const auto& entry : symbolic.entries(s)) {
        EXPECT_GE(entry.row, entry.column);
        EXPECT_EQ(entry.slot, pattern->slot(symbolic.order[static_cast<std::size_t>(begin + entry.column)],
                                            symbolic.order[static_cast<std::size_t>(row_at(entry.row))]));
        EXPECT_TRUE(slots.insert(entry.slot).second);
      }
      // Every row of a child has its place here.
      for (const int child : symbolic.children(s)) {
        EXPECT_LT(child, s);
        EXPECT_EQ(symbolic.parent[static_cast<std::size_t>(child)], s);
        std::size_t next = 0;
        for (const auto& run : symbolic.runs(child)) {
          for (int k = 0; k < run.length; ++k) {
            EXPECT_EQ(static_cast<std::size_t>(run.child + k), next);
            EXPECT_EQ(symbolic.rows(child)[next++], row_at(run.parent + k));
          }
        }
        EXPECT_EQ(next, symbolic.rows(child).size());
      }
    }
    EXPECT_EQ(static_cast<std::int64_t>(slots.size()), (pattern->blocks() + pattern->rows()) / 2);
    for (const auto& block : eliminate(*pattern, symbolic.order)) EXPECT_EQ(stored.count(block), 1u);
  }
}

TEST(SymbolicCholesky, CountsFlops) {
  EXPECT_EQ(front_flops(1, 0), 1);
  EXPECT_EQ(front_flops(3, 0), 9 + 4 + 1);
  EXPECT_EQ(front_flops(2, 3), 25 + 16);
}

}  // namespace
}  // namespace lope::linalg
