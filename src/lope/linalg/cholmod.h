// Factorisations by CHOLMOD (SuiteSparse), after nested dissection of the block graph. Symbolic work once per
// pattern.
//
// Our own SparseCholesky has taken the place of the supernodal one, which stays as its rival in tests and
// benchmarks. Its time is BLAS time; the build puts the sequential BLIS in front of any other BLAS because it
// picks its kernels from the CPU's features (an OpenBLAS that does not know the CPU silently runs several
// times slower).
#pragma once

#include <lope/linalg/preconditioner.h>

#include <memory>
#include <string>

namespace lope::linalg {

class CholmodFactor final : public Preconditioner {
 public:
  enum class Kind {
    Supernodal,  // LLᵀ; update() fails on a matrix that is not positive definite
    Indefinite,  // simplicial LDLᵀ without pivoting; update() fails on a zero pivot only
  };
  explicit CholmodFactor(Kind kind);
  ~CholmodFactor() override;

  bool update(const BlockMatrix& matrix) override;
  // Exact up to rounding.
  void apply(ConstVector r, Vector z) override;

  // Memory of the factor and flops of one factorisation, known after the first update().
  double factor_bytes() const;
  double factor_flops() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Name of the kernels that the BLAS chose for this CPU, e.g. "zen3", "skx".
std::string blas_kernels();
// Measured dgemm speed of one thread in flop/s (about 50 ms of work).
double measure_blas();

}  // namespace lope::linalg
