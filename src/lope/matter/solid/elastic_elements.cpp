#include <lope/base/parallel.h>
#include <lope/material/evaluate.h>
#include <lope/material/registry.h>
#include <lope/matter/element_clusters.h>
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

using elastic::lanes;

namespace elastic {

template <int d>
const Kernels& kernels([[maybe_unused]] Isa isa) {
  assert(cpu_supports(isa));
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return avx512_kernels<d>();
  if (isa == Isa::Avx2) return avx2_kernels<d>();
#endif
  return baseline_kernels<d>();
}

}  // namespace elastic

namespace {

constexpr std::size_t element_grain = 1024;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

template <int d>
ElasticElements<d>::ElasticElements(std::span<const double> rest, std::span<const int> elements,
                                    std::vector<material::Parameters> materials,
                                    std::span<const int> material_of_element, Isa isa)
    : node_count_(static_cast<int>(rest.size() / d)),
      kernels_(elastic::kernels<d>(isa)),
      materials_(std::move(materials)),
      material_of_element_(material_of_element.begin(), material_of_element.end()),
      pattern_(linalg::BlockPattern::from_groups(node_count_, elements, d + 1)),
      place_(elements.size() / (d + 1), -1) {
  assert(material_of_element.empty() || material_of_element.size() == place_.size());
  volumes_.resize(place_.size());
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
  const std::vector<std::vector<int>> members = bisected_clusters<d>(centroids, cluster_size(element_count(), lanes));
  fill_batches(rest, elements, members);
  std::vector<int> load;
  for (const Cluster& cluster : clusters_) load.push_back(cluster.end - cluster.begin);
  colours_ = coloured_clusters(node_count_, elements, d + 1, members, load);
  move_to(rest);
}

template <int d>
const material::Parameters& ElasticElements<d>::parameters(int element) const {
  return materials_[material_of_element_.empty() ? 0 : index(material_of_element_[index(element)])];
}

template <int d>
void ElasticElements<d>::fill_batches(std::span<const double> rest, std::span<const int> elements,
                                      const std::vector<std::vector<int>>& members) {
  // First the places: per cluster, the elements of each density start a new batch.
  for (const std::vector<int>& cluster : members) {
    Cluster range;
    range.begin = static_cast<int>(density_.size());
    for (const material::DensityEntry& entry : material::densities()) {
      int lane = lanes;
      for (const int element : cluster) {
        if (parameters(element).density != entry.density) continue;
        if (lane == lanes) {
          density_.push_back(entry.density);
          filled_.push_back(0);
          lane = 0;
        }
        place_[index(element)] = (static_cast<int>(density_.size()) - 1) * lanes + lane++;
        ++filled_.back();
      }
    }
    range.end = static_cast<int>(density_.size());
    clusters_.push_back(range);
  }
  const std::size_t batch_count = density_.size();
  nodes_.resize(batch_count * (d + 1));
  slots_.resize(batch_count * (d + 1) * (d + 1));
  rest_.resize(batch_count * Layout::rest_rows);
  state_.resize(batch_count * Layout::state_rows);
  tangent_.resize(batch_count * Layout::tangent_rows);
  cluster_energy_.resize(clusters_.size());

  parallel_for(members.size(), 1, [&](std::size_t cluster) {
    for (const int element : members[cluster]) {
      const int batch = place_[index(element)] / lanes, lane = place_[index(element)] % lanes;
      fill_lane(batch, lane, element, rest, elements, parameters(element), false);
      // Padding repeats the last element of its batch, with no volume.
      if (lane != filled_[index(batch)] - 1) continue;
      for (int empty = lane + 1; empty < lanes; ++empty) {
        fill_lane(batch, empty, element, rest, elements, parameters(element), true);
      }
    }
  });
}

template <int d>
void ElasticElements<d>::fill_lane(int batch, int lane, int element, std::span<const double> rest,
                                   std::span<const int> elements, const material::Parameters& parameters,
                                   bool padding) {
  const int* node = elements.data() + std::ptrdiff_t{d + 1} * element;
  const auto point = [&](int a) {
    return Eigen::Map<const Vec<d>>(rest.data() + std::ptrdiff_t{d} * node[a]);
  };
  Mat<d> edges;
  for (int a = 0; a < d; ++a) edges.col(a) = point(a + 1) - point(0);
  const double volume = edges.determinant() / (d == 3 ? 6 : 2);
  assert(volume > 0);
  if (!padding) volumes_[index(element)] = volume;

  const Mat<d> inverse = edges.inverse();
  elastic::Row* rows = rest_.data() + std::ptrdiff_t{batch} * Layout::rest_rows;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) rows[d * i + j].lane[lane] = inverse(i, j);
  }
  rows[Layout::volume].lane[lane] = padding ? 0 : volume;
  rows[Layout::mu].lane[lane] = parameters.mu;
  rows[Layout::lambda].lane[lane] = parameters.lambda;
  for (int a = 0; a <= d; ++a) {
    nodes_[index(std::int64_t{batch} * (d + 1) + a)].lane[lane] = node[a];
    for (int b = 0; b <= d; ++b) {
      const std::int64_t slot = pattern_->slot(node[a], node[b]);
      assert(slot >= 0 && slot <= std::numeric_limits<int>::max());
      slots_[index((std::int64_t{batch} * (d + 1) + a) * (d + 1) + b)].lane[lane] = static_cast<int>(slot);
    }
  }
}

template <int d>
elastic::Batches ElasticElements<d>::batches() const {
  // Kernels write state only from move_to and tangent only into its cache.
  return {density_.data(), filled_.data(), nodes_.data(),
          slots_.data(),   rest_.data(),   const_cast<elastic::Row*>(state_.data()),
          tangent_.data()};
}

template <int d>
template <class Body>
void ElasticElements<d>::for_each_by_colour(const Body& body) const {
  for (const std::vector<int>& colour : colours_) {
    parallel_for(colour.size(), 1, [&](std::size_t i) { body(clusters_[index(colour[i])]); });
  }
}

template <int d>
void ElasticElements<d>::move_to(std::span<const double> x) {
  assert(x.size() == index(node_count_) * d);
  const elastic::Batches data = batches();
  parallel_for(clusters_.size(), 1, [&](std::size_t c) {
    kernels_.decompose(data, clusters_[c].begin, clusters_[c].end, x.data());
  });
  energy_known_ = false;
  tangent_state_ = TangentState::Stale;
}

template <int d>
void ElasticElements<d>::evaluate_energy() const {
  if (energy_known_) return;
  const elastic::Batches data = batches();
  parallel_for(clusters_.size(), 1, [&](std::size_t c) {
    cluster_energy_[c] = kernels_.energy(data, clusters_[c].begin, clusters_[c].end);
  });
  energy_ = {};
  for (const elastic::EnergySums& sums : cluster_energy_) {
    energy_.value += sums.value;
    energy_.magnitude += sums.magnitude;
  }
  energy_known_ = true;
}

template <int d>
double ElasticElements<d>::value() const {
  evaluate_energy();
  return energy_.value;
}

template <int d>
double ElasticElements<d>::value_magnitude() const {
  evaluate_energy();
  return energy_.magnitude;
}

template <int d>
void ElasticElements<d>::add_gradient(std::span<double> g) const {
  assert(g.size() == index(node_count_) * d);
  const elastic::Batches data = batches();
  for_each_by_colour([&](const Cluster& c) { kernels_.gradient(data, c.begin, c.end, g.data()); });
}

template <int d>
template <class Body>
void ElasticElements<d>::with_tangent(optimize::HessianKind kind, const Body& body) const {
  const bool projected = kind == optimize::HessianKind::Projected;
  const TangentState wanted = projected ? TangentState::Projected : TangentState::Raw;
  const bool stale = tangent_state_ != wanted;
  const elastic::Batches data = batches();
  for_each_by_colour([&](const Cluster& c) {
    if (stale) kernels_.tangent(data, c.begin, c.end, projected);
    body(data, c);
  });
  tangent_state_ = wanted;
}

template <int d>
void ElasticElements<d>::add_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const {
  assert(H.pattern().id() == pattern_->id() && H.block_size() == d);
  double* blocks = H.blocks();
  with_tangent(kind, [&](const elastic::Batches& data, const Cluster& c) {
    kernels_.hessian(data, c.begin, c.end, scale, blocks);
  });
}

template <int d>
void ElasticElements<d>::add_hessian_diagonal(optimize::HessianKind kind, double scale, double* blocks) const {
  if (diagonal_slots_.empty()) {
    diagonal_slots_.resize(slots_.size());
    for (std::size_t c = 0; c < clusters_.size(); ++c) {
      const int unread = node_count_ + static_cast<int>(c);
      for (int batch = clusters_[c].begin; batch < clusters_[c].end; ++batch) {
        for (int a = 0; a <= d; ++a) {
          for (int b = 0; b <= d; ++b) {
            elastic::IndexRow& row = diagonal_slots_[index((std::int64_t{batch} * (d + 1) + a) * (d + 1) + b)];
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
  std::fill(diagonal_work_.begin(), diagonal_work_.end(), 0.0);
  with_tangent(kind, [&](const elastic::Batches& data, const Cluster& c) {
    elastic::Batches diagonal = data;
    diagonal.slots = diagonal_slots_.data();
    kernels_.hessian(diagonal, c.begin, c.end, scale, diagonal_work_.data());
  });
  const std::size_t count = index(node_count_) * d * d;
  for (std::size_t k = 0; k < count; ++k) blocks[k] += diagonal_work_[k];
}

template <int d>
void ElasticElements<d>::add_hessian_times(optimize::HessianKind kind, double scale,
                                           std::span<const double> p, std::span<double> y) const {
  assert(p.size() == index(node_count_) * d && y.size() == p.size());
  with_tangent(kind, [&](const elastic::Batches& data, const Cluster& c) {
    kernels_.product(data, c.begin, c.end, scale, p.data(), y.data());
  });
}

template <int d>
void ElasticElements<d>::add_laplacian(double scale, linalg::BlockAssembler& L) const {
  assert(L.pattern().id() == pattern_->id() && L.block_size() == 1);
  double* entries = L.blocks();
  for (int element = 0; element < element_count(); ++element) {
    const int batch = place_[index(element)] / lanes, lane = place_[index(element)] % lanes;
    const material::Parameters& material = parameters(element);
    const double weight = scale * volumes_[index(element)] * (2 * material.mu + material.lambda);
    Eigen::Matrix<double, d + 1, d> gradient;  // row a: of the shape function of node a
    gradient.row(0).setZero();
    for (int a = 0; a < d; ++a) {
      for (int j = 0; j < d; ++j) gradient(a + 1, j) = lane_value(rest_, Layout::rest_rows, d * a + j, element);
      gradient.row(0) -= gradient.row(a + 1);
    }
    for (int a = 0; a <= d; ++a) {
      for (int b = 0; b <= d; ++b) {
        const int slot = slots_[index((std::int64_t{batch} * (d + 1) + a) * (d + 1) + b)].lane[lane];
        entries[slot] += weight * gradient.row(a).dot(gradient.row(b));
      }
    }
  }
}

template <int d>
double ElasticElements<d>::largest_step(std::span<const double> direction) const {
  assert(direction.size() == index(node_count_) * d);
  if (!needs_positive_volume_) return std::numeric_limits<double>::infinity();
  constexpr double safety = 0.9;
  const auto element_bound = [&](int element) {
    const int batch = place_[index(element)] / lanes, lane = place_[index(element)] % lanes;
    if (!material::entry(density_[index(batch)]).defined_only_for_positive_J) {
      return std::numeric_limits<double>::infinity();
    }
    const auto moved = [&](int a) {
      const int node = nodes_[index(std::int64_t{batch} * (d + 1) + a)].lane[lane];
      return Eigen::Map<const Vec<d>>(direction.data() + std::ptrdiff_t{d} * node);
    };
    Mat<d> edges, shape, F;
    for (int a = 0; a < d; ++a) edges.col(a) = moved(a + 1) - moved(0);
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) shape(i, j) = lane_value(rest_, Layout::rest_rows, d * i + j, element);
    }
    deformation(element, F);
    return first_root(determinant_along<d>(F, edges * shape));
  };
  const double nearest = -parallel_max(place_.size(), element_grain, [&](std::size_t begin, std::size_t end) {
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t e = begin; e < end; ++e)
      smallest = std::min(smallest, element_bound(static_cast<int>(e)));
    return -smallest;
  });
  return safety * nearest;
}

template <int d>
double ElasticElements<d>::lane_value(const std::vector<elastic::Row>& rows, int rows_per_batch, int row,
                                      int element) const {
  const int place = place_[index(element)];
  return rows[index(std::int64_t{place / lanes} * rows_per_batch + row)].lane[place % lanes];
}

template <int d>
std::array<int, d + 1> ElasticElements<d>::nodes(int element) const {
  const int batch = place_[index(element)] / lanes, lane = place_[index(element)] % lanes;
  std::array<int, d + 1> result;
  for (int a = 0; a <= d; ++a) result[index(a)] = nodes_[index(std::int64_t{batch} * (d + 1) + a)].lane[lane];
  return result;
}

template <int d>
Mat<d> ElasticElements<d>::shape_gradients(int element) const {
  Mat<d> result;
  for (int a = 0; a < d; ++a) {
    for (int j = 0; j < d; ++j) result(a, j) = lane_value(rest_, Layout::rest_rows, d * a + j, element);
  }
  return result;
}

template <int d>
Vec<d> ElasticElements<d>::stretches(int element) const {
  Vec<d> sigma;
  for (int i = 0; i < d; ++i) sigma[i] = lane_value(state_, Layout::state_rows, Layout::sigma + i, element);
  return sigma;
}

template <int d>
Mat<d> ElasticElements<d>::rotation(int element, int first) const {
  Mat<d> result;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j)
      result(i, j) = lane_value(state_, Layout::state_rows, first + d * i + j, element);
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
template <class Function>
std::vector<double> ElasticElements<d>::per_element(const Function& function) const {
  std::vector<double> result(place_.size());
  parallel_for(result.size(), element_grain,
               [&](std::size_t e) { result[e] = function(static_cast<int>(e)); });
  return result;
}

template <int d>
std::vector<double> ElasticElements<d>::determinants() const {
  return per_element([&](int element) { return stretches(element).prod(); });
}

template <int d>
int ElasticElements<d>::inverted_count() const {
  int count = 0;
  for (int e = 0; e < element_count(); ++e) count += stretches(e).prod() <= 0;
  return count;
}

template <int d>
std::vector<double> ElasticElements<d>::cauchy_stress() const {
  std::vector<double> result(6 * place_.size());
  parallel_for(place_.size(), element_grain, [&](std::size_t e) {
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

template class ElasticElements<2>;
template class ElasticElements<3>;

}  // namespace lope::matter
