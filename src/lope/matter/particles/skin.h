// The surface around particles, added to what is drawn: triangles, and on their vertices the velocity of the particles.
#pragma once

#include <lope/geometry/drawable.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/geometry/mesh.h>

#include <optional>
#include <span>
#include <string_view>

namespace lope::matter {

// The surface that was added; none, with a warning about `whose` particles they are, where there is none to be had.
std::optional<geometry::Mesh> add_skin(std::string_view whose, std::span<const Vec3> particles,
                                       std::span<const Vec3> velocities,
                                       const geometry::ParticleSurfaceOptions& options,
                                       geometry::DrawnSurface& drawn);

}  // namespace lope::matter
