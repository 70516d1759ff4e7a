// What the terms of an objective hand their blocks to while a Hessian is assembled. They know the pattern and no matrix:
// behind it may stand a BlockMatrix, the diagonal blocks alone, or what one process of several contributes to a distributed
// matrix (blocks of rows that belong to others are then sent there when all terms are done).
//
// Asked once per term and assembly: loops over elements take the address of the blocks and the slots that they looked up when
// the pattern was made (matter/block_scatter.h). No two threads may add to one block at the same time: elements come in
// colours (matter/element_clusters.h).
#pragma once

#include <lope/linalg/block_pattern.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lope::linalg {

// A block outside the pattern; the first b·b numbers, row-major, count.
struct Coupling {
  int row = 0;
  int column = 0;
  std::array<double, 9> block = {};
};

class BlockAssembler {
 public:
  virtual ~BlockAssembler() = default;
  virtual const BlockPattern& pattern() const = 0;
  // b.
  virtual int block_size() const = 0;
  // The blocks of the pattern, b×b and row-major, in the order of its slots: to be added to.
  virtual double* blocks() = 0;
  // Blocks outside the pattern. Each stands for itself and its transpose at (column, row), and is given once; row ≠ column:
  // asserted. Blocks at the same place add.
  virtual void add_couplings(std::span<const Coupling> couplings) = 0;
};

// A diagonal part of a larger one (BlockPattern::concatenate): the rows from first_row and the blocks from first_slot on.
class BlockPart final : public BlockAssembler {
 public:
  BlockPart(BlockAssembler& whole, const BlockPattern& pattern, int first_row, std::int64_t first_slot)
      : whole_(whole), pattern_(pattern), first_row_(first_row), first_slot_(first_slot) {}
  const BlockPattern& pattern() const override { return pattern_; }
  int block_size() const override { return whole_.block_size(); }
  double* blocks() override { return whole_.blocks() + first_slot_ * block_size() * block_size(); }
  void add_couplings(std::span<const Coupling> couplings) override {
    std::vector<Coupling> moved(couplings.begin(), couplings.end());
    for (Coupling& coupling : moved) {
      coupling.row += first_row_;
      coupling.column += first_row_;
    }
    whole_.add_couplings(moved);
  }

 private:
  BlockAssembler& whole_;
  const BlockPattern& pattern_;
  int first_row_;
  std::int64_t first_slot_;
};

}  // namespace lope::linalg
