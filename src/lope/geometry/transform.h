// Moving meshes about. Elements keep their orientation: a mirroring transformation also swaps two vertices of
// each.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

namespace lope::geometry {

void translate(Mesh& mesh, const Vec3& shift);

// Radians, right-handed about `axis` (any length but zero: asserted) through `pivot`.
void rotate(Mesh& mesh, const Vec3& axis, double angle, const Vec3& pivot = Vec3::Zero());

// x → linear·x + shift. Fails when `linear` is singular or not finite: the mesh would lose its volume.
Expected<Mesh> transformed(Mesh mesh, const Mat3& linear, const Vec3& shift = Vec3::Zero());

// Scales uniformly so that the largest extent is `length`, and moves the bounding box so that it starts at
// the origin. Fails when the mesh has no extent or the length is not positive.
Expected<Mesh> fitted(Mesh mesh, double length);

}  // namespace lope::geometry
