// How projective dynamics moves along a correction c: the whole of it, without a line search, with Chebyshev's weights from one iteration
// to the next if asked for (Wang 2015; CLOTH §4.4):
//   x^{k+1} = ω_{k+1} (x^k + c − x^{k−1}) + x^{k−1}.
//
// An iteration is what one call of correct() after the other does until one that is the last: with several corrections (a full
// multigrid cycle) only the end of the last one is weighted. CLOTH weights every correction, though they are those of different operators, for which
// there is no such method. ρ is not tuned by hand: after a few plain iterations it is the ratio of the last two corrections'
// lengths in the norm of the matrix, √(c·r), which is too small as long as rough errors shrink; for as long as nothing goes wrong
// the weights begin anew with half of 1 − ρ after every sixteen.
//
// Deviation: the papers let the energy rise, since the constant matrix bounds the Hessians of their energies; with one that does, a plain step
// never makes it rise. Here, where other energies are minimised as well, what raises it is not accepted: an accelerated step is replaced by the
// plain one, and the weights begin anew; a plain step that raises it says that the matrix is too small, and it and all that follow are halved, as if
// the matrix were doubled, until eight in a row were good. A step goes no farther than the function is defined.
#pragma once

#include <lope/linalg/smoothing.h>
#include <lope/optimize/line_search.h>

#include <optional>
#include <vector>

namespace lope::optimize {

class ProjectiveStep {
 public:
  // Of one minimisation that starts at x.
  ProjectiveStep(bool accelerates, linalg::ConstVector x);
  // Like a line search's. last: of the iteration.
  LineSearchResult take(Objective& objective, const LineSearchStart& from, bool last, linalg::Vector trial);
  // How often the weights began anew, and steps were halved.
  int restarts() const { return restarts_; }
  int halvings() const { return halvings_; }

 private:
  bool accelerate(Objective& objective, const LineSearchStart& from, double highest, LineSearchResult& result,
                  linalg::Vector trial);
  void go_plainly(Objective& objective, const LineSearchStart& from, double highest, LineSearchResult& result,
                  linalg::Vector trial);
  double next_weight(double slope);
  double next_with(double radius);
  void restart();

  bool accelerates_;
  double length_ = 1;  // of plain steps
  int good_ = 0;       // of these in a row
  int plain_ = 0;      // iterations since the weights began anew
  double last_slope_ = 0;
  std::optional<linalg::ChebyshevWeights> weights_;
  double radius_ = 0;                         // ρ
  int weighted_ = 0;                          // iterations with it
  std::vector<double> begin_, before_, way_;  // where this iteration began and the one before it; work
  int restarts_ = 0, halvings_ = 0;
};

}  // namespace lope::optimize
