// Prolongations by smoothed aggregation (Vaněk, Mandel & Brezina 1996) for scalar matrices whose smooth
// errors are nearly constant: pressure, diffusion.
#pragma once

#include <lope/linalg/csr_matrix.h>

namespace lope::linalg {

struct AggregationOptions {
  // Rows i and j are strongly coupled if |a_ij| > strength · √(a_ii a_jj).
  double strength = 0.02;
};

// P = (I − ω D⁻¹ A_F) T: T is constant on aggregates, A_F is A without weak couplings (added to the
// diagonal), ω = 4/(3 λ), λ the largest eigenvalue of D⁻¹ A_F, estimated. Rows without strong couplings are
// in no aggregate and get an empty row: smoothing alone is enough for them. Aggregates are found in the order
// of the rows: same bits always. The diagonal is positive: asserted.
CsrMatrix smoothed_aggregation(const CsrMatrix& a, const AggregationOptions& options);

}  // namespace lope::linalg
