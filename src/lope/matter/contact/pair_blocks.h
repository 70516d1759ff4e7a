// How contact hands the Hessian of two groups of nodes to an assembler. Blocks within the pattern are added there, others become
// couplings. Between the groups all blocks are in the pattern, or all are couplings: what a factor sees of a positive
// semi-definite pair is then a principal part of it, and positive semi-definite, too.
#pragma once

#include <lope/linalg/block_assembler.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lope::matter {

class PairBlocks {
 public:
  // For one assembly: begin, then add for every pair, then finish.
  void begin(linalg::BlockAssembler& hessian) {
    hessian_ = &hessian;
    couplings_.clear();
  }
  // The nodes of a pair, of which those before `second` are the first group; negative: not solved for. block(i, j) returns the block
  // of the i-th and the j-th node, as something with (row, column).
  template <class Block>
  void add(std::span<const int> nodes, std::size_t second, Block&& block) {
    const bool apart = are_apart(nodes, second);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t j = 0; j < nodes.size(); ++j) {
        if (nodes[i] < 0 || nodes[j] < 0) continue;
        const bool across = (i < second) != (j < second);
        add_block(nodes[i], nodes[j], block(i, j), apart && across);
      }
    }
  }
  void finish() { hessian_->add_couplings(couplings_); }

 private:
  bool are_apart(std::span<const int> nodes, std::size_t second) const {
    for (std::size_t i = 0; i < second; ++i) {
      for (std::size_t j = second; j < nodes.size(); ++j) {
        if (nodes[i] >= 0 && nodes[j] >= 0 && hessian_->pattern().slot(nodes[i], nodes[j]) < 0) return true;
      }
    }
    return false;
  }

  template <class Block>
  void add_block(int row, int column, const Block& block, bool coupling_only) {
    const int b = hessian_->block_size();
    const std::int64_t slot = coupling_only ? -1 : hessian_->pattern().slot(row, column);
    double* target = nullptr;
    if (slot >= 0)
      target = hessian_->blocks() + slot * b * b;
    else if (row < column)
      target = couplings_.emplace_back(linalg::Coupling{row, column, {}}).block.data();
    else
      return;  // the transpose of one that is given
    for (int i = 0; i < b; ++i) {
      for (int j = 0; j < b; ++j) target[i * b + j] += block(i, j);
    }
  }

  linalg::BlockAssembler* hessian_ = nullptr;
  std::vector<linalg::Coupling> couplings_;
};

}  // namespace lope::matter
