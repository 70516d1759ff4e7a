#include <lope/geometry/free_path.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lope::geometry {
namespace {

// Advances by so much of what is surely free, until all but this part of the gap that may be used is used up.
constexpr double part_of_bound = 0.99;
constexpr double unused = 0.02;
constexpr int most_advances = 1000;

// The nodes of the first primitive are numbered below this, and all below the second.
struct Counts {
  int first, all;
};
Counts counts(PairKind kind) {
  if (kind == PairKind::EdgeEdge) return {2, 4};
  return {1, kind == PairKind::PointEdge ? 3 : 4};
}

// Relative to the mean motion of the nodes: what all share changes nothing.
PairNodes relative(PairKind kind, const PairNodes& p) {
  const int count = counts(kind).all;
  Vec3 mean = Vec3::Zero();
  for (int i = 0; i < count; ++i) mean += p[i] / count;
  PairNodes result = p;
  for (int i = 0; i < count; ++i) result[i] -= mean;
  return result;
}

double speed_bound(PairKind kind, const PairNodes& p) {
  const auto squared = [&](int i) { return p[i].squaredNorm(); };
  switch (kind) {
    case PairKind::PointTriangle:
      return std::sqrt(squared(0)) + std::sqrt(std::max({squared(1), squared(2), squared(3)}));
    case PairKind::EdgeEdge:
      return std::sqrt(std::max(squared(0), squared(1))) + std::sqrt(std::max(squared(2), squared(3)));
    case PairKind::PointEdge:
      break;
  }
  return std::sqrt(squared(0)) + std::sqrt(std::max(squared(1), squared(2)));
}

// Primitives are at least as far apart as what lies between them along any unit vector n, and that is linear in the time until other nodes bound it: how
// long it stays above `least`. With n along the shortest way what slides along each other is hardly bounded at all, where the speed
// says that it might meet.
double bound_along(const Vec3& n, PairKind kind, const PairNodes& x, const PairNodes& p, double least) {
  const auto [first, all] = counts(kind);
  double longest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < first; ++i) {
    for (int j = first; j < all; ++j) {
      const double room = n.dot(x[i] - x[j]) - least, closing = n.dot(p[j] - p[i]);
      if (!(room > 0)) return 0;
      if (closing > 0) longest = std::min(longest, room / closing);
    }
  }
  return longest;
}

}  // namespace

double closing_speed(PairKind kind, const PairNodes& p) { return speed_bound(kind, relative(kind, p)); }

double free_path(PairKind kind, const PairNodes& x, const PairNodes& p, double distance, double offset, double keep,
                 double t_max) {
  const double gap = distance - offset;
  if (!(gap > 0)) return 0;
  const PairNodes motion = relative(kind, p);
  const double speed = speed_bound(kind, motion);
  if (speed * t_max <= (1 - keep) * gap) return t_max;
  const double least = keep * gap, enough = least + unused * (gap - least);
  PairNodes moved = x;
  ClosestPair at = closest_pair(kind, x);
  double t = 0, left = gap;
  for (int k = 0; k < most_advances && left > enough; ++k) {
    const double along = bound_along(at.r.normalized(), kind, moved, motion, least + offset);
    const double next = t + part_of_bound * std::max((left - least) / speed, along);
    if (next >= t_max) return t_max;
    for (int i = 0; i < 4; ++i) moved[i] = x[i] + next * motion[i];
    at = closest_pair(kind, moved);
    left = std::sqrt(at.squared_distance) - offset;
    if (!(left >= least)) return t;
    t = next;
  }
  return t;
}

}  // namespace lope::geometry
