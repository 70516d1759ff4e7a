// The drag of the air on a sheet, wind included: a pressure on every triangle along its normal n,
//   f = −½ ρ C |v_n| v_n A n,   v_n = n·(v − u),   u the wind,
// shared by its corners. ρ: density of the air; C: drag coefficient of a plate across the wind (about 2 for both sides
// together; there is no skin friction).
//
// In a step the factor c = ½ ρ C |v_n| A and the normal are those of its beginning, the velocity is the scheme's own,
// v = w (x − y) (NUMERICS §1, as for damping): E = Σ c/(2w) (n·(w (x − y) − u))², positive semi-definite, so that light cloth
// does not shake itself to pieces. First order in the step.
#pragma once

#include <lope/geometry/sheet.h>
#include <lope/linalg/block_matrix.h>
#include <lope/matter/step_objective.h>

#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

struct Air {
  Vec3 wind = Vec3::Zero();  // m/s
  double density = 1.2;      // kg/m³
  double drag = 0;           // C; 0: no air
};

class AirDrag {
 public:
  AirDrag(const geometry::Sheet& sheet, const Air& air, std::shared_ptr<const linalg::BlockPattern> pattern);

  void begin_step(const StepSetup& setup);
  // At x.
  double value(std::span<const double> x) const;
  void add_gradient(std::span<const double> x, std::span<double> g) const;
  void add_hessian(linalg::BlockAssembler& H) const;
  void add_hessian_times(std::span<const double> p, std::span<double> y) const;

 private:
  Air air_;
  std::vector<geometry::Triangle> triangles_;
  double weight_ = 0;             // w
  std::span<const double> from_;  // y
  linalg::BlockMatrix matrix_;    // w D
  std::vector<double> push_;      // of the wind, N
  double constant_ = 0;           // E at x = y
  mutable std::vector<double> offset_, product_;
};

}  // namespace lope::matter
