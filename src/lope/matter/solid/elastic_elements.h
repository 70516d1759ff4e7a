// The elastic energy Φ(x) = Σ_e V_e ψ(F_e(x)) of linear simplices (tetrahedra d = 3, triangles d = 2, plane
// strain per metre of depth) and its derivatives: where most of the time of a step that is not linear algebra
// goes.
//
// Elements are reordered by recursive bisection of their centroids into clusters (element_clusters.h): results are
// scattered without atomics and have the same bits for any number of threads. Within
// a cluster elements go through SIMD batches of one density each (elastic_kernels.h). After construction the
// calls allocate nothing that grows with the mesh.
//
// Units: x metres, Φ joules (2D: per metre), gradient newtons. Nothing fails: a rest volume that is not
// positive, an index out of range or a wrong size is a programming error (asserted; scene/ validates meshes).
// One thread at a time may call an object: const calls fill internal caches.
#pragma once

#include <lope/base/cpu.h>
#include <lope/linalg/block_assembler.h>
#include <lope/material/parameters.h>
#include <lope/math/types.h>
#include <lope/matter/solid/elastic_kernels.h>
#include <lope/optimize/objective.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

template <int d>
class ElasticElements {
 public:
  // rest: d coordinates per node. elements: d+1 nodes each, positively oriented. material_of_element: an
  // index into materials per element (empty: 0 everywhere). isa: which kernels to use, for tests.
  ElasticElements(std::span<const double> rest, std::span<const int> elements,
                  std::vector<material::Parameters> materials, std::span<const int> material_of_element = {},
                  Isa isa = selected_isa());

  int node_count() const { return node_count_; }
  int element_count() const { return static_cast<int>(place_.size()); }
  std::shared_ptr<const linalg::BlockPattern> pattern() const { return pattern_; }
  // Rest volume (2D: area) per element.
  std::span<const double> volumes() const { return volumes_; }

  // Makes x the current point: F of every element and its signed SVD. The current point is the rest shape at
  // first.
  void move_to(std::span<const double> x);

  // Everything below is evaluated at the current point.

  // Φ; +infinity where some element is outside the domain of its density.
  double value() const;
  // Σ V(|ψ| + σ₁Σ|ψ_i|): a small multiple of machine epsilon times this bounds the rounding error of value().
  double value_magnitude() const;
  // g += ∂Φ/∂x.
  void add_gradient(std::span<double> g) const;
  // H += scale·∂²Φ/∂x². H must have pattern() and block size d.
  void add_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const;
  // Its diagonal blocks alone, one per node, without a matrix.
  void add_hessian_diagonal(optimize::HessianKind kind, double scale, double* blocks) const;
  // y += scale·∂²Φ/∂x²·p, without a matrix.
  void add_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p,
                         std::span<double> y) const;
  // 0.9 times the largest α for which J > 0 on x + [0, α] direction in every element whose density needs it;
  // +infinity if nothing bounds it, 0 if some such element has J ≤ 0 already.
  double largest_step(std::span<const double> direction) const;

  // L += scale·Σ_e V_e w_e GᵀG with G the shape gradients and w_e = 2μ + λ, the largest stiffness at rest: the weighted
  // scalar Laplacian of LBFGS-PD (Liu et al. 2017). L must have pattern() and block size 1.
  void add_laplacian(double scale, linalg::BlockAssembler& L) const;

  // Read-outs, in the caller's order of elements.
  std::array<int, d + 1> nodes(int element) const;
  // Row a: gradient of the shape function of node a + 1 in the rest shape.
  Mat<d> shape_gradients(int element) const;
  const material::Parameters& parameters(int element) const;
  void deformation(int element, Mat<d>& F) const;
  std::vector<double> determinants() const;
  // Elements with J ≤ 0.
  int inverted_count() const;
  // The Cauchy stress P Fᵀ/|J|, Pa: six numbers per element, xx yy zz xy yz zx. 2D is plane strain: zz, the stress across
  // the plane, is the 3D material's at the third stretch 1. |J| and not J: in an inverted element, too, it gives the force
  // on a face from the face's normal. Elements flatter than |J| = 10⁻⁶ are treated as if they had that J.
  std::vector<double> cauchy_stress() const;
  // Von Mises stress of the Cauchy stress, Pa.
  std::vector<double> von_mises() const;
  // Largest principal stretch σ₁.
  std::vector<double> max_stretch() const;
  // ψ, J/m³.
  std::vector<double> energy_density() const;

  // For tests and benchmarks.
  int cluster_count() const { return static_cast<int>(clusters_.size()); }
  int colour_count() const { return static_cast<int>(colours_.size()); }

 private:
  using Layout = elastic::Layout<d>;
  // A range of batches.
  struct Cluster {
    int begin = 0, end = 0;
  };

  void fill_batches(std::span<const double> rest, std::span<const int> elements,
                    const std::vector<std::vector<int>>& members);
  void fill_lane(int batch, int lane, int element, std::span<const double> rest,
                 std::span<const int> elements, const material::Parameters& parameters, bool padding);
  elastic::Batches batches() const;
  void evaluate_energy() const;
  // Runs body(cluster) over all clusters: clusters of one colour in parallel, colours in order.
  template <class Body>
  void for_each_by_colour(const Body& body) const;
  // Runs body(batches, cluster) in the same way where the clusters' tangents are those of `kind`.
  template <class Body>
  void with_tangent(optimize::HessianKind kind, const Body& body) const;
  // A number of element `element`: row `row` of rows that hold `rows_per_batch` rows per batch.
  double lane_value(const std::vector<elastic::Row>& rows, int rows_per_batch, int row, int element) const;
  Vec<d> stretches(int element) const;
  // A rotation of the signed SVD F = U Σ Vᵀ of an element: `first` is Layout::u or Layout::v.
  Mat<d> rotation(int element, int first) const;
  // The principal values of the Cauchy stress along the columns of U; in 2D the third is across the plane.
  Vec3 principal_cauchy(int element) const;
  // One number per element, in parallel.
  template <class Function>
  std::vector<double> per_element(const Function& function) const;

  int node_count_ = 0;
  const elastic::Kernels& kernels_;
  std::vector<material::Parameters> materials_;
  std::vector<int> material_of_element_;
  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::vector<double> volumes_;
  std::vector<int> place_;  // element → batch·lanes + lane
  std::vector<Cluster> clusters_;
  std::vector<std::vector<int>> colours_;  // clusters of each colour
  bool needs_positive_volume_ = false;

  std::vector<material::Density> density_;
  std::vector<int> filled_;
  std::vector<elastic::IndexRow> nodes_, slots_;
  // For diagonal blocks alone: the node, or, off the diagonal, a place of the cluster's own behind the nodes that nothing reads.
  // Made when first asked for.
  mutable std::vector<elastic::IndexRow> diagonal_slots_;
  mutable std::vector<double> diagonal_work_;
  std::vector<elastic::Row> rest_, state_;
  enum class TangentState { Stale, Raw, Projected };
  mutable std::vector<elastic::Row> tangent_;
  mutable TangentState tangent_state_ = TangentState::Stale;
  mutable std::vector<elastic::EnergySums> cluster_energy_;
  mutable elastic::EnergySums energy_;
  mutable bool energy_known_ = false;
};

extern template class ElasticElements<2>;
extern template class ElasticElements<3>;

}  // namespace lope::matter
