// A symmetric linear map of block vectors that is known by what it does: all that conjugate gradients, stopping tests and
// preconditioners need that do not look at entries. BlockMatrix is one; optimize/hessian_operator.h is one without a matrix.
#pragma once

#include <lope/linalg/space.h>

#include <cstddef>

namespace lope::linalg {

class Operator {
 public:
  virtual ~Operator() = default;
  // Number of unknowns, a multiple of the block size.
  virtual std::size_t size() const = 0;
  virtual int block_size() const = 0;
  // y = A x. x and y must not overlap.
  virtual void multiply(ConstVector x, Vector y) const = 0;
  // The b×b blocks of the diagonal, row-major, one after another.
  virtual void diagonal_blocks(Vector blocks) const = 0;
  // Whether there are blocks that come and go (couplings), which factors and other inverses made for a pattern do not see.
  virtual bool has_couplings() const { return false; }
};

}  // namespace lope::linalg
