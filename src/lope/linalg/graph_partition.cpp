#include <lope/linalg/graph_partition.h>

#include <metis.h>

namespace lope::linalg {

std::vector<int> partition_rows(const BlockPattern& pattern, int parts) {
  std::vector<int> result(static_cast<std::size_t>(pattern.rows()), 0);
  if (parts < 2) return result;
  std::vector<idx_t> start(1, 0), neighbours, part(result.size(), 0);
  start.reserve(result.size() + 1);
  neighbours.reserve(pattern.column().size());
  for (std::size_t row = 0; row < result.size(); ++row) {
    for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
      const int column = pattern.column()[static_cast<std::size_t>(slot)];
      if (column != static_cast<int>(row)) neighbours.push_back(column);
    }
    start.push_back(static_cast<idx_t>(neighbours.size()));
  }
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  auto rows = static_cast<idx_t>(pattern.rows());
  idx_t weights = 1, wanted = parts, cut = 0;
  const int status =
      METIS_PartGraphKway(&rows, &weights, start.data(), neighbours.data(), nullptr, nullptr, nullptr, &wanted, nullptr,
                          nullptr, options, &cut, part.data());
  if (status == METIS_OK) result.assign(part.begin(), part.end());
  return result;
}

}  // namespace lope::linalg
