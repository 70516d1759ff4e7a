// What an iteration of conjugate gradients is made of, on the Hessian of a cube of n³ cells of tetrahedra at rest, with a
// mass that makes it definite: products in double and in single precision, incomplete factors and their application, vector
// operations, and whole iterations of a solve as `dot` does it.
//
//   bench_conjugate_gradient [--benchmark_filter=...]
//
// "bytes" is what must be read of matrices (8 or 4 per entry and 4 per block) and of vectors, per second.
#include <lope/base/parallel.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/incomplete_cholesky.h>
#include <lope/linalg/rounded_matrix.h>
#include <lope/matter/solid/elastic_elements.h>

#include <memory>
#include <vector>

#include "unit/matter/solid/block_mesh.h"
#include <benchmark/benchmark.h>

namespace lope::linalg {
namespace {

struct Problem {
  std::unique_ptr<BlockMatrix> a;
  std::vector<double> x, y;

  explicit Problem(int cells) {
    const auto mesh = matter::block_mesh<3>(cells, 0.2);
    const auto rubber = material::from_young_poisson(material::Density::FixedCorotated, 1e5, 0.4);
    const matter::ElasticElements<3> elements(mesh.positions, mesh.elements, {rubber});
    a = std::make_unique<BlockMatrix>(elements.pattern(), 3);
    elements.add_hessian(optimize::HessianKind::Projected, 1, *a);
    for (int row = 0; row < a->pattern().rows(); ++row) {
      double* block = a->block(a->pattern().diagonal(row));
      for (int k = 0; k < 3; ++k) block[4 * k] += 1e3 / cells;
    }
    for (std::size_t k = 0; k < a->size(); ++k) x.push_back(random_unit(1, k) - 0.5);
    y.resize(x.size());
  }
  double blocks() const { return static_cast<double>(a->pattern().blocks()); }
};

void count(benchmark::State& state, double bytes) {
  state.counters["bytes"] = benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
}

void product(benchmark::State& state) {
  Problem problem(static_cast<int>(state.range(0)));
  for (auto _ : state) problem.a->multiply(problem.x, problem.y);
  count(state, 76 * problem.blocks());
}

void rounded_product(benchmark::State& state) {
  Problem problem(static_cast<int>(state.range(0)));
  RoundedMatrix rounded;
  rounded.update(*problem.a);
  for (auto _ : state) rounded.multiply(problem.x, problem.y);
  count(state, 40 * problem.blocks());
}

void incomplete_factor(benchmark::State& state) {
  Problem problem(static_cast<int>(state.range(0)));
  IncompleteCholesky incomplete;
  for (auto _ : state) incomplete.update(*problem.a);
}

void incomplete_solve(benchmark::State& state) {
  Problem problem(static_cast<int>(state.range(0)));
  IncompleteCholesky incomplete;
  incomplete.update(*problem.a);
  for (auto _ : state) incomplete.apply(problem.x, problem.y);
  count(state, 40 * problem.blocks());  // half of them, twice
}

void vector_combine(benchmark::State& state) {
  Problem problem(static_cast<int>(state.range(0)));
  for (auto _ : state) combine(1e-3, problem.x, 0.5, problem.y);
  count(state, 24 * static_cast<double>(problem.x.size()));
}

void vector_dot(benchmark::State& state) {
  Problem problem(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(local_space().dot(problem.x, problem.y));
  count(state, 16 * static_cast<double>(problem.x.size()));
}

// Ten iterations.
void iterations(benchmark::State& state) {
  Problem problem(static_cast<int>(state.range(0)));
  RoundedMatrix rounded;
  rounded.update(*problem.a);
  IncompleteCholesky incomplete;
  incomplete.update(*problem.a);
  ConjugateGradient cg;
  const auto multiply = [&](ConstVector p, Vector ap) { rounded.multiply(p, ap); };
  for (auto _ : state)
    cg.solve(local_space(), multiply, incomplete, problem.x, problem.y, {.relative_tolerance = 0, .max_iterations = 10});
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(16)->Arg(26)->Arg(50)->Unit(benchmark::kMicrosecond);
}
BENCHMARK(product)->Apply(sizes);
BENCHMARK(rounded_product)->Apply(sizes);
BENCHMARK(incomplete_factor)->Apply(sizes);
BENCHMARK(incomplete_solve)->Apply(sizes);
BENCHMARK(vector_combine)->Apply(sizes);
BENCHMARK(vector_dot)->Apply(sizes);
BENCHMARK(iterations)->Apply(sizes);

}  // namespace
}  // namespace lope::linalg

BENCHMARK_MAIN();
