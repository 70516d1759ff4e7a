// From the shape, edge and transform of a validated [[body]] to its mesh.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/mesh.h>
#include <lope/scene/document.h>

namespace lope::scene {

// The mesh of a body's rest shape: tetrahedra only (3D) or triangles only, counter-clockwise at z = 0 (2D);
// every vertex is used, every element has positive volume (area). Fails with the position of the culprit in
// the scene file when a mesh file cannot be read or used (naming its element) or the shape cannot be meshed.
Expected<geometry::Mesh> body_mesh(const Value& body);

// The same shape as a level set: what liquids and particles fill. Mesh files become a grid of cells of size `voxel`. Fails
// likewise, and for flat mesh files.
Expected<geometry::LevelSetPtr> body_level_set(const Value& body, double voxel);

// Volume of an element (2D: area), signed; `element` counts tetrahedra, or triangles where there are none.
double element_measure(const geometry::Mesh& mesh, std::size_t element);
std::size_t element_count(const geometry::Mesh& mesh);
Vec3 element_centroid(const geometry::Mesh& mesh, std::size_t element);

}  // namespace lope::scene
