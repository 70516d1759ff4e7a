// The pressure multigrid on the half-filled sphere: set-up, one V-cycle, and whole solves with separating and with
// holding walls.
//
//   bench_pressure [--benchmark_filter=...]
//
// "cells" counts unknowns per second. A V-cycle's floor: per unknown it reads and writes at least 9 numbers of 4 bytes in
// each of its four sweeps of the finest level, 180 bytes with residual and transfers; "bytes" is that per second, to be
// held against the memory bandwidth (or the cache's, where the grid fits).
#include <lope/linalg/multigrid_cycle.h>
#include <lope/matter/liquid/pressure_solvers.h>

#include <benchmark/benchmark.h>
#include <papers/lcp_scenarios.h>

namespace lope::matter {
namespace {

using bench::lcp_problem;
using bench::LcpScenario;
using bench::LcpVelocity;

PressureSystem<3> sphere(int n, bool separating) {
  PressureOptions options;
  options.separating = separating;
  return {lcp_problem<3>(LcpScenario::Sphere, n, LcpVelocity::Smooth), options};
}

void count(benchmark::State& state, const PressureSystem<3>& system) {
  state.counters["cells"] =
      benchmark::Counter(system.unknowns(), benchmark::Counter::kIsIterationInvariantRate);
}

void set_up(benchmark::State& state) {
  const auto system = sphere(static_cast<int>(state.range(0)), true);
  PressureHierarchy<3> hierarchy;
  for (auto _ : state) {
    hierarchy.attach(system, true);
    hierarchy.build_matrices();
  }
  count(state, system);
}

void cycle(benchmark::State& state) {
  const auto system = sphere(static_cast<int>(state.range(0)), true);
  PressureHierarchy<3> hierarchy;
  hierarchy.attach(system, true);
  hierarchy.build_matrices();
  std::vector<double> p(hierarchy.field_size());
  hierarchy.defect(p);
  for (auto _ : state) linalg::v_cycle(hierarchy);
  count(state, system);
  state.counters["bytes"] =
      benchmark::Counter(180.0 * system.unknowns(), benchmark::Counter::kIsIterationInvariantRate);
}

void solve(benchmark::State& state, bool separating) {
  const auto system = sphere(static_cast<int>(state.range(0)), separating);
  const auto solver = pressure_solver<3>(separating ? PressureMethod::TruncatedMultigrid
                                                    : PressureMethod::LinearMultigrid);
  std::vector<double> q(system.bricks().size());
  int cycles = 0;
  for (auto _ : state) {
    std::fill(q.begin(), q.end(), 0.0);
    cycles = solver->solve(system, q, {}).iterations;
  }
  count(state, system);
  state.counters["cycles"] = cycles;
}
void separating_walls(benchmark::State& state) { solve(state, true); }
void holding_walls(benchmark::State& state) { solve(state, false); }

BENCHMARK(set_up)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(cycle)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(separating_walls)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(holding_walls)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace lope::matter

BENCHMARK_MAIN();
