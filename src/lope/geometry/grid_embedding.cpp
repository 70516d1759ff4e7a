#include <lope/geometry/grid_embedding.h>
#include <lope/geometry/mesh.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace lope::geometry {
namespace {

using GridNode = std::array<std::int64_t, 3>;

struct Corners {
  std::array<GridNode, 4> node;
  std::array<double, 4> weight;
};

// In the simplex of a cube that holds a point of fractional coordinates f, one walks from the lower corner
// along the axes in the order of falling f.
Corners corners(const Vec3& point, const Vec3& origin, double spacing, int dimension) {
  GridNode cell = {};
  std::array<double, 3> fraction = {};
  std::array<int, 3> axis = {0, 1, 2};
  for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
    const double at = (point[static_cast<Eigen::Index>(k)] - origin[static_cast<Eigen::Index>(k)]) / spacing;
    cell[k] = static_cast<std::int64_t>(std::floor(at));
    fraction[k] = at - static_cast<double>(cell[k]);
  }
  std::stable_sort(axis.begin(), axis.begin() + dimension, [&](int a, int b) {
    return fraction[static_cast<std::size_t>(a)] > fraction[static_cast<std::size_t>(b)];
  });
  Corners result = {};
  double previous = 1;
  for (int k = 0; k <= dimension; ++k) {
    const double next =
        k < dimension ? fraction[static_cast<std::size_t>(axis[static_cast<std::size_t>(k)])] : 0;
    result.node[static_cast<std::size_t>(k)] = cell;
    result.weight[static_cast<std::size_t>(k)] = previous - next;
    if (k < dimension) ++cell[static_cast<std::size_t>(axis[static_cast<std::size_t>(k)])];
    previous = next;
  }
  return result;
}

GridEmbedding embed(std::span<const Vec3> points, int dimension, const Vec3& origin, double spacing) {
  GridEmbedding result;
  result.spacing = spacing;
  std::map<GridNode, int> number;
  std::vector<Corners> all;
  all.reserve(points.size());
  for (const Vec3& point : points) {
    all.push_back(corners(point, origin, spacing, dimension));
    for (int k = 0; k <= dimension; ++k) {
      if (all.back().weight[static_cast<std::size_t>(k)] > 0)
        number[all.back().node[static_cast<std::size_t>(k)]] = 0;
    }
  }
  for (auto& [node, id] : number) {
    id = result.nodes++;
    result.positions.emplace_back(origin + spacing * Vec3(static_cast<double>(node[0]), static_cast<double>(node[1]),
                                                          static_cast<double>(node[2])));
  }
  for (const Corners& corner : all) {
    GridEmbedding::Place place;
    for (std::size_t k = 0; k <= static_cast<std::size_t>(dimension); ++k) {
      if (corner.weight[k] <= 0) continue;
      place.node[k] = number.at(corner.node[k]);
      place.weight[k] = corner.weight[k];
    }
    result.places.push_back(place);
  }
  return result;
}

}  // namespace

GridEmbedding embed_in_grid(std::span<const Vec3> points, int dimension, int wanted) {
  const Bounds box = bounds({points.begin(), points.end()});
  const double longest = std::max(box.extent().head(dimension).maxCoeff(), 1e-300);
  // A little outside, so that no face of the body lies in a face of the grid.
  const Vec3 origin = box.min - Vec3::Constant(1e-3 * longest);
  GridEmbedding best = embed(points, dimension, origin, 1.01 * longest);
  for (int attempt = 0; attempt < 8 && best.nodes < 0.8 * wanted; ++attempt) {
    const double ratio = std::pow(static_cast<double>(best.nodes) / wanted, 1.0 / dimension);
    GridEmbedding finer = embed(points, dimension, origin, std::clamp(ratio, 0.4, 0.95) * best.spacing);
    if (finer.nodes > 2 * wanted || finer.nodes >= static_cast<int>(points.size())) break;
    best = std::move(finer);
  }
  return best;
}

}  // namespace lope::geometry
