#include <lope/base/parallel.h>
#include <lope/geometry/brick_halo.h>
#include <lope/matter/liquid/surface.h>

#include <algorithm>
#include <cmath>

namespace lope::matter::liquid {
namespace {

// visit(place) for a cell and all cells that touch it.
template <int Dim, class Visit>
void each_around(int place, const Visit& visit) {
  using Block = geometry::Halo<Dim, double>;
  for (int z = Dim == 3 ? -1 : 0; z <= (Dim == 3 ? 1 : 0); ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) visit(place + x + y * Block::stride[1] + z * Block::stride[2]);
    }
  }
}

}  // namespace

double surface_distance(double fraction) {
  const double f = std::clamp(fraction, 0.0, 1.0);
  return f <= 0.5 ? 1 - std::sqrt(2 * f) : std::sqrt(2 * (1 - f)) - 1;
}

double surface_fraction(double distance) {
  const double z = std::clamp(distance, -1.0, 1.0);
  return z >= 0 ? 0.5 * (1 - z) * (1 - z) : 1 - 0.5 * (1 + z) * (1 + z);
}

template <int Dim>
void open_kernel(const geometry::BrickSet<Dim>& bricks, std::span<const double> open_volume,
                 std::span<const std::uint8_t> brick_free, std::vector<double>& result) {
  using Block = geometry::Halo<Dim, double>;
  constexpr int cells = geometry::BrickSet<Dim>::cells;
  result.assign(bricks.size(), 1.0);
  parallel_for(static_cast<std::size_t>(bricks.count()), 4, [&](std::size_t b) {
    const auto around = bricks.neighbours(static_cast<int>(b));
    if (std::all_of(around.begin(), around.end(),
                    [&](int n) { return n < 0 || brick_free[static_cast<std::size_t>(n)]; }))
      return;
    // The kernel's integral over a cell and its two neighbours along an axis is 3/4 and 1/8 each: axis after
    // axis.
    Block values, summed;
    values.load(bricks, static_cast<int>(b), open_volume, 1.0);
    for (std::size_t a = 0; a < Dim; ++a) {
      summed = values;
      const int step = Block::stride[a];
      for (int place = 0; place < Block::size; ++place) {
        const int at = place / step % Block::side;
        if (at == 0 || at == Block::side - 1) continue;
        summed[place] = 0.75 * values[place] + 0.125 * (values[place - step] + values[place + step]);
      }
      values = summed;
    }
    for (int k = 0; k < cells; ++k)
      result[b * cells + static_cast<std::size_t>(k)] = values[Block::of_local(k)];
  });
}

void volume_fractions(std::span<const double> mass, std::span<const double> open_kernel,
                      double particle_volume, std::vector<double>& fraction) {
  fraction.resize(mass.size());
  parallel_for(mass.size(), 4096, [&](std::size_t i) {
    fraction[i] = open_kernel[i] > least_open ? particle_volume * mass[i] / open_kernel[i] : 0;
  });
}

template <int Dim>
void share_fractions(const geometry::BrickSet<Dim>& bricks, std::span<const double> mass,
                     std::span<const double> open_kernel, std::span<const double> open_volume,
                     std::span<const std::uint8_t> brick_free, double particle_volume, std::vector<double>& fraction) {
  using Block = geometry::Halo<Dim, double>;
  constexpr int cells = geometry::BrickSet<Dim>::cells;
  parallel_for(static_cast<std::size_t>(bricks.count()), 4, [&](std::size_t b) {
    if (brick_free[b]) return;
    Block masses, kernels;
    masses.load(bricks, static_cast<int>(b), mass, 0.0);
    kernels.load(bricks, static_cast<int>(b), open_kernel, 1.0);
    for (int k = 0; k < cells; ++k) {
      const std::size_t i = b * cells + static_cast<std::size_t>(k);
      if (open_kernel[i] >= well_open || open_volume[i] == 0) continue;
      double mass_around = 0, kernel_around = 0;
      bool liquid_around = false, air_around = false;
      each_around<Dim>(Block::of_local(k), [&](int place) {
        mass_around += masses[place];
        kernel_around += kernels[place];
        if (kernels[place] < well_open) return;
        (particle_volume * masses[place] > 0.5 * kernels[place] ? liquid_around : air_around) = true;
      });
      const double share = 1 - open_kernel[i] / well_open;
      fraction[i] = particle_volume * (mass[i] + share * mass_around) / (open_kernel[i] + share * kernel_around);
      if (liquid_around && !air_around) fraction[i] = std::max(fraction[i], hole_fraction);
    }
  });
}

void surface_from(std::span<const double> fraction, double dx, std::vector<double>& distance) {
  distance.resize(fraction.size());
  parallel_for(fraction.size(), 4096,
               [&](std::size_t i) { distance[i] = dx * surface_distance(fraction[i]); });
}

template void open_kernel<2>(const geometry::BrickSet<2>&, std::span<const double>,
                             std::span<const std::uint8_t>, std::vector<double>&);
template void open_kernel<3>(const geometry::BrickSet<3>&, std::span<const double>,
                             std::span<const std::uint8_t>, std::vector<double>&);

template void share_fractions<2>(const geometry::BrickSet<2>&, std::span<const double>, std::span<const double>,
                                 std::span<const double>, std::span<const std::uint8_t>, double,
                                 std::vector<double>&);
template void share_fractions<3>(const geometry::BrickSet<3>&, std::span<const double>, std::span<const double>,
                                 std::span<const double>, std::span<const std::uint8_t>, double,
                                 std::vector<double>&);

}  // namespace lope::matter::liquid
