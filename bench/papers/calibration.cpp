#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/space.h>
#include <lope/optimize/newton.h>
#include <lope/optimize/stopping.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/core.h>
#include <papers/calibration.h>

namespace lope::bench {
namespace {

constexpr double required_share = 0.99;
constexpr double tolerated_ratio = 3;

double share_below(const std::vector<double>& values, double bound) {
  if (values.empty()) return 1;
  const auto good = std::count_if(values.begin(), values.end(), [&](double v) { return v <= bound; });
  return static_cast<double>(good) / static_cast<double>(values.size());
}

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

void judge(const EstimateRecord& record, std::string_view name, std::string& trouble) {
  if (record.bounded_fraction() < required_share) {
    trouble += fmt::format("{}error > 3 x {} estimate in {:.1f}% of the steps", trouble.empty() ? "" : "; ",
                           name, 100 * (1 - record.bounded_fraction()));
  }
  const double median = record.median_ratio();
  if (median > tolerated_ratio || median < 1 / tolerated_ratio) {
    trouble +=
        fmt::format("{}median of error / {} estimate is {:.3g}", trouble.empty() ? "" : "; ", name, median);
  }
}

// The minimiser of the step problem near x, to round-off, and how far it may still be off.
struct Refined {
  bool found = false;
  double floor = 0;
};

class Refinement {
 public:
  Refined refine(optimize::Objective& objective, std::vector<double>& x, double accuracy) {
    optimize::MinimizerOptions tight;
    tight.stopping.tolerance = 1e-12 * objective.scales().length;
    tight.max_iterations = 300;
    const optimize::MinimizerSummary summary = newton_.minimize(objective, x, tight);
    // The line search may stall once the energies of neighbouring points are equal to round-off: that is the
    // end.
    const bool good = summary.outcome == optimize::Outcome::Converged || summary.measure <= 1e-3 * accuracy;
    return {good, summary.measure};
  }

 private:
  optimize::ProjectedNewton newton_{optimize::ProjectedNewtonOptions{}};
};

// The estimate that is the same for all methods.
class CommonEstimate {
 public:
  optimize::DisplacementEstimate at(optimize::Objective& objective, const std::vector<double>& x) {
    gradient_.resize(x.size());
    error_.resize(x.size());
    objective.move_to(x);
    if (objective.begin_iteration()) objective.move_to(x);
    objective.gradient(gradient_);
    jacobi_.update(objective.hessian(optimize::HessianKind::Projected));
    return optimize::estimate_displacement(objective.space(), objective.hessian(optimize::HessianKind::Raw),
                                           jacobi_, cg_, gradient_, error_, 100000);
  }

 private:
  linalg::BlockJacobi jacobi_;
  linalg::ConjugateGradient cg_;
  std::vector<double> gradient_, error_;
};

double distance(const std::vector<double>& a, const std::vector<double>& b, int block_size) {
  std::vector<double> difference(a.size());
  linalg::add_scaled(a, -1, b, difference);
  return linalg::local_space().max_block_norm(difference, block_size);
}

// How much of what is allowed the way from x to the exact solution takes, in the body where that is most. Bodies of one island
// are allowed different errors: the largest distance of any node must not be held against what another body is allowed.
double strain(optimize::Objective& objective, const std::vector<double>& x, const std::vector<double>& exact,
              double accuracy) {
  std::vector<double> way(x.size());
  linalg::add_scaled(exact, -1, x, way);
  objective.move_to(x);
  const optimize::ErrorBudget budget = objective.budget(way, accuracy);
  return budget.error / budget.allowed;
}

// Where something touches, an estimate knows the contacts of its own point only: what is seen at its end counts as well, as it does for methods.
void look_again(optimize::DisplacementEstimate& estimate, const optimize::DisplacementEstimate& at_the_end) {
  estimate.largest += at_the_end.largest;
  estimate.trustworthy = estimate.trustworthy && at_the_end.trustworthy;
}

}  // namespace

double EstimateRecord::bounded_fraction() const { return share_below(ratios, tolerated_ratio); }

double EstimateRecord::median_ratio() const {
  if (ratios.empty()) return 1;
  std::vector<double> sorted = ratios;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double EstimateRecord::largest_ratio() const { return largest(ratios); }

void Calibration::add(const Calibration& other) {
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  steps += other.steps;
  unconverged += other.unconverged;
  unjudged += other.unjudged;
  at_round_off += other.at_round_off;
  append(own.ratios, other.own.ratios);
  append(common.ratios, other.common.ratios);
  append(error_over_accuracy, other.error_over_accuracy);
}

double Calibration::accurate_fraction() const { return share_below(error_over_accuracy, tolerated_ratio); }
double Calibration::largest_error_over_accuracy() const { return largest(error_over_accuracy); }

std::string Calibration::trouble() const {
  std::string result;
  judge(own, "own", result);
  judge(common, "CG", result);
  if (accurate_fraction() < required_share) {
    result += fmt::format("{}error > 3 x accuracy in {:.1f}% of the steps", result.empty() ? "" : "; ",
                          100 * (1 - accurate_fraction()));
  }
  if (unjudged > 0)
    result += fmt::format("{}{} steps had no reference", result.empty() ? "" : "; ", unjudged);
  return result;
}

std::vector<optimize::Method> calibrated_methods() {
  using optimize::Method;
  return {Method::Newton, Method::NewtonPcg, Method::Gast15, Method::LbfgsH, Method::LbfgsPd, Method::Dot};
}

std::vector<Calibration> calibrate(const step::Model& model, const std::vector<optimize::Method>& methods,
                                   std::int64_t steps, std::int64_t stride) {
  std::vector<Calibration> result(methods.size());
  step::Simulation simulation(model);
  const std::size_t islands = simulation.island_count();
  std::vector<std::vector<std::unique_ptr<optimize::Minimizer>>> minimizers(methods.size());
  for (std::size_t m = 0; m < methods.size(); ++m) {
    for (std::size_t k = 0; k < islands; ++k) {
      const std::size_t unknowns = simulation.step_problem(k, model.step).objective.size();
      minimizers[m].push_back(optimize::make_minimizer(methods[m], unknowns));
    }
  }
  optimize::MinimizerOptions options;
  options.stopping = model.solver.stopping;
  options.max_iterations = model.solver.max_iterations;
  std::vector<double> beginning;  // positions at the beginning of the step
  std::vector<double> judged;     // the last iterate, where the estimate was made that then was applied
  options.observer = [&](const optimize::Iteration&, std::span<const double> x) { judged.assign(x.begin(), x.end()); };
  Refinement refinement;
  CommonEstimate common;
  for (std::int64_t i = 0; i < steps; ++i) {
    for (std::size_t k = 0; k < islands && (i + 1) % stride == 0; ++k) {
      auto problem = simulation.step_problem(k, model.step);
      beginning.clear();
      for (const std::size_t body : simulation.bodies_of(k)) {
        const std::vector<double>& x = simulation.state().nodes(body).x;
        beginning.insert(beginning.end(), x.begin(), x.end());
      }
      options.reference = beginning;
      for (std::size_t m = 0; m < methods.size(); ++m) {
        Calibration& record = result[m];
        std::vector<double> x = problem.start;
        const optimize::MinimizerSummary summary = minimizers[m][k]->minimize(problem.objective, x, options);
        ++record.steps;
        if (!summary.converged()) {
          ++record.unconverged;
          continue;
        }
        optimize::DisplacementEstimate estimate = common.at(problem.objective, judged);
        if (problem.objective.has_kinks()) look_again(estimate, common.at(problem.objective, x));
        std::vector<double> exact = x;
        const Refined refined = refinement.refine(problem.objective, exact, summary.tolerance);
        if (!refined.found || !estimate.trustworthy) {
          ++record.unjudged;
          continue;
        }
        const double accuracy = options.stopping.tolerance;
        record.error_over_accuracy.push_back(strain(problem.objective, x, exact, accuracy));
        const double error = distance(judged, exact, problem.objective.block_size());
        if (std::max({error, summary.measure, estimate.largest}) <= 10 * refined.floor) {
          ++record.at_round_off;
          continue;
        }
        record.own.ratios.push_back(strain(problem.objective, judged, exact, accuracy) * summary.tolerance /
                                    summary.measure);
        record.common.ratios.push_back(error / estimate.largest);
      }
    }
    if (!simulation.advance().accepted) break;
  }
  return result;
}

}  // namespace lope::bench
