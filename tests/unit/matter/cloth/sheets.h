// Cloth for tests.
#pragma once

#include <lope/base/random.h>
#include <lope/matter/cloth/cloth.h>

#include <cmath>
#include <vector>

namespace lope::matter::sheets {

// An orthotropic cloth, with all constants different.
inline ClothMaterial woven() {
  ClothMaterial material;
  material.membrane = {material::MembraneModel::Corotated, 900, 500, 120, 80};
  material.bending = {BendingModel::Quadratic, 2e-5, 1e-5};
  material.area_density = 0.2;
  material.grain = 0.4;
  return material;
}

inline std::vector<double> interleaved(const std::vector<Vec3>& points) {
  std::vector<double> x;
  for (const Vec3& p : points) x.insert(x.end(), p.data(), p.data() + 3);
  return x;
}

inline std::vector<double> noise(std::size_t size, double amplitude, std::uint64_t seed) {
  std::vector<double> result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = amplitude * (2 * random_unit(seed, i) - 1);
  return result;
}

// The plane of the sheet mapped by A (3×2), with noise.
inline std::vector<double> mapped(const geometry::Sheet& sheet, const Eigen::Matrix<double, 3, 2>& A, double amplitude = 0,
                                  std::uint64_t seed = 1) {
  std::vector<double> x = noise(3 * sheet.vertices.size(), amplitude, seed);
  for (std::size_t i = 0; i < sheet.vertices.size(); ++i)
    Eigen::Map<Vec3>(x.data() + 3 * i) += A * sheet.vertices[i].head<2>() + Vec3(0.1, 0.2, -0.3);
  return x;
}

// A rectangle with its inner vertices moved at random.
inline geometry::Sheet irregular(double width, double height, double edge, double amount = 0.25) {
  geometry::Sheet sheet = geometry::rectangle_sheet(width, height, edge);
  for (std::size_t i = 0; i < sheet.vertices.size(); ++i) {
    Vec3& p = sheet.vertices[i];
    if (std::abs(p[0]) > 0.499 * width || std::abs(p[1]) > 0.499 * height) continue;
    p[0] += amount * edge * (2 * random_unit(7, 2 * i) - 1);
    p[1] += amount * edge * (2 * random_unit(7, 2 * i + 1) - 1);
  }
  return geometry::flat_sheet(sheet.vertices, sheet.triangles);
}

}  // namespace lope::matter::sheets
