// The elastic energy as a sum of functions of deformation gradients, for ADMM and projective dynamics:
//   Φ(x) = Σ_e V_e ψ((Dx)_e),  (Dx)_e = F_e, d×d row-major;  weights w_e = V_e (2μ + λ), the largest
//   stiffness at rest.
// Results have the same bits for any number of threads.
#pragma once

#include <lope/matter/solid/elastic_elements.h>

#include <array>
#include <span>
#include <vector>

namespace lope::matter {

template <int d>
class ElasticSplit {
 public:
  explicit ElasticSplit(const ElasticElements<d>& elements);

  std::size_t reduced_size() const { return elements_.size() * d * d; }
  // F of every element at x.
  void reduce(std::span<const double> x, std::span<double> F) const;
  // argmin V ψ(F) + ½w|F − target|² for every element (material/proximal.h).
  void minimize_locally(std::span<const double> target, std::span<double> F) const;
  // g += DᵀW p.
  void add_transposed(std::span<const double> p, std::span<double> g) const;

 private:
  struct Element {
    std::array<int, d + 1> nodes;
    Mat<d> shape;  // row a: gradient of the shape function of node a + 1
    double volume;
    material::Parameters parameters;
    double stiffness() const { return 2 * parameters.mu + parameters.lambda; }
  };
  // Where node `corner` of an element feels its stress.
  struct Corner {
    int element, corner;
  };
  std::vector<Element> elements_;
  std::vector<int> corners_start_;  // per node
  std::vector<Corner> corners_;
};

extern template class ElasticSplit<2>;
extern template class ElasticSplit<3>;

}  // namespace lope::matter
