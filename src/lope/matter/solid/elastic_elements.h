// The elastic energy Φ(x) = Σ_e V_e ψ(F_e(x)) of linear simplices (tetrahedra d = 3, triangles d = 2, plane
// strain per metre of depth) and its derivatives: where most of the time of a step that is not linear algebra
// goes. What it has in common with other energies of simplices is in batched_elements.h.
//
// A rest volume that is not positive is a programming error (asserted; scene/ validates meshes).
#pragma once

#include <lope/material/parameters.h>
#include <lope/math/types.h>
#include <lope/matter/batched_elements.h>
#include <lope/matter/solid/elastic_kernels.h>

#include <array>
#include <span>
#include <vector>

namespace lope::matter {

template <int d>
class ElasticElements : public BatchedElements<material::Density, elastic::Layout<d>, d> {
  using Base = BatchedElements<material::Density, elastic::Layout<d>, d>;

 public:
  // rest: d coordinates per node, the current point at first. elements: d+1 nodes each, positively oriented.
  // material_of_element: an index into materials per element (empty: 0 everywhere). isa: which kernels to use, for tests.
  ElasticElements(std::span<const double> rest, std::span<const int> elements,
                  std::vector<material::Parameters> materials, std::span<const int> material_of_element = {},
                  Isa isa = selected_isa());

  // Everything below is evaluated at the current point.

  // The diagonal blocks of ∂²Φ/∂x² alone, one per node, without a matrix.
  void add_hessian_diagonal(optimize::HessianKind kind, double scale, double* blocks) const;
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

 private:
  using typename Base::Batches, typename Base::Cluster;
  using Base::batch_of, Base::clusters_, Base::index, Base::kernels_, Base::lane_of, Base::model_, Base::node_count_,
      Base::nodes_, Base::pattern_, Base::per_element, Base::place_, Base::rest_value, Base::slots_, Base::state_value,
      Base::with_tangent;
  using Layout = elastic::Layout<d>;

  double fill_lane(Row* rows, int lane, int element, std::span<const double> rest, std::span<const int> elements,
                   bool padding) const;
  void make_diagonal_slots() const;
  Vec<d> stretches(int element) const;
  // A rotation of the signed SVD F = U Σ Vᵀ of an element: `first` is Layout::u or Layout::v.
  Mat<d> rotation(int element, int first) const;
  // The principal values of the Cauchy stress along the columns of U; in 2D the third is across the plane.
  Vec3 principal_cauchy(int element) const;

  std::vector<material::Parameters> materials_;
  std::vector<int> material_of_element_;
  bool needs_positive_volume_ = false;
  // For diagonal blocks alone: the node, or, off the diagonal, a place of the cluster's own behind the nodes that nothing reads.
  // Made when first asked for.
  mutable std::vector<IndexRow> diagonal_slots_;
  mutable std::vector<double> diagonal_work_;
};

extern template class BatchedElements<material::Density, elastic::Layout<2>, 2>;
extern template class BatchedElements<material::Density, elastic::Layout<3>, 3>;
extern template class ElasticElements<2>;
extern template class ElasticElements<3>;

}  // namespace lope::matter
