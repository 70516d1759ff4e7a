// What a time step minimises, seen from the step loop: an Objective that can be set up for a step and read
// out.
//   E(x) = 1/(2 c h²)|x − x̂|²_M + Φ(x) + w/2 |x − y|²_{k_M M + k_D D} − f·(x − xₙ)   (NUMERICS §1, §3; force scale)
// The last term is mass and lagged Rayleigh damping (OPT §4.2) with D the projected stiffness at the
// beginning of the step. The dimension is a run-time value from here upwards.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/material/parameters.h>
#include <lope/matter/field.h>
#include <lope/optimize/objective.h>

#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

// Nodes' coordinates are interleaved: x₀ y₀ (z₀) x₁ …
struct StepSetup {
  double inertia = 0;                      // 1/(c h²)
  std::span<const double> target;          // x̂
  double damping = 0;                      // w
  std::span<const double> damping_target;  // y
  std::span<const double> start;           // xₙ, where D is taken
  std::span<const std::uint8_t> fixed;     // per node: 1 where scripted
  std::span<const double> force = {};      // f, from outside; empty: none
  std::span<const double> unforced = {};   // xₙ + h vₙ; empty: errors are judged by the accuracy alone
};

class StepObjective : public optimize::Objective {
 public:
  virtual int dimension() const = 0;
  virtual std::span<const double> masses() const = 0;
  // The pattern of the Hessian.
  virtual std::shared_ptr<const linalg::BlockPattern> pattern() const = 0;
  // A potential that changes with time becomes that of this one, seconds.
  virtual void set_time(double /*time*/) {}
  // The data behind the spans must live until the step is over.
  virtual void begin_step(const StepSetup& setup) = 0;

  // H += the Hessian at the current point, rows of fixed nodes included as if they were free. H has pattern(); it may be a
  // part of a larger one: how several bodies fill one matrix.
  virtual void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& H) const = 0;
  // Its diagonal blocks alone, one after another. By default they are taken out of the whole.
  virtual void add_hessian_diagonal(optimize::HessianKind kind, double* blocks) const;

  // At the current point: Φ, and g = ∂Φ/∂x without inertia and damping (fixed nodes included).
  virtual double potential() const = 0;
  virtual void potential_gradient(std::span<double> g) const = 0;
  // g += w (k_M M + k_D D)(x − y), of the step that was set up last (fixed nodes included).
  virtual void add_damping_gradient(std::span<double> g) const = 0;
  virtual int inverted_elements() const = 0;
  // N/m²: what barriers push with at half their reach. 0: what suits a body that resists by its bulk (matter/contact/barrier.h).
  virtual double bearing_pressure() const { return 0; }
  virtual std::vector<Field> fields(const FieldFilter& wanted) const = 0;
};

struct SolidDescription {
  int dimension = 3;
  const geometry::Mesh* mesh = nullptr;  // rest shape
  std::vector<material::Parameters> materials;
  std::span<const int> material_of_element;  // empty: the first everywhere
  std::vector<double> density_of_material;
  double mass_damping = 0;       // k_M, 1/s
  double stiffness_damping = 0;  // k_D, s
};

// blocks += the diagonal blocks of the matrix.
void add_diagonal(const linalg::BlockMatrix& matrix, double* blocks);

// The largest |first entry| of a diagonal block: what the rows of fixed nodes get on their diagonal.
double largest_diagonal(const linalg::BlockMatrix& matrix);

std::unique_ptr<StepObjective> make_solid_objective(const SolidDescription& description);

}  // namespace lope::matter
