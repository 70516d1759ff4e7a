// How far two surface primitives may move along straight lines without coming too near: conservative advancement (the
// additive continuous collision detection of Li, Kaufman & Jiang 2021, §5). A bound on the relative speed divides the gap:
// whatever is returned is safe, where root finding may miss a root.
//
// Deviations: where a plane between the primitives stays free for longer than their speeds promise, it counts; the gap is d − ξ with no
// squares, and nodes move by any fraction of their way, not only by the whole.
#pragma once

#include <lope/geometry/pair_distance.h>

namespace lope::geometry {

// The largest t ≤ t_max found for which the pair with nodes x + s p keeps, for all s in [0, t], at least `keep` (in (0, 1)) of its
// gap: its distance but for the offset ξ. `distance` is that at x. 0 if the gap is not positive. Nearly as large as possible, or
// t_max itself.
double free_path(PairKind kind, const PairNodes& x, const PairNodes& p, double distance, double offset, double keep,
                 double t_max);

// The most by which the distance of the pair may change per unit of t.
double closing_speed(PairKind kind, const PairNodes& p);

}  // namespace lope::geometry
