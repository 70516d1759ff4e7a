#include <lope/matter/liquid/pressure_fas.h>
#include <lope/matter/liquid/pressure_solvers.h>
#include <lope/optimize/complementarity/methods.h>

#include <algorithm>
#include <array>

#include <papers/lcp_contenders.h>

namespace lope::bench {
namespace {

namespace lcp = optimize::complementarity;
using matter::PressureMethod;

constexpr std::array table = {
    LcpContenderInfo{"truncated", "", "truncated non-smooth Newton multigrid on the grid: the default"},
    LcpContenderInfo{"truncated-sided", "", "truncated cycles on levels that keep the sides of thin walls apart"},
    LcpContenderInfo{"fas", "FAS-MG", "FAS, wall rows compared as divided by their diagonal"},
    LcpContenderInfo{"fas-velocities", "", "FAS, rows and unknowns in m/s"},
    LcpContenderInfo{"fas-printed", "", "FAS in the units of the paper's equations"},
    LcpContenderInfo{"fas-trilinear", "", "FAS with trilinear transfers"},
    LcpContenderInfo{"fas-constant", "", "FAS with piecewise constant transfers"},
    LcpContenderInfo{"fas-simple", "", "FAS without one-sided weights at walls"},
    LcpContenderInfo{"fas-direct", "", "FAS with coarse matrices discretised directly"},
    LcpContenderInfo{"fmg", "FMG", "full multigrid cycles after Chentanez and Mueller"},
    LcpContenderInfo{"pi-ic", "", "policy iteration, IC(0)-CG inside, inexact", false, true},
    LcpContenderInfo{"pi-ic-exact", "PI-PCG", "policy iteration, IC(0)-CG inside, exact as printed", false,
                     true},
    LcpContenderInfo{"pi-mg", "", "policy iteration, CG with the grid's multigrid inside, inexact", false,
                     true},
    LcpContenderInfo{"pi-mg-exact", "PI-MG",
                     "policy iteration, CG with the grid's multigrid inside, exact as printed", false, true},
    LcpContenderInfo{"pi-amg", "", "policy iteration, CG with algebraic multigrid inside", false, true},
    LcpContenderInfo{"pe-ic", "", "penalty method, IC(0)-CG inside, inexact", false, true},
    LcpContenderInfo{"pe-ic-exact", "PE-PCG", "penalty method, IC(0)-CG inside, exact as printed", false,
                     true},
    LcpContenderInfo{"pe-mg", "", "penalty method, CG with the grid's multigrid inside, inexact", false,
                     true},
    LcpContenderInfo{"pe-mg-exact", "PE-MG",
                     "penalty method, CG with the grid's multigrid inside, exact as printed", false, true},
    LcpContenderInfo{"pe-amg", "", "penalty method, CG with algebraic multigrid inside", false, true},
    LcpContenderInfo{"mprgp-ic", "", "MPRGP with IC(0) on the face", false, true},
    LcpContenderInfo{"mprgp-mg", "", "MPRGP with the grid's multigrid on the face", false, true},
    LcpContenderInfo{"mprgp-amg", "", "MPRGP with algebraic multigrid on the face", false, true},
    LcpContenderInfo{"truncated-amg", "", "truncated cycles on an algebraic hierarchy"},
    LcpContenderInfo{"psor", "", "projected over-relaxation, parameter found on the way"},
    LcpContenderInfo{"newton-ic", "", "min-map Newton, IC(0)-CG inside", false, true},
    LcpContenderInfo{"newton-mg", "", "min-map Newton, CG with the grid's multigrid inside", false, true},
    LcpContenderInfo{"newton-cg", "Newton", "min-map Newton, diagonally scaled CG inside", false, true, 256,
                     128},
    LcpContenderInfo{"pgs", "", "projected Gauss-Seidel", false, false, 64, 32},
    LcpContenderInfo{"linear-mg", "", "linear solve without separation, multigrid-CG on the grid", true,
                     false},
    LcpContenderInfo{"linear-amg", "", "linear solve without separation, algebraic multigrid-CG", true, true},
    LcpContenderInfo{"linear-ic", "No LCP", "linear solve without separation, IC(0)-CG", true, true},
};

matter::FasOptions fas_options(std::string_view name) {
  matter::FasOptions options;
  if (name == "fas-velocities") options.scaling = matter::FasScaling::Velocities;
  if (name == "fas-printed") options.scaling = matter::FasScaling::AsPrinted;
  if (name == "fas-trilinear") options.transfer = matter::Transfer::Trilinear;
  if (name == "fas-constant") options.transfer = matter::Transfer::Constant;
  if (name == "fas-simple") options.one_sided = false;
  if (name == "fas-direct") options.galerkin = false;
  return options;
}

template <int Dim>
class GridContender final : public LcpContender<Dim> {
 public:
  explicit GridContender(std::unique_ptr<matter::PressureSolver<Dim>> solver) : solver_(std::move(solver)) {}
  lcp::LcpSummary solve(const LcpCase<Dim>& problem, std::vector<double>& p,
                        const lcp::LcpOptions& options) override {
    std::vector<double> q = problem.system.scatter(p);
    lcp::LcpSummary summary = solver_->solve(problem.system, q, options);
    p = problem.system.gather(q);
    return summary;
  }

 private:
  std::unique_ptr<matter::PressureSolver<Dim>> solver_;
};

template <int Dim>
class MatrixContender final : public LcpContender<Dim> {
 public:
  explicit MatrixContender(lcp::LcpMethod method) : method_(method) {}
  lcp::LcpSummary solve(const LcpCase<Dim>& problem, std::vector<double>& p,
                        const lcp::LcpOptions& options) override {
    if (!solver_) solver_ = lcp::make_lcp_solver(method_, p.size());
    solver_->attach(problem.matrix());
    return solver_->solve(p, options);
  }

 private:
  lcp::LcpMethod method_;
  std::unique_ptr<lcp::MatrixLcpSolver> solver_;
};

}  // namespace

std::span<const LcpContenderInfo> lcp_contenders() { return table; }

const LcpContenderInfo* find_lcp_contender(std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& info) { return info.name == name; });
  return found == table.end() ? nullptr : &*found;
}

template <int Dim>
std::unique_ptr<LcpContender<Dim>> make_lcp_contender(const LcpContenderInfo& info) {
  const auto on_grid = [](std::unique_ptr<matter::PressureSolver<Dim>> solver) {
    return std::make_unique<GridContender<Dim>>(std::move(solver));
  };
  if (info.name.starts_with("fas"))
    return on_grid(std::make_unique<matter::FasMultigrid<Dim>>(fas_options(info.name)));
  const matter::PressureMethodInfo* method = matter::find_pressure_method(info.name);
  if (std::holds_alternative<PressureMethod>(method->method))
    return on_grid(matter::pressure_solver<Dim>(method->method));
  return std::make_unique<MatrixContender<Dim>>(*lcp::find_lcp_method(info.name));
}

long counted_iterations(const LcpContenderInfo& info, const lcp::LcpSummary& summary) {
  return info.counts_inner ? summary.inner_iterations : summary.iterations;
}

template std::unique_ptr<LcpContender<2>> make_lcp_contender<2>(const LcpContenderInfo&);
template std::unique_ptr<LcpContender<3>> make_lcp_contender<3>(const LcpContenderInfo&);

}  // namespace lope::bench
