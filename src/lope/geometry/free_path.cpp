#include <lope/geometry/free_path.h>

#include <algorithm>
#include <cmath>

namespace lope::geometry {
namespace {

// Advances by nine tenths of what is surely free, until all but this part of the gap that may be used is used up. What slides along
// takes many: it ends with what it has.
constexpr double part_of_bound = 0.9;
constexpr double unused = 0.02;
constexpr int most_advances = 1000;

// Relative to the mean motion of the nodes: what all share changes nothing.
PairNodes relative(PairKind kind, const PairNodes& p) {
  const int count = kind == PairKind::PointEdge ? 3 : 4;
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
  double t = 0, left = gap;
  for (int k = 0; k < most_advances && left > enough; ++k) {
    const double next = t + part_of_bound * (left - least) / speed;
    if (next >= t_max) return t_max;
    PairNodes moved = x;
    for (int i = 0; i < 4; ++i) moved[i] += next * motion[i];
    left = std::sqrt(squared_distance(kind, moved)) - offset;
    if (!(left >= least)) return t;
    t = next;
  }
  return t;
}

}  // namespace lope::geometry
