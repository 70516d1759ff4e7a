// Elements in clusters that can be scattered in parallel with the same bits for any number of threads: clusters of one colour
// share no node; colours run one after another, the clusters of one colour at the same time.
#pragma once

#include <lope/math/types.h>

#include <span>
#include <vector>

namespace lope::matter {

// Elements per cluster: many clusters enough to feed the cores of a large machine in every colour, large enough ones to
// amortise their boundaries; whole batches of `lanes`. Depends on the mesh alone.
int cluster_size(int elements, int lanes);

// The elements in clusters of `size` (the last may be smaller), by recursive bisection along the longest extent of the
// centroids; ascending within a cluster.
template <int d>
std::vector<std::vector<int>> bisected_clusters(const std::vector<Vec<d>>& centroids, int size);

// The clusters of each colour. Greedy: each cluster takes the admissible colour with the least load so far.
// elements: `corners` nodes each; load: per cluster.
std::vector<std::vector<int>> coloured_clusters(int nodes, std::span<const int> elements, int corners,
                                                const std::vector<std::vector<int>>& members,
                                                std::span<const int> load);

}  // namespace lope::matter
