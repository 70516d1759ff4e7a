#include <lope/matter/batched_elements_impl.h>
#include <lope/matter/cloth/membrane.h>
#include <lope/matter/kernel_choice.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include <Eigen/LU>

namespace lope::matter {

namespace {

std::vector<int> flat_list(const std::vector<geometry::Triangle>& triangles) {
  std::vector<int> result;
  result.reserve(3 * triangles.size());
  for (const geometry::Triangle& t : triangles) result.insert(result.end(), t.begin(), t.end());
  return result;
}

}  // namespace

Membrane::Membrane(const geometry::Sheet& sheet, const material::MembraneParameters& material, double grain,
                   std::shared_ptr<const linalg::BlockPattern> pattern, Isa isa)
    : BatchedElements(static_cast<int>(sheet.vertices.size()), sheet.triangles.size(), std::move(pattern),
                      kernels_for(isa, []<Isa which>() -> const Kernels& { return membrane::compiled_kernels<which>(); })),
      material_(material) {
  std::vector<Vec3> centroids;
  centroids.reserve(sheet.triangles.size());
  for (const geometry::Triangle& t : sheet.triangles) {
    centroids.emplace_back((sheet.vertices[index(t[0])] + sheet.vertices[index(t[1])] + sheet.vertices[index(t[2])]) / 3);
  }
  Mat2 turn;
  turn << std::cos(grain), std::sin(grain), -std::sin(grain), std::cos(grain);
  const auto model_of = [&](int /*triangle*/) { return material_.model; };
  build<3>(flat_list(sheet.triangles), centroids, std::span(&material_.model, 1), model_of,
           [&](Row* rows, int lane, int triangle, bool padding) {
             return fill_lane(rows, lane, triangle, sheet, turn, padding);
           });
  std::vector<double> x;
  x.reserve(3 * sheet.vertices.size());
  for (const Vec3& p : sheet.vertices) x.insert(x.end(), p.data(), p.data() + 3);
  move_to(x);
}

double Membrane::fill_lane(Row* rows, int lane, int triangle, const geometry::Sheet& sheet, const Mat2& turn,
                           bool padding) const {
  const geometry::Triangle& flat = sheet.flat_triangles[index(triangle)];
  const Vec2 origin = sheet.flat[index(flat[0])];
  Mat2 edges;
  edges.col(0) = sheet.flat[index(flat[1])] - origin;
  edges.col(1) = sheet.flat[index(flat[2])] - origin;
  edges = turn * edges;  // along warp and weft
  const double area = 0.5 * edges.determinant();
  assert(area > 0);
  const Mat2 inverse = edges.inverse();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) rows[2 * i + j].lane[lane] = inverse(i, j);
  }
  rows[Layout::area].lane[lane] = padding ? 0 : area;
  rows[Layout::warp].lane[lane] = material_.warp;
  rows[Layout::weft].lane[lane] = material_.weft;
  rows[Layout::coupling].lane[lane] = material_.coupling;
  rows[Layout::shear].lane[lane] = material_.shear;
  rows[Layout::largest_stretch].lane[lane] = material_.largest_stretch;
  rows[Layout::limit_stiffness].lane[lane] = material_.limit_stiffness;
  return area;
}

Mat2 Membrane::rest_inverse(int triangle) const {
  Mat2 inverse;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) inverse(i, j) = rest_value(2 * i + j, triangle);
  }
  return inverse;
}

void Membrane::set_rest_inverse(int triangle, const Mat2& inverse) {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j)
      rest_[index(std::int64_t{batch_of(triangle)} * Layout::rest_rows + 2 * i + j)].lane[lane_of(triangle)] =
          inverse(i, j);
  }
}

Mat2 Membrane::stretch(int triangle, double least) const {
  const double c = state_value(Layout::c, triangle), s = state_value(Layout::s, triangle);
  Mat2 axes;
  axes << c, -s, s, c;
  const Vec2 stretches(std::max(state_value(Layout::first, triangle), least),
                       std::max(state_value(Layout::second, triangle), least));
  return axes * stretches.asDiagonal() * axes.transpose();
}

double Membrane::rest_stiffness() const {
  return std::sqrt(material_.warp * material_.warp + material_.weft * material_.weft +
                   2 * material_.coupling * material_.coupling + 4 * material_.shear * material_.shear);
}

void Membrane::add_laplacian(double scale, linalg::BlockAssembler& L) const {
  add_scalar_laplacian(scale, [&](int /*triangle*/) { return std::max(material_.warp, material_.weft); }, L);
}

material::MembraneStress<double> Membrane::stress(int triangle) const {
  const auto state = [&](int row) { return state_value(row, triangle); };
  const material::PrincipalFrame<double> frame = {state(Layout::c), state(Layout::s), state(Layout::first),
                                                  state(Layout::second)};
  const material::MembraneConstants<double> m = {material_.warp,  material_.weft,           material_.coupling,
                                                 material_.shear, material_.largest_stretch, material_.limit_stiffness};
  material::MembraneStress<double> result;
  if (material_.model == material::MembraneModel::Corotated) {
    material::membrane_stress<material::MembraneModel::Corotated>(m, frame, result);
  } else {
    material::membrane_stress<material::MembraneModel::StVenantKirchhoff>(m, frame, result);
  }
  return result;
}

std::vector<double> Membrane::largest_stretch() const {
  return per_element([&](int t) { return state_value(Layout::first, t); });
}

std::vector<double> Membrane::smallest_stretch() const {
  return per_element([&](int t) { return state_value(Layout::second, t); });
}

std::vector<double> Membrane::energy_density() const {
  return per_element([&](int t) { return stress(t).energy; });
}

// σ = F S Fᵀ/J in the principal frame. Triangles flatter than J = 10⁻⁶ are treated as if they had that J.
std::vector<double> Membrane::von_mises() const {
  return per_element([&](int t) {
    const material::MembraneStress<double> s = stress(t);
    const double l1 = state_value(Layout::first, t);
    const double l2 = state_value(Layout::second, t);
    const double J = std::max(l1 * l2, 1e-6);
    const double s11 = s.p11 * l1 / J, s22 = s.p22 * l2 / J, s12 = s.p12 * l2 / J;
    return std::sqrt(std::max(0.0, s11 * s11 - s11 * s22 + s22 * s22 + 3 * s12 * s12));
  });
}

template class BatchedElements<material::MembraneModel, membrane::Layout, 3>;

}  // namespace lope::matter
