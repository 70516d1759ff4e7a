// One implicit step of material points as a minimisation over the grid (HOT §3; NUMERICS §1, §5):
//
//   E(u) = 1/(2h²) |u − û|²_M + Σ_p V_p ψ(F_p(u)),   û = h vₙ + h² g,   F_p(u) = (I + Σ_i u_i ∇w_ipᵀ) Fₙ
//
// over the displacements u of the nodes that have mass, in the force scale. Deviation from HOT, which takes velocities and
// another scale. Nodes in obstacles stay among the unknowns: their projected-out directions have zero gradient and identity
// rows times m/h² (boundary.h).
//
// Matter that flows within the step has the energy of material/yielding_hencky.h in place of ψ: its stress is that after the
// return mapping, which is applied when the step is done. What sand may bear follows from its pressure at the iterates of the
// first few iterations and is held from then on, like normal forces of friction: renewed to the end, it would go back and forth.
// Where it does not agree with the solution there is another round
// (deviation from HOT, OPT and Klár et al. 2016, who let everything flow after an elastic step).
//
// The Hessian has up to 5^d blocks a row. All points of a cell add to one dense matrix, scattered once per cell, block of
// cells by block of cells in 2^d colours; the lower triangle is a copy of the upper one, so the matrix is symmetric to the
// last bit.
#pragma once

#include <lope/material/plasticity.h>
#include <lope/matter/mpm/boundary.h>
#include <lope/matter/mpm/grid.h>
#include <lope/matter/mpm/node_embedding.h>
#include <lope/optimize/objective.h>

#include <algorithm>
#include <optional>

namespace lope::matter::mpm {

struct Material {
  material::Parameters elastic;
  material::Plasticity plasticity;
  double density = 1000;  // kg/m³
  // It flows within the minimisation of an implicit step, not after it. Needs material::has_potential().
  bool flows_within = false;
};
// What a batch of points of it needs to know.
inline PointModel model_of(const Material& material) { return {material.elastic.density, material.flows_within}; }

template <int Dim>
class MpmObjective final : public optimize::Objective {
 public:
  // length: of what is simulated, metres, for the stopping tests.
  MpmObjective(std::span<const Material> materials, double length, Embedding embedding = Embedding::Linear,
               Isa isa = selected_isa());

  // A step of length h of the particles, sorted in the grid, with the nodes' velocities. All are used until the next call.
  void begin_step(Grid<Dim>& grid, const Particles<Dim>& particles, const Conditions<Dim>& conditions,
                  std::span<const double> velocity, const Vec<Dim>& gravity, double h);
  // û, with the conditions applied.
  void inertial_guess(std::span<double> u) const;
  // h vₙ, likewise.
  void unforced_guess(std::span<double> u) const;
  // The conditions are others than before: what was evaluated is out of date.
  void conditions_changed() { matrix_kind_ = Have::Nothing; }

  std::size_t size() const override { return Dim * nodes(); }
  int block_size() const override { return Dim; }
  std::span<const std::uint8_t> fixed_blocks() const override { return conditions_->fixed(); }
  bool begin_iteration() override;
  bool settle() override;
  bool has_kinks() const override { return renews(); }
  void move_to(std::span<const double> u) override;
  double value(double give_up_above) override;
  double value_noise() override;
  void gradient(std::span<double> g) override;
  const linalg::BlockMatrix& hessian(optimize::HessianKind kind) override;
  void hessian_times(optimize::HessianKind kind, std::span<const double> d, std::span<double> y) override;
  void hessian_diagonal(optimize::HessianKind kind, std::span<double> blocks) override;
  void project(std::span<double> u) const override { conditions_->apply(u); }
  void project_direction(std::span<const double> /*u*/, std::span<double> d) const override { conditions_->project(d); }
  const optimize::CharacteristicScales& scales() const override { return scales_; }
  optimize::ErrorBudget budget(std::span<const double> d, double accuracy) const override;
  linalg::HierarchyPtr hierarchy() override;
  std::vector<linalg::RowProjector> projectors() const override;

  // Whether what lagged matter may bear is another at the current point than the minimisation has held: it is then renewed a few times more in
  // the next one.
  bool asks_for_renewal();
  // The largest displacement of a node that matters, metres. Nodes with hardly any mass, which points touch with the rim of
  // their splines, may go anywhere: the forces on them vanish more slowly than their masses, and points do not notice.
  double largest_motion(std::span<const double> u) const;
  // ∇E with nothing projected out: at the minimum, the forces that obstacles exert.
  void full_gradient(std::span<double> g);
  // ∇Φ alone.
  void forces(std::span<double> g);
  double elastic_energy();  // Φ at the current point
  // F = U diag(σ) Vᵀ of a particle at the current point.
  struct Stretches {
    Mat<Dim> U, V;
    Vec<Dim> sigma;
  };
  Stretches stretches(std::size_t particle) const;
  // (λ + 2μ)/ρ of the stiffest particle, with its compression: the square of the fastest sound, m²/s².
  double fastest_sound_squared(const Particles<Dim>& particles) const;
  double assembly_seconds() const { return assembly_seconds_; }

 private:
  std::size_t nodes() const { return grid_->nodes(); }
  void fill_batches(const Particles<Dim>& particles);
  void fill_batch(const Particles<Dim>& particles, const typename Grid<Dim>::Block& block, std::size_t batch,
                  std::size_t first, int count);
  void set_yielding(Row* rest, int lane, const Material& material, double trace, double variable) const;
  bool renews() const;
  // Sums over lagged matter: by how much what it may bear has changed, and what it was.
  struct Renewal {
    double changed = 0, all = 0;
  };
  Renewal renew_yield(std::size_t batch, double part);
  void find_scales(const Particles<Dim>& particles);
  void make_tangent(optimize::HessianKind kind);
  void assemble(linalg::BlockAssembler& H);
  void finish_rows();
  using Block = Eigen::Matrix<double, Dim, Dim, Eigen::RowMajor>;
  void finish_diagonal(std::size_t node, Eigen::Ref<Block> block) const;
  Batches batches();
  // At most how far a point goes when the node goes 1 m: no point has a larger weight on it than its mass over that of the lightest
  // point.
  double importance(std::size_t node) const { return std::min(1.0, grid_->masses()[node] / lightest_point_); }
  double weight(std::size_t node) const { return grid_->masses()[node] / (h_ * h_); }

  std::vector<Material> materials_;
  std::vector<double> rest_stiffness_;  // ξ per material
  const Kernels& kernels_;
  Grid<Dim>* grid_ = nullptr;
  const Conditions<Dim>* conditions_ = nullptr;
  double h_ = 0;
  double lightest_point_ = 0;
  std::vector<double> inertial_, unforced_, positions_, weights_;

  std::vector<int> batch_start_;  // per block, one more at the end
  std::vector<PointModel> model_;
  std::vector<int> filled_;
  std::vector<std::size_t> first_particle_;
  std::vector<std::int32_t> part_;  // per lane of a batch
  bool lagged_ = false;
  int renewals_ = 0;  // of what lagged matter may bear, in this step
  std::vector<IndexRow> base_;
  std::vector<Row> rest_, state_, tangent_;

  std::vector<double> point_, work_;
  mutable std::vector<double> moved_, remaining_;
  bool has_energy_ = false;
  EnergySums energy_;
  enum class Have { Nothing, Raw, Projected };
  Have tangent_kind_ = Have::Nothing, matrix_kind_ = Have::Nothing;
  std::optional<linalg::BlockMatrix> matrix_;
  std::vector<std::vector<Row>> scratch_;  // per worker
  optimize::CharacteristicScales scales_;
  Embedding embedding_;
  linalg::HierarchyPtr hierarchy_;
  std::uint64_t hierarchy_for_ = 0;  // id of the pattern
  double assembly_seconds_ = 0;
};

extern template class MpmObjective<2>;
extern template class MpmObjective<3>;

}  // namespace lope::matter::mpm
