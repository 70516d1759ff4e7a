#include <lope/optimize/admm.h>
#include <lope/optimize/automatic.h>
#include <lope/optimize/gast15.h>
#include <lope/optimize/lbfgs.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/newton.h>
#include <lope/optimize/nonlinear_multigrid.h>
#include <lope/optimize/projective_dynamics.h>

#include <algorithm>
#include <array>

namespace lope::optimize {
namespace {

constexpr auto table = std::to_array<MethodInfo>({
    {Method::Auto, "auto", "", "newton or dot, whichever counts say is the cheaper (newton for small problems)", true},
    {Method::Newton, "newton", "PN of DOT §2",
     "projected Newton, sparse Cholesky kept as long as it is useful", true},
    {Method::NewtonPcg, "newton-pcg", "inexact PN",
     "projected Newton, block-Jacobi conjugate gradients; little memory", true},
    {Method::NewtonPcgMatrixFree, "newton-pcg-mf", "inexact PN",
     "newton-pcg without a matrix: products come from the energy itself; the least memory", true},
    {Method::Gast15, "gast15", "OPT §3", "stabilised Newton-CG: raw Hessian, strong-Wolfe line search", true},
    {Method::Gast15Printed, "gast15-printed", "OPT §3",
     "gast15 with the paper's constants and no preconditioner, for comparison", true},
    {Method::NewtonRaw, "newton-raw", "OPT §2",
     "plain Newton without any safeguard; diverges on hard steps, for comparison"},
    {Method::LbfgsH, "lbfgs-h", "LBFGS-H of DOT §3",
     "L-BFGS initialised by a Cholesky factor of the projected Hessian"},
    {Method::LbfgsPd, "lbfgs-pd", "LBFGS-PD of DOT §3",
     "L-BFGS initialised by a scalar Laplacian, factorised once per simulation"},
    {Method::Dot, "dot", "after DOT",
     "projected Newton, conjugate gradients with incomplete factors of METIS subdomains and a coarse space", true},
    {Method::DotPrinted, "dot-printed", "DOT",
     "the paper's method as printed: L-BFGS initialised by the averaged inverses of six METIS subdomains"},
    {Method::LbfgsSchwarz, "lbfgs-schwarz", "after DOT",
     "L-BFGS initialised by Cholesky factors of subdomains of about 2000 nodes, symmetric weights"},
    {Method::LbfgsCg, "lbfgs-cg", "inexact LBFGS-H",
     "L-BFGS initialised by block-Jacobi conjugate gradients"},
    {Method::LbfgsJacobi, "lbfgs-jacobi", "DOT §4.1",
     "L-BFGS initialised by the diagonal blocks of the projected Hessian"},
    {Method::LbfgsIc, "lbfgs-ic", "DOT §5.5", "L-BFGS initialised by an incomplete Cholesky factor"},
    {Method::AdmmPd, "admm-pd", "Overby et al. 2017",
     "ADMM over deformation gradients; seldom reaches tight accuracies, for comparison"},
    {Method::NewtonMgpcg, "newton-mgpcg", "PN-MGPCG of HOT",
     "projected Newton, conjugate gradients with a multigrid V-cycle; for matter with a hierarchy of levels", true},
    {Method::Hot, "hot", "HOT",
     "L-BFGS initialised by a multigrid V-cycle of the Hessian at the start; for matter with a hierarchy of levels"},
    {Method::Nfmg, "nfmg", "CLOTH",
     "nonlinear full multigrid: corrections of all levels as search directions; for matter with a hierarchy of levels", true},
    {Method::Pd, "pd", "CLOTH §4.4", "projective dynamics: local projections, whole steps with a constant factor; for contact only as constraints", true},
    {Method::PdGs, "pd-gs", "CLOTH §4.4", "pd with one Gauss-Seidel sweep in place of the factor", true},
    {Method::PdGsChebyshev, "pd-gs-chebyshev", "CLOTH §4.4", "pd-gs with Chebyshev's acceleration from one local step to the next", true},
    {Method::PdNfmg, "pd-nfmg", "CLOTH §4.4",
     "pd with the corrections of a full multigrid cycle, a local step after each; for matter with a hierarchy of levels", true},
    {Method::PdNfmgChebyshev, "pd-nfmg-chebyshev", "CLOTH §4.4", "pd-nfmg with Chebyshev's acceleration from cycle to cycle", true},
});

// Up to this many unknowns a Cholesky factor costs next to nothing: no account is kept (docs/solvers.md).
constexpr std::size_t direct_limit = 6000;

std::unique_ptr<Minimizer> newton_pcg() {
  ProjectedNewtonOptions options;
  options.solver = LinearSolver::Iterative;
  options.inverse = {.kind = InverseKind::BlockJacobi};
  options.renew_always = true;  // block Jacobi costs nothing
  return std::make_unique<ProjectedNewton>(options);
}

std::unique_ptr<Minimizer> newton_pcg_matrix_free() {
  ProjectedNewtonOptions options;
  options.solver = LinearSolver::Iterative;
  options.matrix_free = true;
  return std::make_unique<ProjectedNewton>(options);
}

std::unique_ptr<Minimizer> newton_mgpcg() {
  ProjectedNewtonOptions options;
  options.solver = LinearSolver::Iterative;
  options.inverse = {.kind = InverseKind::Multigrid, .single_precision = true};
  options.keep_between = true;
  return std::make_unique<ProjectedNewton>(options);
}

std::unique_ptr<Minimizer> lbfgs(InverseKind kind) {
  LbfgsOptions options;
  options.inverse.kind = kind;
  options.inverse.single_precision = kind == InverseKind::Cholesky || kind == InverseKind::Laplacian;
  return std::make_unique<Lbfgs>(options);
}

std::unique_ptr<Minimizer> projective(ProjectiveDynamicsOptions::Global global, bool accelerates) {
  ProjectiveDynamicsOptions options;
  options.global = global;
  options.accelerates = accelerates;
  return std::make_unique<ProjectiveDynamics>(options);
}

}  // namespace

std::span<const MethodInfo> methods() { return table; }

std::optional<Method> find_method(std::string_view name) {
  const auto at =
      std::find_if(table.begin(), table.end(), [&](const MethodInfo& m) { return m.name == name; });
  if (at == table.end()) return std::nullopt;
  return at->method;
}

const MethodInfo& info(Method method) {
  return *std::find_if(table.begin(), table.end(), [&](const MethodInfo& m) { return m.method == method; });
}

std::string_view name_of(Method method) { return info(method).name; }

std::unique_ptr<Minimizer> make_minimizer(Method method, std::size_t unknowns) {
  switch (method) {
    case Method::Auto:
      if (unknowns <= direct_limit) return make_minimizer(Method::Newton, unknowns);
      return std::make_unique<Automatic>();
    case Method::Newton:
      return std::make_unique<ProjectedNewton>(newton_options());
    case Method::NewtonPcg:
      return newton_pcg();
    case Method::NewtonPcgMatrixFree:
      return newton_pcg_matrix_free();
    case Method::Gast15:
      return std::make_unique<Gast15>();
    case Method::Gast15Printed:
      return std::make_unique<Gast15>(Gast15Options{.as_printed = true});
    case Method::NewtonRaw:
      return std::make_unique<PlainNewton>();
    case Method::LbfgsH:
      return lbfgs(InverseKind::Cholesky);
    case Method::LbfgsPd:
      return lbfgs(InverseKind::Laplacian);
    case Method::Dot:
      return std::make_unique<ProjectedNewton>(dot_options());
    case Method::DotPrinted:
      return std::make_unique<Lbfgs>(dot_as_printed());
    case Method::LbfgsSchwarz:
      return lbfgs(InverseKind::Subdomains);
    case Method::LbfgsCg:
      return lbfgs(InverseKind::Cg);
    case Method::LbfgsJacobi:
      return lbfgs(InverseKind::BlockJacobi);
    case Method::LbfgsIc:
      return lbfgs(InverseKind::IncompleteCholesky);
    case Method::AdmmPd:
      return std::make_unique<AdmmPd>();
    case Method::NewtonMgpcg:
      return newton_mgpcg();
    case Method::Hot:
      return std::make_unique<Lbfgs>(hot_options());
    case Method::Nfmg:
      return std::make_unique<NonlinearMultigrid>();
    case Method::Pd:
      return projective(ProjectiveDynamicsOptions::Global::Direct, false);
    case Method::PdGs:
      return projective(ProjectiveDynamicsOptions::Global::GaussSeidel, false);
    case Method::PdGsChebyshev:
      return projective(ProjectiveDynamicsOptions::Global::GaussSeidel, true);
    case Method::PdNfmg:
      return projective(ProjectiveDynamicsOptions::Global::FullMultigrid, false);
    case Method::PdNfmgChebyshev:
      return projective(ProjectiveDynamicsOptions::Global::FullMultigrid, true);
  }
  return nullptr;
}

}  // namespace lope::optimize
