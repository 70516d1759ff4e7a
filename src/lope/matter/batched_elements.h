// An energy Φ(x) = Σ_e V_e ψ(F_e(x)) of linear simplices and its derivatives, for whatever kernels there are for a simplex
// (element_kernels.h): tetrahedra and triangles of solids (solid/elastic_elements.h), triangles of cloth (cloth/membrane.h).
//
// Elements are reordered by recursive bisection of their centroids into clusters (element_clusters.h): results are
// scattered without atomics and have the same bits for any number of threads. Within a cluster elements go through SIMD
// batches of one model each. After construction the calls allocate nothing that grows with the mesh.
//
// Units: x metres, Φ joules (2D: per metre), gradient newtons. Nothing fails: an index out of range or a wrong size is a
// programming error (asserted). One thread at a time may call an object: const calls fill internal caches.
#pragma once

#include <lope/linalg/block_assembler.h>
#include <lope/math/types.h>
#include <lope/matter/element_kernels.h>
#include <lope/optimize/objective.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

// d: coordinates of a node. Layout: rows of a batch, whose first (nodes − 1)² of the rest data are the inverse of the rest edges.
template <class Model, class Layout, int d>
class BatchedElements {
 public:
  int node_count() const { return node_count_; }
  int element_count() const { return static_cast<int>(place_.size()); }
  std::shared_ptr<const linalg::BlockPattern> pattern() const { return pattern_; }
  // Rest volume (2D and membranes: area) per element.
  std::span<const double> volumes() const { return volumes_; }

  // Makes x the current point: what the kernels need of F of every element.
  void move_to(std::span<const double> x);

  // Everything below is evaluated at the current point.

  // Φ; +infinity where some element is outside the domain of its density.
  double value() const { return energy().value; }
  // Σ V(|ψ| + σ₁Σ|P|): a small multiple of machine epsilon times this bounds the rounding error of value().
  double value_magnitude() const { return energy().magnitude; }
  // g += ∂Φ/∂x.
  void add_gradient(std::span<double> g) const;
  // How much of its projection the projected Hessian takes from now on: 1 all, 0 none (then it is the raw one). Membranes only.
  void project_partly(double part) {
    if (part == projection_) return;
    projection_ = part;
    tangent_state_ = TangentState::Stale;
  }
  // H += scale·∂²Φ/∂x². H must have pattern() and block size d.
  void add_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const;
  // y += scale·∂²Φ/∂x²·p, without a matrix.
  void add_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p,
                         std::span<double> y) const;

  // For tests and benchmarks.
  int cluster_count() const { return static_cast<int>(clusters_.size()); }
  int colour_count() const { return static_cast<int>(colours_.size()); }

 protected:
  using Batches = ElementBatches<Model>;
  using Kernels = ElementKernels<Model>;
  static constexpr int corners = Layout::nodes;
  // A range of batches.
  struct Cluster {
    int begin = 0, end = 0;
  };

  // The pattern holds the pairs of every element.
  BatchedElements(int node_count, std::size_t elements, std::shared_ptr<const linalg::BlockPattern> pattern,
                  const Kernels& kernels)
      : node_count_(node_count), kernels_(kernels), pattern_(std::move(pattern)), volumes_(elements), place_(elements, -1) {}

  // elements: `corners` nodes each; models: those there are, model_of(element) one of them. fill(rows, lane, element, padding)
  // fills a lane of the rest data of a batch, with no volume for padding, and returns the element's volume.
  template <int dim, class ModelOf, class Fill>
  void build(std::span<const int> elements, const std::vector<Vec<dim>>& centroids, std::span<const Model> models,
             const ModelOf& model_of, const Fill& fill);

  // L += scale·Σ_e V_e w_e GᵀG with G the shape gradients and w_e = stiffness(element). L must have pattern() and block size 1.
  template <class Stiffness>
  void add_scalar_laplacian(double scale, const Stiffness& stiffness, linalg::BlockAssembler& L) const;

  // Runs body(cluster) over all clusters: clusters of one colour in parallel, colours in order.
  template <class Body>
  void for_each_by_colour(const Body& body) const;
  // Runs body(batches, cluster) in the same way where the clusters' tangents are those of `kind`.
  template <class Body>
  void with_tangent(optimize::HessianKind kind, const Body& body) const;

  // Read-outs, in the caller's order of elements.
  double rest_value(int row, int element) const { return lane_value(rest_, Layout::rest_rows, row, element); }
  double state_value(int row, int element) const { return lane_value(state_, Layout::state_rows, row, element); }
  int batch_of(int element) const { return place_[index(element)] / lanes; }
  int lane_of(int element) const { return place_[index(element)] % lanes; }
  // One number per element, in parallel.
  template <class Function>
  std::vector<double> per_element(const Function& function) const;

  static constexpr std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  static constexpr std::size_t element_grain = 1024;

  int node_count_;
  const Kernels& kernels_;
  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::vector<double> volumes_;
  std::vector<int> place_;  // element → batch·lanes + lane
  std::vector<Cluster> clusters_;
  std::vector<std::vector<int>> colours_;  // clusters of each colour
  std::vector<Model> model_;               // per batch, as filled_
  std::vector<int> filled_;
  std::vector<IndexRow> nodes_, slots_;
  std::vector<Row> rest_, state_;

 private:
  void place_elements(const std::vector<std::vector<int>>& members, std::span<const Model> models, const auto& model_of);
  void set_nodes(int batch, int lane, const int* node);
  Batches batches() const;
  const EnergySums& energy() const;
  double lane_value(const std::vector<Row>& rows, int rows_per_batch, int row, int element) const {
    const int place = place_[index(element)];
    return rows[index(std::int64_t{place / lanes} * rows_per_batch + row)].lane[place % lanes];
  }

  enum class TangentState { Stale, Raw, Projected };
  mutable std::vector<Row> tangent_;
  double projection_ = 1;
  mutable TangentState tangent_state_ = TangentState::Stale;
  mutable std::vector<EnergySums> cluster_energy_;
  mutable EnergySums energy_;
  mutable bool energy_known_ = false;
};

}  // namespace lope::matter
