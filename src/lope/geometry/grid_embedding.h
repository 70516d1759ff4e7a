// Points in a regular grid: which grid nodes surround a point, and with which weights they interpolate it
// linearly.
//
// Every cube (square) of the grid is cut into d! simplices along its main diagonal (Kuhn 1960), so that the
// interpolation is continuous, reproduces affine functions and needs d + 1 nodes per point. Only nodes that
// some point uses exist.
#pragma once

#include <lope/math/types.h>

#include <array>
#include <span>
#include <vector>

namespace lope::geometry {

struct GridEmbedding {
  // Of one point: d + 1 nodes (the last is not used in 2D) and weights that add up to 1; some may be 0.
  struct Place {
    std::array<int, 4> node = {};
    std::array<double, 4> weight = {};
  };
  int nodes = 0;
  double spacing = 0;
  std::vector<Place> places;
  std::vector<Vec3> positions;  // of the nodes
};

// `dimension` is 2 (z is ignored) or 3. The spacing is chosen so that there are about `wanted` nodes, at
// least one cube.
GridEmbedding embed_in_grid(std::span<const Vec3> points, int dimension, int wanted);

}  // namespace lope::geometry
