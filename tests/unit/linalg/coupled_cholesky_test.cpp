#include <lope/linalg/coupled_cholesky.h>
#include <lope/linalg/space.h>

#include <gtest/gtest.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

// A random coupling between two rows, and as much on both diagonals that the matrix stays positive definite.
void couple(BlockMatrix& matrix, std::vector<Coupling>& couplings, int a, int b, double strength) {
  Coupling coupling{a, b, {}};
  const auto size = static_cast<std::size_t>(matrix.block_size());
  for (std::size_t k = 0; k < size * size; ++k) {
    coupling.block[k] =
        strength * (random_unit(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b) + 1000 * k) - 0.5);
  }
  for (const int row : {a, b}) {
    double* block = matrix.block(matrix.pattern().diagonal(row));
    for (std::size_t i = 0; i < size; ++i) block[i * size + i] += strength * static_cast<double>(size);
  }
  couplings.push_back(coupling);
}

struct Coupled {
  explicit Coupled(const std::vector<std::pair<int, int>>& places, int block_size = 3, double strength = 1e4)
      : matrix(random_matrix(6, block_size, 1)) {
    for (const auto& [a, b] : places) couple(matrix, couplings, a, b, strength);
    matrix.set_couplings(couplings);
  }
  BlockMatrix matrix;
  std::vector<Coupling> couplings;
};

const std::vector<std::pair<int, int>> some = {{0, 215}, {3, 180}, {17, 99}, {200, 5}, {0, 215}},
                                       others = {{1, 214}, {3, 180}, {40, 160}};

template <class T>
std::vector<double> solution(CoupledCholesky<T>& factor, const BlockMatrix& matrix) {
  std::vector<double> x(matrix.size());
  EXPECT_TRUE(factor.update(matrix));
  factor.apply(random_vector(matrix.size(), 7), x);
  return x;
}

double residual(const BlockMatrix& matrix, const std::vector<double>& x) {
  std::vector<double> r(x.size());
  const std::vector<double> right = random_vector(x.size(), 7);
  matrix.multiply(x, r);
  combine(1, right, -1, r);
  return local_space().norm(r) / local_space().norm(right);
}

TEST(CoupledCholesky, SolvesWithCouplings) {
  for (const int block_size : {2, 3}) {
    const Coupled a(some, block_size);
    CoupledCholesky<double> in_double;
    EXPECT_LT(residual(a.matrix, solution(in_double, a.matrix)), 1e-12);
    CoupledCholesky<float> in_float;
    EXPECT_LT(residual(a.matrix, solution(in_float, a.matrix)), 1e-3);
  }
}

TEST(CoupledCholesky, SolvesWhileCouplingsComeAndGo) {
  CoupledCholesky<double> factor;
  const Coupled none({}), first(some), second(others), one({{3, 180}});
  for (const Coupled* a : {&none, &first, &second, &one, &none, &first})
    EXPECT_LT(residual(a->matrix, solution(factor, a->matrix)), 1e-12);
}

// A coupling where the pattern has a block already counts once, beside it.
TEST(CoupledCholesky, AddsCouplingsToBlocksOfThePattern) {
  Coupled a({{0, 1}}, 3, 3.0);
  ASSERT_GE(a.matrix.pattern().slot(0, 1), 0);
  CoupledCholesky<double> factor;
  EXPECT_LT(residual(a.matrix, solution(factor, a.matrix)), 1e-12);
}

TEST(CoupledCholesky, DoesNotDependOnWhatIsForgotten) {
  const Coupled before(others), now(some);
  CoupledCholesky<double> fresh, used;
  const std::vector<double> expected = solution(fresh, now.matrix);
  solution(used, before.matrix);
  used.forget();
  EXPECT_EQ(solution(used, now.matrix), expected);
}

TEST(CoupledCholesky, RefusesAnIndefiniteMatrix) {
  Coupled a(some);
  a.matrix.block(a.matrix.pattern().diagonal(100))[0] = -1e6;
  CoupledCholesky<double> factor;
  EXPECT_FALSE(factor.update(a.matrix));
  const Coupled sound(some);
  EXPECT_LT(residual(sound.matrix, solution(factor, sound.matrix)), 1e-12);
}

}  // namespace
}  // namespace lope::linalg
