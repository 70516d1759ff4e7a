#include <lope/base/parallel.h>
#include <lope/geometry/lattice.h>

#include <bit>
#include <cassert>
#include <span>
#include <utility>

namespace lope::geometry {

namespace {

// Corners of a cell as bit masks: bit 0 is x, bit 1 is y, bit 2 is z. All positively oriented.
constexpr Tetrahedron five_tets[] = {{0, 5, 3, 6}, {1, 3, 0, 5}, {2, 6, 0, 3}, {4, 5, 0, 6}, {7, 6, 3, 5}};
constexpr Tetrahedron kuhn_tets[] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                     {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

// The axes along which the cell's pattern is mirrored, so that neighbours agree on their common face.
unsigned mirror_mask(LatticePattern pattern, unsigned i, unsigned j, unsigned k) {
  if (pattern == LatticePattern::FiveTets) return (i + j + k) & 1u;
  if (pattern == LatticePattern::MirroredKuhn) return (i & 1u) | ((j & 1u) << 1) | ((k & 1u) << 2);
  return 0;
}

double between(double low, double high, int index, int count) {
  const double weight = static_cast<double>(index) / (count - 1);
  return (1 - weight) * low + weight * high;
}

}  // namespace

Mesh box_lattice(const Vec3& min, const Vec3& max, const std::array<int, 3>& nodes, LatticePattern pattern) {
  const auto [nx, ny, nz] = nodes;
  assert(nx >= 2 && ny >= 2 && nz >= 2);
  const std::span<const Tetrahedron> cut = pattern == LatticePattern::FiveTets
                                               ? std::span<const Tetrahedron>(five_tets)
                                               : std::span<const Tetrahedron>(kuhn_tets);
  const std::size_t layer = static_cast<std::size_t>(nx) * ny;
  const std::size_t layer_tets = static_cast<std::size_t>(nx - 1) * (ny - 1) * cut.size();
  Mesh mesh;
  mesh.vertices.resize(layer * nz);
  mesh.tetrahedra.resize(layer_tets * (nz - 1));

  parallel_for(nz, 1, [&, nx = nx, ny = ny, nz = nz](std::size_t k) {
    Vec3* vertex = &mesh.vertices[k * layer];
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        *vertex++ = Vec3(between(min.x(), max.x(), i, nx), between(min.y(), max.y(), j, ny),
                         between(min.z(), max.z(), static_cast<int>(k), nz));
      }
    }
  });
  parallel_for(nz - 1, 1, [&, nx = nx, ny = ny](std::size_t k) {
    Tetrahedron* out = &mesh.tetrahedra[k * layer_tets];
    for (int j = 0; j + 1 < ny; ++j) {
      for (int i = 0; i + 1 < nx; ++i) {
        const unsigned mask = mirror_mask(pattern, i, j, static_cast<unsigned>(k));
        for (const Tetrahedron& corners : cut) {
          for (int a = 0; a < 4; ++a) {
            const int corner = corners[a] ^ static_cast<int>(mask);
            const std::size_t above = k + (corner >> 2);
            (*out)[a] = static_cast<int>(above * layer) + (j + ((corner >> 1) & 1)) * nx + i + (corner & 1);
          }
          if (std::popcount(mask) & 1) std::swap((*out)[2], (*out)[3]);
          ++out;
        }
      }
    }
  });
  return mesh;
}

Mesh rectangle_lattice(const Vec2& min, const Vec2& max, const std::array<int, 2>& nodes, bool alternating) {
  const auto [nx, ny] = nodes;
  assert(nx >= 2 && ny >= 2);
  Mesh mesh;
  mesh.vertices.reserve(static_cast<std::size_t>(nx) * ny);
  mesh.triangles.reserve(2 * static_cast<std::size_t>(nx - 1) * (ny - 1));
  for (int j = 0; j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      mesh.vertices.emplace_back(between(min.x(), max.x(), i, nx), between(min.y(), max.y(), j, ny), 0);
    }
  }
  for (int j = 0; j + 1 < ny; ++j) {
    for (int i = 0; i + 1 < nx; ++i) {
      const int a = j * nx + i, b = a + 1, c = b + nx, d = a + nx;
      if (alternating && ((i + j) & 1)) {
        mesh.triangles.push_back({a, b, d});
        mesh.triangles.push_back({b, c, d});
      } else {
        mesh.triangles.push_back({a, b, c});
        mesh.triangles.push_back({a, c, d});
      }
    }
  }
  return mesh;
}

}  // namespace lope::geometry
