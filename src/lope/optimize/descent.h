// The frame of every descent method: test, find a direction, search along it, move, until the stopping test
// holds.
//
// A method derives from DescentRun, says how it finds a direction and how it searches along it, and lives for
// one minimisation; what should outlast it (factors, work vectors) belongs to its Minimizer.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/preconditioner.h>
#include <lope/optimize/line_search.h>
#include <lope/optimize/minimizer.h>
#include <lope/optimize/recorder.h>

#include <string>
#include <vector>

namespace lope::optimize {

// Vectors of the objective's size and the line search's own; kept by a Minimizer between minimisations.
struct DescentWork {
  std::vector<double> gradient, direction, trial;
  LineSearch line_search;
  linalg::ConjugateGradient close_look;
};

class DescentRun {
 public:
  // x is the starting point and the iterate; the caller keeps everything alive while the run lasts.
  DescentRun(Objective& objective, std::span<double> x, const MinimizerOptions& options, DescentWork& work);
  virtual ~DescentRun() = default;
  MinimizerSummary minimize();

 protected:
  enum class Verdict { Search, Converged, Failed };

  // Leaves a descent direction in direction() and both sides of the displacement test in measure_ and
  // tolerance_ (direction_is_small); says Converged if that test holds, with the estimated remaining displacement as the
  // direction, Failed (with failure_) if there is no direction. The gradient tests were made before.
  virtual Verdict find_direction() = 0;
  // Finds a step along direction() with one of work.line_search's searches.
  virtual LineSearchResult search(const LineSearchStart& from) = 0;
  // D ≈ H⁻¹ as the method has it, after find_direction(): for a cheap look at what is left after the last step.
  virtual linalg::Preconditioner& inverse_at_hand() = 0;
  // Whether D knows all that may move where the objective is now.
  virtual bool inverse_suits() const { return true; }

  // The value and the gradient, where the objective is.
  void evaluate();
  bool tests_displacement() const { return options_.stopping.test == StoppingTest::Displacement; }
  // Whether direction(), taken for the remaining displacement, passes the displacement test.
  bool direction_is_small();
  // How many times as large as allowed the remaining displacement −e is. Leaves −e in trial().
  double strain(linalg::ConstVector e);
  // A direction longer than this cannot be the last one: a careful estimate would be wasted on it.
  bool may_be_last() const { return measure_ <= 4 * tolerance_; }
  // min(½, √(‖g‖/‖g₀‖)): the relative tolerance of an inexact Newton direction (NUMERICS §3).
  double forcing() const;

  linalg::Vector gradient() { return work_.gradient; }
  linalg::ConstVector gradient() const { return work_.gradient; }
  linalg::Vector direction() { return work_.direction; }
  linalg::Vector trial() { return work_.trial; }
  const linalg::Space& space() const { return objective_.space(); }
  LineSearch& line_search() { return work_.line_search; }

  Objective& objective_;
  std::span<double> x_;
  const MinimizerOptions& options_;
  Recorder recorder_;
  double value_ = 0, gradient_norm_ = 0, first_gradient_norm_ = 0;
  double measure_ = 0, tolerance_;  // left- and right-hand side of the stopping test
  std::string failure_;
  int begins_at_ = 0;  // the iteration from which on patience is counted

 private:
  void evaluate_gradient();
  bool gradient_test_holds();
  bool step_test_holds();
  bool move();
  bool move_by_gradient(int evaluations);
  bool promises_rounding_only();
  bool take_last_step();
  bool last_step_is_confirmed();
  bool solve_for_what_is_left();
  double preconditioned_norm();
  bool settle();
  void record() { recorder_.record(value_, gradient_norm_, measure_, tolerance_, x_); }

  DescentWork& work_;
  double norm_before_last_step_ = 0;  // √(gᵀDg)
};

}  // namespace lope::optimize
