#include <lope/linalg/nested_dissection.h>

#include <algorithm>

#include <metis.h>

namespace lope::linalg {

namespace {

// The rows of every connected part of the graph, ascending.
std::vector<std::vector<int>> connected_parts(const BlockPattern& pattern) {
  std::vector<std::vector<int>> parts;
  std::vector<bool> seen(static_cast<std::size_t>(pattern.rows()), false);
  for (int first = 0; first < pattern.rows(); ++first) {
    if (seen[static_cast<std::size_t>(first)]) continue;
    std::vector<int>& part = parts.emplace_back(1, first);
    seen[static_cast<std::size_t>(first)] = true;
    for (std::size_t k = 0; k < part.size(); ++k) {
      const auto row = static_cast<std::size_t>(part[k]);
      for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
        const int column = pattern.column()[static_cast<std::size_t>(slot)];
        if (seen[static_cast<std::size_t>(column)]) continue;
        seen[static_cast<std::size_t>(column)] = true;
        part.push_back(column);
      }
    }
    std::sort(part.begin(), part.end());
  }
  return parts;
}

}  // namespace

std::vector<int> nested_dissection(const BlockPattern& pattern) {
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(pattern.rows()));
  std::vector<int> place(static_cast<std::size_t>(pattern.rows()), -1);  // of a row in its part
  std::vector<idx_t> start, neighbours, permutation, inverse;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  for (const std::vector<int>& part : connected_parts(pattern)) {
    for (std::size_t k = 0; k < part.size(); ++k) {
      place[static_cast<std::size_t>(part[k])] = static_cast<int>(k);
    }
    start.assign(1, 0);
    neighbours.clear();
    for (const int row : part) {
      const auto begin = static_cast<std::size_t>(pattern.row_start()[static_cast<std::size_t>(row)]);
      const auto end = static_cast<std::size_t>(pattern.row_start()[static_cast<std::size_t>(row) + 1]);
      for (std::size_t slot = begin; slot < end; ++slot) {
        const int column = pattern.column()[slot];
        if (column != row) neighbours.push_back(place[static_cast<std::size_t>(column)]);
      }
      start.push_back(static_cast<idx_t>(neighbours.size()));
    }
    auto count = static_cast<idx_t>(part.size());
    permutation.resize(part.size());
    inverse.resize(part.size());
    if (neighbours.empty()) {
      order.push_back(part.front());
      continue;
    }
    METIS_NodeND(&count, start.data(), neighbours.data(), nullptr, options, permutation.data(), inverse.data());
    for (const idx_t k : permutation) order.push_back(part[static_cast<std::size_t>(k)]);
  }
  return order;
}

}  // namespace lope::linalg
