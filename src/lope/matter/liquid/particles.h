// The liquid between two substeps: particles with velocities and, for APIC, the velocity's derivatives.
#pragma once

#include <lope/math/types.h>

#include <vector>

namespace lope::matter::liquid {

template <int Dim>
struct Particles {
  std::vector<Vec<Dim>> x;       // m
  std::vector<Vec<Dim>> v;       // m/s
  std::vector<Mat<Dim>> affine;  // 1/s, row a: gradient of the velocity's component a (APIC); zero for FLIP

  std::size_t size() const { return x.size(); }
  void add(const Vec<Dim>& position, const Vec<Dim>& velocity) {
    x.push_back(position);
    v.push_back(velocity);
    affine.push_back(Mat<Dim>::Zero());
  }
  // particles/particle_arrays.h.
  template <class Visit, class... P>
  static void each_array(const Visit& visit, P&... particles) {
    visit("x", particles.x...);
    visit("v", particles.v...);
    visit("affine", particles.affine...);
  }
};

}  // namespace lope::matter::liquid
