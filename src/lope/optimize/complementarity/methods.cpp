#include <lope/linalg/algebraic_multigrid.h>
#include <lope/optimize/complementarity/algebraic_truncated.h>
#include <lope/optimize/complementarity/methods.h>
#include <lope/optimize/complementarity/min_map_newton.h>
#include <lope/optimize/complementarity/mprgp.h>
#include <lope/optimize/complementarity/policy_iteration.h>
#include <lope/optimize/complementarity/projected_sor.h>

#include <algorithm>
#include <array>

namespace lope::optimize::complementarity {
namespace {

constexpr std::array table = {
    LcpMethodInfo{LcpMethod::Auto, "auto", "", "the fastest robust one for the size of the problem"},
    LcpMethodInfo{LcpMethod::MprgpAmg, "mprgp-amg", "Dostál 2011",
                  "active-set CG (MPRGP) preconditioned on its face by algebraic multigrid"},
    LcpMethodInfo{LcpMethod::MprgpIc, "mprgp-ic", "Dostál 2005", "the same with incomplete Cholesky"},
    LcpMethodInfo{LcpMethod::PolicyAmg, "pi-amg", "LCP",
                  "policy iteration, CG with algebraic multigrid inside, inexact"},
    LcpMethodInfo{LcpMethod::PolicyIc, "pi-ic", "LCP",
                  "policy iteration, CG with incomplete Cholesky inside, inexact"},
    LcpMethodInfo{LcpMethod::PolicyIcExact, "pi-ic-exact", "LCP Alg. 1",
                  "the same with exact inner solves, as printed"},
    LcpMethodInfo{LcpMethod::PenaltyAmg, "pe-amg", "LCP",
                  "penalty method, CG with algebraic multigrid inside, inexact"},
    LcpMethodInfo{LcpMethod::PenaltyIc, "pe-ic", "LCP",
                  "penalty method, CG with incomplete Cholesky inside, inexact"},
    LcpMethodInfo{LcpMethod::PenaltyIcExact, "pe-ic-exact", "LCP Alg. 2",
                  "the same with exact inner solves, as printed"},
    LcpMethodInfo{LcpMethod::TruncatedAmg, "truncated-amg", "Gräser 2009",
                  "truncated multigrid cycles on an algebraic hierarchy"},
    LcpMethodInfo{LcpMethod::NewtonIc, "newton-ic", "Andersen 2017",
                  "non-smooth Newton with line search, CG with incomplete Cholesky inside"},
    LcpMethodInfo{LcpMethod::NewtonCg, "newton-cg", "Andersen 2017",
                  "the same with diagonally scaled CG inside"},
    LcpMethodInfo{LcpMethod::Sor, "psor", "Cryer 1971",
                  "projected over-relaxation that finds its own parameter"},
    LcpMethodInfo{LcpMethod::GaussSeidel, "pgs", "Cryer 1971", "projected Gauss–Seidel"},
    LcpMethodInfo{LcpMethod::LinearAmg, "linear-amg", "",
                  "A p = −b without bounds, CG with algebraic multigrid", true},
    LcpMethodInfo{LcpMethod::LinearIc, "linear-ic", "",
                  "A p = −b without bounds, CG with incomplete Cholesky", true},
};

std::unique_ptr<linalg::MaskedInverse> incomplete_cholesky() {
  return std::make_unique<linalg::MaskedIncompleteCholesky>();
}
std::unique_ptr<linalg::MaskedInverse> multigrid() { return std::make_unique<linalg::AlgebraicMultigrid>(); }

constexpr PolicyOptions exact = {0};
// Below it the set-up of a hierarchy takes longer than it saves.
constexpr std::size_t small_problem = 3000;

}  // namespace

std::span<const LcpMethodInfo> lcp_methods() { return table; }

std::optional<LcpMethod> find_lcp_method(std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.name == name; });
  return found == table.end() ? std::nullopt : std::optional(found->method);
}

std::string_view name_of(LcpMethod method) {
  return std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.method == method; })
      ->name;
}

std::unique_ptr<MatrixLcpSolver> make_lcp_solver(LcpMethod method, std::size_t unknowns) {
  switch (method) {
    case LcpMethod::Auto:
      return make_lcp_solver(unknowns < small_problem ? LcpMethod::MprgpIc : LcpMethod::MprgpAmg, unknowns);
    case LcpMethod::MprgpAmg:
      return std::make_unique<Mprgp>(multigrid());
    case LcpMethod::MprgpIc:
      return std::make_unique<Mprgp>(incomplete_cholesky());
    case LcpMethod::PolicyAmg:
      return std::make_unique<PolicyIteration>(multigrid());
    case LcpMethod::PolicyIc:
      return std::make_unique<PolicyIteration>(incomplete_cholesky());
    case LcpMethod::PolicyIcExact:
      return std::make_unique<PolicyIteration>(incomplete_cholesky(), exact);
    case LcpMethod::PenaltyAmg:
      return std::make_unique<PenaltyMethod>(multigrid());
    case LcpMethod::PenaltyIc:
      return std::make_unique<PenaltyMethod>(incomplete_cholesky());
    case LcpMethod::PenaltyIcExact:
      return std::make_unique<PenaltyMethod>(incomplete_cholesky(), exact);
    case LcpMethod::TruncatedAmg:
      return std::make_unique<AlgebraicTruncated>();
    case LcpMethod::NewtonIc:
      return std::make_unique<MinMapNewton>(incomplete_cholesky());
    case LcpMethod::NewtonCg:
      return std::make_unique<MinMapNewton>(std::make_unique<linalg::MaskedJacobi>());
    case LcpMethod::Sor:
      return std::make_unique<ProjectedSor>(0);
    case LcpMethod::GaussSeidel:
      return std::make_unique<ProjectedSor>(1);
    case LcpMethod::LinearAmg:
      return std::make_unique<LinearSolve>(multigrid());
    case LcpMethod::LinearIc:
      return std::make_unique<LinearSolve>(incomplete_cholesky());
  }
  return nullptr;
}

}  // namespace lope::optimize::complementarity
