// Sparse Cholesky on bars of tetrahedra: ours, in double and in single precision, against CHOLMOD's
// supernodal one (over BLIS, same order of elimination), and the product with the matrix.
//
//   bench_cholesky [--benchmark_filter=...]
//
// "rate" is flop/s of a factorisation (each code by its own count) or bytes/s of a solve or product (the
// factor is read twice in a solve, the matrix once in a product). Ours has as many threads as there are
// cores, CHOLMOD one; the column CPU adds up the threads.
#include <lope/base/random.h>
#include <lope/linalg/cholesky.h>

#include <map>

#include <benchmark/benchmark.h>
#include <rivals/cholmod.h>

namespace lope::linalg {
namespace {

using rivals::CholmodFactor;

// A lattice of n × n × length rows, every cell cut into the six tetrahedra around a diagonal.
BlockMatrix bar(int n, int length) {
  const auto at = [n](int i, int j, int k) { return (k * n + j) * n + i; };
  std::vector<int> tetrahedra;
  const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int k = 0; k + 1 < length; ++k) {
    for (int j = 0; j + 1 < n; ++j) {
      for (int i = 0; i + 1 < n; ++i) {
        for (const auto& path : axes) {
          int corner[3] = {i, j, k};
          tetrahedra.push_back(at(i, j, k));
          for (const int axis : path) {
            ++corner[axis];
            tetrahedra.push_back(at(corner[0], corner[1], corner[2]));
          }
        }
      }
    }
  }
  BlockMatrix matrix(BlockPattern::from_groups(n * n * length, tetrahedra, 4), 3);
  const BlockPattern& pattern = matrix.pattern();
  for (int row = 0; row < pattern.rows(); ++row) {
    for (auto slot = pattern.row_start()[static_cast<std::size_t>(row)];
         slot < pattern.row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
      const int column = pattern.column()[static_cast<std::size_t>(slot)];
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          const auto low = static_cast<std::uint64_t>(std::min(row * 3 + i, column * 3 + j));
          const auto high = static_cast<std::uint64_t>(std::max(row * 3 + i, column * 3 + j));
          matrix.block(slot)[i * 3 + j] = random_unit(low, high) - 0.5 + (low == high ? 30 : 0);
        }
      }
    }
  }
  return matrix;
}

// The bar of about `rows` rows, made once.
const BlockMatrix& bar_of(std::int64_t rows) {
  static std::map<std::int64_t, BlockMatrix> bars;
  const auto found = bars.find(rows);
  if (found != bars.end()) return found->second;
  const int n = rows < 10000 ? 12 : rows < 30000 ? 17 : 24;
  return bars.emplace(rows, bar(n, static_cast<int>(rows / (n * n)))).first->second;
}

void set_rate(benchmark::State& state, double per_iteration) {
  state.counters["rate"] = benchmark::Counter(per_iteration, benchmark::Counter::kIsIterationInvariantRate);
}

template <class Factor>
void analyze(benchmark::State& state) {
  const BlockMatrix& matrix = bar_of(state.range(0));
  for (auto _ : state) {
    Factor factor;
    if (!factor.update(matrix)) state.SkipWithError("not positive definite");
  }
}

template <class Factor>
void factorize(benchmark::State& state) {
  const BlockMatrix& matrix = bar_of(state.range(0));
  Factor factor;
  if (!factor.update(matrix)) state.SkipWithError("not positive definite");
  for (auto _ : state) benchmark::DoNotOptimize(factor.update(matrix));
  set_rate(state, factor.factor_flops());
  state.counters["MB"] = factor.factor_bytes() / 1e6;
}

template <class Factor>
void solve(benchmark::State& state) {
  const BlockMatrix& matrix = bar_of(state.range(0));
  Factor factor;
  if (!factor.update(matrix)) state.SkipWithError("not positive definite");
  const std::vector<double> right(matrix.size(), 1.0);
  std::vector<double> x(matrix.size());
  for (auto _ : state) factor.apply(right, x);
  set_rate(state, 2 * factor.factor_bytes());
}

void multiply(benchmark::State& state) {
  const BlockMatrix& matrix = bar_of(state.range(0));
  const std::vector<double> x(matrix.size(), 1.0);
  std::vector<double> y(matrix.size());
  for (auto _ : state) matrix.multiply(x, y);
  const auto blocks = static_cast<double>(matrix.pattern().blocks());
  set_rate(state, blocks * (9 * sizeof(double) + sizeof(int)));
}

// dgemm of the BLAS on one thread, the yardstick of the factorisations.
void blas(benchmark::State& state) {
  double rate = 0;
  for (auto _ : state) rate = rivals::measure_blas();
  state.counters["rate"] = rate;
}

void bars(benchmark::internal::Benchmark* which) {
  which->Arg(5000)
      ->Arg(17000)
      ->Arg(50000)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}
using Ours = SparseCholesky<double>;
using OursSingle = SparseCholesky<float>;
BENCHMARK(blas)->Iterations(1);
BENCHMARK_TEMPLATE(analyze, Ours)->Apply(bars)->Iterations(1);
BENCHMARK_TEMPLATE(analyze, CholmodFactor)->Apply(bars)->Iterations(1);
BENCHMARK_TEMPLATE(factorize, Ours)->Apply(bars);
BENCHMARK_TEMPLATE(factorize, OursSingle)->Apply(bars);
BENCHMARK_TEMPLATE(factorize, CholmodFactor)->Apply(bars);
BENCHMARK_TEMPLATE(solve, Ours)->Apply(bars);
BENCHMARK_TEMPLATE(solve, OursSingle)->Apply(bars);
BENCHMARK_TEMPLATE(solve, CholmodFactor)->Apply(bars);
BENCHMARK(multiply)->Apply(bars);

}  // namespace
}  // namespace lope::linalg

BENCHMARK_MAIN();
