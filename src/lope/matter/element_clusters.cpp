#include <lope/matter/element_clusters.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace lope::matter {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Cuts [begin, end) of `order` into clusters of `size`.
template <int d>
class Bisection {
 public:
  Bisection(const std::vector<Vec<d>>& centroids, int size) : centroids_(centroids), size_(size) {
    order_.resize(centroids.size());
    std::iota(order_.begin(), order_.end(), 0);
    if (!order_.empty()) cut(0, static_cast<int>(order_.size()));
  }
  std::vector<std::vector<int>> take() { return std::move(clusters_); }

 private:
  void cut(int begin, int end) {
    const int count = end - begin;
    if (count <= size_) {
      clusters_.emplace_back(order_.begin() + begin, order_.begin() + end);
      std::sort(clusters_.back().begin(), clusters_.back().end());
      return;
    }
    Vec<d> low = centroids_[index(order_[index(begin)])], high = low;
    for (int i = begin; i < end; ++i) {
      low = low.cwiseMin(centroids_[index(order_[index(i)])]);
      high = high.cwiseMax(centroids_[index(order_[index(i)])]);
    }
    int axis = 0;
    (high - low).maxCoeff(&axis);
    const int pieces = (count + size_ - 1) / size_;
    const int middle = begin + pieces / 2 * size_;
    const auto before = [&](int a, int b) {
      const double xa = centroids_[index(a)][axis], xb = centroids_[index(b)][axis];
      return xa != xb ? xa < xb : a < b;
    };
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, before);
    cut(begin, middle);
    cut(middle, end);
  }

  const std::vector<Vec<d>>& centroids_;
  int size_;
  std::vector<int> order_;
  std::vector<std::vector<int>> clusters_;
};

}  // namespace

int cluster_size(int elements, int lanes) { return std::clamp(elements / 256, 64, 512) / lanes * lanes; }

template <int d>
std::vector<std::vector<int>> bisected_clusters(const std::vector<Vec<d>>& centroids, int size) {
  return Bisection<d>(centroids, size).take();
}
template std::vector<std::vector<int>> bisected_clusters<2>(const std::vector<Vec<2>>& centroids, int size);
template std::vector<std::vector<int>> bisected_clusters<3>(const std::vector<Vec<3>>& centroids, int size);

std::vector<std::vector<int>> coloured_clusters(int nodes, std::span<const int> elements, int corners,
                                                const std::vector<std::vector<int>>& members,
                                                std::span<const int> load) {
  std::vector<std::vector<int>> colours, colours_at(index(nodes));
  std::vector<int> colour_load;
  std::vector<int> taken_by;  // colour → last cluster that may not have it
  for (int cluster = 0; cluster < static_cast<int>(members.size()); ++cluster) {
    const auto for_each_node = [&](const auto& body) {
      for (const int element : members[index(cluster)]) {
        for (int a = 0; a < corners; ++a)
          body(colours_at[index(elements[index(std::int64_t{element} * corners + a)])]);
      }
    };
    for_each_node([&](const std::vector<int>& used) {
      for (const int colour : used) taken_by[index(colour)] = cluster;
    });
    int best = -1;
    for (int colour = 0; colour < static_cast<int>(colours.size()); ++colour) {
      if (taken_by[index(colour)] == cluster) continue;
      if (best < 0 || colour_load[index(colour)] < colour_load[index(best)]) best = colour;
    }
    if (best < 0) {
      best = static_cast<int>(colours.size());
      colours.emplace_back();
      colour_load.push_back(0);
      taken_by.push_back(-1);
    }
    colours[index(best)].push_back(cluster);
    colour_load[index(best)] += load[index(cluster)];
    for_each_node([&](std::vector<int>& used) {
      if (used.empty() || used.back() != best) used.push_back(best);
    });
  }
  return colours;
}

}  // namespace lope::matter
