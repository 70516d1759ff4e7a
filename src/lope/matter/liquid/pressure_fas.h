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

// What min(Ap + b, p) compares (NUMERICS §8): FAS uses one right-hand side f for both, so its path depends on
// it.
enum class FasScaling {
  AsPrinted,   // rows in 1/s, unknowns in Pa with ρ = 1, Δt = 0.01 s, as in the paper's equations
  Velocities,  // rows and unknowns in m/s, as PressureSystem has them
  Diagonal,  // besides, every row divided by its diagonal entry on every level (times 4 per level: R A P's is
             // smaller)
};

struct FasOptions {
  Transfer transfer = Transfer::Barycentric;
  bool one_sided = true;  // false ("simple boundaries"): donors behind solids count, missing ones are zero
  bool galerkin = true;   // false: coarse matrices discretised directly (PressureSystem::coarser)
  FasScaling scaling = FasScaling::Velocities;
  int sweeps = 2;  // before and after
};

// Levels of matrices for a pressure system: transfers and coarse matrices as the options say.
template <int Dim>
class MatrixLevels {
 public:
  struct Level {
    linalg::CsrMatrix a, prolongation, restriction;  // transfers from and to the next coarser level
    std::vector<double> b, diagonal, row_scale;
    std::vector<std::uint8_t> bounded, fixed;
    std::vector<double> p, f, residual;
  };
  MatrixLevels(const PressureSystem<Dim>& system, const FasOptions& options);
  std::vector<Level> levels;
};

// FAS V-cycles. N(p) = f means min(Ap + b − f, p − f) = 0 in wall rows, so projected Gauss–Seidel sets
// p_i ← max(p_i solved from row i with right-hand side f − b, f_i). The coarsest level: 50 sweeps.
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
  explicit FullMultigrid(const FasOptions& options = {Transfer::Trilinear, false, false,
                                                      FasScaling::Velocities, 4})
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
