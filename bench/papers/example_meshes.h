// The bodies of the DOT benchmark: non-trivial shapes of any number of vertices, made once and kept in files,
// because Delaunay refinement of a large body takes longer than a few steps with it.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/shapes.h>

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace lope::bench {

struct ExampleShape {
  std::string_view name;
  geometry::ImplicitShape (*make)();
};

// A creature of blended balls, a torus knot, a gyroid labyrinth, a pierced shell, a hollow sphere; about 1 m
// wide.
std::span<const ExampleShape> example_shapes();

// FOLDER/NAME_VERTICES.msh, with a number of vertices within about 15% of the wanted one. Made if it is not
// there.
Expected<std::filesystem::path> example_mesh(std::string_view name, int vertices,
                                             const std::filesystem::path& folder,
                                             const std::function<void(std::string_view)>& print);

}  // namespace lope::bench
