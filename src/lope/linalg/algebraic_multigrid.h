// Algebraic multigrid for scalar symmetric positive (semi-)definite matrices, with rows that may be fixed and
// freed again without a new set-up: the preconditioner of active-set methods for matrices whose grid is not
// known.
//
// Levels by smoothed aggregation, V-cycles with one Gauss–Seidel sweep before and one in the other direction
// after, a dense factor on the coarsest level.
//
// Fixed rows (the truncation of Gräser & Kornhuber 2009): their rows of the finest prolongation P count as
// zero, and the coarse matrix is P_Fᵀ A P_F. Of it only what the set changed is computed, A_1 += Σ (m_i m_j −
// m'_i m'_j) a_ij P_iᵀP_j over the pairs that have a changed row (m, m': free now, free before), and the same
// difference is carried to the levels below; patterns and prolongations stay. A coarse row that lost all its
// fine rows is dead: left alone until one is freed.
#pragma once

#include <lope/linalg/aggregation.h>
#include <lope/linalg/gauss_seidel.h>
#include <lope/linalg/masked_inverse.h>

#include <deque>
#include <functional>
#include <vector>

#include <Eigen/Cholesky>

namespace lope::linalg {

struct AmgOptions {
  AggregationOptions aggregation = {};
  int coarsest_rows = 200;
  int max_levels = 12;
  int sweeps = 1;
  double stiffness =
      1;  // factor of the right-hand side of every coarser level, where interpolation makes its matrix too stiff
};

class AlgebraicMultigrid final : public MaskedInverse {
 public:
  explicit AlgebraicMultigrid(const AmgOptions& options = {}) : options_(options) {}

  bool set_matrix(const CsrMatrix& a) override;
  // The same with levels from elsewhere, finest first: prolongations[l] leads from level l + 1 to level l, whose rows it has.
  bool set_matrix(const CsrMatrix& a, std::vector<CsrMatrix> prolongations);
  bool set_fixed(RowFlags fixed) override;
  // One V-cycle from zero: linear, symmetric.
  void apply(ConstVector r, Vector z) override;

  // z_F = P_F M_1 P_Fᵀ r_F, M_1 one V-cycle on the level below the finest; 0 on fixed rows.
  void coarse_correction(ConstVector r, Vector z);

  int levels() const { return static_cast<int>(levels_.size()); }
  // Entries of all matrices over those of the finest.
  double operator_complexity() const;

 private:
  struct Level {
    CsrMatrix own;  // empty on the finest level
    const CsrMatrix* a = nullptr;
    CsrMatrix prolongation;             // from the level below; empty on the coarsest
    CsrMatrix restriction;              // its transpose
    std::vector<double> full_diagonal;  // with nothing fixed
    std::vector<std::uint8_t> dead;
    GaussSeidel smoother;
    std::vector<double> x, f, r;
    // What a change of the fixed rows adds to `own`: numbers on its pattern, zero outside the changed rows.
    std::vector<double> difference;
    std::vector<int> changed_rows;
    std::vector<std::uint8_t> is_changed;
  };

  using NextProlongation = std::function<CsrMatrix(std::size_t level, const CsrMatrix& a)>;
  bool make_levels(const CsrMatrix& a, const NextProlongation& next);
  struct Levels;  // for the V-cycle (multigrid_cycle.h)
  void cycle(std::size_t level);
  void restrict_residual(std::size_t level, ConstVector x, ConstVector f);
  void restrict_to(std::size_t level, const CsrMatrix& restriction, ConstVector r);
  void prolongate(std::size_t level, Vector x, bool add);
  void take_difference(Level& level);
  void carry_difference(const Level& from, Level& to) const;
  bool factorize_coarsest();

  AmgOptions options_;
  std::deque<Level> levels_;  // addresses stay: smoothers point to the matrices
  std::vector<std::uint8_t> fixed_;
  std::vector<int> coarsest_alive_;
  Eigen::LLT<Eigen::MatrixXd> coarsest_;
  Eigen::VectorXd coarsest_x_;
};

}  // namespace lope::linalg
