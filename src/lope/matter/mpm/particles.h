// Material points.
#pragma once

#include <lope/math/types.h>

#include <cstdint>
#include <vector>

namespace lope::matter::mpm {

template <int Dim>
struct Particles {
  std::vector<Vec<Dim>> x, v;
  std::vector<Mat<Dim>> affine;       // C of APIC, 1/s
  std::vector<Mat<Dim>> F;            // elastic part of the deformation gradient
  std::vector<double> volume;         // at rest, m³ (2D: m²)
  std::vector<double> mass;           // kg (2D: per metre of depth)
  std::vector<double> plastic;        // the plastic variable of its material (material/plasticity.h)
  std::vector<std::int32_t> part;     // to which part of the body it belongs, and so its material
  std::vector<std::int32_t> id;       // its number at the start: particles change places in these arrays

  std::size_t size() const { return x.size(); }

  // particles/particle_arrays.h.
  template <class Visit, class... P>
  static void each_array(const Visit& visit, P&... particles) {
    visit("x", particles.x...);
    visit("v", particles.v...);
    visit("affine", particles.affine...);
    visit("F", particles.F...);
    visit("volume", particles.volume...);
    visit("mass", particles.mass...);
    visit("plastic", particles.plastic...);
    visit("part", particles.part...);
    visit("id", particles.id...);
  }

  // At rest, unstrained.
  void add(const Vec<Dim>& at, const Vec<Dim>& velocity, double its_volume, double its_mass, double its_plastic,
           std::int32_t its_part) {
    id.push_back(static_cast<std::int32_t>(x.size()));
    x.push_back(at);
    v.push_back(velocity);
    affine.push_back(Mat<Dim>::Zero());
    F.push_back(Mat<Dim>::Identity());
    volume.push_back(its_volume);
    mass.push_back(its_mass);
    plastic.push_back(its_plastic);
    part.push_back(its_part);
  }
};

}  // namespace lope::matter::mpm
