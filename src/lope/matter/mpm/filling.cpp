#include <lope/matter/mpm/filling.h>
#include <lope/matter/mpm/sampling.h>

#include <cmath>

namespace lope::matter::mpm {
namespace {

constexpr double volume_cells = 8;  // sub-cells along an axis that volumes are reckoned by
constexpr double in_time = 1e-9;    // of a period: a filling that is due so soon comes now

std::uint64_t seed_of(std::int32_t part, std::uint64_t seed) { return seed + static_cast<std::uint64_t>(part) * 1000003; }

}  // namespace

double jet_period(const Part& part) {
  const Vec3 direction = part.velocity.normalized();
  const geometry::Bounds bounds = part.shape->bounds();
  double length = 0;
  for (int a = 0; a < 3; ++a) {
    if (direction[a] != 0) length += std::abs(direction[a]) * (bounds.max[a] - bounds.min[a]);
  }
  return length / part.velocity.norm();
}

bool has_points(const Part& part, std::int32_t number, int dimension, double dx, std::uint64_t seed) {
  const std::uint64_t own = seed_of(number, seed);
  return dimension == 2 ? has_samples<2>(*part.shape, sample_distance<2>(dx, part.per_cell), own)
                        : has_samples<3>(*part.shape, sample_distance<3>(dx, part.per_cell), own);
}

template <int Dim>
Filling<Dim>::Filling(const Part& part, std::int32_t number, double dx, std::uint64_t seed)
    : part_(part),
      number_(number),
      points_(sample<Dim>(*part.shape, sample_distance<Dim>(dx, part.per_cell),
                          seed_of(number, seed))) {
  if (!points_.empty())
    each_ = volume<Dim>(*part.shape, dx / volume_cells) / static_cast<double>(points_.size());
}

template <int Dim>
void Filling<Dim>::add(const Vec3& shift, Particles<Dim>& particles) const {
  const geometry::Bounds bounds = part_.shape->bounds();
  const Vec3 middle = in_space<Dim>((0.5 * (bounds.min + bounds.max)).template head<Dim>());
  for (const Vec<Dim>& x : points_) {
    const Vec3 velocity = part_.velocity + part_.angular_velocity.cross(in_space<Dim>(x) - middle);
    particles.add(x + shift.template head<Dim>(), velocity.template head<Dim>(), each_,
                  each_ * part_.material.density,
                  material::initial_plastic_variable(part_.material.plasticity), number_);
  }
}

template <int Dim>
void Filling<Dim>::start(Particles<Dim>& particles) const {
  if (!is_jet()) add(Vec3::Zero(), particles);
}

template <int Dim>
double Filling<Dim>::next(std::size_t present) const {
  if (!is_jet() || points_.empty()) return std::numeric_limits<double>::infinity();
  const double due = part_.jet->begin + static_cast<double>(present / points_.size()) * jet_period(part_);
  return due < part_.jet->end - in_time * jet_period(part_) ? due : std::numeric_limits<double>::infinity();
}

template <int Dim>
void Filling<Dim>::feed(double time, std::size_t present, Particles<Dim>& particles) const {
  for (double due = next(present); due <= time + in_time * jet_period(part_); due = next(present)) {
    add((time - due) * part_.velocity, particles);
    present += points_.size();
  }
}

template class Filling<2>;
template class Filling<3>;

}  // namespace lope::matter::mpm
