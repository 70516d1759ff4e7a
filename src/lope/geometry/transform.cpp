#include <lope/base/errors.h>
#include <lope/geometry/transform.h>

#include <cassert>
#include <cmath>
#include <utility>

#include <Eigen/Geometry>
#include <Eigen/LU>

namespace lope::geometry {

void translate(Mesh& mesh, const Vec3& shift) {
  for (Vec3& p : mesh.vertices) p += shift;
}

void rotate(Mesh& mesh, const Vec3& axis, double angle, const Vec3& pivot) {
  assert(axis.norm() > 0);
  const Mat3 rotation = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
  for (Vec3& p : mesh.vertices) p = pivot + rotation * (p - pivot);
}

Expected<Mesh> transformed(Mesh mesh, const Mat3& linear, const Vec3& shift) {
  const double determinant = linear.determinant();
  if (!shift.allFinite() || !std::isfinite(determinant) || determinant == 0) {
    return input_error("the transformation is singular or not finite; scale by factors other than zero");
  }
  for (Vec3& p : mesh.vertices) p = linear * p + shift;
  if (determinant < 0) {
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
    for (Tetrahedron& t : mesh.tetrahedra) std::swap(t[2], t[3]);
  }
  return mesh;
}

Expected<Mesh> fitted(Mesh mesh, double length) {
  if (!(std::isfinite(length) && length > 0)) {
    return input_error("the mesh cannot be fitted to a length of {}; it must be a positive number of metres",
                       length);
  }
  const Bounds box = bounds(mesh.vertices);
  const double largest = mesh.vertices.empty() ? 0 : box.extent().maxCoeff();
  if (!(std::isfinite(largest) && largest > 0)) {
    return input_error(
        "the mesh has no extent, or points that are not finite: it cannot be fitted to a length");
  }
  for (Vec3& p : mesh.vertices) p = (p - box.min) / largest * length;
  return mesh;
}

}  // namespace lope::geometry
