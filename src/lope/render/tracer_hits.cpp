#include <lope/render/tracer.h>

#include <Eigen/Geometry>

namespace lope::render {
namespace {

// Smooth normals on flat triangles put the edge of a shadow on the facets. Starting shadow rays from the
// point's mean projection on the corners' tangent planes hides them (Hanika, "Hacking the shadow terminator",
// 2021).
Vector3f offset_origin(const Vector3f& point, const Vector3f (&corner)[3], const CornerNormals& normals,
                       const Vector3f& weights, float side) {
  Vector3f offset = Vector3f::Zero();
  for (int k = 0; k < 3; ++k) {
    const Vector3f normal = side * normals[k];
    offset -= weights[k] * std::min(0.0f, (point - corner[k]).dot(normal)) * normal;
  }
  return point + offset;
}

}  // namespace

float Tracer::ground_distance(const Vector3f& origin, const Vector3f& direction) const {
  const float fall = -direction.dot(up_), height = origin.dot(up_) - ground_height_;
  return fall > 1e-6f && height > 0 ? height / fall : far_away;
}

Colour Tracer::ground_albedo(const Vector3f& point) const {
  const Ground& ground = *scene_.ground;
  const float x = point.dot(ground_x_) / spacing_, y = point.dot(ground_y_) / spacing_;
  const float contrast = static_cast<float>(ground.contrast) *
                         (1 - smooth_step(0.5f * fade_start_, 0.5f * fade_end_, std::hypot(x, y) * spacing_));
  float shade = 0;
  if (ground.pattern == GroundPattern::Grid) {
    const float width = 0.012f;
    const float line = std::min(std::abs(x - std::round(x)), std::abs(y - std::round(y)));
    shade = line < width ? 1.0f : 0.0f;
  } else if (ground.pattern == GroundPattern::Checker) {
    shade = (static_cast<long>(std::floor(x)) + static_cast<long>(std::floor(y))) & 1 ? 1.0f : 0.0f;
  }
  return (1 - shade * contrast) * ground_diffuse_;
}

Hit Tracer::ground_hit(const Packet& packet, int lane, float t) const {
  Hit hit;
  hit.t = t;
  hit.point = packet.origin[lane] + t * packet.direction[lane];
  hit.normal = hit.facet = up_;
  hit.light_origin = hit.point;
  hit.albedo = ground_albedo(hit.point);
  return hit;
}

// Opacity of the wireframe: the distance to the nearest edge, in pixels seen squarely.
float Tracer::wire(const TracedSurface& surface, std::uint32_t triangle, const Vector3f& weights,
                   float t) const {
  const std::uint32_t* v = &surface.indices[3 * static_cast<std::size_t>(triangle)];
  const Vector3f corner[3] = {surface.position(v[0]), surface.position(v[1]), surface.position(v[2])};
  const float area2 = (corner[1] - corner[0]).cross(corner[2] - corner[0]).norm();
  const float pixel = pixel_angle_ * (scene_.camera.orthographic ? 1.0f : t);
  float nearest = far_away, thinnest = far_away;
  for (int k = 0; k < 3; ++k) {
    const float altitude = area2 / ((corner[(k + 1) % 3] - corner[(k + 2) % 3]).norm() * pixel);
    nearest = std::min(nearest, weights[k] * altitude);
    thinnest = std::min(thinnest, altitude);
  }
  const Wireframe& style = *surface.source->wireframe;
  if (nearest > 0.5f * static_cast<float>(style.pixels)) return 0;
  return static_cast<float>(style.strength) * smooth_step(2.0f, 8.0f, thinnest);
}

// Bands of equal width have equal parts of the two colours; a thread is darker towards its sides, where it dives. Where bands shrink to
// a pixel, seen squarely, their mean is shown.
Colour Tracer::patterned(const TracedSurface& surface, std::uint32_t triangle, const Vector3f& weights,
                         float t) const {
  const Pattern& pattern = *surface.source->pattern;
  const float* at = &pattern.coordinates[6 * static_cast<std::size_t>(triangle)];
  const auto width = static_cast<float>(pattern.width);
  const float u = (weights[0] * at[0] + weights[1] * at[2] + weights[2] * at[4]) / width;
  const float v = (weights[0] * at[1] + weights[1] * at[3] + weights[2] * at[5]) / width;
  const bool odd_u = (static_cast<long>(std::floor(u)) & 1) != 0,
             odd_v = (static_cast<long>(std::floor(v)) & 1) != 0;
  const Colour &own = surface.source->colour, &other = pattern.colour;
  Colour shown = odd_u ? other : own;
  float mean_shade = 1;
  if (pattern.kind == Pattern::Kind::Checks) {
    shown = mix(own, other, 0.5f * (static_cast<float>(odd_u) + static_cast<float>(odd_v)));
  } else if (pattern.kind == Pattern::Kind::Weave) {
    const bool along_u = odd_u == odd_v;  // which thread is above
    const auto dome = [](float x) {
      const float offset = 2 * (x - std::floor(x)) - 1;
      return 1 - offset * offset;
    };
    const float across = dome(along_u ? v : u), along = dome(along_u ? u : v);
    shown = (0.55f + 0.3f * across + 0.15f * along) * (along_u ? other : own);
    mean_shade = 0.85f;  // of the line above: domes have the mean 2/3
  }
  const float pixel = pixel_angle_ * (scene_.camera.orthographic ? 1.0f : t);
  return mix(shown, mean_shade * mix(own, other, 0.5f), smooth_step(0.3f, 1.0f, pixel / width));
}

Hit Tracer::ball_hit(const Packet& packet, int lane) const {
  const auto& rays = packet.rays;
  const Balls& balls = scene_.balls[rays.hit.geomID[lane] - surfaces_.size()];
  Hit hit;
  hit.t = rays.ray.tfar[lane];
  hit.point = packet.origin[lane] + hit.t * packet.direction[lane];
  hit.facet = Vector3f(rays.hit.Ng_x[lane], rays.hit.Ng_y[lane], rays.hit.Ng_z[lane]).normalized();
  hit.normal = hit.facet;
  hit.light_origin = hit.point;
  hit.albedo = balls.colour;
  if (balls.field) {
    hit.albedo = colour_of(balls.field->map, balls.field->values[rays.hit.primID[lane]], balls.field->low,
                           balls.field->high);
  }
  return hit;
}

Hit Tracer::surface_hit(const Packet& packet, int lane, bool seen) const {
  const auto& rays = packet.rays;
  if (rays.hit.geomID[lane] >= surfaces_.size()) return ball_hit(packet, lane);
  const TracedSurface& surface = surfaces_[rays.hit.geomID[lane]];
  const std::uint32_t triangle = rays.hit.primID[lane];
  const Surface& source = *surface.source;
  const std::uint32_t* v = &surface.indices[3 * static_cast<std::size_t>(triangle)];
  const Vector3f corner[3] = {surface.position(v[0]), surface.position(v[1]), surface.position(v[2])};
  const float u = rays.hit.u[lane], w = rays.hit.v[lane];
  const Vector3f weights(1 - u - w, u, w);
  const Vector3f& direction = packet.direction[lane];

  Hit hit;
  hit.t = rays.ray.tfar[lane];
  hit.point = weights[0] * corner[0] + weights[1] * corner[1] + weights[2] * corner[2];
  hit.facet = Vector3f(rays.hit.Ng_x[lane], rays.hit.Ng_y[lane], rays.hit.Ng_z[lane]).normalized();
  const float side = hit.facet.dot(direction) > 0 ? -1.0f : 1.0f;
  hit.facet *= side;
  hit.from_outside = side > 0;
  if (source.clear) hit.clear = &*source.clear;
  const CornerNormals& normals = surface.normals[triangle];
  hit.normal = side * (weights[0] * normals[0] + weights[1] * normals[1] + weights[2] * normals[2]);
  hit.normal = hit.normal.squaredNorm() > 1e-8f ? Vector3f(hit.normal.normalized()) : hit.facet;
  // A shading normal that looks away from the viewer is turned until it grazes.
  const float away = hit.normal.dot(direction);
  if (away > -0.02f) hit.normal = (hit.normal - (away + 0.02f) * direction).normalized();
  hit.light_origin = offset_origin(hit.point, corner, normals, weights, side);
  hit.roughness = static_cast<float>(source.roughness);
  hit.specular = static_cast<float>(source.specular);

  hit.albedo = hit.from_outside || !source.back ? source.colour : *source.back;
  if (hit.from_outside && source.pattern) hit.albedo = patterned(surface, triangle, weights, hit.t);
  if (source.field) {
    const SurfaceField& field = *source.field;
    const float value = field.on == SurfaceField::On::Faces
                            ? field.values[triangle]
                            : weights[0] * field.values[v[0]] + weights[1] * field.values[v[1]] +
                                  weights[2] * field.values[v[2]];
    hit.albedo = colour_of(field.map, value, field.low, field.high);
  }
  if (seen && source.wireframe) {
    hit.albedo = mix(hit.albedo, source.wireframe->colour, wire(surface, triangle, weights, hit.t));
  }
  return hit;
}

}  // namespace lope::render
