// Sparse direct solves. Symbolic work once per pattern.
#pragma once

#include <lope/linalg/sparse_cholesky.h>

namespace lope::linalg {

// LLᵀ of a positive definite matrix; update() fails on any other.
using Cholesky = SparseCholesky<double>;

}  // namespace lope::linalg
