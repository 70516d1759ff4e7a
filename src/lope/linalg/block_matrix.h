// Symmetric block-sparse matrices with a fixed pattern (block_pattern.h).
//
// Both halves are stored (block rows), because then a product reads each row once, in parallel, with no
// scatter and the same bits for any number of threads. Blocks are b×b, row-major, b = 1, 2 or 3.
#pragma once

#include <lope/linalg/block_assembler.h>
#include <lope/linalg/block_kernels.h>
#include <lope/linalg/operator.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lope::linalg {

// Beside the pattern's blocks a matrix may have couplings: blocks that come and go from iteration to
// iteration (contact), without a change of pattern. They take part in products, in set_zero and in
// make_identity; preconditioners and factorisations do not see them, so these stay valid approximate inverses
// whose symbolic work survives. What belongs on the pattern (diagonal blocks above all) should be added
// there.
class BlockMatrix final : public Operator, public BlockAssembler {
 public:
  // isa: which kernels to use, for tests.
  BlockMatrix(std::shared_ptr<const BlockPattern> pattern, int block_size, Isa isa = selected_isa());

  const BlockPattern& pattern() const override { return *pattern_; }
  int block_size() const override { return block_size_; }
  std::size_t size() const override {
    return static_cast<std::size_t>(pattern_->rows()) * static_cast<std::size_t>(block_size_);
  }
  double* block(std::int64_t slot) { return values_.data() + slot * block_size_ * block_size_; }
  const double* block(std::int64_t slot) const { return values_.data() + slot * block_size_ * block_size_; }
  double* blocks() override { return values_.data(); }
  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }

  // Drops the couplings too.
  void set_zero();
  void multiply(ConstVector x, Vector y) const override;
  void diagonal_blocks(Vector blocks) const override;
  bool has_couplings() const override { return !couplings_.empty(); }
  // Rows and columns of the marked block rows become those of the identity times `diagonal`.
  void make_identity(std::span<const std::uint8_t> marked_rows, double diagonal);

  // Replaces the couplings. Cost: rows + couplings, memory is reused.
  void set_couplings(std::span<const Coupling> couplings);
  void add_couplings(std::span<const Coupling> couplings) override;
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
