// The functions of batched_elements.h, for the sources of the kinds of elements.
#pragma once

#include <lope/base/parallel.h>
#include <lope/matter/batched_elements.h>
#include <lope/matter/element_clusters.h>

#include <cassert>
#include <limits>

namespace lope::matter {

// Per cluster, the elements of each model start a new batch.
template <class Model, class Layout, int d>
void BatchedElements<Model, Layout, d>::place_elements(const std::vector<std::vector<int>>& members,
                                                       std::span<const Model> models, const auto& model_of) {
  for (const std::vector<int>& cluster : members) {
    Cluster range;
    range.begin = static_cast<int>(model_.size());
    for (const Model model : models) {
      int lane = lanes;
      for (const int element : cluster) {
        if (model_of(element) != model) continue;
        if (lane == lanes) {
          model_.push_back(model);
          filled_.push_back(0);
          lane = 0;
        }
        place_[index(element)] = (static_cast<int>(model_.size()) - 1) * lanes + lane++;
        ++filled_.back();
      }
    }
    range.end = static_cast<int>(model_.size());
    clusters_.push_back(range);
  }
}

template <class Model, class Layout, int d>
template <int dim, class ModelOf, class Fill>
void BatchedElements<Model, Layout, d>::build(std::span<const int> elements, const std::vector<Vec<dim>>& centroids,
                                              std::span<const Model> models, const ModelOf& model_of, const Fill& fill) {
  const std::vector<std::vector<int>> members = bisected_clusters<dim>(centroids, cluster_size(element_count(), lanes));
  place_elements(members, models, model_of);
  const std::size_t batch_count = model_.size();
  nodes_.resize(batch_count * corners);
  slots_.resize(batch_count * corners * corners);
  rest_.resize(batch_count * Layout::rest_rows);
  state_.resize(batch_count * Layout::state_rows);
  tangent_.resize(batch_count * Layout::tangent_rows);
  cluster_energy_.resize(clusters_.size());
  parallel_for(members.size(), 1, [&](std::size_t cluster) {
    for (const int element : members[cluster]) {
      const int batch = batch_of(element);
      Row* rows = rest_.data() + std::ptrdiff_t{batch} * Layout::rest_rows;
      const auto fill_lane = [&](int lane, bool padding) {
        volumes_[index(element)] = fill(rows, lane, element, padding);
        set_nodes(batch, lane, elements.data() + std::ptrdiff_t{corners} * element);
      };
      const int own = lane_of(element);
      fill_lane(own, false);
      // Padding repeats the last element of its batch, with no volume.
      if (own != filled_[index(batch)] - 1) continue;
      for (int empty = own + 1; empty < lanes; ++empty) fill_lane(empty, true);
    }
  });
  std::vector<int> load;
  for (const Cluster& cluster : clusters_) load.push_back(cluster.end - cluster.begin);
  colours_ = coloured_clusters(node_count_, elements, corners, members, load);
}

template <class Model, class Layout, int d>
void BatchedElements<Model, Layout, d>::set_nodes(int batch, int lane, const int* node) {
  for (int a = 0; a < corners; ++a) {
    nodes_[index(std::int64_t{batch} * corners + a)].lane[lane] = node[a];
    for (int b = 0; b < corners; ++b) {
      const std::int64_t slot = pattern_->slot(node[a], node[b]);
      assert(slot >= 0 && slot <= std::numeric_limits<int>::max());
      slots_[index((std::int64_t{batch} * corners + a) * corners + b)].lane[lane] = static_cast<int>(slot);
    }
  }
}

template <class Model, class Layout, int d>
ElementBatches<Model> BatchedElements<Model, Layout, d>::batches() const {
  // Kernels write state only from move_to and tangent only into its cache.
  return {model_.data(), filled_.data(), nodes_.data(), slots_.data(), rest_.data(), const_cast<Row*>(state_.data()),
          tangent_.data(), projection_};
}

template <class Model, class Layout, int d>
template <class Body>
void BatchedElements<Model, Layout, d>::for_each_by_colour(const Body& body) const {
  for (const std::vector<int>& colour : colours_) {
    parallel_for(colour.size(), 1, [&](std::size_t i) { body(clusters_[index(colour[i])]); });
  }
}

template <class Model, class Layout, int d>
void BatchedElements<Model, Layout, d>::move_to(std::span<const double> x) {
  assert(x.size() == index(node_count_) * d);
  const Batches data = batches();
  parallel_for(clusters_.size(), 1, [&](std::size_t c) {
    kernels_.decompose(data, clusters_[c].begin, clusters_[c].end, x.data());
  });
  energy_known_ = false;
  tangent_state_ = TangentState::Stale;
}

template <class Model, class Layout, int d>
const EnergySums& BatchedElements<Model, Layout, d>::energy() const {
  if (energy_known_) return energy_;
  const Batches data = batches();
  parallel_for(clusters_.size(), 1, [&](std::size_t c) {
    cluster_energy_[c] = kernels_.energy(data, clusters_[c].begin, clusters_[c].end);
  });
  energy_ = {};
  for (const EnergySums& sums : cluster_energy_) energy_ += sums;
  energy_known_ = true;
  return energy_;
}

template <class Model, class Layout, int d>
void BatchedElements<Model, Layout, d>::add_gradient(std::span<double> g) const {
  assert(g.size() == index(node_count_) * d);
  const Batches data = batches();
  for_each_by_colour([&](const Cluster& c) { kernels_.gradient(data, c.begin, c.end, g.data()); });
}

template <class Model, class Layout, int d>
template <class Body>
void BatchedElements<Model, Layout, d>::with_tangent(optimize::HessianKind kind, const Body& body) const {
  const bool projected = kind == optimize::HessianKind::Projected;
  const TangentState wanted = projected ? TangentState::Projected : TangentState::Raw;
  const bool stale = tangent_state_ != wanted;
  const Batches data = batches();
  for_each_by_colour([&](const Cluster& c) {
    if (stale) kernels_.tangent(data, c.begin, c.end, projected);
    body(data, c);
  });
  tangent_state_ = wanted;
}

template <class Model, class Layout, int d>
void BatchedElements<Model, Layout, d>::add_hessian(optimize::HessianKind kind, double scale,
                                                    linalg::BlockAssembler& H) const {
  assert(H.pattern().id() == pattern_->id() && H.block_size() == d);
  double* blocks = H.blocks();
  with_tangent(kind, [&](const Batches& data, const Cluster& c) {
    kernels_.hessian(data, c.begin, c.end, scale, blocks);
  });
}

template <class Model, class Layout, int d>
void BatchedElements<Model, Layout, d>::add_hessian_times(optimize::HessianKind kind, double scale,
                                                          std::span<const double> p, std::span<double> y) const {
  assert(p.size() == index(node_count_) * d && y.size() == p.size());
  with_tangent(kind, [&](const Batches& data, const Cluster& c) {
    kernels_.product(data, c.begin, c.end, scale, p.data(), y.data());
  });
}

template <class Model, class Layout, int d>
template <class Stiffness>
void BatchedElements<Model, Layout, d>::add_scalar_laplacian(double scale, const Stiffness& stiffness,
                                                             linalg::BlockAssembler& L) const {
  assert(L.pattern().id() == pattern_->id() && L.block_size() == 1);
  double* entries = L.blocks();
  for (int element = 0; element < element_count(); ++element) {
    Eigen::Matrix<double, corners, corners - 1> gradient;  // row a: of the shape function of node a
    gradient.row(0).setZero();
    for (int a = 1; a < corners; ++a) {
      for (int j = 0; j < corners - 1; ++j) gradient(a, j) = rest_value((corners - 1) * (a - 1) + j, element);
      gradient.row(0) -= gradient.row(a);
    }
    const double weight = scale * volumes_[index(element)] * stiffness(element);
    const IndexRow* slots = slots_.data() + std::ptrdiff_t{batch_of(element)} * corners * corners;
    for (int a = 0; a < corners; ++a) {
      for (int b = 0; b < corners; ++b)
        entries[slots[corners * a + b].lane[lane_of(element)]] += weight * gradient.row(a).dot(gradient.row(b));
    }
  }
}

template <class Model, class Layout, int d>
template <class Function>
std::vector<double> BatchedElements<Model, Layout, d>::per_element(const Function& function) const {
  std::vector<double> result(place_.size());
  parallel_for(result.size(), element_grain, [&](std::size_t e) { result[e] = function(static_cast<int>(e)); });
  return result;
}

}  // namespace lope::matter
