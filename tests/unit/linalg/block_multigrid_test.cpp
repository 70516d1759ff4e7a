// Galerkin levels, the V-cycle over them, and its use to CG.
#include <lope/base/parallel.h>
#include <lope/linalg/block_multigrid.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/galerkin.h>
#include <lope/linalg/smoothing.h>
#include <lope/linalg/symmetric_sweep.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>
#include <support/dense.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

using Options = BlockMultigridOptions;

// Trilinear hexahedra on n×n×n nodes of linear elasticity with a little mass: each cell couples its 8 corners by the stiffness
// of springs along all of its edges and diagonals, plus a weak bond of all components. Nodes of the layer i = 0 are
// fixed if `held`.
BlockMatrix elastic_grid(int n, int block_size, double mass, bool held) {
  BlockMatrix a = random_matrix(n, block_size, 0);
  a.set_zero();
  const BlockPattern& pattern = a.pattern();
  const int b = block_size;
  const auto place = [n](int row) { return std::array{row / (n * n), row / n % n, row % n}; };
  for (int row = 0; row < pattern.rows(); ++row) {
    for (auto slot = pattern.row_start()[static_cast<std::size_t>(row)];
         slot < pattern.row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
      const int column = pattern.column()[static_cast<std::size_t>(slot)];
      double* diagonal = a.block(pattern.diagonal(row));
      if (column == row) {
        for (int i = 0; i < b; ++i) diagonal[i * (b + 1)] += mass;
        continue;
      }
      const auto from = place(row), to = place(column);
      std::array<double, 3> along = {};
      double square = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        along[k] = to[k] - from[k];
        square += along[k] * along[k];
      }
      for (int i = 0; i < b; ++i) {
        for (int j = 0; j < b; ++j) {
          const double value = along[static_cast<std::size_t>(i)] * along[static_cast<std::size_t>(j)] / square +
                               (i == j ? 0.1 : 0.0);
          a.block(slot)[i * b + j] -= value;
          diagonal[i * b + j] += value;
        }
      }
    }
  }
  if (held) {
    std::vector<std::uint8_t> fixed(static_cast<std::size_t>(n * n * n), 0);
    std::fill_n(fixed.begin(), n * n, std::uint8_t{1});
    a.make_identity(fixed, 1e4);
  }
  return a;
}

// Linear embedding in a grid of twice the spacing.
Prolongation coarsen(int n) {
  const int m = n / 2 + 1;
  Prolongation p;
  p.columns = m * m * m;
  p.start.push_back(0);
  for (int row = 0; row < n * n * n; ++row) {
    const std::array<int, 3> at = {row / (n * n), row / n % n, row % n};
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1;
      int column = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const int upper = corner >> k & 1;
        weight *= at[k] % 2 == 0 ? (upper ? 0.0 : 1.0) : 0.5;
        column = column * m + at[k] / 2 + upper;
      }
      if (weight == 0) continue;
      p.column.push_back(column);
      p.weight.push_back(weight);
    }
    p.start.push_back(static_cast<int>(p.column.size()));
  }
  return p;
}

HierarchyPtr grid_hierarchy(int n, int levels) {
  std::vector<Prolongation> prolongations;
  for (int l = 1; l < levels; ++l) {
    prolongations.push_back(coarsen(n));
    n = n / 2 + 1;
  }
  return std::make_shared<const Hierarchy>(std::move(prolongations));
}

Eigen::MatrixXd dense(const BlockMatrix& a) {
  const auto size = static_cast<Eigen::Index>(a.size());
  Eigen::MatrixXd result(size, size);
  std::vector<double> e(a.size()), column(a.size());
  for (Eigen::Index j = 0; j < size; ++j) {
    std::fill(e.begin(), e.end(), 0.0);
    e[static_cast<std::size_t>(j)] = 1;
    a.multiply(e, column);
    result.col(j) = Eigen::Map<Eigen::VectorXd>(column.data(), size);
  }
  return result;
}

// P ⊗ I with the rows of projectors and without those that are not active.
Eigen::MatrixXd dense(const Prolongation& p, int b, std::span<const std::uint8_t> active,
                      std::span<const RowProjector> projectors) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(p.rows() * b, p.columns * b);
  for (int i = 0; i < p.rows(); ++i) {
    Eigen::MatrixXd n = Eigen::MatrixXd::Identity(b, b);
    for (const RowProjector& projector : projectors) {
      if (projector.row != i) continue;
      for (int r = 0; r < b; ++r) {
        for (int c = 0; c < b; ++c) n(r, c) = projector.block[static_cast<std::size_t>(r * b + c)];
      }
    }
    if (active[static_cast<std::size_t>(i)] == 0) n.setZero();
    for (int k = p.start[static_cast<std::size_t>(i)]; k < p.start[static_cast<std::size_t>(i) + 1]; ++k) {
      result.block(i * b, p.column[static_cast<std::size_t>(k)] * b, b, b) += p.weight[static_cast<std::size_t>(k)] * n;
    }
  }
  return result;
}

RowProjector slip(int row, int b, std::array<double, 3> normal) {
  double square = 0;
  for (int k = 0; k < b; ++k) square += normal[static_cast<std::size_t>(k)] * normal[static_cast<std::size_t>(k)];
  RowProjector result{row, {}};
  for (int i = 0; i < b; ++i) {
    for (int j = 0; j < b; ++j) {
      result.block[static_cast<std::size_t>(i * b + j)] =
          (i == j ? 1.0 : 0.0) - normal[static_cast<std::size_t>(i)] * normal[static_cast<std::size_t>(j)] / square;
    }
  }
  return result;
}

// A ← N A N + 50 (I − N).
void constrain(BlockMatrix& a, std::span<const RowProjector> projectors) {
  const int b = a.block_size();
  using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (const RowProjector& projector : projectors) {
    const Block n = Eigen::Map<const Block>(projector.block.data(), b, b);
    const auto row = static_cast<std::size_t>(projector.row);
    for (auto slot = a.pattern().row_start()[row]; slot < a.pattern().row_start()[row + 1]; ++slot) {
      const int column = a.pattern().column()[static_cast<std::size_t>(slot)];
      Eigen::Map<Block> block(a.block(slot), b, b), mirror(a.block(a.pattern().slot(column, projector.row)), b, b);
      if (column == projector.row) {
        block = (n * block * n + 50 * (Block::Identity(b, b) - n)).eval();
      } else {
        block = (n * block).eval();
        mirror = (mirror * n).eval();
      }
    }
  }
}

std::vector<Coupling> contact(int rows, int b) {
  std::vector<Coupling> couplings;
  for (int k = 0; k < 6; ++k) {
    Coupling c{3 + 2 * k, rows - 4 - 3 * k, {}};
    for (int i = 0; i < b; ++i) c.block[static_cast<std::size_t>(i * b + i)] = -0.5 - 0.1 * k;
    couplings.push_back(c);
  }
  couplings.push_back({3, rows - 7, couplings[0].block});
  return couplings;
}

TEST(Galerkin, ProductIsThatOfDenseMatrices) {
  for (const int b : {2, 3}) {
    for (const bool coupled : {false, true}) {
      constexpr int n = 5;
      BlockMatrix a = elastic_grid(n, b, 0.3, true);
      const std::vector<RowProjector> projectors = {slip(30, b, {1, 0.5, -0.3}), slip(77, b, {0, 1, 0})};
      constrain(a, projectors);
      if (coupled) a.set_couplings(contact(n * n * n, b));
      std::vector<std::uint8_t> active;
      find_coupled_rows(a, active);
      EXPECT_EQ(std::count(active.begin(), active.end(), std::uint8_t{0}), coupled ? n * n - 6 : n * n);
      const Prolongation p = coarsen(n);
      GalerkinProduct product;
      product.set(p);
      for (int round = 0; round < 2; ++round) {  // the second uses the symbolic work of the first
        if (round == 1) {
          for (double& value : a.values()) value *= 1.5;
        }
        const Eigen::MatrixXd fine = dense(a), transfer = dense(p, b, active, projectors);
        const Eigen::MatrixXd expected = transfer.transpose() * fine * transfer;
        const Eigen::MatrixXd coarse =
            dense(product.compute(a, active, projectors, GalerkinProduct::Couplings::Taken));
        EXPECT_LT((coarse - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff());
      }
    }
  }
}

TEST(Galerkin, ProductIsNotTakenForThatOfAnotherPatternOfTheSameSize) {
  const BlockMatrix a = elastic_grid(4, 2, 0.3, false);
  std::vector<int> pairs;
  for (int i = 0; i + 1 < 64; ++i) pairs.insert(pairs.end(), {i, i + 1});
  BlockMatrix chain(BlockPattern::from_groups(64, pairs, 2), 2);
  for (double& value : chain.values()) value = 1;
  const Prolongation p = coarsen(4);
  GalerkinProduct product;
  product.set(p);
  product.compute(a, {}, {}, GalerkinProduct::Couplings::Taken);
  const std::vector<std::uint8_t> active(64, 1);
  const Eigen::MatrixXd transfer = dense(p, 2, active, {});
  const Eigen::MatrixXd expected = transfer.transpose() * dense(chain) * transfer;
  const Eigen::MatrixXd coarse = dense(product.compute(chain, {}, {}, GalerkinProduct::Couplings::Taken));
  EXPECT_LT((coarse - expected).cwiseAbs().maxCoeff(), 1e-13 * expected.cwiseAbs().maxCoeff());
}

TEST(Hierarchy, SideBySideCarriesShallowPartsDown) {
  const HierarchyPtr deep = grid_hierarchy(9, 3), shallow = grid_hierarchy(3, 2);
  const std::array<HierarchyPtr, 3> parts = {deep, nullptr, shallow};
  const std::array<int, 3> rows = {729, 10, 27};
  const HierarchyPtr all = side_by_side(parts, rows);
  ASSERT_EQ(all->prolongations().size(), 2U);
  EXPECT_EQ(all->prolongations()[0].rows(), 729 + 10 + 27);
  EXPECT_EQ(all->prolongations()[0].columns, 125 + 8);
  EXPECT_EQ(all->prolongations()[1].rows(), 125 + 8);
  EXPECT_EQ(all->prolongations()[1].columns, 27 + 8);
  // The part without a hierarchy has empty rows; the last row of the last one is carried down unchanged.
  EXPECT_EQ(all->prolongations()[0].start[729], all->prolongations()[0].start[739]);
  EXPECT_EQ(all->prolongations()[1].column.back(), 34);
  EXPECT_EQ(all->prolongations()[1].weight.back(), 1);
  EXPECT_NE(all->id(), deep->id());
  EXPECT_EQ(side_by_side(std::array<HierarchyPtr, 1>{}, std::array<int, 1>{5}), nullptr);
}

struct Case {
  const char* name;
  int block_size;
  bool single;
  bool slips, coupled;
  int sweeps;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Cycle : public testing::TestWithParam<Case> {
 protected:
  static constexpr int n = 9;
  Cycle() : matrix_(elastic_grid(n, GetParam().block_size, 1e-2, true)) {
    const int b = GetParam().block_size;
    if (GetParam().slips) {
      // A whole layer with one normal, so that coarse blocks are singular, and single nodes.
      for (int k = 0; k < n * n; ++k) projectors_.push_back(slip((n - 1) * n * n + k, b, {0.6, 0.8, 0}));
      projectors_.push_back(slip(300, b, {1, 2, 3}));
      constrain(matrix_, projectors_);
    }
    if (GetParam().coupled) {
      std::vector<Coupling> couplings = contact(n * n * n, b);
      for (Coupling& c : couplings) {
        for (std::size_t i = 0; i < 9; ++i) c.block[i] *= 20;
        for (const int row : {c.row + n * n, c.column - n * n}) {
          for (int i = 0; i < b; ++i) matrix_.block(matrix_.pattern().diagonal(row))[i * (b + 1)] += 30;
        }
        c.row += n * n;
        c.column -= n * n;
      }
      matrix_.set_couplings(couplings);
    }
  }
  std::unique_ptr<BlockMultigrid> make() const {
    auto m = std::make_unique<BlockMultigrid>(
        Options{.sweeps = GetParam().sweeps, .single_precision = GetParam().single});
    m->set_hierarchy(grid_hierarchy(n, 3));
    m->set_projectors(projectors_);
    return m;
  }

  BlockMatrix matrix_;
  std::vector<RowProjector> projectors_;
};

INSTANTIATE_TEST_SUITE_P(
    BlockMultigrid, Cycle,
    testing::Values(Case{"plain3", 3, false, false, false, 1}, Case{"plain2", 2, false, false, false, 2},
                    Case{"single3", 3, true, false, false, 1}, Case{"single2", 2, true, true, true, 1},
                    Case{"plain1", 1, false, false, false, 1}, Case{"single1", 1, true, false, true, 1},
                    Case{"slip", 3, false, true, false, 1}, Case{"contact", 3, false, false, true, 1},
                    Case{"all", 3, true, true, true, 2}),
    [](const auto& c) { return c.param.name; });

TEST_P(Cycle, IsLinearSymmetricAndPositiveDefinite) {
  const auto m = make();
  ASSERT_TRUE(m->update(matrix_));
  const double rounding = GetParam().single ? 1e-5 : 1e-11;
  std::vector<double> du(matrix_.size()), dv(matrix_.size()), sum(matrix_.size()), dsum(matrix_.size());
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto u = random_vector(matrix_.size(), 2 * seed), v = random_vector(matrix_.size(), 2 * seed + 1);
    m->apply(u, du);
    m->apply(v, dv);
    EXPECT_GT(dot(u, du), 0);
    EXPECT_NEAR(dot(u, dv), dot(v, du), rounding * std::sqrt(dot(u, du) * dot(v, dv)));
    add_scaled(u, 0.7, v, sum);
    m->apply(sum, dsum);
    combine(-1, du, 1, dsum);
    combine(-0.7, dv, 1, dsum);
    EXPECT_LT(norm(dsum), rounding * norm(du));
  }
}

// Of a symmetric cycle with convergent smoothers the eigenvalues of M A are in (0, 1]; the smallest says how fast it is.
TEST_P(Cycle, ContractsErrors) {
  const auto m = make();
  ASSERT_TRUE(m->update(matrix_));
  auto x = random_vector(matrix_.size(), 5);
  std::vector<double> ax(matrix_.size()), z(matrix_.size());
  double energy = 0, factor = 1;
  for (int k = 0; k < 12; ++k) {
    matrix_.multiply(x, ax);
    const double next = std::sqrt(dot(x, ax));
    if (k > 0) factor = next / energy;
    energy = next;
    m->apply(ax, z);
    combine(-1, z, 1, x);
  }
  EXPECT_LT(factor, 0.5);
}

TEST_P(Cycle, HasTheSameBitsForAnyNumberOfThreads) {
  const auto r = random_vector(matrix_.size(), 1);
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    const ThreadLimit limit(threads);
    const auto m = make();
    ASSERT_TRUE(m->update(matrix_));
    results.emplace_back(matrix_.size());
    m->apply(r, results.back());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_P(Cycle, TakesOtherNumbersAsIfNew) {
  const auto m = make(), fresh = make();
  BlockMatrix other = matrix_;
  for (double& value : other.values()) value *= 3;
  other.clear_couplings();
  ASSERT_TRUE(m->update(other));
  ASSERT_TRUE(m->update(matrix_));
  ASSERT_TRUE(fresh->update(matrix_));
  const auto r = random_vector(matrix_.size(), 1);
  std::vector<double> z(r.size()), expected(r.size());
  m->apply(r, z);
  fresh->apply(r, expected);
  EXPECT_EQ(z, expected);
}

// The levels one by one make the same cycle.
TEST_P(Cycle, IsWhatItsLevelsAre) {
  const auto m = make();
  ASSERT_TRUE(m->update(matrix_));
  ASSERT_EQ(m->levels(), 3);
  const int sweeps = GetParam().sweeps;
  std::vector<std::vector<double>> f(3), x(3), r(3);
  for (int l = 0; l < 3; ++l) {
    for (auto* v : {&f, &x, &r}) (*v)[static_cast<std::size_t>(l)].resize(m->size(l));
  }
  f[0] = random_vector(matrix_.size(), 8);
  for (int l = 0; l < 2; ++l) {
    const auto i = static_cast<std::size_t>(l);
    m->smooth(l, f[i], x[i], sweeps, BlockMultigrid::Start::Zero);
    m->residual(l, f[i], x[i], r[i]);
    m->restrict_residual(l, r[i], f[i + 1]);
  }
  m->coarse_solve(f[2], x[2]);
  for (int l = 1; l >= 0; --l) {
    const auto i = static_cast<std::size_t>(l);
    m->prolong(l, x[i + 1], r[i]);
    combine(1, r[i], 1, x[i]);
    m->smooth(l, f[i], x[i], sweeps, BlockMultigrid::Start::X);
  }
  std::vector<double> z(matrix_.size());
  m->apply(f[0], z);
  combine(-1, x[0], 1, z);
  EXPECT_LT(norm(z), (GetParam().single ? 1e-4 : 1e-10) * norm(x[0]));
  // The residual is that of the matrix.
  std::vector<double> ax(matrix_.size());
  matrix_.multiply(x[0], ax);
  m->residual(0, f[0], x[0], r[0]);
  combine(1, ax, 1, r[0]);
  combine(-1, f[0], 1, r[0]);
  EXPECT_LT(norm(r[0]), (GetParam().single ? 1e-5 : 1e-12) * norm(ax));
}

int cg_iterations(const BlockMatrix& a, Preconditioner& m) {
  const auto right = random_vector(a.size(), 3);
  std::vector<double> x(a.size());
  ConjugateGradient cg;
  const CgSummary summary = cg.solve(local_space(), [&](ConstVector p, Vector ap) { a.multiply(p, ap); }, m, right, x,
                                     {.relative_tolerance = 1e-8, .monitor = {}});
  EXPECT_TRUE(summary.converged);
  return summary.iterations;
}

TEST(BlockMultigrid, ConvergenceDoesNotDependOnTheSize) {
  int coarse = 0;
  for (const int n : {9, 17, 33}) {
    const BlockMatrix a = elastic_grid(n, 3, 1e-5, true);
    BlockMultigrid m;
    m.set_hierarchy(grid_hierarchy(n, n == 9 ? 2 : n == 17 ? 3 : 4));
    ASSERT_TRUE(m.update(a));
    const int iterations = cg_iterations(a, m);
    if (n == 9) coarse = iterations;
    EXPECT_LE(iterations, coarse + 3) << n;
    EXPECT_LE(iterations, 16) << n;
    if (n == 17) {
      BlockJacobi jacobi;
      ASSERT_TRUE(jacobi.update(a));
      EXPECT_GT(cg_iterations(a, jacobi), 4 * iterations);
    }
  }
}

TEST(BlockMultigrid, CoarsestSolveByConjugateGradientsIsEnoughForFlexibleOnes) {
  const BlockMatrix a = elastic_grid(17, 3, 1e-3, true);
  BlockMultigrid exact, inexact({.most_factored = 10, .single_precision = true});
  for (BlockMultigrid* m : {&exact, &inexact}) {
    m->set_hierarchy(grid_hierarchy(17, 3));
    ASSERT_TRUE(m->update(a));
  }
  EXPECT_TRUE(exact.is_linear());
  EXPECT_FALSE(inexact.is_linear());
  EXPECT_LE(cg_iterations(a, inexact), 2 * cg_iterations(a, exact));
}

TEST(BlockMultigrid, TakesAnotherHierarchyAndAnotherPattern) {
  BlockMultigrid m;
  m.set_hierarchy(grid_hierarchy(9, 3));
  ASSERT_TRUE(m.update(elastic_grid(9, 3, 1e-2, true)));
  EXPECT_EQ(m.levels(), 3);
  // As many rows, another matrix: the hierarchy is of no use, but nothing of the old one is left.
  const BlockMatrix other = random_matrix(9, 3, 1);
  m.set_hierarchy(grid_hierarchy(9, 2));
  ASSERT_TRUE(m.update(other));
  EXPECT_EQ(m.levels(), 2);
  BlockMultigrid fresh;
  fresh.set_hierarchy(grid_hierarchy(9, 2));
  ASSERT_TRUE(fresh.update(other));
  const auto r = random_vector(other.size(), 1);
  std::vector<double> z(r.size()), expected(r.size());
  m.apply(r, z);
  fresh.apply(r, expected);
  EXPECT_EQ(z, expected);
}

TEST(BlockMultigrid, SaysThatAMatrixIsNotDefinite) {
  BlockMatrix a = elastic_grid(5, 3, 1e-2, true);
  a.block(a.pattern().diagonal(60))[4] = -1;
  BlockMultigrid m;
  m.set_hierarchy(grid_hierarchy(5, 2));
  EXPECT_FALSE(m.update(a));
  a.block(a.pattern().diagonal(60))[4] = std::nan("");
  EXPECT_FALSE(m.update(a));
}

double apart(std::vector<double> x, const std::vector<double>& y) {
  combine(-1, y, 1, x);
  return norm(x);
}

// A ⊗ I for a matrix of single numbers.
BlockMatrix expanded(const BlockMatrix& numbers, int b) {
  BlockMatrix a(std::make_shared<const BlockPattern>(numbers.pattern()), b);
  for (std::int64_t slot = 0; slot < numbers.pattern().blocks(); ++slot) {
    for (int i = 0; i < b; ++i) a.block(slot)[i * (b + 1)] = *numbers.block(slot);
  }
  return a;
}

TEST(BlockMultigrid, OneNumberPerBlockIsAMultipleOfTheIdentity) {
  constexpr int n = 9;
  const BlockMatrix numbers = elastic_grid(n, 1, 1e-2, true);
  for (const int b : {1, 2, 3}) {
    for (const bool single : {false, true}) {
      BlockMultigrid one({.sweeps = 2, .components = b, .single_precision = single}), whole({.sweeps = 2, .single_precision = single});
      for (BlockMultigrid* m : {&one, &whole}) m->set_hierarchy(grid_hierarchy(n, 3));
      const BlockMatrix a = expanded(numbers, b);
      ASSERT_TRUE(one.update(numbers) && whole.update(a));
      EXPECT_EQ(one.size(0), a.size());
      const auto r = random_vector(a.size(), 3);
      std::vector<double> z(r.size()), expected(r.size());
      one.apply(r, z);
      whole.apply(r, expected);
      EXPECT_LT(apart(z, expected), (single ? 1e-5 : 1e-12) * norm(expected)) << b;
      SymmetricSweep sweep({.sweeps = 3, .components = b}), of_blocks({.sweeps = 3});
      ASSERT_TRUE(sweep.update(numbers) && of_blocks.update(a));
      sweep.apply(r, z);
      of_blocks.apply(r, expected);
      EXPECT_LT(apart(z, expected), 1e-12 * norm(expected)) << b;
    }
  }
}

// The error that is left of one whose eigenvalue is λ: T_k(λ/ρ)/T_k(1/ρ), Chebyshev's polynomials.
TEST(Smoothing, WeightsAreThoseOfChebyshev) {
  for (const double radius : {0.3, 0.9, 0.99}) {
    for (const double lambda : {0.0, 0.2, 0.6, 0.95}) {
      ChebyshevWeights weights(radius);
      double before = 0, now = 1;
      for (int k = 1; k <= 12; ++k) {
        const double next = weights.next() * (lambda * now - before) + before;
        before = now;
        now = next;
        const double ratio = lambda / radius;
        const double above = ratio <= 1 ? std::cos(k * std::acos(ratio)) : std::cosh(k * std::acosh(ratio));
        EXPECT_NEAR(now, above / std::cosh(k * std::acosh(1 / radius)), 1e-12) << radius << " " << lambda << " " << k;
      }
    }
  }
}

TEST(Smoothing, AcceleratedSweepsReduceSmoothErrorsFaster) {
  const BlockMatrix a = elastic_grid(9, 3, 0.1, false);
  const std::vector<double> x(a.size(), 1.0);
  std::vector<double> b(a.size()), z(a.size()), left(a.size());
  a.multiply(x, b);
  const auto error = [&](const SymmetricSweepOptions& options) {
    SymmetricSweep sweep(options);
    EXPECT_TRUE(sweep.update(a));
    sweep.apply(b, z);
    combine(-1, x, 1, z);
    a.multiply(z, left);
    return std::sqrt(dot(z, left));
  };
  const double radius = error({.sweeps = 31}) / error({.sweeps = 30});
  EXPECT_LT(error({.sweeps = 20, .radius = radius}), 0.5 * error({.sweeps = 20}));
}

TEST(BlockMultigrid, AcceleratedCyclesStaySymmetricAndDefinite) {
  constexpr int n = 9;
  const BlockMatrix a = elastic_grid(n, 3, 1e-2, true);
  BlockMultigrid m({.sweeps = 3});
  m.set_hierarchy(grid_hierarchy(n, 3));
  m.set_smoother({.radius = 0.7});
  ASSERT_TRUE(m.update(a));
  EXPECT_TRUE(m.is_symmetric());
  std::vector<double> du(a.size()), dv(a.size()), plain(a.size());
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto u = random_vector(a.size(), 2 * seed), v = random_vector(a.size(), 2 * seed + 1);
    m.apply(u, du);
    m.apply(v, dv);
    EXPECT_GT(dot(u, du), 0);
    EXPECT_NEAR(dot(u, dv), dot(v, du), 1e-11 * std::sqrt(dot(u, du) * dot(v, dv)));
  }
  m.set_smoother({});
  const auto u = random_vector(a.size(), 8);
  m.apply(u, plain);
  m.set_smoother({.radius = 0.7});
  m.apply(u, du);
  EXPECT_GT(apart(du, plain), 1e-6 * norm(plain));
}

// A right-hand side that lives in a corner: most rows of the finest level are skipped, and the correction still leads down.
TEST(BlockMultigrid, AdaptiveSmoothingSkipsWhatIsSmall) {
  constexpr int n = 9;
  const BlockMatrix a = elastic_grid(n, 3, 1e-2, true);
  BlockMultigrid m({.sweeps = 2}), plain({.sweeps = 2});
  for (BlockMultigrid* grid : {&m, &plain}) grid->set_hierarchy(grid_hierarchy(n, 2));
  m.set_smoother({.skip_below = 0.5});
  ASSERT_TRUE(m.update(a) && plain.update(a));
  EXPECT_FALSE(m.is_linear());
  std::vector<double> r(a.size(), 0.0), z(a.size()), expected(a.size()), left(a.size());
  for (std::size_t k = r.size() - 300; k < r.size(); ++k) r[k] = 1;
  m.apply(r, z);
  const auto skipped = m.take_skipped();
  EXPECT_EQ(skipped.of, n * n * n);
  EXPECT_EQ(skipped.rows, n * n * n - 100);
  EXPECT_GT(dot(r, z), 0);
  const auto remaining = [&](const std::vector<double>& found) {
    a.multiply(found, left);
    combine(1, r, -1, left);
    return norm(left);
  };
  EXPECT_LT(remaining(z), norm(r));
  // With nothing small enough it is the plain cycle.
  const auto full = random_vector(a.size(), 4);
  m.set_smoother({.skip_below = 1e-9});
  m.apply(full, z);
  EXPECT_EQ(m.take_skipped().rows, 0);
  plain.apply(full, expected);
  EXPECT_LT(apart(z, expected), 1e-12 * norm(expected));
}

}  // namespace
}  // namespace lope::linalg
