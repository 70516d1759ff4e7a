// The step objective of one elastic body of linear simplices with lumped masses.
#pragma once

#include <lope/matter/nodal_objective.h>
#include <lope/matter/solid/elastic_elements.h>
#include <lope/matter/solid/elastic_split.h>
#include <lope/optimize/split_objective.h>

#include <optional>

namespace lope::matter {

template <int d>
class SolidObjective final : public NodalObjective<d>, private optimize::SplitObjective {
 public:
  explicit SolidObjective(const SolidDescription& description);

  double largest_step(std::span<const double> direction) const override;
  std::vector<std::vector<int>> cover(int parts) const override;
  linalg::Prolongation coarse_space(int functions) const override;
  // Vertices in a regular grid with about 2^d times fewer nodes, its nodes in a coarser one, and so on.
  linalg::HierarchyPtr hierarchy() override;
  // Elastic energy by elements; Q is inertia and damping.
  optimize::SplitObjective* split() override;

  double potential() const override { return elements_.value(); }
  int inverted_elements() const override { return elements_.inverted_count(); }
  std::vector<Field> fields(const FieldFilter& wanted) const override;

 private:
  SolidObjective(const SolidDescription& description, ElasticElements<d> elements);

  void move_potential(std::span<const double> x) override { elements_.move_to(x); }
  void add_potential_gradient(std::span<double> g) const override { elements_.add_gradient(g); }
  void add_potential_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const override {
    elements_.add_hessian(kind, scale, H);
  }
  void add_potential_hessian_diagonal(optimize::HessianKind kind, double scale, double* blocks) const override {
    elements_.add_hessian_diagonal(kind, scale, blocks);
  }
  void add_potential_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p,
                                   std::span<double> y) const override {
    elements_.add_hessian_times(kind, scale, p, y);
  }
  double potential_magnitude() const override { return elements_.value_magnitude(); }
  double potential_noise(double delta) const override;
  void add_laplacian(double scale, linalg::BlockAssembler& L) const override { elements_.add_laplacian(scale, L); }

  // As SplitObjective; only after split().
  std::size_t reduced_size() const override { return split_->reduced_size(); }
  void reduce(std::span<const double> x, std::span<double> z) const override { split_->reduce(x, z); }
  void minimize_locally(std::span<const double> target, std::span<double> z) const override {
    split_->minimize_locally(target, z);
  }
  void quadratic_gradient(std::span<const double> x, std::span<double> g) const override {
    this->quadratic_gradient_at(x, g);
  }
  void add_transposed(std::span<const double> p, std::span<double> g) const override;

  ElasticElements<d> elements_;
  geometry::Mesh rest_;         // vertices and elements, nothing else
  double total_stiffness_ = 0;  // Σ V ξ
  double element_size_ = 0;     // mean
  linalg::HierarchyPtr hierarchy_;  // made when first asked for
  std::optional<ElasticSplit<d>> split_;
};

}  // namespace lope::matter
