// What the parts of a decomposition are worth: iterations against the number of subdomains with and without a
// coarse space (DOT Fig. 6), and every option of the solvers switched alone. One scene, the same steps, the
// same accuracy.
#include <lope/optimize/lbfgs.h>
#include <lope/optimize/newton.h>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

using optimize::InverseKind;
using optimize::LbfgsOptions;
using optimize::ProjectedNewtonOptions;

constexpr int default_steps = 10;

template <class Options>
struct Variant {
  std::string name;
  Options options;
};

class SolverOptions {
 public:
  explicit SolverOptions(const BenchOptions& options) : options_(options) {}

  Expected<void> run() {
    overrides_ = {"time.step=25 ms"};
    if (!options_.mesh.empty()) overrides_.push_back("body.0.shape.mesh=" + options_.mesh);
    print_head();
    for (const auto& part :
         {&SolverOptions::subdomains, &SolverOptions::quasi_newton, &SolverOptions::newton}) {
      if (const auto done = (this->*part)(); !done) return done;
    }
    return {};
  }

 private:
  void print_head() const {
    options_.print(fmt::format("{:46} {:>8} {:>14} {:>13} {:>9} {:>9} {:>9} {:>9} {:>7}", "variant", "s/step",
                               "its/step (max)", "CG its/step", "Hessian", "set-up", "solves", "evaluate",
                               "failed"));
  }

  Expected<void> row(const std::string& name, const step::Simulation::MakeMinimizer& make) {
    const auto loaded = load(options_.scenes / "ltss.toml", overrides_);
    if (!loaded) return forward_error(loaded);
    step::Simulation simulation(*loaded->model);
    show_progress(simulation, name, options_);
    simulation.use_minimizer(make);
    optimize::MinimizerTimings sum;
    long linear = 0;
    const RunTotals totals = run_in_memory(simulation, options_.steps > 0 ? options_.steps : default_steps,
                                           false, [&](const step::StepReport& report) {
                                             for (const step::IslandReport& island : report.islands) {
                                               sum.hessian += island.solve.timings.hessian;
                                               sum.factorize += island.solve.timings.factorize;
                                               sum.solve += island.solve.timings.solve;
                                               sum.evaluate += island.solve.timings.evaluate;
                                               linear += island.solve.linear_iterations;
                                             }
                                             return true;
                                           });
    options_.print(
        fmt::format("{:46} {:>8.3f} {:>8.1f} ({:>3}) {:>13.1f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>7}",
                    name, totals.per_step(totals.seconds), totals.per_step(totals.iterations),
                    totals.max_iterations, totals.per_step(static_cast<double>(linear)),
                    totals.per_step(sum.hessian), totals.per_step(sum.factorize), totals.per_step(sum.solve),
                    totals.per_step(sum.evaluate), totals.failed));
    return {};
  }

  Expected<void> lbfgs(const std::string& name, const LbfgsOptions& options) {
    return row(name, [&](const optimize::Objective&) { return std::make_unique<optimize::Lbfgs>(options); });
  }
  Expected<void> projected_newton(const std::string& name, const ProjectedNewtonOptions& options) {
    return row(name, [&](const optimize::Objective&) {
      return std::make_unique<optimize::ProjectedNewton>(options);
    });
  }

  Expected<void> subdomains() {
    for (const int coarse : {0, 60}) {
      for (const int count : {2, 6, 16, 40, 100, 300}) {
        LbfgsOptions options;
        options.inverse = {.kind = InverseKind::Subdomains, .subdomains = count, .coarse_size = coarse};
        const std::string name =
            fmt::format("L-BFGS, {} subdomains{}", count, coarse > 0 ? ", coarse space" : "");
        if (const auto done = lbfgs(name, options); !done) return done;
      }
    }
    return {};
  }

  Expected<void> quasi_newton() {
    LbfgsOptions base;
    base.inverse.kind = InverseKind::Subdomains;
    std::vector<Variant<LbfgsOptions>> variants;
    variants.push_back({"L-BFGS, subdomains (lbfgs-schwarz)", base});
    variants.push_back({"L-BFGS, six subdomains (dot-printed)", optimize::dot_as_printed()});
    const auto variant = [&](const char* name, const auto& change) {
      variants.push_back({std::string("  ") + name, base});
      change(variants.back().options);
    };
    variant("one-sided weights", [](LbfgsOptions& o) { o.inverse.weighting = linalg::Weighting::OneSided; });
    variant("single precision", [](LbfgsOptions& o) { o.inverse.single_precision = true; });
    variant("line search from 1", [](LbfgsOptions& o) { o.quadratic_first_step = false; });
    variant("window 10", [](LbfgsOptions& o) { o.window = 10; });
    variant("factors kept between steps", [](LbfgsOptions& o) { o.keep_between = true; });
    variant("incomplete factors", [](LbfgsOptions& o) { o.inverse.kind = InverseKind::IncompleteCholesky; });
    variant("incomplete factors, coarse space", [](LbfgsOptions& o) {
      o.inverse.kind = InverseKind::IncompleteCholesky;
      o.inverse.coarse_size = 60;
    });
    for (const auto& [name, options] : variants) {
      if (const auto done = lbfgs(name, options); !done) return done;
    }
    return {};
  }

  Expected<void> newton() {
    ProjectedNewtonOptions two_level;
    two_level.solver = optimize::LinearSolver::Iterative;
    two_level.inverse = {.kind = InverseKind::IncompleteCholesky, .coarse_size = 60};
    two_level.keep_between = true;
    std::vector<Variant<ProjectedNewtonOptions>> variants;
    variants.push_back({"Newton-CG, incomplete factors, coarse (dot)", two_level});
    const auto variant = [&](const char* name, const auto& change) {
      variants.push_back({std::string("  ") + name, two_level});
      change(variants.back().options);
    };
    variant("no coarse space", [](ProjectedNewtonOptions& o) { o.inverse.coarse_size = 0; });
    variant("coarse space of twice the functions",
            [](ProjectedNewtonOptions& o) { o.inverse.coarse_size = 30; });
    variant("coarse space of half the functions",
            [](ProjectedNewtonOptions& o) { o.inverse.coarse_size = 120; });
    variant("exact factors of 100 vertices", [](ProjectedNewtonOptions& o) {
      o.inverse.kind = InverseKind::Subdomains;
      o.inverse.subdomain_size = 100;
      o.inverse.single_precision = true;
    });
    variant("block Jacobi and coarse space",
            [](ProjectedNewtonOptions& o) { o.inverse.kind = InverseKind::BlockJacobi; });
    variant("products in double precision", [](ProjectedNewtonOptions& o) { o.rounded_products = false; });
    variant("not kept between steps", [](ProjectedNewtonOptions& o) { o.keep_between = false; });
    variant("renewed in every iteration", [](ProjectedNewtonOptions& o) { o.renew_always = true; });
    ProjectedNewtonOptions factor;
    factor.inverse = {.kind = InverseKind::Cholesky, .single_precision = true};
    factor.keep_between = true;
    variants.push_back({"Newton, Cholesky, single, kept (newton)", factor});
    factor.keep_between = false;
    variants.push_back({"  not kept between steps", factor});
    factor.inverse.single_precision = false;
    variants.push_back({"  not kept between steps, double precision", factor});
    factor.kept_iterations = 0;
    variants.push_back({"  a new factor in every iteration (PN)", factor});
    for (const auto& [name, options] : variants) {
      if (const auto done = projected_newton(name, options); !done) return done;
    }
    return {};
  }

  const BenchOptions& options_;
  std::vector<std::string> overrides_;
};

}  // namespace

Expected<void> solver_options(const BenchOptions& options) { return SolverOptions(options).run(); }

}  // namespace lope::bench
