#include <lope/render/tracer.h>

#include <Eigen/Geometry>

namespace lope::render {

// Radiance from the sky; linear in the height above the horizon, so that its integral over a hemisphere is
// known.
Colour Tracer::sky(const Vector3f& direction) const {
  const float height = direction.dot(up_);
  if (height >= 0) return mix(scene_.sky.horizon, scene_.sky.zenith, height);
  if (scene_.ground) return scene_.ground->colour;
  return mix(scene_.sky.horizon, scene_.sky.nadir, -height);
}

// Mean of the sky over the cosine-weighted hemisphere of a normal: the light that ends a path. Exact for
// normals straight up, down and sideways (and for an even sky), interpolated between.
Colour Tracer::sky_on(const Vector3f& normal) const {
  const Colour upper = (1 / 3.0f) * scene_.sky.horizon + (2 / 3.0f) * scene_.sky.zenith;
  const Colour lower =
      scene_.ground ? scene_.ground->colour : (1 / 3.0f) * scene_.sky.horizon + (2 / 3.0f) * scene_.sky.nadir;
  return mix(lower, upper, 0.5f + 0.5f * normal.dot(up_));
}

Colour Tracer::background(const Vector3f& direction) const {
  const float height = direction.dot(up_);
  return mix(scene_.background.horizon, scene_.background.top, smooth_step(0.0f, 0.7f, height));
}

// What paths see that come through clear surfaces alone. The window stands beyond the scene, twenty degrees
// above the horizon and higher.
Colour Tracer::studio(const Vector3f& direction, bool with_sun) const {
  const float height = direction.dot(up_);
  Colour light = mix(scene_.background.horizon, scene_.studio.zenith, smooth_step(0.0f, 0.9f, height));
  if (height < 0 && !scene_.ground) light = mix(scene_.background.horizon, scene_.sky.nadir, -height);
  Vector3f beyond = forward_ - forward_.dot(up_) * up_;
  if (beyond.squaredNorm() > 1e-6f && height > 0) {
    beyond.normalize();
    const float ahead = direction.dot(beyond), aside = std::abs(direction.dot(beyond.cross(up_)));
    const float window = smooth_step(0.25f, 0.42f, height) * (1 - smooth_step(0.72f, 0.86f, height)) *
                         (1 - smooth_step(0.42f, 0.62f, aside)) * smooth_step(0.0f, 0.2f, ahead);
    light = mix(light, scene_.studio.window, window);
  }
  // The disc of the sun: its irradiance π sun_light_ comes from the solid angle π tan²(radius).
  const float along = direction.dot(sun_);
  if (with_sun && along > 0) {
    const float spread2 = std::max(sun_x_.squaredNorm(), 1e-6f);
    if (1 - along * along < spread2 * along * along) light = light + (1 / spread2) * sun_light_;
  }
  return light;
}

Vector3f Tracer::sun_direction(SamplePoints::Point point) const {
  const float r = std::sqrt(point.u), angle = 2 * pi * point.v;
  return (sun_ + r * std::cos(angle) * sun_x_ + r * std::sin(angle) * sun_y_).normalized();
}

// Light of an unshaded sun towards the viewer: Lambert, and a gloss of GGX with Smith's joint shadowing in
// Hammon's approximation (2017). The sun's irradiance is π times sun_light_.
Colour Tracer::sunlight(const Hit& hit, const Vector3f& to_viewer, const Vector3f& to_sun) const {
  const float cos_sun = hit.normal.dot(to_sun);
  if (cos_sun <= 0) return {};
  if (hit.specular <= 0) return cos_sun * (hit.albedo * sun_light_);
  const Vector3f half = (to_viewer + to_sun).normalized();
  const float cos_view = std::max(hit.normal.dot(to_viewer), 1e-3f);
  const float reflected = fresnel(hit.specular, 1, half.dot(to_viewer));
  const float alpha = std::max(hit.roughness * hit.roughness, 0.02f), alpha2 = alpha * alpha;
  const float cos_half = hit.normal.dot(half);
  const float d = cos_half * cos_half * (alpha2 - 1) + 1;
  const float masking = 2 * ((1 - alpha) * 2 * cos_sun * cos_view + alpha * (cos_sun + cos_view));
  const float gloss = std::min(reflected * alpha2 / (d * d * masking), 8.0f);  // π D V F
  return cos_sun * (((1 - reflected) * hit.albedo + gloss * Colour{1, 1, 1}) * sun_light_);
}

}  // namespace lope::render
