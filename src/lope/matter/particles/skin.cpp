#include <lope/base/log.h>
#include <lope/matter/particles/skin.h>

namespace lope::matter {
namespace {

void append(const std::vector<Vec3>& vectors, std::vector<float>& to) {
  for (const Vec3& v : vectors) {
    for (int k = 0; k < 3; ++k) to.push_back(static_cast<float>(v[k]));
  }
}

}  // namespace

std::optional<geometry::Mesh> add_skin(std::string_view whose, std::span<const Vec3> particles,
                                       std::span<const Vec3> velocities,
                                       const geometry::ParticleSurfaceOptions& options,
                                       geometry::DrawnSurface& drawn) {
  const auto around = geometry::ParticleSurface::create(particles, options);
  if (!around) {
    log_warning("{}: a frame has no surface: {}", whose, around.error().message);
    return std::nullopt;
  }
  geometry::Mesh mesh = around->mesh();
  const auto first = static_cast<std::int32_t>(drawn.vertices());
  append(mesh.vertices, drawn.positions);
  for (const geometry::Triangle& t : mesh.triangles) {
    for (const int corner : t) drawn.triangles.push_back(first + corner);
  }
  if (drawn.vertex_fields.empty()) drawn.vertex_fields.push_back({"velocity", "m/s", 3, {}});
  append(around->carry(velocities, mesh.vertices), drawn.vertex_fields.front().values);
  return mesh;
}

}  // namespace lope::matter
