#include <lope/base/parallel.h>
#include <lope/matter/mpm/splines.h>
#include <lope/matter/mpm/transfers.h>

#include <Eigen/Geometry>

#include <array>
#include <cmath>

namespace lope::matter::mpm {
namespace {

constexpr std::size_t grain = 4096;

// The axial vector of a matrix: v = ω × x for v = A x, A skew, and twice that for a matrix A − Aᵀ.
template <int Dim>
Vec3 axial(const Mat<Dim>& A) {
  if constexpr (Dim == 2) return {0, 0, A(1, 0) - A(0, 1)};
  else return {A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1)};
}

template <class Sum>
Vec3 sum_of(std::size_t size, const Sum& summand) {
  std::vector<Vec3> parts((size + grain - 1) / grain, Vec3::Zero());
  parallel_chunks(size, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) parts[begin / grain] += summand(i);
  });
  Vec3 sum = Vec3::Zero();
  for (const Vec3& part : parts) sum += part;
  return sum;
}

}  // namespace

template <int Dim>
void to_grid(Grid<Dim>& grid, const Particles<Dim>& particles, const TransferOptions& options, std::span<double> velocity) {
  const double dx = grid.dx();
  const bool apic = options.kind == VelocityTransfer::Apic;
  grid.scatter(
      Dim,
      [&](std::size_t b, double* local) {
        const auto& block = grid.blocks()[b];
        for (std::size_t p = block.begin; p < block.end; ++p) {
          const auto at = grid.place(block, particles.x[p]);
          const Spline<Dim> spline(at.at);
          const double m = particles.mass[p];
          // m (v + C (x_i − x_p)) is affine in the node's offset.
          const Mat<Dim> slope = apic ? Mat<Dim>(m * dx * particles.affine[p]) : Mat<Dim>(Mat<Dim>::Zero());
          const Vec<Dim> first = m * particles.v[p] - slope * at.at;
          double* to = local + static_cast<std::ptrdiff_t>(Dim) * at.local;
          spline.each_offset([&](int node, double w, const Vec<Dim>& offset) {
            const Vec<Dim> momentum = w * (first + slope * offset);
            for (int a = 0; a < Dim; ++a) to[Dim * node + a] += momentum[a];
          });
        }
      },
      velocity);
  parallel_for(grid.nodes(), grain, [&](std::size_t i) {
    for (std::size_t a = 0; a < Dim; ++a) velocity[Dim * i + a] /= grid.masses()[i];
  });
}

template <int Dim>
void to_particles(const Grid<Dim>& grid, const TransferOptions& options, double h, std::span<const double> before,
                  std::span<const double> after, Particles<Dim>& particles) {
  const double dx = grid.dx();
  const bool flip = options.kind == VelocityTransfer::Flip;
  parallel_for(grid.blocks().size(), 1, [&](std::size_t b) {
    const auto& block = grid.blocks()[b];
    std::array<double, static_cast<std::size_t>(Dim) * Grid<Dim>::reach> local, old;
    grid.gather(b, Dim, after, local.data());
    if (flip) grid.gather(b, Dim, before, old.data());
    for (std::size_t p = block.begin; p < block.end; ++p) {
      const auto at = grid.place(block, particles.x[p]);
      const Spline<Dim> spline(at.at);
      const std::size_t first = static_cast<std::size_t>(Dim) * static_cast<std::size_t>(at.local);
      Vec<Dim> v = Vec<Dim>::Zero(), previous = Vec<Dim>::Zero();
      Mat<Dim> moment = Mat<Dim>::Zero();
      spline.each_offset([&](int node, double w, const Vec<Dim>& offset) {
        const Eigen::Map<const Vec<Dim>> there(local.data() + first + static_cast<std::size_t>(Dim * node));
        const Vec<Dim> weighted = w * there;
        v += weighted;
        moment += weighted * (offset - at.at).transpose();
        if (flip) previous += w * Eigen::Map<const Vec<Dim>>(old.data() + first + static_cast<std::size_t>(Dim * node));
      });
      // Σ v_i ∇w_iᵀ, per cell.
      Mat<Dim> slope = Mat<Dim>::Zero();
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          if constexpr (Dim == 2) {
            const Eigen::Map<const Vec<Dim>> there(local.data() + first + static_cast<std::size_t>(Dim * (block_reach * i + j)));
            slope.col(0) += there * (spline.slope[0][i] * spline.w[1][j]);
            slope.col(1) += there * (spline.w[0][i] * spline.slope[1][j]);
          } else {
            Vec<Dim> line = Vec<Dim>::Zero(), line_slope = Vec<Dim>::Zero();
            for (int k = 0; k < 3; ++k) {
              const auto node = static_cast<std::size_t>(Dim * (block_reach * (block_reach * i + j) + k));
              const Eigen::Map<const Vec<Dim>> there(local.data() + first + node);
              line += there * spline.w[2][k];
              line_slope += there * spline.slope[2][k];
            }
            slope.col(0) += line * (spline.slope[0][i] * spline.w[1][j]);
            slope.col(1) += line * (spline.w[0][i] * spline.slope[1][j]);
            slope.col(2) += line_slope * (spline.w[0][i] * spline.w[1][j]);
          }
        }
      }
      particles.F[p] += (h / dx) * (slope * particles.F[p]).eval();
      particles.x[p] += h * v;
      if (flip) {
        particles.v[p] = (1 - options.flip) * v + options.flip * (particles.v[p] + (v - previous));
        particles.affine[p].setZero();
      } else {
        particles.v[p] = v;
        particles.affine[p] = (4 / dx) * moment;
      }
    }
  });
}

template <int Dim>
Vec3 momentum(const Particles<Dim>& particles) {
  return sum_of(particles.size(), [&](std::size_t i) { return Vec3(particles.mass[i] * in_space<Dim>(particles.v[i])); });
}

template <int Dim>
Vec3 angular_momentum(const Particles<Dim>& particles, double dx) {
  return sum_of(particles.size(), [&](std::size_t i) {
    const Vec3 orbital = in_space<Dim>(particles.x[i]).cross(in_space<Dim>(particles.v[i]));
    return Vec3(particles.mass[i] * (orbital + 0.25 * dx * dx * axial<Dim>(particles.affine[i])));
  });
}

template <int Dim>
double kinetic_energy(const Particles<Dim>& particles, double dx) {
  return parallel_sum(particles.size(), grain, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i)
      sum += 0.5 * particles.mass[i] * (particles.v[i].squaredNorm() + 0.25 * dx * dx * particles.affine[i].squaredNorm());
    return sum;
  });
}

template void to_grid<2>(Grid<2>&, const Particles<2>&, const TransferOptions&, std::span<double>);
template void to_grid<3>(Grid<3>&, const Particles<3>&, const TransferOptions&, std::span<double>);
template void to_particles<2>(const Grid<2>&, const TransferOptions&, double, std::span<const double>,
                              std::span<const double>, Particles<2>&);
template void to_particles<3>(const Grid<3>&, const TransferOptions&, double, std::span<const double>,
                              std::span<const double>, Particles<3>&);
template Vec3 momentum<2>(const Particles<2>&);
template Vec3 momentum<3>(const Particles<3>&);
template Vec3 angular_momentum<2>(const Particles<2>&, double);
template Vec3 angular_momentum<3>(const Particles<3>&, double);
template double kinetic_energy<2>(const Particles<2>&, double);
template double kinetic_energy<3>(const Particles<3>&, double);

}  // namespace lope::matter::mpm
