#include <lope/matter/contact/friction.h>

#include <algorithm>

namespace lope::matter {

Vec3 slide(const Vec3& v, const Vec3& carried, const Vec3& n, double force, double mass, double friction,
           double h) {
  const Vec3 relative = v - carried;
  const Vec3 tangential = relative - n.dot(relative) * n;
  const double speed = tangential.norm();
  if (!(speed > 0)) return v;
  return v - std::min(friction * h * force / (mass * speed), 1.0) * tangential;
}

// The impulse j = −m̄Qv̄ that stops the sliding is the one of least kinetic energy; friction allows a part of
// it.
void slide(std::array<Vec3, 4>& v, const std::array<double, 4>& mass, const std::array<double, 4>& weight,
           const Vec3& n, double force, double friction, double h) {
  Vec3 sliding = Vec3::Zero();
  double inverse_mass = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    if (weight[i] == 0) continue;
    sliding += weight[i] * v[i];
    inverse_mass += weight[i] * weight[i] / mass[i];
  }
  sliding -= n.dot(sliding) * n;
  const Vec3 impulse = -sliding / inverse_mass;
  const double size = impulse.norm();
  if (!(size > 0)) return;
  const double allowed = std::min(friction * h * force / size, 1.0);
  for (std::size_t i = 0; i < 4; ++i) {
    if (weight[i] != 0) v[i] += weight[i] / mass[i] * allowed * impulse;
  }
}

}  // namespace lope::matter
