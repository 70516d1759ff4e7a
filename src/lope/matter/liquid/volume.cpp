#include <lope/base/parallel.h>
#include <lope/matter/liquid/volume.h>

#include <algorithm>
#include <cmath>

namespace lope::matter::liquid {
namespace {

constexpr double noise_of_one = 0.2;      // tolerance of ψ with one particle per cell
constexpr double mean_tolerance = 0.005;  // of the mean over all cells inside the liquid
constexpr double correction_rate = 0.25;  // part of the excess that a substep undoes
constexpr double diffusion = 0.1;         // of ψ in a substep, in cells²; stable below 1/6
constexpr double hole_depth = 0.1;        // cells below the surface where a hole counts as being

double tolerance(double particles_per_cell) { return noise_of_one / std::sqrt(particles_per_cell); }

// What exceeds a tolerance on either side.
double beyond(double value, double tolerance) {
  return value > tolerance ? value - tolerance : value < -tolerance ? value + tolerance : 0;
}

// The cells of a brick all of whose neighbours along the axes are in the masks.
template <int Dim>
geometry::BrickMask<Dim> surrounded(const geometry::BrickSet<Dim>& bricks, std::size_t b, const CellMasks<Dim>& masks) {
  const auto around = bricks.neighbours(static_cast<int>(b));
  geometry::BrickMask<Dim> result = geometry::BrickMask<Dim>::of([](std::size_t) { return true; });
  std::ptrdiff_t three = 1;
  for (int a = 0; a < Dim; ++a, three *= 3) {
    for (const int direction : {-1, 1}) {
      const int other =
          around[static_cast<std::size_t>(geometry::BrickSet<Dim>::around / 2 + direction * three)];
      const geometry::BrickMask<Dim> beyond = other < 0 ? geometry::BrickMask<Dim>() : masks[static_cast<std::size_t>(other)];
      result &= geometry::next_to<Dim>(masks[b], beyond, a, direction);
    }
  }
  return result;
}

}  // namespace

template <int Dim>
void close_holes(const geometry::BrickSet<Dim>& bricks, std::span<const double> open_volume, double dx,
                 std::vector<double>& distance, CellMasks<Dim>& deep) {
  constexpr std::size_t cells = geometry::BrickSet<Dim>::cells;
  const auto count = static_cast<std::size_t>(bricks.count());
  CellMasks<Dim> filled(count);  // with liquid or walls
  parallel_for(count, 8, [&](std::size_t b) {
    filled[b] = geometry::BrickMask<Dim>::of([&](std::size_t local) {
      const std::size_t i = b * cells + local;
      return distance[i] < 0 || open_volume[i] == 0;
    });
  });
  deep.resize(count);
  parallel_for(count, 8, [&](std::size_t b) {
    deep[b] = surrounded<Dim>(bricks, b, filled).without(filled[b]);  // the holes
    deep[b].each([&](std::size_t local) { distance[b * cells + local] = -hole_depth * dx; });
  });
  for (std::size_t b = 0; b < count; ++b) filled[b] |= deep[b];
  parallel_for(count, 8, [&](std::size_t b) {
    const geometry::BrickMask<Dim> wall =
        geometry::BrickMask<Dim>::of([&](std::size_t local) { return !(distance[b * cells + local] < 0); });
    deep[b] = surrounded<Dim>(bricks, b, filled).without(wall);
  });
}

template <int Dim>
void want_expansion(std::span<const double> fraction, std::span<const double> open_volume,
                    std::span<const double> distance, const CellMasks<Dim>& deep, double particles_per_cell,
                    double dx, double dt, std::vector<double>& expansion) {
  constexpr std::size_t cells = geometry::BrickSet<Dim>::cells, part = 8;
  const auto sum_over = [&](const auto& masks_of, const auto& value) {
    return parallel_sum(deep.size(), part, [&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t b = begin; b < end; ++b)
        masks_of(b).each([&](std::size_t local) { sum += value(b * cells + local); });
      return sum;
    });
  };
  const auto sum_over_deep = [&](const auto& value) {
    return sum_over([&](std::size_t b) -> const geometry::BrickMask<Dim>& { return deep[b]; }, value);
  };
  const double number = sum_over_deep([](std::size_t) { return 1.0; });
  const double excess = sum_over_deep([&](std::size_t i) { return fraction[i] - 1; });
  const double mean = number > 0 ? beyond(std::clamp(excess / number, -0.5, 0.5), mean_tolerance) : 0;
  const double rate = correction_rate * dx / dt, noise = tolerance(particles_per_cell);
  expansion.resize(distance.size());
  parallel_for(deep.size(), part, [&](std::size_t b) {
    for (std::size_t local = 0; local < cells; ++local) {
      const std::size_t i = b * cells + local;
      const double off = fraction[i] - 1;
      double wanted = 0;
      if (distance[i] < 0) {
        if (off > 0 || deep[b][local]) wanted = std::min(beyond(off, noise), 1.0);
        if (deep[b][local]) wanted += mean;
      }
      expansion[i] = rate * open_volume[i] * wanted;
    }
  });
  const auto liquid = [&](std::size_t b) {
    return geometry::BrickMask<Dim>::of([&](std::size_t local) { return distance[b * cells + local] < 0; });
  };
  const double total = sum_over(liquid, [&](std::size_t i) { return expansion[i]; });
  const double room = rate * sum_over([&](std::size_t b) { return liquid(b).without(deep[b]); },
                                      [&](std::size_t i) { return open_volume[i]; });
  const double volume = sum_over_deep([&](std::size_t i) { return open_volume[i]; });
  if (!(total > room && volume > 0)) return;
  const double less = (total - room) / volume;
  parallel_for(deep.size(), part, [&](std::size_t b) {
    deep[b].each([&](std::size_t local) { expansion[b * cells + local] -= less * open_volume[b * cells + local]; });
  });
}

template <int Dim>
void drift_to_even(const geometry::BrickSet<Dim>& bricks, std::span<const double> fraction,
                   const PerAxis<std::vector<double>, Dim>& open, const CellMasks<Dim>& deep,
                   double particles_per_cell, double dx, PerAxis<std::vector<double>, Dim>& drift,
                   std::vector<std::uint8_t>& brick_drifts) {
  constexpr std::size_t cells = geometry::BrickSet<Dim>::cells;
  const auto count = static_cast<std::size_t>(bricks.count());
  const double noise = tolerance(particles_per_cell);
  for (std::size_t a = 0; a < Dim; ++a) drift[a].assign(bricks.size(), 0.0);
  std::vector<std::uint8_t> own(count, 0);
  parallel_for(count, 8, [&](std::size_t b) {
    deep[b].each([&](std::size_t local) {
      const std::size_t i = b * cells + local;
      for (int a = 0; a < Dim; ++a) {
        const std::int64_t lower = bricks.next(static_cast<std::int64_t>(i), a, -1);
        if (lower < 0 || open[static_cast<std::size_t>(a)][i] < 1) continue;
        const auto j = static_cast<std::size_t>(lower);
        if (!deep[j / cells][j % cells]) continue;
        const double step = beyond(std::clamp(fraction[j] - fraction[i], -1.0, 1.0), noise);
        if (step == 0) continue;
        drift[static_cast<std::size_t>(a)][i] = diffusion * dx * step;
        own[b] = 1;
      }
    });
  });
  brick_drifts.assign(count, 0);
  for (std::size_t b = 0; b < count; ++b) {
    for (const int n : bricks.neighbours(static_cast<int>(b)))
      if (n >= 0 && own[static_cast<std::size_t>(n)]) brick_drifts[b] = 1;
  }
}

template void close_holes<2>(const geometry::BrickSet<2>&, std::span<const double>, double,
                             std::vector<double>&, CellMasks<2>&);
template void close_holes<3>(const geometry::BrickSet<3>&, std::span<const double>, double,
                             std::vector<double>&, CellMasks<3>&);
template void want_expansion<2>(std::span<const double>, std::span<const double>, std::span<const double>,
                                const CellMasks<2>&, double, double, double, std::vector<double>&);
template void want_expansion<3>(std::span<const double>, std::span<const double>, std::span<const double>,
                                const CellMasks<3>&, double, double, double, std::vector<double>&);
template void drift_to_even<2>(const geometry::BrickSet<2>&, std::span<const double>,
                               const PerAxis<std::vector<double>, 2>&, const CellMasks<2>&, double, double,
                               PerAxis<std::vector<double>, 2>&, std::vector<std::uint8_t>&);
template void drift_to_even<3>(const geometry::BrickSet<3>&, std::span<const double>,
                               const PerAxis<std::vector<double>, 3>&, const CellMasks<3>&, double, double,
                               PerAxis<std::vector<double>, 3>&, std::vector<std::uint8_t>&);

}  // namespace lope::matter::liquid
