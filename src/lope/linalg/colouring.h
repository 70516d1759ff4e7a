// Colours of the rows of a sparse matrix, none of which has two coupled rows: what sweeps of Gauss–Seidel may
// change at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lope::linalg {

// In the order of the rows, each gets the smallest colour that no coupled row before it has.
struct Colouring {
  std::vector<int> colour;  // of every row
  int colours = 0;
};
// Compressed rows of a symmetric pattern.
Colouring greedy_colouring(std::span<const std::int64_t> row_start, std::span<const int> column);

// The rows by colour, ascending within a colour; colour c has [start[c], start[c + 1]).
struct RowsByColour {
  std::vector<int> rows;
  std::vector<std::size_t> start = {0};
};
void sort_by_colour(std::span<const int> colour, int colours, RowsByColour& result);

}  // namespace lope::linalg
