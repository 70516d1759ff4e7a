// The grid's own multigrid as what policy iteration, the penalty method and their rivals solve their linear systems with: one V-cycle for the
// unknowns that are not fixed at 0 (LCP §4.1: PI-MG; §4.2: PE-MG).
//
// Fixed cells count as air (PressureSystem::without), and the hierarchy is set up anew for every set of them. Deviations from LCP: the cycle
// preconditions conjugate gradients in place of being repeated, and has the weights and smoothers of pressure_multigrid.h.
#pragma once

#include <lope/linalg/masked_inverse.h>
#include <lope/matter/liquid/pressure_multigrid.h>
#include <lope/matter/liquid/pressure_system.h>

#include <cstdint>
#include <vector>

namespace lope::matter {

template <int Dim>
class GridInverse final : public linalg::MaskedInverse {
 public:
  explicit GridInverse(const HierarchyOptions& options = {}) : hierarchy_(options) {}

  // The system whose matrix set_matrix() will be given; it must outlive the use of this object.
  void take(const PressureSystem<Dim>& system) { system_ = &system; }

  bool set_matrix(const linalg::CsrMatrix& a) override;
  bool set_fixed(linalg::RowFlags fixed) override;
  // One V-cycle from zero: linear and symmetric, up to rounding in single precision.
  void apply(linalg::ConstVector r, linalg::Vector z) override;

 private:
  void build();

  const PressureSystem<Dim>* system_ = nullptr;
  PressureSystem<Dim> free_;  // without the fixed rows
  PressureHierarchy<Dim> hierarchy_;
  std::vector<std::uint8_t> fixed_;
  bool built_ = false;
  std::vector<double> field_;
};

extern template class GridInverse<2>;
extern template class GridInverse<3>;

}  // namespace lope::matter
