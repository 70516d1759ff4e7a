// Matrices and vectors in the Matrix Market exchange format (NIST; .mtx, or .mtx.gz, recognised by its
// bytes): how other people's systems come in and go out.
//
// Read: `coordinate` (real, integer or pattern; general or symmetric, which lists the lower triangle only)
// and `array` (real or integer; general). Complex, skew-symmetric and Hermitian files are refused. Errors
// name file, line and what to do; numbers must be finite.
#pragma once

#include <lope/base/expected.h>

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace lope::io {

// Entries in the order of the file, from 0; for a symmetric file those above the diagonal are added.
struct MatrixEntries {
  int rows = 0;
  int columns = 0;
  std::vector<int> row;
  std::vector<int> column;
  std::vector<double> value;
};

Expected<MatrixEntries> read_matrix_market(const std::filesystem::path& path);
// A matrix of one column (or one row), `array` or `coordinate`.
Expected<std::vector<double>> read_matrix_market_vector(const std::filesystem::path& path);

enum class Symmetry { General, Symmetric };

// Compressed if the name ends in .gz. Symmetric: the matrix is given with both halves (the caller knows that
// they are equal) and written without the upper one. Numbers read back as they were.
Expected<void> write_matrix_market(const std::filesystem::path& path, const MatrixEntries& matrix,
                                   Symmetry symmetry, std::string_view comment = {});
Expected<void> write_matrix_market_vector(const std::filesystem::path& path, std::span<const double> values,
                                          std::string_view comment = {});

}  // namespace lope::io
