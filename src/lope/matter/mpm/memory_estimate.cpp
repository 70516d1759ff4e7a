#include <lope/matter/mpm/mpm.h>

#include <algorithm>
#include <cmath>

namespace lope::matter::mpm {

double memory_estimate(const Description& description) {
  const int d = description.dimension;
  const double cell = std::pow(description.dx, d);
  double points = 0, nodes = 0;
  for (const Part& part : description.parts) {
    const geometry::Bounds bounds = part.shape->bounds();
    double box = 1, with_rim = 1;
    for (int a = 0; a < d; ++a) {
      const double extent = bounds.max[a] - bounds.min[a];
      box *= extent;
      with_rim *= extent + 2 * description.dx;
    }
    const double fillings =
        part.jet ? std::ceil(std::max(0.0, part.jet->end - part.jet->begin) / jet_period(part)) : 1;
    points += fillings * part.per_cell * box / cell;
    nodes += fillings * with_rim / cell;
  }
  // Two states and batches of a point; blocks of a row in double and single precision, its column numbers, its hierarchy.
  const double per_point = 8.0 * (2 * (2 * d + 2 * d * d + 4) + 4 * d * d + 4 * d + 12);
  const double per_node = std::pow(5, d) * (d * d * (8 + 4 + 2) + 4) + 40.0 * 8 * d;
  return per_point * points + (description.stepping == Stepping::Implicit ? per_node : 40.0 * 8 * d) * nodes;
}

}  // namespace lope::matter::mpm
