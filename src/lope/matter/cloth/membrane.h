// The membrane energy Φ(x) = Σ_t A_t ψ(F_t(x)) of linear triangles in space and its derivatives (material/membrane.h). Built
// like the elements of solids (solid/elastic_elements.h): clusters, colours, SIMD batches; the same bits for any number of
// threads; nothing is allocated after construction.
//
// Units: x metres, Φ joules, gradient newtons. One thread at a time may call an object: const calls fill internal caches.
#pragma once

#include <lope/base/cpu.h>
#include <lope/geometry/sheet.h>
#include <lope/linalg/block_assembler.h>
#include <lope/matter/cloth/membrane_kernels.h>
#include <lope/optimize/objective.h>

#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

class Membrane {
 public:
  // grain: angle of the warp from the first material coordinate, radians. The pattern holds the pairs of every triangle.
  Membrane(const geometry::Sheet& sheet, const material::MembraneParameters& material, double grain,
           std::shared_ptr<const linalg::BlockPattern> pattern, Isa isa = selected_isa());

  std::shared_ptr<const linalg::BlockPattern> pattern() const { return pattern_; }
  int triangle_count() const { return static_cast<int>(place_.size()); }
  // Rest area per triangle.
  std::span<const double> areas() const { return areas_; }
  // Frobenius norm of ∂²ψ/∂F² at rest, N/m.
  double rest_stiffness() const;

  void move_to(std::span<const double> x);

  // Everything below is evaluated at the current point.
  double value() const;
  double value_magnitude() const;  // as ElasticElements
  void add_gradient(std::span<double> g) const;
  void add_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const;
  void add_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p, std::span<double> y) const;
  // L += scale·Σ A w GᵀG, w the larger stiffness of warp and weft (block size 1).
  void add_laplacian(double scale, linalg::BlockAssembler& L) const;

  // Read-outs, in the order of the sheet's triangles.
  std::vector<double> largest_stretch() const;   // λ₁
  std::vector<double> smallest_stretch() const;  // λ₂
  std::vector<double> energy_density() const;    // ψ, J/m²
  // Von Mises stress of the Cauchy stress per length, N/m.
  std::vector<double> von_mises() const;

 private:
  using Layout = membrane::Layout;
  struct Cluster {
    int begin = 0, end = 0;
  };
  void fill_lane(int batch, int lane, int triangle, const geometry::Sheet& sheet, double grain, bool padding);
  membrane::Batches batches() const;
  template <class Body>
  void for_each_by_colour(const Body& body) const;
  template <class Body>
  void with_tangent(optimize::HessianKind kind, const Body& body) const;
  template <class Function>
  std::vector<double> per_triangle(const Function& function) const;
  double lane_value(const std::vector<Row>& rows, int rows_per_batch, int row, int triangle) const;
  material::MembraneStress<double> stress(int triangle) const;
  void evaluate_energy() const;

  std::size_t node_count_;
  const membrane::Kernels& kernels_;
  material::MembraneParameters material_;
  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::vector<double> areas_;
  std::vector<int> place_;  // triangle → batch·lanes + lane
  std::vector<Cluster> clusters_;
  std::vector<std::vector<int>> colours_;
  std::vector<material::MembraneModel> model_;
  std::vector<int> filled_;
  std::vector<IndexRow> nodes_, slots_;
  std::vector<Row> rest_, state_;
  enum class TangentState { Stale, Raw, Projected };
  mutable std::vector<Row> tangent_;
  mutable TangentState tangent_state_ = TangentState::Stale;
  mutable std::vector<membrane::EnergySums> cluster_energy_;
  mutable membrane::EnergySums energy_;
  mutable bool energy_known_ = false;
};

}  // namespace lope::matter
