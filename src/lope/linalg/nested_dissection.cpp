#include <lope/linalg/nested_dissection.h>

#include <algorithm>

#include <metis.h>

namespace lope::linalg {

std::vector<int> nested_dissection(const BlockPattern& pattern) {
  const int n = pattern.rows();
  if (n == 0) return {};
  std::vector<idx_t> start(static_cast<std::size_t>(n) + 1, 0);
  std::vector<idx_t> neighbours;
  neighbours.reserve(static_cast<std::size_t>(pattern.blocks()));
  for (int row = 0; row < n; ++row) {
    const auto begin = static_cast<std::size_t>(pattern.row_start()[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(pattern.row_start()[static_cast<std::size_t>(row) + 1]);
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (pattern.column()[slot] != row) neighbours.push_back(pattern.column()[slot]);
    }
    start[static_cast<std::size_t>(row) + 1] = static_cast<idx_t>(neighbours.size());
  }
  idx_t count = n;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  std::vector<idx_t> order(static_cast<std::size_t>(n)), inverse(static_cast<std::size_t>(n));
  neighbours.resize(std::max<std::size_t>(neighbours.size(), 1));
  METIS_NodeND(&count, start.data(), neighbours.data(), nullptr, options, order.data(), inverse.data());
  return {order.begin(), order.end()};
}

}  // namespace lope::linalg
