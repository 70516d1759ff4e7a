// A unit square of triangles or a unit cube of tetrahedra, for tests and benchmarks of element kernels.
#pragma once

#include <lope/base/random.h>

#include <array>
#include <vector>

namespace lope::matter {

template <int d>
struct BlockMesh {
  std::vector<double> positions;
  std::vector<int> elements;
};

// n cells along each axis; interior nodes moved by up to `jitter` cell widths.
template <int d>
BlockMesh<d> block_mesh(int n, double jitter = 0) {
  BlockMesh<d> mesh;
  const int side = n + 1;
  const int layers = d == 3 ? side : 1;
  for (int k = 0; k < layers; ++k) {
    for (int j = 0; j < side; ++j) {
      for (int i = 0; i < side; ++i) {
        const std::array<int, 3> cell = {i, j, k};
        bool interior = true;
        for (int axis = 0; axis < d; ++axis) interior &= cell[axis] > 0 && cell[axis] < n;
        for (int axis = 0; axis < d; ++axis) {
          const double noise = interior ? jitter * (2 * random_unit(17, mesh.positions.size()) - 1) : 0;
          mesh.positions.push_back((cell[axis] + noise) / n);
        }
      }
    }
  }
  const auto node = [&](int i, int j, int k) { return (k * side + j) * side + i; };
  for (int k = 0; k < (d == 3 ? n : 1); ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if constexpr (d == 2) {
          const int a = node(i, j, 0), b = node(i + 1, j, 0), c = node(i + 1, j + 1, 0),
                    e = node(i, j + 1, 0);
          mesh.elements.insert(mesh.elements.end(), {a, b, c, a, c, e});
        } else {
          // Six tetrahedra around the main diagonal (Kuhn), one per order of the axes.
          const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
          for (int order = 0; order < 6; ++order) {
            std::array<int, 3> at = {i, j, k};
            std::array<int, 4> corner;
            corner[0] = node(at[0], at[1], at[2]);
            for (int step = 0; step < 3; ++step) {
              ++at[orders[order][step]];
              corner[step + 1] = node(at[0], at[1], at[2]);
            }
            if (order >= 3) std::swap(corner[1], corner[2]);  // odd permutations
            mesh.elements.insert(mesh.elements.end(), corner.begin(), corner.end());
          }
        }
      }
    }
  }
  return mesh;
}

}  // namespace lope::matter
