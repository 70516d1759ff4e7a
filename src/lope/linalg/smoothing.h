// Several symmetric Gauss–Seidel sweeps as one smoothing: plain, with Chebyshev weights, or of some rows only (CLOTH §§4.2, 4.3).
//
// Chebyshev's semi-iterative method (Golub & Van Loan; Wang 2015, "A Chebyshev semi-iterative approach for accelerating projective
// and position-based dynamics"): of iterates x̂^{k+1} that a convergent method makes of x^k,
//   x^{k+1} = ω_{k+1} (x̂^{k+1} − x^{k−1}) + x^{k−1},   ω₁ = 1, ω₂ = 2/(2 − ρ²), ω_{k+1} = 4/(4 − ρ² ω_k).
// ρ < 1: errors that the method multiplies by at most ρ shrink fastest. For smoothing it is meant to be smaller than the spectral radius:
// what is smooth is left to coarser levels. The eigenvalues of symmetric sweeps lie between 0 and 1, where the polynomial stays
// below 1, so that the smoothing remains symmetric and positive definite (CLOTH Theorem 4.1).
#pragma once

#include <lope/base/parallel.h>
#include <lope/linalg/coloured_rows.h>

#include <algorithm>
#include <vector>

namespace lope::linalg {

class ChebyshevWeights {
 public:
  explicit ChebyshevWeights(double radius) : square_(radius * radius) {}
  // ω₁, ω₂, …
  double next() {
    weight_ = weight_ == 0 ? 1 : weight_ == 1 ? 2 / (2 - square_) : 4 / (4 - square_ * weight_);
    return weight_;
  }

 private:
  double square_, weight_ = 0;
};

// Iterates of an accelerated smoothing; kept by whoever smooths again.
template <class T>
struct SmoothingWork {
  std::vector<T> last, before;  // x^k, x^{k−1}
};

// `sweeps` sweeps; with radius > 0 accelerated. Leaves t as one sweep does, of use for residual_after_sweep() if they were plain and of
// all rows. With sweeps = 0 from zero, x = 0.
template <class T, int b>
void smooth_rows(const ColouredRows<T, b>& rows, int sweeps, double radius, const T* f, T* t,
                 std::vector<T>& x, bool from_zero, const std::uint8_t* skipped, SmoothingWork<T>& work) {
  if (sweeps == 0 && from_zero) std::fill(x.begin(), x.end(), T{0});
  if (!(radius > 0) || sweeps < 2) {
    for (int s = 0; s < sweeps; ++s) rows.sweep(f, t, x.data(), from_zero && s == 0, skipped);
    return;
  }
  if (from_zero) std::fill(x.begin(), x.end(), T{0});
  ChebyshevWeights weights(radius);
  work.before.resize(x.size());
  for (int s = 0; s < sweeps; ++s) {
    work.last = x;
    rows.sweep(f, t, x.data(), from_zero && s == 0, skipped);
    const T weight = static_cast<T>(weights.next());
    if (s > 0) {
      parallel_for(x.size(), 16384,
                   [&](std::size_t k) { x[k] = weight * (x[k] - work.before[k]) + work.before[k]; });
    }
    work.before.swap(work.last);
  }
}

}  // namespace lope::linalg
