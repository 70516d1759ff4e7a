// A random sparse symmetric block matrix on a 3D lattice graph, for the tests of this room.
#pragma once

#include <lope/base/random.h>
#include <lope/linalg/block_matrix.h>

namespace lope::linalg {

// Lattice of n×n×n rows; cells of 8 rows are coupled. Diagonally dominant when `shift` is 1.
inline BlockMatrix random_matrix(int n, int block_size, double shift) {
  std::vector<int> cells;
  const auto at = [n](int i, int j, int k) { return (i * n + j) * n + k; };
  for (int i = 0; i + 1 < n; ++i) {
    for (int j = 0; j + 1 < n; ++j) {
      for (int k = 0; k + 1 < n; ++k) {
        for (int c = 0; c < 8; ++c) cells.push_back(at(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)));
      }
    }
  }
  BlockMatrix matrix(BlockPattern::from_groups(n * n * n, cells, 8), block_size);
  const BlockPattern& pattern = matrix.pattern();
  const int b = block_size;
  for (int row = 0; row < pattern.rows(); ++row) {
    for (auto slot = pattern.row_start()[static_cast<std::size_t>(row)];
         slot < pattern.row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
      const int column = pattern.column()[static_cast<std::size_t>(slot)];
      for (int i = 0; i < b; ++i) {
        for (int j = 0; j < b; ++j) {
          const int low = std::min(row * b + i, column * b + j), high = std::max(row * b + i, column * b + j);
          const double value =
              random_unit(static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)) - 0.5;
          matrix.block(slot)[i * b + j] = value + (low == high ? shift * 27 * b : 0.0);
        }
      }
    }
  }
  return matrix;
}

inline std::vector<double> random_vector(std::size_t size, std::uint64_t seed) {
  std::vector<double> result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = random_unit(seed, i) - 0.5;
  return result;
}

}  // namespace lope::linalg
