#include <lope/base/parallel.h>
#include <lope/matter/mpm/node_embedding.h>

#include <algorithm>
#include <vector>

namespace lope::matter::mpm {
namespace {

constexpr int least_levels = 3, most_levels = 12;
constexpr std::size_t most_coarsest = 4000;  // nodes
constexpr std::size_t grain = 512;

// Where a fine node stands on one axis of the coarse grid: the first coarse node, and up to three weights.
struct Axis {
  int first = 0, count = 0;
  double weight[3] = {};
};

Axis axis_of(int fine, Embedding kind) {
  const int half = fine >> 1;  // rounded down, of either sign
  const bool between = (fine & 1) != 0;
  if (kind == Embedding::Linear) return between ? Axis{half, 2, {0.5, 0.5, 0}} : Axis{half, 1, {1, 0, 0}};
  // Splines at distances 1 (on a node) and ½, 3⁄2 (between two).
  return between ? Axis{half, 2, {0.5, 0.5, 0}} : Axis{half - 1, 3, {0.125, 0.75, 0.125}};
}

template <int Dim, class Visit>
void each_parent(const geometry::GridIndex<Dim>& node, Embedding kind, const Visit& visit) {
  Axis axis[Dim];
  for (int a = 0; a < Dim; ++a) axis[a] = axis_of(node[static_cast<std::size_t>(a)], kind);
  for (int i = 0; i < axis[0].count; ++i) {
    for (int j = 0; j < axis[1].count; ++j) {
      const double both = axis[0].weight[i] * axis[1].weight[j];
      if constexpr (Dim == 2) {
        visit(geometry::GridIndex<Dim>{axis[0].first + i, axis[1].first + j}, both);
      } else {
        for (int k = 0; k < axis[2].count; ++k)
          visit(geometry::GridIndex<Dim>{axis[0].first + i, axis[1].first + j, axis[2].first + k}, both * axis[2].weight[k]);
      }
    }
  }
}

template <int Dim>
struct Level {
  linalg::Prolongation prolongation;
  std::vector<geometry::GridIndex<Dim>> nodes;
};

template <int Dim>
Level<Dim> coarser(std::span<const geometry::GridIndex<Dim>> nodes, Embedding kind) {
  Level<Dim> made;
  for (const auto& node : nodes) {
    each_parent<Dim>(node, kind, [&](const geometry::GridIndex<Dim>& parent, double) {
      // The same parents come again and again: most repetitions are near.
      if (made.nodes.empty() || made.nodes.back() != parent) made.nodes.push_back(parent);
    });
  }
  std::sort(made.nodes.begin(), made.nodes.end());
  made.nodes.erase(std::unique(made.nodes.begin(), made.nodes.end()), made.nodes.end());
  linalg::Prolongation& P = made.prolongation;
  P.columns = static_cast<int>(made.nodes.size());
  P.start.resize(nodes.size() + 1, 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    int count = 1;
    for (const int c : nodes[i]) count *= axis_of(c, kind).count;
    P.start[i + 1] = P.start[i] + count;
  }
  P.column.resize(static_cast<std::size_t>(P.start.back()));
  P.weight.resize(P.column.size());
  parallel_for(nodes.size(), grain, [&](std::size_t i) {
    auto at = static_cast<std::size_t>(P.start[i]);
    each_parent<Dim>(nodes[i], kind, [&](const geometry::GridIndex<Dim>& parent, double weight) {
      const auto found = std::lower_bound(made.nodes.begin(), made.nodes.end(), parent);
      P.column[at] = static_cast<int>(found - made.nodes.begin());
      P.weight[at++] = weight;
    });
  });
  return made;
}

}  // namespace

template <int Dim>
linalg::HierarchyPtr node_embedding(std::span<const geometry::GridIndex<Dim>> nodes, Embedding kind) {
  std::vector<linalg::Prolongation> prolongations;
  std::vector<geometry::GridIndex<Dim>> at(nodes.begin(), nodes.end());
  for (int level = 1; level < most_levels; ++level) {
    if (level >= least_levels && at.size() <= most_coarsest) break;
    if (at.size() <= 1) break;
    Level<Dim> next = coarser<Dim>(at, kind);
    prolongations.push_back(std::move(next.prolongation));
    at = std::move(next.nodes);
  }
  if (prolongations.empty()) return nullptr;
  return std::make_shared<const linalg::Hierarchy>(std::move(prolongations));
}

template linalg::HierarchyPtr node_embedding<2>(std::span<const geometry::GridIndex<2>>, Embedding);
template linalg::HierarchyPtr node_embedding<3>(std::span<const geometry::GridIndex<3>>, Embedding);

}  // namespace lope::matter::mpm
