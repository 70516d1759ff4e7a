// How large the remaining error of a step may be (NUMERICS §6). An accuracy alone, a length, is not enough: a
// step in which less than that happens would pass where it starts, and so would all others. The error must
// also be small beside what forces do in the step: with d the estimated remaining displacement at x and
// y = x + d the estimated end of the step,
//
//   |d|∞ ≤ min(accuracy, max(η |u|∞, floor)),   u = y − (xₙ + h vₙ),   η = 10⁻²,   floor = 10⁻⁸ of the body's size,
//
// separately for the rigid part of d and u and for the rest of them, so that a stiff body that falls or is carried
// along still resolves its stress.
//
// Deviations from NUMERICS:
// - The rest of u is what is left of y − xₙ and of h vₙ when the *finite* rigid motion nearest to the first and
//   the rigid velocity nearest to the second are taken away. Rigid modes alone would leave the (ωh)²/2 by which
//   a turning body leaves its tangent, and with it excuse any error of a stiff body that spins.
// - A body that handles hold has no rigid motion of its own: all of d is compared with the rest of u.
#pragma once

#include <lope/optimize/objective.h>

#include <cstdint>
#include <span>

namespace lope::matter {

// One body in one step; coordinates are interleaved.
struct BodyMotion {
  int dimension = 3;
  double length = 0;                     // the body's size
  std::span<const double> masses;        // per node
  std::span<const std::uint8_t> fixed;   // per node: 1 where scripted
  std::span<const double> start;         // xₙ
  std::span<const double> unforced;      // xₙ + h vₙ
};

// At x, with the estimate d; `accuracy` in metres, positive. The error is |d|∞, what is allowed is what it may be as
// long as its parts have the same shares in it.
optimize::ErrorBudget displacement_budget(const BodyMotion& body, std::span<const double> x,
                                          std::span<const double> d, double accuracy);

}  // namespace lope::matter
