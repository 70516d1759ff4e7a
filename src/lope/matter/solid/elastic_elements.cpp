#include <lope/material/evaluate.h>
#include <lope/material/registry.h>
#include <lope/matter/batched_elements_impl.h>
#include <lope/matter/kernel_choice.h>
#include <lope/matter/solid/elastic_elements.h>
#include <lope/matter/solid/first_root.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

#include <Eigen/LU>

namespace lope::matter {

template <int d>
ElasticElements<d>::ElasticElements(std::span<const double> rest, std::span<const int> elements,
                                    std::vector<material::Parameters> materials,
                                    std::span<const int> material_of_element, Isa isa)
    : Base(static_cast<int>(rest.size() / d), elements.size() / (d + 1),
           linalg::BlockPattern::from_groups(static_cast<int>(rest.size() / d), elements, d + 1),
           kernels_for(isa, []<Isa which>() -> const elastic::Kernels& { return elastic::compiled_kernels<d, which>(); })),
      materials_(std::move(materials)),
      material_of_element_(material_of_element.begin(), material_of_element.end()) {
  assert(material_of_element.empty() || material_of_element.size() == place_.size());
  std::vector<Vec<d>> centroids(place_.size(), Vec<d>::Zero());
  for (std::size_t e = 0; e < place_.size(); ++e) {
    for (int a = 0; a <= d; ++a) {
      const int node = elements[e * (d + 1) + index(a)];
      assert(node >= 0 && node < node_count_);
      centroids[e] += Eigen::Map<const Vec<d>>(rest.data() + std::ptrdiff_t{d} * node) / (d + 1);
    }
    needs_positive_volume_ |=
        material::entry(parameters(static_cast<int>(e)).density).defined_only_for_positive_J;
  }
  std::vector<material::Density> densities;
  for (const material::DensityEntry& entry : material::densities()) densities.push_back(entry.density);
  Base::template build<d>(
      elements, centroids, densities, [&](int element) { return parameters(element).density; },
      [&](Row* rows, int lane, int element, bool padding) {
        return fill_lane(rows, lane, element, rest, elements, padding);
      });
  Base::move_to(rest);
}

template <int d>
const material::Parameters& ElasticElements<d>::parameters(int element) const {
  return materials_[material_of_element_.empty() ? 0 : index(material_of_element_[index(element)])];
}

template <int d>
double ElasticElements<d>::fill_lane(Row* rows, int lane, int element, std::span<const double> rest,
                                     std::span<const int> elements, bool padding) const {
  const int* node = elements.data() + std::ptrdiff_t{d + 1} * element;
  const auto point = [&](int a) {
    return Eigen::Map<const Vec<d>>(rest.data() + std::ptrdiff_t{d} * node[a]);
  };
  Mat<d> edges;
  for (int a = 0; a < d; ++a) edges.col(a) = point(a + 1) - point(0);
  const double volume = edges.determinant() / (d == 3 ? 6 : 2);
  assert(volume > 0);
  const Mat<d> inverse = edges.inverse();
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) rows[d * i + j].lane[lane] = inverse(i, j);
  }
  rows[Layout::volume].lane[lane] = padding ? 0 : volume;
  rows[Layout::mu].lane[lane] = parameters(element).mu;
  rows[Layout::lambda].lane[lane] = parameters(element).lambda;
  return volume;
}

template <int d>
void ElasticElements<d>::make_diagonal_slots() const {
  diagonal_slots_.resize(slots_.size());
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    const int unread = node_count_ + static_cast<int>(c);
    for (int batch = clusters_[c].begin; batch < clusters_[c].end; ++batch) {
      for (int a = 0; a <= d; ++a) {
        for (int b = 0; b <= d; ++b) {
          IndexRow& row = diagonal_slots_[index((std::int64_t{batch} * (d + 1) + a) * (d + 1) + b)];
          if (a == b) {
            row = nodes_[index(std::int64_t{batch} * (d + 1) + a)];
          } else {
            std::fill(std::begin(row.lane), std::end(row.lane), unread);
          }
        }
      }
    }
  }
  diagonal_work_.resize((index(node_count_) + clusters_.size()) * d * d);
}

template <int d>
void ElasticElements<d>::add_hessian_diagonal(optimize::HessianKind kind, double scale, double* blocks) const {
  if (diagonal_slots_.empty()) make_diagonal_slots();
  std::fill(diagonal_work_.begin(), diagonal_work_.end(), 0.0);
  with_tangent(kind, [&](const Batches& data, const Cluster& c) {
    Batches diagonal = data;
    diagonal.slots = diagonal_slots_.data();
    kernels_.hessian(diagonal, c.begin, c.end, scale, diagonal_work_.data());
  });
  const std::size_t count = index(node_count_) * d * d;
  for (std::size_t k = 0; k < count; ++k) blocks[k] += diagonal_work_[k];
}

template <int d>
void ElasticElements<d>::add_laplacian(double scale, linalg::BlockAssembler& L) const {
  Base::add_scalar_laplacian(
      scale, [&](int element) { return 2 * parameters(element).mu + parameters(element).lambda; }, L);
}

template <int d>
double ElasticElements<d>::largest_step(std::span<const double> direction) const {
  assert(direction.size() == index(node_count_) * d);
  if (!needs_positive_volume_) return std::numeric_limits<double>::infinity();
  constexpr double safety = 0.9;
  const auto element_bound = [&](int element) {
    const int batch = batch_of(element), lane = lane_of(element);
    if (!material::entry(model_[index(batch)]).defined_only_for_positive_J) {
      return std::numeric_limits<double>::infinity();
    }
    const auto moved = [&](int a) {
      const int node = nodes_[index(std::int64_t{batch} * (d + 1) + a)].lane[lane];
      return Eigen::Map<const Vec<d>>(direction.data() + std::ptrdiff_t{d} * node);
    };
    Mat<d> edges, shape, F;
    for (int a = 0; a < d; ++a) edges.col(a) = moved(a + 1) - moved(0);
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) shape(i, j) = rest_value(d * i + j, element);
    }
    deformation(element, F);
    return first_root(determinant_along<d>(F, edges * shape));
  };
  const double nearest = -parallel_max(place_.size(), Base::element_grain, [&](std::size_t begin, std::size_t end) {
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t e = begin; e < end; ++e)
      smallest = std::min(smallest, element_bound(static_cast<int>(e)));
    return -smallest;
  });
  return safety * nearest;
}

template <int d>
std::array<int, d + 1> ElasticElements<d>::nodes(int element) const {
  const int batch = batch_of(element), lane = lane_of(element);
  std::array<int, d + 1> result;
  for (int a = 0; a <= d; ++a) result[index(a)] = nodes_[index(std::int64_t{batch} * (d + 1) + a)].lane[lane];
  return result;
}

template <int d>
Mat<d> ElasticElements<d>::shape_gradients(int element) const {
  Mat<d> result;
  for (int a = 0; a < d; ++a) {
    for (int j = 0; j < d; ++j) result(a, j) = rest_value(d * a + j, element);
  }
  return result;
}

template <int d>
Vec<d> ElasticElements<d>::stretches(int element) const {
  Vec<d> sigma;
  for (int i = 0; i < d; ++i) sigma[i] = state_value(Layout::sigma + i, element);
  return sigma;
}

template <int d>
Mat<d> ElasticElements<d>::rotation(int element, int first) const {
  Mat<d> result;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) result(i, j) = state_value(first + d * i + j, element);
  }
  return result;
}

template <int d>
Vec3 ElasticElements<d>::principal_cauchy(int element) const {
  const Vec<d> sigma = stretches(element);
  const Vec<d> slope = material::principal_stress<d>(parameters(element), sigma);
  const double J = std::max(std::abs(sigma.prod()), 1e-6);
  Vec3 cauchy;
  cauchy.head<d>() = slope.cwiseProduct(sigma) / J;
  if constexpr (d == 2) {
    cauchy[2] = material::principal_stress<3>(parameters(element), {sigma[0], sigma[1], 1})[2] / J;
  }
  return cauchy;
}

template <int d>
void ElasticElements<d>::deformation(int element, Mat<d>& F) const {
  F = rotation(element, Layout::u) * stretches(element).asDiagonal() * rotation(element, Layout::v).transpose();
}

template <int d>
std::vector<double> ElasticElements<d>::determinants() const {
  return per_element([&](int element) { return stretches(element).prod(); });
}

template <int d>
int ElasticElements<d>::inverted_count() const {
  int count = 0;
  for (int e = 0; e < this->element_count(); ++e) count += stretches(e).prod() <= 0;
  return count;
}

template <int d>
std::vector<double> ElasticElements<d>::cauchy_stress() const {
  std::vector<double> result(6 * place_.size());
  parallel_for(place_.size(), Base::element_grain, [&](std::size_t e) {
    const int element = static_cast<int>(e);
    const Vec3 principal = principal_cauchy(element);
    const Mat<d> U = rotation(element, Layout::u);
    Mat3 stress = Vec3(0, 0, principal[2]).asDiagonal();
    stress.topLeftCorner<d, d>() = U * principal.head<d>().asDiagonal() * U.transpose();
    const std::array<double, 6> entries{stress(0, 0), stress(1, 1), stress(2, 2), stress(0, 1), stress(1, 2), stress(2, 0)};
    std::copy(entries.begin(), entries.end(), result.begin() + static_cast<std::ptrdiff_t>(6 * e));
  });
  return result;
}

template <int d>
std::vector<double> ElasticElements<d>::von_mises() const {
  return per_element([&](int element) {
    const Vec3 cauchy = principal_cauchy(element);
    const double a = cauchy[0] - cauchy[1], b = cauchy[1] - cauchy[2], c = cauchy[2] - cauchy[0];
    return std::sqrt(0.5 * (a * a + b * b + c * c));
  });
}

template <int d>
std::vector<double> ElasticElements<d>::max_stretch() const {
  return per_element([&](int element) { return stretches(element)[0]; });
}

template <int d>
std::vector<double> ElasticElements<d>::energy_density() const {
  return per_element(
      [&](int element) { return material::energy_of_stretches<d>(parameters(element), stretches(element)); });
}

template class BatchedElements<material::Density, elastic::Layout<2>, 2>;
template class BatchedElements<material::Density, elastic::Layout<3>, 3>;
template class ElasticElements<2>;
template class ElasticElements<3>;

}  // namespace lope::matter
