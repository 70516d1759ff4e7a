// Which blocks of a symmetric block-sparse matrix exist: symbolic work is done once per pattern, numbers change.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lope::linalg {

// Columns ascend within a row and the diagonal is always there.
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

}  // namespace lope::linalg
