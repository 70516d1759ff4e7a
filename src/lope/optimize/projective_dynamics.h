// Projective dynamics (Liu, Bargteil, O'Brien & Kavan 2013; Bouaziz et al. 2014; CLOTH §4.4): a local step projects every element, a global
// step solves with a matrix that never changes.
//
// For terms φ_e = ½w_e dist²((Dx)_e, C_e) the local step finds the nearest points p_e of C_e, and the global one
//   (Hess Q + DᵀWD) x = DᵀWp + …   ⇔   x ← x − L⁻¹∇E(x),   L = Hess Q + DᵀWD,
// because ∇φ_e = w_e(Dx − p)_e (Liu, Bouaziz & Kavan 2017): to project is to compute the gradient, as CLOTH says of its residuals. In this form
// other energies can be minimised too, with p = Dx − ∇φ(Dx)/w for the nearest point, and L (Objective::scalar_model) as a bound of their Hessians. So
// there is no energy of its own here: what is found is the minimiser of the scene's, or it is said that it was not. Where φ is of the first
// kind (a corotated membrane without Poisson's effect, quadratic bending) this is projective dynamics to the letter, which a test looks at.
//
// Global steps: a factor of L; symmetric Gauss–Seidel sweeps (Fratarcangeli, Tibaldo & Pellacini 2016); the corrections of a full multigrid
// cycle with a local step after each (CLOTH). `accelerates`: Chebyshev's method from one local step to the next (projective_step.h); `radius`: within
// a global step. Steps are whole, without a line search.
//
// What it cannot do: contact that is an energy (penalties, barriers) is not in L, and an energy that is much stiffer than L (a strain limit, a stretched
// Saint Venant–Kirchhoff membrane) is not bounded by it: steps are then halved until they lower E, and it hardly gets anywhere. It is of first order: of
// smooth errors it removes a small part per iteration, the smaller the stiffer the cloth, the finer the mesh and the longer the step.
//
// The stopping tests are those of all. With the displacement test the remaining displacement is estimated (stopping.h) once an iteration moves no
// node by more than the accuracy; after an estimate that says no, twice as many iterations pass before the next. It only decides; one that passes is applied, as
// everywhere.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/optimize/approximate_inverse.h>
#include <lope/optimize/descent.h>
#include <lope/optimize/full_multigrid.h>

#include <memory>
#include <optional>

namespace lope::optimize {

struct ProjectiveDynamicsOptions {
  enum class Global { Direct, GaussSeidel, FullMultigrid };
  Global global = Global::Direct;
  int sweeps = 1;            // Gauss–Seidel: of a global step; multigrid: of a smoothing
  double radius = 0;         // of Chebyshev's method for these sweeps; 0: plain
  bool accelerates = false;  // from one local step to the next
  FullMultigrid::Residual residual =
      FullMultigrid::Residual::LastCycle;  // multigrid: where a local step comes in between
};

class ProjectiveDynamics final : public Minimizer {
 public:
  explicit ProjectiveDynamics(const ProjectiveDynamicsOptions& options);
  MinimizerSummary minimize(Objective& objective, std::span<double> x,
                            const MinimizerOptions& options) override;

 private:
  class Run;
  bool has_levels() const { return options_.global == ProjectiveDynamicsOptions::Global::FullMultigrid; }
  bool renew(Objective& objective, std::string& failure);
  bool renew_levels(Objective& objective, std::string& failure);

  ProjectiveDynamicsOptions options_;
  ApproximateInverse inverse_;          // without levels
  std::optional<FullMultigrid> cycle_;  // with levels, for one block size
  int block_size_ = 0;
  std::uint64_t hierarchy_ = 0, pattern_ = 0, version_ = 0;  // that cycle_ was made for
  linalg::ConjugateGradient cg_;
  DescentWork work_;
  std::vector<double> residual_, error_;
};

}  // namespace lope::optimize
