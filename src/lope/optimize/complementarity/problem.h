// The mixed linear complementarity problem of liquids with separating walls, and how every solver of it is
// called and how it answers (LCP eq. 3.11; NUMERICS §8).
//
//   rows i in S (bounded):  0 ≤ p_i  ⊥  (A p + b)_i ≥ 0
//   other rows:             (A p + b)_i = 0
//
// A: symmetric, positive (semi-)definite, an M-matrix for pressure. These are the conditions of Karush, Kuhn
// and Tucker for   min ½ pᵀA p + bᵀp   subject to   p_i ≥ 0 on S.
//
// Units: NUMERICS §8, p stands for q = pressure·Δt/(ρΔx) and every row is a velocity in m/s, so that min(p_i,
// (Ap+b)_i) compares like with like. Solvers do not depend on it except where their header says so.
//
// Deviations from the paper: one residual in the max norm, absolute, for all solvers.
#pragma once

#include <lope/linalg/csr_matrix.h>
#include <lope/linalg/space.h>
#include <lope/optimize/minimizer.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace lope::optimize::complementarity {

struct MixedLcp {
  linalg::CsrMatrix a;
  std::vector<double> b;
  std::vector<std::uint8_t> bounded;  // 1: the row belongs to S

  std::size_t size() const { return b.size(); }
  // Where p lives.
  const linalg::Space& space() const { return linalg::local_space(); }
};

// What is left of one row's condition; w = (Ap + b)_i.
inline double row_residual(bool bounded, double p, double w) {
  return std::abs(bounded ? std::min(p, w) : w);
}

// The stopping measure: the largest row_residual (NaN if p holds one). `w` receives Ap + b.
double lcp_residual(const MixedLcp& problem, linalg::ConstVector p, linalg::Vector w);
double lcp_residual(const MixedLcp& problem, linalg::ConstVector p);
// The same from w = Ap + b.
double lcp_residual_of(const MixedLcp& problem, linalg::ConstVector p, linalg::ConstVector w);
// ½ pᵀA p + bᵀp, from w = Ap + b.
double lcp_objective(const MixedLcp& problem, linalg::ConstVector p, linalg::ConstVector w);
// Raises p_i to 0 where it is negative on S.
void make_feasible(const MixedLcp& problem, linalg::Vector p);
// Largest −p_i over S (0 if none is negative): how far p is from the feasible set.
double lcp_infeasibility(const MixedLcp& problem, linalg::ConstVector p);

// What an observer receives after each outer iteration or cycle, and once for the start (number 0).
struct LcpIteration {
  int number = 0;
  double residual = 0;       // lcp_residual of the iterate
  double objective = 0;      // NaN where the solver does not know it
  int inner_iterations = 0;  // linear iterations or line-search steps spent since the last record
  double seconds = 0;        // since the solve began, set-up included
};
using LcpObserver = std::function<void(const LcpIteration&, linalg::ConstVector p)>;

struct LcpOptions {
  double tolerance = 1e-6;            // of lcp_residual, absolute
  int max_iterations = 0;             // outer iterations or cycles; 0: the solver's own limit
  int max_inner_iterations = 100000;  // all linear iterations together
  // Which rows of S were separated (1: p_i = 0) in the solution that this one resembles, in this problem's
  // numbering. Empty: none known, a cold start. Solvers with a policy start from it instead of deriving one
  // from p.
  std::span<const std::uint8_t> policy = {};
  LcpObserver observer = {};
};

struct LcpSummary {
  Outcome outcome = Outcome::Failed;
  std::string reason = "the solver was not run";
  int iterations = 0;  // cycles, sweeps, or outer iterations
  long inner_iterations =
      0;  // linear iterations and line-search steps inside them; 0 if there is nothing inside
  double initial_residual = 0;
  double residual = std::numeric_limits<double>::infinity();  // at the result
  double objective = 0;                                       // at the result
  double setup_seconds = 0;  // hierarchies, factorisations, whenever they happened
  double solve_seconds = 0;  // all the rest
  std::vector<LcpIteration> history;

  bool converged() const { return outcome == Outcome::Converged; }
  double seconds() const { return setup_seconds + solve_seconds; }
};

// One solver with one problem: attached as a matrix (MatrixLcpSolver) or, for solvers that know a grid, in
// their own way.
class LcpSolver {
 public:
  virtual ~LcpSolver() = default;
  // Starts from p and leaves the best iterate in p, whatever the outcome.
  virtual LcpSummary solve(linalg::Vector p, const LcpOptions& options) = 0;
};

// Keeps work vectors and, where its header says so, set-ups between problems.
class MatrixLcpSolver : public LcpSolver {
 public:
  // The problem must outlive the solves. Set-up happens in solve() and is counted there.
  void attach(const MixedLcp& problem) { problem_ = &problem; }

 protected:
  const MixedLcp& problem() const { return *problem_; }

 private:
  const MixedLcp* problem_ = nullptr;
};

// Rows of S that are separated at p: p_i ≤ (Ap + b)_i / a_ii, w = Ap + b. What the next step's policy is made
// from.
std::vector<std::uint8_t> policy_at(const MixedLcp& problem, linalg::ConstVector p, linalg::ConstVector w);

// Empty if the problem can be solved: arrays fit, numbers finite, A square and symmetric up to rounding,
// positive diagonal, no pair of rows that is indefinite by itself; else one sentence that names the row.
std::string fault_of(const MixedLcp& problem);

// What make_solvable found.
struct Compatibility {
  int components = 0;  // connected parts of A
  int singular = 0;    // of them: parts whose rows all sum to zero (liquid without a free surface)
  int projected = 0;   // of those: parts whose b was shifted
  double largest_shift = 0;
};
// A part whose rows of A sum to zero has a solution only if the sum of its b is 0, or positive where the part
// has bounded rows (then some row separates). Where that fails, the same number is added to each b of the
// part to make the sum 0: the least change of b that does it. Physically: walls that squeeze enclosed liquid
// are allowed to leak evenly.
Compatibility make_solvable(MixedLcp& problem);

}  // namespace lope::optimize::complementarity
