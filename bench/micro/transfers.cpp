// The transfers of a liquid between particles and grid, and the sorting before them: a cube of n³ cells with
// eight particles each, somewhat disordered.
//
//   bench_transfers [--benchmark_filter=...]
//
// "particles" counts them per second. Floors: a particle's place, velocity and gradient are 120 bytes;
// sorting reads and writes them (240 bytes), to_grid reads them (120), to_particles reads the place and
// writes the rest and the carrying velocity (144). "bytes" is that per second, to be held against the memory
// bandwidth.
#include <lope/base/random.h>
#include <lope/matter/liquid/transfers.h>

#include <benchmark/benchmark.h>

namespace lope::matter::liquid {
namespace {

struct Setup {
  Grid<3> grid;
  Particles<3> particles;
  SortingMemory<3> memory;
  FaceField<3> faces;
  std::vector<double> mass;
  std::vector<Vec3> carried;

  explicit Setup(int n) {
    grid.dx = 1.0 / n;
    const std::size_t count =
        8 * static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < count; ++i)
      particles.add(Vec3(random_unit(1, 3 * i), random_unit(1, 3 * i + 1), random_unit(1, 3 * i + 2)),
                    Vec3(1, 2, 3));
    bin_particles(particles, 4, grid, memory);
    to_grid(grid, particles, faces, mass);
  }
  void count(benchmark::State& state, double bytes) const {
    using benchmark::Counter;
    const auto number = static_cast<double>(particles.size());
    state.counters["particles"] = Counter(number, Counter::kIsIterationInvariantRate);
    state.counters["bytes"] = Counter(bytes * number, Counter::kIsIterationInvariantRate);
  }
};

void sorting(benchmark::State& state) {
  Setup setup(static_cast<int>(state.range(0)));
  for (auto _ : state) bin_particles(setup.particles, 4, setup.grid, setup.memory);
  setup.count(state, 240);
}

void particles_to_grid(benchmark::State& state) {
  Setup setup(static_cast<int>(state.range(0)));
  for (auto _ : state) to_grid(setup.grid, setup.particles, setup.faces, setup.mass);
  setup.count(state, 120);
}

void grid_to_particles(benchmark::State& state) {
  Setup setup(static_cast<int>(state.range(0)));
  for (auto _ : state)
    to_particles(setup.grid, setup.faces.velocity, setup.faces.velocity, {}, setup.particles, setup.carried);
  setup.count(state, 144);
}

BENCHMARK(sorting)->Arg(32)->Arg(48)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(particles_to_grid)->Arg(32)->Arg(48)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(grid_to_particles)->Arg(32)->Arg(48)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace lope::matter::liquid

BENCHMARK_MAIN();
