// How far all nodes of a contact surface may go along straight lines, so that every pair keeps a part of its gap: the bound behind
// ContactTerm::largest_step of barriers. Long ways are looked at piece by piece, each about as long as an edge, so that swept boxes stay
// small and the cost linear in the primitives.
#pragma once

#include <lope/matter/contact/pair_candidates.h>

namespace lope::matter {

struct PathBoundOptions {
  double keep = 0.2;     // of every pair's gap, or of the reach of its barrier if that is less; in (0, 1)
  double longest = 1;    // larger steps are not looked at
  int most_pieces = 64;  // afterwards what has been found so far is the answer
};

// The largest α ≤ longest found so that on x + [0, α] d every pair keeps that part of the gap that it has at x. A pair that has no gap
// at x allows no step at all.
//
// Deviation from NUMERICS §10 (a fifth of the present distance): pairs that are farther apart than their reach may come as near as a
// fifth of the reach at once, or bodies would need a step for every power of five between them.
double path_bound(PairFinder& finder, const ContactSurface& surface, std::span<const Vec3> x, std::span<const Vec3> d,
                  const PathBoundOptions& options);

// The same for a list of pairs of PairFinder::near() alone, with `longest` in one piece. `radius` per node: how far, at most, it is on the way from where
// they were found; all nodes may have moved by the same vector beside.
double path_bound(std::span<const CandidatePair> pairs, std::span<const double> radius,
                  std::span<const Vec3> x, std::span<const Vec3> d, double keep, double longest);

}  // namespace lope::matter
