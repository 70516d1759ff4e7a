// What the solvers share that split S into rows at the bound and free ones and solve linear systems in the
// free rows: the approximate inverse that follows the split, and conjugate gradients.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/masked_inverse.h>
#include <lope/optimize/complementarity/problem.h>

#include <memory>
#include <utility>

namespace lope::optimize::complementarity {

class MaskedLcpSolver : public MatrixLcpSolver {
 protected:
  explicit MaskedLcpSolver(std::unique_ptr<linalg::MaskedInverse> inverse) : inverse_(std::move(inverse)) {}
  linalg::MaskedInverse& inverse() { return *inverse_; }
  linalg::ConjugateGradient& cg() { return cg_; }

 private:
  std::unique_ptr<linalg::MaskedInverse> inverse_;
  linalg::ConjugateGradient cg_;
};

}  // namespace lope::optimize::complementarity
