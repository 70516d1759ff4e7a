// Symmetric block-sparse matrices with a fixed pattern: symbolic work is done once per pattern, numbers
// change.
//
// Both halves are stored (block rows), because then a product reads each row once, in parallel, with no
// scatter and the same bits for any number of threads. Blocks are b×b, row-major, b = 1, 2 or 3.
#pragma once

#include <lope/linalg/block_kernels.h>
#include <lope/linalg/operator.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lope::linalg {

// Which blocks exist. Columns ascend within a row and the diagonal is always there.
class BlockPattern {
 public:
  // Rows that appear together in a group are coupled: `groups` holds consecutive groups of `group_size` rows.
  static std::shared_ptr<const BlockPattern> from_groups(int rows, std::span<const int> groups,
                                                         int group_size);
  // The same for groups of several sizes (triangles and hinges, say): rows are coupled that appear together in a group of any
  // of the lists.
  struct Groups {
    std::span<const int> members;  // consecutive groups
    int group_size = 0;
  };
  static std::shared_ptr<const BlockPattern> from_groups(int rows, std::span<const Groups> lists);
  // No couplings at all.
  static std::shared_ptr<const BlockPattern> diagonal_only(int rows);
  // The patterns as diagonal parts of one: rows, columns and slots of each follow those of the one before.
  static std::shared_ptr<const BlockPattern> concatenate(
      std::span<const std::shared_ptr<const BlockPattern>> parts);

  // rows[i]: the columns of row i, ascending, i itself among them; symmetric.
  static std::shared_ptr<const BlockPattern> from_rows(std::span<const std::vector<int>> rows);
  // The same as compressed rows: row i has the columns [row_start[i], row_start[i + 1]).
  static std::shared_ptr<const BlockPattern> from_compressed(std::vector<std::int64_t> row_start,
                                                             std::vector<int> column);
  // The pattern of diag(A_1, A_2, …), A_j the principal submatrix of this pattern on the rows sets[j] (ascending), and
  // for each of its blocks the slot of this pattern that it is a copy of.
  struct DirectSum {
    std::shared_ptr<const BlockPattern> pattern;
    std::vector<std::int64_t> slot;
  };
  DirectSum direct_sum(std::span<const std::vector<int>> sets) const;

  int rows() const { return static_cast<int>(diagonal_.size()); }
  std::int64_t blocks() const { return static_cast<std::int64_t>(column_.size()); }
  std::span<const std::int64_t> row_start() const { return row_start_; }
  std::span<const int> column() const { return column_; }
  std::int64_t diagonal(int row) const { return diagonal_[static_cast<std::size_t>(row)]; }
  // The slot of block (row, column), or −1 if the pattern has none.
  std::int64_t slot(int row, int column) const;
  // Different for any two patterns of one process: symbolic work keyed by it is redone only when it changes.
  std::uint64_t id() const { return id_; }

 private:
  BlockPattern();
  std::vector<std::int64_t> row_start_;
  std::vector<int> column_;
  std::vector<std::int64_t> diagonal_;
  std::uint64_t id_ = 0;
};

// A block outside the pattern; the first b·b numbers, row-major, count.
struct Coupling {
  int row = 0;
  int column = 0;
  std::array<double, 9> block = {};
};

// Beside the pattern's blocks a matrix may have couplings: blocks that come and go from iteration to
// iteration (contact), without a change of pattern. They take part in products, in set_zero and in
// make_identity; preconditioners and factorisations do not see them, so these stay valid approximate inverses
// whose symbolic work survives. What belongs on the pattern (diagonal blocks above all) should be added
// there.
class BlockMatrix final : public Operator {
 public:
  // isa: which kernels to use, for tests.
  BlockMatrix(std::shared_ptr<const BlockPattern> pattern, int block_size, Isa isa = selected_isa());

  const BlockPattern& pattern() const { return *pattern_; }
  int block_size() const override { return block_size_; }
  std::size_t size() const override {
    return static_cast<std::size_t>(pattern_->rows()) * static_cast<std::size_t>(block_size_);
  }
  double* block(std::int64_t slot) { return values_.data() + slot * block_size_ * block_size_; }
  const double* block(std::int64_t slot) const { return values_.data() + slot * block_size_ * block_size_; }
  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }

  // Drops the couplings too.
  void set_zero();
  // this += scale · other (same pattern; `other` has no couplings: asserted).
  void add(double scale, const BlockMatrix& other);
  void multiply(ConstVector x, Vector y) const override;
  void diagonal_blocks(Vector blocks) const override;
  // Rows and columns of the marked block rows become those of the identity times `diagonal`.
  void make_identity(std::span<const std::uint8_t> marked_rows, double diagonal);

  // Replaces the couplings. Each stands for itself and its transpose at (column, row), and is given once; row
  // ≠ column: asserted. Blocks at the same place add. Cost: rows + couplings, memory is reused.
  void set_couplings(std::span<const Coupling> couplings);
  // Adds to those that are there.
  void add_couplings(std::span<const Coupling> couplings);
  void clear_couplings();
  // Both halves, grouped by row, within a row in the order given.
  std::span<const Coupling> couplings() const { return couplings_; }
  // Those of one row.
  std::span<const Coupling> couplings(int row) const;

 private:
  std::shared_ptr<const BlockPattern> pattern_;
  int block_size_;
  const BlockKernels* kernels_;
  std::vector<double> values_;
  std::vector<Coupling> couplings_;
  std::vector<std::int64_t> coupling_start_;  // per row, one more at the end; empty without couplings
};

}  // namespace lope::linalg
