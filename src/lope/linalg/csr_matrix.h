// Scalar sparse matrices in compressed rows: pressure systems, prolongations, everything whose entries are
// numbers and whose pattern changes from step to step (BlockMatrix is for small blocks on a pattern that
// stays).
//
// A plain aggregate, so that whoever assembles fills the arrays in parallel without a copy. Columns ascend
// within a row and none appears twice; symmetric matrices store both halves.
#pragma once

#include <lope/linalg/space.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lope::linalg {

struct CsrMatrix {
  int rows = 0;
  int columns = 0;
  std::vector<std::int64_t> row_start = {0};  // rows + 1 numbers
  std::vector<int> column;
  std::vector<double> value;

  std::int64_t entries() const { return static_cast<std::int64_t>(column.size()); }
  // The number at (row, column): 0 outside the pattern.
  double at(int row, int column) const;
};

// One number of a matrix that is given in any order.
struct CsrEntry {
  int row = 0;
  int column = 0;
  double value = 0;
};

// Numbers at the same place add. Rows and columns inside the matrix: asserted.
CsrMatrix csr_from_entries(int rows, int columns, std::span<const CsrEntry> entries);
CsrMatrix csr_identity(int rows);

// y = A x.
void multiply(const CsrMatrix& a, ConstVector x, Vector y);
// r = f − A x.
void residual(const CsrMatrix& a, ConstVector x, ConstVector f, Vector r);
// Where row i has no diagonal entry: 0.
std::vector<double> diagonal(const CsrMatrix& a);
CsrMatrix transpose(const CsrMatrix& a);
CsrMatrix multiply(const CsrMatrix& a, const CsrMatrix& b);

// Largest |a_ij − a_ji| over the entries; −1 if the matrix is not square.
double asymmetry(const CsrMatrix& a);
// Empty if the arrays fit together (sizes, ascending columns inside the matrix, finite numbers), else what is
// wrong.
std::string structural_fault(const CsrMatrix& a);

}  // namespace lope::linalg
