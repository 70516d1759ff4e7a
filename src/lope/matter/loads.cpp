#include <lope/math/decompositions.h>
#include <lope/matter/loads.h>

#include <algorithm>

#include <Eigen/Geometry>

namespace lope::matter {
namespace {

Vec3 node(std::span<const double> x, int i, int dimension) {
  const double* p = x.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(dimension);
  return {p[0], p[1], dimension == 3 ? p[2] : 0.0};
}

void push(std::span<double> force, int i, int dimension, const Vec3& f) {
  for (int c = 0; c < dimension; ++c)
    force[static_cast<std::size_t>(i) * static_cast<std::size_t>(dimension) + static_cast<std::size_t>(c)] += f[c];
}

// The outward area of a triangle; in 2D, where the third vertex is −1, the outward length of an edge.
Vec3 area(const std::array<int, 3>& face, const auto& at) {
  const Vec3 a = at(face[0]), b = at(face[1]);
  if (face[2] < 0) return {b[1] - a[1], a[0] - b[0], 0};
  return 0.5 * (b - a).cross(at(face[2]) - a);
}

int corners(const std::array<int, 3>& face) { return face[2] < 0 ? 2 : 3; }

void add_pressure(const Load& load, int dimension, std::span<const double> x, double factor, std::span<double> force) {
  for (const auto& face : load.faces) {
    const Vec3 f = -factor * load.pressure / corners(face) * area(face, [&](int i) { return node(x, i, dimension); });
    for (int k = 0; k < corners(face); ++k) push(force, face[static_cast<std::size_t>(k)], dimension, f);
  }
}

// f_i = w_i α × r_i, r_i from the centre of the shares, with α such that Σ r_i × f_i is the torque.
void add_torque(const Load& load, int dimension, std::span<const double> x, double factor, std::span<double> force) {
  Vec3 center = Vec3::Zero();
  for (std::size_t k = 0; k < load.vertices.size(); ++k) center += load.share[k] * node(x, load.vertices[k], dimension);
  Mat3 inertia = Mat3::Zero();
  for (std::size_t k = 0; k < load.vertices.size(); ++k) {
    const Vec3 r = node(x, load.vertices[k], dimension) - center;
    inertia += load.share[k] * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
  }
  const Vec3 alpha = math::solve_semidefinite(inertia, factor * load.torque);
  for (std::size_t k = 0; k < load.vertices.size(); ++k) {
    const Vec3 r = node(x, load.vertices[k], dimension) - center;
    push(force, load.vertices[k], dimension, load.share[k] * alpha.cross(r));
  }
}

}  // namespace

void add_loads(std::span<const Load> loads, int dimension, std::span<const double> x, double time,
               std::span<double> force, double slack) {
  for (const Load& load : loads) {
    if (time < load.begin - slack || time > load.end + slack) continue;
    const double factor = load.factor.times.empty() ? 1 : load.factor.at(time - load.begin);
    const Vec3 total = factor * (load.force + load.total_area * load.traction);
    for (std::size_t k = 0; k < load.vertices.size(); ++k)
      push(force, load.vertices[k], dimension, load.share[k] * total);
    if (load.pressure != 0) add_pressure(load, dimension, x, factor, force);
    if (!load.torque.isZero(0)) add_torque(load, dimension, x, factor, force);
  }
}

void spread(std::span<const Vec3> vertices, std::span<const std::array<int, 3>> surface, Load& load) {
  std::vector<int> place(vertices.size(), -1);
  for (std::size_t k = 0; k < load.vertices.size(); ++k)
    place[static_cast<std::size_t>(load.vertices[k])] = static_cast<int>(k);
  const auto inside = [&](int i) { return i < 0 || place[static_cast<std::size_t>(i)] >= 0; };
  load.faces.clear();
  for (const auto& face : surface) {
    if (std::all_of(face.begin(), face.end(), inside)) load.faces.push_back(face);
  }
  load.share.assign(load.vertices.size(), 0.0);
  load.total_area = 0;
  for (const auto& face : load.faces) {
    const double size = area(face, [&](int i) { return vertices[static_cast<std::size_t>(i)]; }).norm();
    load.total_area += size;
    for (int k = 0; k < corners(face); ++k)
      load.share[static_cast<std::size_t>(place[static_cast<std::size_t>(face[static_cast<std::size_t>(k)])])] +=
          size / corners(face);
  }
  if (load.total_area > 0) {
    for (double& share : load.share) share /= load.total_area;
  } else {
    load.share.assign(load.vertices.size(), 1.0 / static_cast<double>(load.vertices.size()));
  }
}

}  // namespace lope::matter
