// Line searches along x(α) = P(x + α d), P the objective's projection (the identity unless it says
// otherwise).
//
// A value above the start's is as good as any other (no condition accepts it), so the objective may stop
// adding terms there (OPT §3.3), and its slope is not asked for.
//
// Values that differ by less than the objective's rounding noise are not compared: near the solution the
// decrease that a condition asks for is smaller than what E can resolve.
#pragma once

#include <lope/linalg/space.h>
#include <lope/optimize/objective.h>

#include <vector>

namespace lope::optimize {

// Where the search starts: the objective's current point is x.
struct LineSearchStart {
  linalg::ConstVector x;
  linalg::ConstVector direction;
  double value = 0;
  double slope = 0;  // ∇E·d, negative
};

struct LineSearchResult {
  bool success = false;
  double step = 0;
  double value = 0;
  int evaluations = 0;
};

// Armijo's condition by halving. If the first step passes with more than `too_short` of the decrease that the
// slope promises, it is doubled for as long as that stays so and E falls (Goldstein's other condition). A
// Newton step in a convex valley gains half of the promise and is never doubled; where the Hessian was
// projected because it is indefinite, as around a buckling bar, steps of 1 only crawl.
struct BacktrackingOptions {
  double first_step = 1;
  double sufficient_decrease = 1e-4;  // Armijo
  bool lengthens = true;  // false: Armijo by halving and nothing else
  double too_short = 0.75;
  double largest_step = 1e3;
  double shrink = 0.5;
  double smallest_step = 1e-12;
};

// Strong Wolfe conditions with bracketing and zoom (Nocedal & Wright 2006, Alg. 3.5, 3.6). Tries α = 1 first,
// may exceed it.
struct WolfeOptions {
  double sufficient_decrease = 1e-4;
  double curvature = 0.9;
  double largest_step = 1e3;
  int max_evaluations = 60;
};

// On success `trial` is the accepted point and the objective's current point. On failure the objective's
// current point is unspecified. Keeps its work vectors.
class LineSearch {
 public:
  LineSearchResult backtrack(Objective& objective, const LineSearchStart& start,
                             const BacktrackingOptions& options, linalg::Vector trial);
  LineSearchResult strong_wolfe(Objective& objective, const LineSearchStart& start,
                                const WolfeOptions& options, linalg::Vector trial);

 private:
  struct Point {
    double step = 0, value = 0, slope = 0;
  };
  double evaluate(Objective& objective, const LineSearchStart& start, double step, double noise,
                  linalg::Vector trial);
  double slope(Objective& objective, const LineSearchStart& start, double step);
  void extend(Objective& objective, const LineSearchStart& start, const BacktrackingOptions& options,
              double bound, linalg::Vector trial, LineSearchResult& result);
  LineSearchResult zoom(Objective& objective, const LineSearchStart& start, const WolfeOptions& options,
                        linalg::Vector trial, Point low, Point high, double noise, int evaluations);
  std::vector<double> gradient_, path_, tangent_;
};

}  // namespace lope::optimize
