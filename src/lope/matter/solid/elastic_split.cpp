#include <lope/base/parallel.h>
#include <lope/material/evaluate.h>
#include <lope/material/proximal.h>
#include <lope/matter/solid/elastic_split.h>

namespace lope::matter {
namespace {

constexpr std::size_t grain = 256;

template <int d>
using RowMajor = Eigen::Matrix<double, d, d, Eigen::RowMajor>;

}  // namespace

template <int d>
ElasticSplit<d>::ElasticSplit(const ElasticElements<d>& elements) {
  const auto nodes = static_cast<std::size_t>(elements.node_count());
  elements_.resize(static_cast<std::size_t>(elements.element_count()));
  corners_start_.assign(nodes + 1, 0);
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const int element = static_cast<int>(e);
    elements_[e] = {elements.nodes(element), elements.shape_gradients(element), elements.volumes()[e],
                    elements.parameters(element)};
    for (const int node : elements_[e].nodes) ++corners_start_[static_cast<std::size_t>(node) + 1];
  }
  for (std::size_t i = 0; i < nodes; ++i) corners_start_[i + 1] += corners_start_[i];
  corners_.resize(elements_.size() * (d + 1));
  std::vector<int> next(corners_start_.begin(), corners_start_.end() - 1);
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    for (std::size_t a = 0; a <= d; ++a) {
      corners_[static_cast<std::size_t>(next[static_cast<std::size_t>(elements_[e].nodes[a])]++)] = {
          static_cast<int>(e), static_cast<int>(a)};
    }
  }
}

template <int d>
void ElasticSplit<d>::reduce(std::span<const double> x, std::span<double> F) const {
  parallel_for(elements_.size(), grain, [&](std::size_t e) {
    const Element& element = elements_[e];
    const auto point = [&](std::size_t a) {
      return Eigen::Map<const Vec<d>>(x.data() + std::ptrdiff_t{d} * element.nodes[a]);
    };
    Mat<d> edges;
    for (int a = 0; a < d; ++a) edges.col(a) = point(static_cast<std::size_t>(a) + 1) - point(0);
    Eigen::Map<RowMajor<d>>(F.data() + e * d * d) = edges * element.shape;
  });
}

template <int d>
void ElasticSplit<d>::minimize_locally(std::span<const double> target, std::span<double> F) const {
  parallel_for(elements_.size(), grain, [&](std::size_t e) {
    const Element& element = elements_[e];
    const Mat<d> wanted = Eigen::Map<const RowMajor<d>>(target.data() + e * d * d);
    const auto svd = material::principal_stretches<d>(wanted);
    const Vec<d> sigma = material::proximal_stretches<d>(element.parameters, element.stiffness(), svd.sigma);
    Eigen::Map<RowMajor<d>>(F.data() + e * d * d) = svd.U * sigma.asDiagonal() * svd.V.transpose();
  });
}

template <int d>
void ElasticSplit<d>::add_transposed(std::span<const double> p, std::span<double> g) const {
  parallel_for(corners_start_.size() - 1, grain, [&](std::size_t node) {
    Vec<d> sum = Vec<d>::Zero();
    for (int k = corners_start_[node]; k < corners_start_[node + 1]; ++k) {
      const Corner& corner = corners_[static_cast<std::size_t>(k)];
      const Element& element = elements_[static_cast<std::size_t>(corner.element)];
      const Eigen::Map<const RowMajor<d>> stress(p.data() + std::ptrdiff_t{d} * d * corner.element);
      const Vec<d> gradient = corner.corner == 0 ? Vec<d>(-element.shape.colwise().sum().transpose())
                                                 : Vec<d>(element.shape.row(corner.corner - 1).transpose());
      sum += element.volume * element.stiffness() * (stress * gradient);
    }
    Eigen::Map<Vec<d>>(g.data() + node * d) += sum;
  });
}

template class ElasticSplit<2>;
template class ElasticSplit<3>;

}  // namespace lope::matter
