#include <lope/linalg/colouring.h>

namespace lope::linalg {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

Colouring greedy_colouring(std::span<const std::int64_t> row_start, std::span<const int> column) {
  Colouring result;
  const int rows = row_start.empty() ? 0 : static_cast<int>(row_start.size()) - 1;
  result.colour.assign(index(rows), -1);
  std::vector<int> taken_by;  // by colour: the last row that found it taken
  for (int row = 0; row < rows; ++row) {
    for (std::int64_t k = row_start[index(row)]; k < row_start[index(row) + 1]; ++k) {
      const int neighbour = column[index(k)];
      if (neighbour < row) taken_by[index(result.colour[index(neighbour)])] = row;
    }
    int own = 0;
    while (own < result.colours && taken_by[index(own)] == row) ++own;
    if (own == result.colours) {
      ++result.colours;
      taken_by.push_back(-1);
    }
    result.colour[index(row)] = own;
  }
  return result;
}

void sort_by_colour(std::span<const int> colour, int colours, RowsByColour& result) {
  result.start.assign(index(colours) + 1, 0);
  for (const int own : colour) ++result.start[index(own) + 1];
  for (std::size_t c = 0; c < index(colours); ++c) result.start[c + 1] += result.start[c];
  std::vector<std::size_t> next(result.start.begin(), result.start.end() - 1);
  result.rows.resize(colour.size());
  for (std::size_t row = 0; row < colour.size(); ++row) {
    result.rows[next[index(colour[row])]++] = static_cast<int>(row);
  }
}

}  // namespace lope::linalg
