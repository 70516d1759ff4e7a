// The correction in a coarse space: z += P (Pᵀ A P)⁻¹ Pᵀ r, exact in the span of the columns of P.
//
// P is a scalar matrix, applied to every component of the blocks. Rows of A that are decoupled from all
// others (fixed nodes) take no part. The coarse matrix (galerkin.h) is factorised in double precision after a
// relative shift of its diagonal, because functions may be linearly dependent on the few rows that they share.
#pragma once

#include <lope/linalg/galerkin.h>
#include <lope/linalg/sparse_cholesky.h>

#include <memory>
#include <vector>

namespace lope::linalg {

class CoarseSpace {
 public:
  CoarseSpace() = default;
  CoarseSpace(const CoarseSpace&) = delete;  // the product points to the prolongation
  CoarseSpace& operator=(const CoarseSpace&) = delete;

  // Symbolic work is redone in the next update().
  void set(Prolongation prolongation);
  bool active() const { return !prolongation_.empty(); }
  // False if the coarse matrix is not positive definite.
  bool update(const BlockMatrix& matrix);
  // z += P (Pᵀ A P)⁻¹ Pᵀ r.
  void add_correction(ConstVector r, Vector z);
  int functions() const { return prolongation_.columns; }
  double factor_bytes() const { return factor_.factor_bytes(); }

 private:
  void regularise();
  template <std::size_t b>
  void restrict_residual(const double* r);
  template <std::size_t b>
  void add_prolonged(double* z) const;

  Prolongation prolongation_;
  GalerkinProduct product_;
  std::vector<std::uint8_t> coupled_;  // per row of the matrix
  std::vector<double> child_weight_;   // of the product, 0 where the row is not coupled
  SparseCholesky<double> factor_;
  std::vector<double> right_, solution_;
};

// A local approximate inverse and a coarse correction, added up: D + P (Pᵀ A P)⁻¹ Pᵀ (two-level Schwarz
// methods; Toselli & Widlund 2005, §2.5). Symmetric and definite if the local one is.
class TwoLevel final : public Preconditioner {
 public:
  TwoLevel(std::unique_ptr<Preconditioner> local, Prolongation coarse) : local_(std::move(local)) {
    coarse_.set(std::move(coarse));
  }
  bool update(const BlockMatrix& matrix) override { return local_->update(matrix) && coarse_.update(matrix); }
  void apply(ConstVector r, Vector z) override {
    local_->apply(r, z);
    coarse_.add_correction(r, z);
  }
  bool is_linear() const override { return local_->is_linear(); }
  bool is_symmetric() const override { return local_->is_symmetric(); }
  bool is_near_inverse() const override { return local_->is_near_inverse(); }
  bool is_global() const override { return true; }
  bool is_equivalent() const override { return is_linear() && is_symmetric(); }

 private:
  std::unique_ptr<Preconditioner> local_;
  CoarseSpace coarse_;
};

}  // namespace lope::linalg
