// Every approximate inverse: linear, symmetric and definite where it says so, deterministic, and of use to
// CG.
#include <lope/base/parallel.h>
#include <lope/linalg/coarse_space.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/graph_partition.h>
#include <lope/linalg/incomplete_cholesky.h>
#include <lope/linalg/inner_solvers.h>
#include <lope/linalg/rounded_matrix.h>
#include <lope/linalg/schwarz.h>
#include <lope/linalg/symmetric_sweep.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

constexpr int n = 9;
constexpr int rows = n * n * n;

// Slabs of the lattice that share a layer of rows with the next one.
std::vector<std::vector<int>> slabs(int count) {
  std::vector<std::vector<int>> sets;
  for (int k = 0; k < count; ++k) {
    std::vector<int> set;
    for (int layer = k * (n - 1) / count; layer <= (k + 1) * (n - 1) / count; ++layer) {
      for (int i = 0; i < n * n; ++i) set.push_back(layer * n * n + i);
    }
    sets.push_back(set);
  }
  return sets;
}

// Hat functions along the first axis.
Prolongation hats() {
  Prolongation p;
  p.columns = 3;
  p.start.push_back(0);
  for (int row = 0; row < rows; ++row) {
    const double at = 2.0 * (row / (n * n)) / (n - 1);
    const int left = std::min(static_cast<int>(at), 1);
    p.column.insert(p.column.end(), {left, left + 1});
    p.weight.insert(p.weight.end(), {left + 1 - at, at - left});
    p.start.push_back(static_cast<int>(p.column.size()));
  }
  return p;
}

// A stiff matrix like that of an elastic body: a graph Laplacian with a random positive definite block per
// edge, and a small mass. Row 5 is fixed: decoupled, with a large diagonal.
BlockMatrix elastic_like(int block_size, double mass) {
  BlockMatrix a = random_matrix(n, block_size, 0);
  const BlockPattern& pattern = a.pattern();
  const int b = block_size;
  a.set_zero();
  for (int row = 0; row < rows; ++row) {
    for (auto slot = pattern.row_start()[static_cast<std::size_t>(row)];
         slot < pattern.row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
      const int column = pattern.column()[static_cast<std::size_t>(slot)];
      if (column == row) continue;
      const auto low = static_cast<std::uint64_t>(std::min(row, column)),
                 high = static_cast<std::uint64_t>(std::max(row, column));
      double direction[3];
      for (std::uint64_t k = 0; k < 3; ++k) direction[k] = random_unit(low, 3 * high + k) - 0.5;
      double* diagonal = a.block(pattern.diagonal(row));
      for (int i = 0; i < b; ++i) {
        for (int j = 0; j < b; ++j) {
          const double value = direction[i] * direction[j] + (i == j ? 0.05 : 0.0);
          a.block(slot)[i * b + j] -= value;
          diagonal[i * b + j] += value;
        }
      }
    }
    for (int i = 0; i < b; ++i) a.block(pattern.diagonal(row))[i * (b + 1)] += mass;
  }
  std::vector<std::uint8_t> fixed(rows, 0);
  fixed[5] = 1;
  a.make_identity(fixed, 10);
  return a;
}

struct Candidate {
  const char* name;
  double rounding;
  std::unique_ptr<Preconditioner> (*make)();
};

template <class T = double>
std::unique_ptr<Preconditioner> schwarz(int count, Weighting weighting, bool coarse) {
  auto result = std::make_unique<Schwarz<T>>(weighting);
  result->set_cover(slabs(count));
  if (coarse) return std::make_unique<TwoLevel>(std::move(result), hats());
  return result;
}

const Candidate candidates[] = {
    {"jacobi", 1e-10, [] { return std::unique_ptr<Preconditioner>(std::make_unique<BlockJacobi>()); }},
    {"gauss_seidel", 1e-10,
     [] { return std::unique_ptr<Preconditioner>(std::make_unique<SymmetricSweep>()); }},
    {"incomplete_cholesky", 1e-5,
     [] { return std::unique_ptr<Preconditioner>(std::make_unique<IncompleteCholesky>()); }},
    {"cholesky", 1e-10,
     [] { return std::unique_ptr<Preconditioner>(std::make_unique<SparseCholesky<double>>()); }},
    {"schwarz", 1e-10, [] { return schwarz(4, Weighting::Symmetric, false); }},
    {"two_level_schwarz", 1e-10, [] { return schwarz(4, Weighting::Symmetric, true); }},
};

class Symmetric : public testing::TestWithParam<Candidate> {};
INSTANTIATE_TEST_SUITE_P(Preconditioners, Symmetric, testing::ValuesIn(candidates),
                         [](const auto& candidate) { return candidate.param.name; });

TEST_P(Symmetric, IsLinearSymmetricAndPositiveDefinite) {
  for (const int b : {1, 2, 3}) {
    const BlockMatrix a = elastic_like(b, 1e-2);
    const auto m = GetParam().make();
    ASSERT_TRUE(m->update(a));
    ASSERT_TRUE(m->is_linear() && m->is_symmetric());
    std::vector<double> du(a.size()), dv(a.size()), sum(a.size()), dsum(a.size());
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto u = random_vector(a.size(), 2 * seed), v = random_vector(a.size(), 2 * seed + 1);
      m->apply(u, du);
      m->apply(v, dv);
      EXPECT_GT(dot(u, du), 0);
      EXPECT_NEAR(dot(u, dv), dot(v, du), GetParam().rounding * std::sqrt(dot(u, du) * dot(v, dv)));
      add_scaled(u, 0.7, v, sum);
      m->apply(sum, dsum);
      combine(-1, du, 1, dsum);
      combine(-0.7, dv, 1, dsum);
      EXPECT_LT(norm(dsum), GetParam().rounding * norm(du));
    }
  }
}

TEST_P(Symmetric, GivesTheSameBitsForAnyNumberOfThreads) {
  const BlockMatrix a = elastic_like(3, 1e-2);
  const auto r = random_vector(a.size(), 1);
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    const ThreadLimit limit(threads);
    const auto m = GetParam().make();
    ASSERT_TRUE(m->update(a));
    results.emplace_back(a.size());
    m->apply(r, results.back());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

int iterations(Preconditioner& m, const BlockMatrix& a) {
  EXPECT_TRUE(m.update(a));
  ConjugateGradient cg;
  const auto right = random_vector(a.size(), 3);
  std::vector<double> x(a.size());
  const CgSummary summary = cg.solve(local_space(), [&](ConstVector p, Vector ap) { a.multiply(p, ap); }, m, right, x,
                                     {.relative_tolerance = 1e-8, .max_iterations = 10000});
  EXPECT_TRUE(summary.converged);
  std::vector<double> r(a.size());
  a.multiply(x, r);
  combine(1, right, -1, r);
  EXPECT_LT(norm(r), 1e-5 * norm(right));
  return summary.iterations;
}

TEST(Preconditioners, StrongerOnesNeedFewerIterations) {
  const BlockMatrix a = elastic_like(3, 1e-3);
  BlockJacobi jacobi;
  IncompleteCholesky incomplete;
  const auto one_level = schwarz(8, Weighting::Symmetric, false),
             two_level = schwarz(8, Weighting::Symmetric, true);
  const int weakest = iterations(jacobi, a);
  EXPECT_LT(iterations(incomplete, a), weakest);
  const int one = iterations(*one_level, a);
  EXPECT_LT(one, weakest);
  EXPECT_LT(iterations(*two_level, a), one);
}

TEST(Preconditioners, OneSidedSchwarzIsAnAverageAndSaysThatItIsNotSymmetric) {
  const BlockMatrix a = elastic_like(3, 1e-2);
  const auto m = schwarz(4, Weighting::OneSided, false);
  EXPECT_FALSE(m->is_symmetric());
  iterations(*m, a);  // flexible CG copes
  // Where A x = r has a solution that the subdomains agree on (mass only), the average is that solution.
  BlockMatrix diagonal = a;
  diagonal.make_identity(std::vector<std::uint8_t>(rows, 1), 4);
  ASSERT_TRUE(m->update(diagonal));
  const auto r = random_vector(a.size(), 5);
  std::vector<double> z(a.size());
  m->apply(r, z);
  for (std::size_t k = 0; k < r.size(); ++k) EXPECT_NEAR(z[k], r[k] / 4, 1e-14);
}

// DOT eq. 13: every row has the mean of what the subdomains that hold it find for it on their own.
TEST(Preconditioners, OneSidedSchwarzAveragesTheSolutionsOfTheSubdomains) {
  const BlockMatrix a = elastic_like(3, 1e-2);
  const auto m = schwarz(4, Weighting::OneSided, false);
  ASSERT_TRUE(m->update(a));
  const auto r = random_vector(a.size(), 5);
  std::vector<double> z(a.size()), sum(a.size(), 0.0), copies(a.size(), 0.0);
  m->apply(r, z);
  for (const std::vector<int>& set : slabs(4)) {
    // The others' rows made identities with nothing on the right: the principal submatrix on its own.
    std::vector<std::uint8_t> others(rows, 1);
    for (const int row : set) others[static_cast<std::size_t>(row)] = 0;
    BlockMatrix alone = a;
    alone.make_identity(others, 1);
    std::vector<double> right(a.size(), 0.0), solution(a.size());
    for (const int row : set) std::copy_n(r.begin() + 3 * row, 3, right.begin() + 3 * row);
    SparseCholesky<double> factor;
    ASSERT_TRUE(factor.update(alone));
    factor.apply(right, solution);
    for (const int row : set) {
      for (std::size_t k = 3 * static_cast<std::size_t>(row), end = k + 3; k < end; ++k) {
        sum[k] += solution[k];
        copies[k] += 1;
      }
    }
  }
  EXPECT_EQ(*std::max_element(copies.begin(), copies.end()), 2);
  for (std::size_t k = 0; k < z.size(); ++k) EXPECT_NEAR(z[k], sum[k] / copies[k], 1e-12 * norm(z));
}

TEST(Preconditioners, SchwarzWithOneSubdomainIsCholesky) {
  const BlockMatrix a = elastic_like(3, 1e-2);
  std::vector<int> all(rows);
  std::iota(all.begin(), all.end(), 0);
  Schwarz<double> one;
  one.set_cover({all});
  SparseCholesky<double> cholesky;
  ASSERT_TRUE(one.update(a) && cholesky.update(a));
  EXPECT_TRUE(one.is_near_inverse());
  const auto r = random_vector(a.size(), 1);
  std::vector<double> z(a.size()), expected(a.size());
  one.apply(r, z);
  cholesky.apply(r, expected);
  EXPECT_EQ(z, expected);
}

TEST(Preconditioners, SchwarzSolvesExactlyOnEachSubdomainAndFollowsTheMatrix) {
  // With subdomains that do not touch, D is the inverse.
  BlockMatrix a = elastic_like(2, 1e-2);
  std::vector<std::uint8_t> wall(rows, 0);
  std::fill(wall.begin() + 4 * n * n, wall.begin() + 5 * n * n, std::uint8_t{1});
  a.make_identity(wall, 1);
  Schwarz<double> m;
  m.set_cover(slabs(2));
  for (const double scale : {1.0, 3.0}) {
    BlockMatrix scaled = a;
    for (double& value : scaled.values()) value *= scale;
    ASSERT_TRUE(m.update(scaled));
    const auto r = random_vector(a.size(), 1);
    std::vector<double> z(a.size()), back(a.size());
    m.apply(r, z);
    scaled.multiply(z, back);
    combine(-1, r, 1, back);
    EXPECT_LT(norm(back), 1e-12 * norm(r));
  }
}

TEST(Preconditioners, SinglePrecisionFactorsAreNearlyAsGood) {
  const BlockMatrix a = elastic_like(3, 1e-3);
  const auto exact = schwarz(4, Weighting::Symmetric, true);
  const auto rounded = schwarz<float>(4, Weighting::Symmetric, true);
  EXPECT_LE(iterations(*rounded, a), 1.2 * iterations(*exact, a) + 1);
}

// Few couplings are cut: fewer than by slabs of the lattice, and always the same ones.
TEST(Partition, PartsAreOfEqualSizeAndHangTogether) {
  const BlockMatrix a = elastic_like(3, 1e-2);
  const BlockPattern& pattern = a.pattern();
  EXPECT_EQ(partition_rows(pattern, 1), std::vector<int>(rows, 0));
  const int parts = 8;
  const std::vector<int> part = partition_rows(pattern, parts);
  EXPECT_EQ(part, partition_rows(pattern, parts));
  std::vector<int> size(parts, 0), slab(rows);
  for (const int p : part) ++size.at(static_cast<std::size_t>(p));
  for (const int s : size) EXPECT_NEAR(s, rows / parts, 0.1 * rows / parts);
  for (int row = 0; row < rows; ++row) slab[static_cast<std::size_t>(row)] = row * parts / rows;
  const auto cut = [&](const std::vector<int>& of) {
    int count = 0;
    for (std::size_t row = 0; row < of.size(); ++row) {
      for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot)
        count += of[row] != of[static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)])];
    }
    return count;
  };
  EXPECT_LT(cut(part), cut(slab));
}

TEST(Preconditioners, TheCoarseSpaceIsSolvedExactly) {
  const BlockMatrix a = elastic_like(3, 1e-2);
  CoarseSpace coarse;
  coarse.set(hats());
  ASSERT_TRUE(coarse.update(a));
  const auto r = random_vector(a.size(), 2);
  std::vector<double> z(a.size(), 0.0), remaining(a.size()), again(a.size(), 0.0);
  coarse.add_correction(r, z);
  EXPECT_EQ(z[15], 0);  // the fixed row takes no part
  a.multiply(z, remaining);
  combine(1, r, -1, remaining);
  coarse.add_correction(remaining, again);
  EXPECT_LT(norm(again), 1e-6 * norm(z));
}

TEST(Preconditioners, ComponentwiseCholeskySolvesEveryComponent) {
  const BlockMatrix scalar = random_matrix(n, 1, 1);
  for (const std::size_t components : {std::size_t{2}, std::size_t{3}}) {
    ComponentwiseCholesky<double> m;
    ASSERT_TRUE(m.update(scalar));
    const auto r = random_vector(scalar.size() * components, 1);
    std::vector<double> z(r.size()), one(scalar.size()), product(scalar.size());
    m.apply(r, z);
    for (std::size_t c = 0; c < components; ++c) {
      for (std::size_t i = 0; i < one.size(); ++i) one[i] = z[i * components + c];
      scalar.multiply(one, product);
      for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(product[i], r[i * components + c], 1e-12);
    }
  }
}

TEST(Preconditioners, IncompleteCholeskySurvivesMatricesThatAreNotDominant) {
  // Definite, but far from diagonally dominant: the factorisation without a shift breaks down.
  BlockMatrix a = random_matrix(n, 3, 0.12);
  SparseCholesky<double> definite;
  ASSERT_TRUE(definite.update(a));
  IncompleteCholesky m;
  iterations(m, a);
}

TEST(RoundedMatrix, MultipliesToSinglePrecision) {
  for (const int b : {1, 2, 3}) {
    BlockMatrix a = random_matrix(n, b, 0);
    a.set_couplings(std::vector<Coupling>{{0, a.pattern().rows() - 1, {9, 8, 7, 6, 5, 4, 3, 2, 1}}});
    RoundedMatrix rounded;
    rounded.update(a);
    const auto x = random_vector(a.size(), 1);
    std::vector<double> y(a.size()), expected(a.size());
    rounded.multiply(x, y);
    a.multiply(x, expected);
    combine(-1, expected, 1, y);
    EXPECT_LT(norm(y), 1e-6 * norm(expected));
    EXPECT_GT(norm(y), 0);
  }
}

// Springs on a lattice, whose rows add up to nothing, and what holds every node: 1e-3 of a spring single precision sees, 1e-8 it does not.
TEST(RoundedMatrix, SaysWhetherTranslationsSurvive) {
  for (const int b : {2, 3}) {
    BlockMatrix a = random_matrix(n, b, 0);
    const BlockPattern& pattern = a.pattern();
    const auto hold = [&](double held) {
      for (int row = 0; row < pattern.rows(); ++row) {
        double* diagonal = a.block(pattern.diagonal(row));
        for (int i = 0; i < b * b; ++i) diagonal[i] = i % (b + 1) == 0 ? held : 0;
        for (auto slot = pattern.row_start()[static_cast<std::size_t>(row)];
             slot < pattern.row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
          if (slot == pattern.diagonal(row)) continue;
          for (int i = 0; i < b * b; ++i) diagonal[i] -= a.block(slot)[i];
        }
      }
    };
    hold(1e-3);
    EXPECT_TRUE(survives_rounding(a));
    hold(1e-8);
    EXPECT_FALSE(survives_rounding(a));
  }
}

TEST(Preconditioners, InexactInverseReachesItsTolerance) {
  const BlockMatrix a = elastic_like(3, 1e-2);
  InexactInverse m({.relative_tolerance = 1e-6, .max_iterations = 1000, .monitor = {}});
  ASSERT_TRUE(m.update(a));
  EXPECT_FALSE(m.is_linear());
  const auto r = random_vector(a.size(), 1);
  std::vector<double> z(a.size()), back(a.size());
  m.apply(r, z);
  a.multiply(z, back);
  combine(-1, r, 1, back);
  EXPECT_LT(norm(back), 1e-4 * norm(r));
}

}  // namespace
}  // namespace lope::linalg
