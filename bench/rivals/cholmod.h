// Supernodal LLᵀ by CHOLMOD (SuiteSparse), after nested dissection of the block graph. Symbolic work once per
// pattern.
//
// The rival of linalg::SparseCholesky in benchmarks and its cross-check in tests; no part of the library. Its
// time is BLAS time; the build puts the sequential BLIS in front of any other BLAS because it picks its kernels
// from the CPU's features (an OpenBLAS that does not know the CPU silently runs several times slower).
#pragma once

#include <lope/linalg/preconditioner.h>

#include <memory>

namespace lope::rivals {

class CholmodFactor final : public linalg::Preconditioner {
 public:
  CholmodFactor();
  ~CholmodFactor() override;

  // Fails on a matrix that is not positive definite.
  bool update(const linalg::BlockMatrix& matrix) override;
  // Exact up to rounding.
  void apply(linalg::ConstVector r, linalg::Vector z) override;

  // Memory of the factor and flops of one factorisation, known after the first update().
  double factor_bytes() const;
  double factor_flops() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Measured dgemm speed of one thread in flop/s (about 50 ms of work).
double measure_blas();

}  // namespace lope::rivals
