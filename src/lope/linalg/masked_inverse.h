// Approximate inverses of A_FF, a scalar matrix restricted to the rows that are not fixed: what active-set
// methods solve with, the same matrix again and again while the set changes.
#pragma once

#include <lope/linalg/csr_matrix.h>
#include <lope/linalg/preconditioner.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lope::linalg {

using RowFlags = std::span<const std::uint8_t>;

class MaskedInverse : public LinearInverse {
 public:
  // A new matrix (symmetric; the caller keeps it alive and unchanged while this object is used), with no row
  // fixed. False: the matrix does not allow it; the previous state is lost.
  virtual bool set_matrix(const CsrMatrix& a) = 0;
  // fixed[i] = 1: row i is not in F. An object that keeps much (a hierarchy) changes only what the set
  // changed.
  virtual bool set_fixed(RowFlags fixed) = 0;
  // apply(r, z): z_F ≈ (A_FF)⁻¹ r_F, and z is 0 on fixed rows whatever r is there.
};

// The inverse diagonal: no preconditioning worth the name, for rivals as published.
class MaskedJacobi final : public MaskedInverse {
 public:
  bool set_matrix(const CsrMatrix& a) override;
  bool set_fixed(RowFlags fixed) override;
  void apply(ConstVector r, Vector z) override;

 private:
  std::vector<double> diagonal_;
  std::vector<double> inverse_;  // 0 on fixed rows
};

// Incomplete Cholesky factorisation without fill (Meijerink & van der Vorst 1977) in the order of the rows,
// in single precision. For M-matrices it exists.
//
// Deviations: rows are cut into ranges of fixed length and entries between ranges are dropped, so that ranges
// run in parallel and the bits do not depend on the threads (a few per cent more iterations); where a pivot
// is not positive the factorisation is repeated with a larger multiple of the diagonal added (Manteuffel
// 1980).
class MaskedIncompleteCholesky final : public MaskedInverse {
 public:
  bool set_matrix(const CsrMatrix& a) override;
  bool set_fixed(RowFlags fixed) override;
  void apply(ConstVector r, Vector z) override;

 private:
  bool factorize(RowFlags fixed, double shift);

  const CsrMatrix* a_ = nullptr;
  std::vector<std::int64_t> start_;  // entries left of the diagonal inside the row's range
  std::vector<int> column_;
  std::vector<std::int64_t> slot_;      // of the matrix
  std::vector<std::int64_t> diagonal_;  // slot of the diagonal
  std::vector<float> lower_;            // l_ij of A ≈ L D Lᵀ
  std::vector<float> inverse_;          // 1/d_i; 0 on fixed rows
};

}  // namespace lope::linalg
