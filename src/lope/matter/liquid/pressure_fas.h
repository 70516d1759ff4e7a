// The nonlinear multigrid methods of the literature on plain matrices, for comparison with the truncated one:
// FAS with projected Gauss–Seidel (LCP Alg. 3) and full multigrid cycles after Chentanez and Müller 2012 (as
// LCP §5 describes them). One thread, compressed rows, no tuning beyond the papers': their cycle counts are
// to be compared, and their times only with that in mind.
#pragma once

#include <lope/linalg/csr_matrix.h>
#include <lope/matter/liquid/pressure_solvers.h>

#include <vector>

namespace lope::matter {

enum class Transfer {
  Barycentric,  // LCP: ½, ¼, ¼ in the plane, four times ¼ in space
  Trilinear,    // products of ¾ and ¼
  Constant,     // the parent's value
};

// What FAS compares in a wall row, N(p) = min(Ap + b, σp): f is the right-hand side of both, so its path
// depends on σ, its solution does not (NUMERICS §8). LCP leaves σ to the units. The last one knows none and
// comes close to the paper's counts; the others converge slowly or not at all as the grid gets finer
// (docs/benchmarks/lcp.md).
enum class FasScaling {
  AsPrinted,   // σ = 1, rows in 1/s, unknowns in Pa with ρ = 1, Δt = 0.01 s, as in the paper's equations
  Velocities,  // σ = 1, rows and unknowns in m/s, as PressureSystem has them
  Diagonal,    // σ = a_ii of every level: wall rows are compared as if divided by their diagonal
};

struct FasOptions {
  Transfer transfer = Transfer::Barycentric;
  bool one_sided = true;  // false ("simple boundaries"): donors behind walls count, missing ones are zero
  bool galerkin = true;   // false: coarse matrices discretised directly (PressureSystem::coarser)
  FasScaling scaling = FasScaling::Diagonal;
  int sweeps = 2;  // before and after
};

// Levels of matrices for a pressure system: transfers and coarse matrices as the options say.
template <int Dim>
class MatrixLevels {
 public:
  struct Level {
    linalg::CsrMatrix a, prolongation, restriction;  // transfers from and to the next coarser level
    std::vector<double> b, diagonal;
    std::vector<double> sigma;  // of wall rows
    std::vector<std::uint8_t> bounded, fixed;
    std::vector<double> p, f, residual;
  };
  MatrixLevels(const PressureSystem<Dim>& system, const FasOptions& options);
  std::vector<Level> levels;
};

// FAS V-cycles. N(p) = f means min(Ap + b − f, σp − f) = 0 in wall rows, so projected Gauss–Seidel sets
// p_i ← max(p_i solved from row i with right-hand side f − b, f_i / σ_i). The coarsest level: 50 sweeps.
// Without wall rows it is a linear V-cycle.
template <int Dim>
class FasMultigrid final : public PressureSolver<Dim> {
 public:
  explicit FasMultigrid(const FasOptions& options) : options_(options) {}
  optimize::complementarity::LcpSummary solve(const PressureSystem<Dim>& system, std::span<double> q,
                                              const optimize::complementarity::LcpOptions& options) override;

 private:
  FasOptions options_;
};

// Full cycles of a linear multigrid for the residual equation, coarse matrices discretised directly, four
// sweeps before and after; the inequality is seen by the finest level's sweeps (projected); cells that are
// separated there, and coarse cells above them, keep the pressure 0 in the correction. Our reading of
// Chentanez and Müller 2012 from LCP §2 and §5.
template <int Dim>
class FullMultigrid final : public PressureSolver<Dim> {
 public:
  explicit FullMultigrid(const FasOptions& options = {Transfer::Trilinear, false, false, FasScaling::Diagonal,
                                                      4})
      : options_(options) {}
  optimize::complementarity::LcpSummary solve(const PressureSystem<Dim>& system, std::span<double> q,
                                              const optimize::complementarity::LcpOptions& options) override;

 private:
  FasOptions options_;
};

extern template class FasMultigrid<2>;
extern template class FasMultigrid<3>;
extern template class FullMultigrid<2>;
extern template class FullMultigrid<3>;

}  // namespace lope::matter
