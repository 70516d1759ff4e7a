#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/render/tracer.h>

#include <Eigen/Geometry>

namespace lope::render {
namespace {

Expected<void> check(const Scene& scene, const PictureOptions& options) {
  if (options.width < 1 || options.height < 1 || options.width > 65535 || options.height > 65535) {
    return input_error("a picture of {} x {} pixels cannot be drawn; sizes are 1 to 65535", options.width,
                       options.height);
  }
  if (options.samples < 1 || options.samples > 65536 || options.bounces < 0) {
    return input_error(
        "a picture needs 1 to 65536 samples per pixel and no negative number of bounces, not {} and {}",
        options.samples, options.bounces);
  }
  for (std::size_t s = 0; s < scene.surfaces.size(); ++s) {
    const Surface& surface = scene.surfaces[s];
    for (std::size_t v = 0; v < surface.positions.size(); ++v) {
      if (!surface.positions[v].allFinite()) {
        return input_error("surface {}: the position of vertex {} is not finite", s, v);
      }
    }
    const int vertices = static_cast<int>(surface.positions.size());
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
      for (const int v : surface.triangles[t]) {
        if (v < 0 || v >= vertices) {
          return input_error("surface {}: triangle {} names vertex {}, but there are {} vertices", s, t, v,
                             vertices);
        }
      }
    }
    if (surface.clear && !(surface.clear->index >= 1 && surface.clear->index < 10)) {
      return input_error("surface {}: an index of refraction of {} is not between 1 and 10", s,
                         surface.clear->index);
    }
    if (surface.pattern && (!(surface.pattern->width > 0) ||
                            surface.pattern->coordinates.size() != 6 * surface.triangles.size()))
      return input_error(
          "surface {}: the pattern needs a positive width and two coordinates for each of {} corners", s,
          3 * surface.triangles.size());
    if (!surface.field) continue;
    const bool on_faces = surface.field->on == SurfaceField::On::Faces;
    const std::size_t expected = on_faces ? surface.triangles.size() : surface.positions.size();
    if (surface.field->values.size() != expected) {
      return input_error("surface {}: the field has {} values for {} {}", s, surface.field->values.size(),
                         expected, on_faces ? "triangles" : "vertices");
    }
  }
  for (std::size_t b = 0; b < scene.balls.size(); ++b) {
    const Balls& balls = scene.balls[b];
    if (!(balls.radius > 0)) return input_error("balls {}: the radius {} is not positive", b, balls.radius);
    for (std::size_t v = 0; v < balls.centers.size(); ++v) {
      if (!balls.centers[v].allFinite())
        return input_error("balls {}: the centre of ball {} is not finite", b, v);
    }
    if (balls.field && balls.field->values.size() != balls.centers.size()) {
      return input_error("balls {}: the field has {} values for {} balls", b, balls.field->values.size(),
                         balls.centers.size());
    }
  }
  return {};
}

template <class Ray>
void set_ray(Ray& ray, int lane, const Vector3f& origin, const Vector3f& direction) {
  ray.org_x[lane] = origin.x();
  ray.org_y[lane] = origin.y();
  ray.org_z[lane] = origin.z();
  ray.dir_x[lane] = direction.x();
  ray.dir_y[lane] = direction.y();
  ray.dir_z[lane] = direction.z();
  ray.tnear[lane] = 0;
  ray.tfar[lane] = far_away;
  ray.time[lane] = 0;
  ray.mask[lane] = 0xFFFFFFFFu;
  ray.id[lane] = 0;
  ray.flags[lane] = 0;
}

}  // namespace

void Tracer::aim(Packet& packet, const Spot& spot, int first) const {
  for (int lane = 0; lane < lanes; ++lane) {
    const auto p = points_.point(filter_pair, first + lane, packet.shift[filter_pair]);
    const float a =
        (spot.x + spot.radius * tent(p.u) - 0.5f * static_cast<float>(options_.width)) * pixel_angle_;
    const float b =
        (0.5f * static_cast<float>(options_.height) - spot.y - spot.radius * tent(p.v)) * pixel_angle_;
    if (scene_.camera.orthographic) {
      packet.origin[lane] = eye_ + a * right_ + b * camera_up_;
      packet.direction[lane] = forward_;
    } else {
      packet.origin[lane] = eye_;
      packet.direction[lane] = (forward_ + a * right_ + b * camera_up_).normalized();
    }
    packet.view[lane] = packet.direction[lane];
    packet.look[lane] = {};
    packet.valid[lane] = -1;
    packet.throughput[lane] = {1, 1, 1};
    packet.radiance[lane] = packet.gloss[lane] = packet.gloss_light[lane] = packet.backdrop[lane] = {};
    packet.haze[lane] = 0;
    packet.depth[lane] = packet.mirrors[lane] = 0;
    packet.inside[lane] = nullptr;
  }
}

// Whether a ray comes near the surfaces at all: spares most rays of the open floor.
bool Tracer::may_hit(const Vector3f& origin, const Vector3f& direction) const {
  const float ahead = -origin.dot(direction), distance2 = origin.squaredNorm(), radius2 = radius_ * radius_;
  return distance2 <= radius2 || (ahead > 0 && distance2 - ahead * ahead <= 1.0001f * radius2);
}

void Tracer::intersect(Packet& packet, RTCIntersectContext& context) const {
  alignas(32) int near[lanes];
  bool any = false;
  for (int lane = 0; lane < lanes; ++lane) {
    near[lane] = packet.valid[lane] && may_hit(packet.origin[lane], packet.direction[lane]) ? -1 : 0;
    any |= near[lane] != 0;
    set_ray(packet.rays.ray, lane, packet.origin[lane], packet.direction[lane]);
    packet.rays.hit.geomID[lane] = RTC_INVALID_GEOMETRY_ID;
    packet.rays.hit.primID[lane] = RTC_INVALID_GEOMETRY_ID;
    packet.rays.hit.instID[0][lane] = RTC_INVALID_GEOMETRY_ID;
  }
  if (any) rtcIntersect8(near, embree_.get(), &context, &packet.rays);
}

void Tracer::trace(Packet& packet, int first) const {
  RTCIntersectContext coherent, incoherent;
  rtcInitIntersectContext(&coherent);
  coherent.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  rtcInitIntersectContext(&incoherent);
  const float lift = 3e-5f * radius_;

  for (int event = 0;; ++event) {
    intersect(packet, event == 0 ? coherent : incoherent);
    alignas(32) int lit[lanes];  // lanes whose shadow rays must be traced
    bool facing[lanes] = {}, shaded[lanes] = {};
    std::array<Vector3f, lanes> to_sun;
    bool any_lit = false, any_left = false;
    for (int lane = 0; lane < lanes; ++lane) {
      lit[lane] = 0;
      if (!packet.valid[lane]) continue;
      const Vector3f& direction = packet.direction[lane];
      const int depth = packet.depth[lane];
      const bool primary = depth == 0 && packet.mirrors[lane] == 0, mirrored = depth == 0 && !primary;
      const bool found = packet.rays.hit.geomID[lane] != RTC_INVALID_GEOMETRY_ID;
      const float floor = scene_.ground ? ground_distance(packet.origin[lane], direction) : far_away;
      const bool straight = depth == 0 && direction.dot(packet.view[lane]) > 0.99999f;
      if (!found && floor == far_away) {
        packet.valid[lane] = 0;
        if (straight) packet.look[lane] = {};
        if (primary) {
          packet.backdrop[lane] = background(direction);
          packet.haze[lane] = 1;
        } else {
          const Colour light = mirrored ? studio(direction, true) : sky(direction);
          packet.radiance[lane] = packet.radiance[lane] + packet.throughput[lane] * light +
                                  packet.gloss[lane] * packet.gloss_light[lane];
        }
        continue;
      }
      const bool on_floor = floor < (found ? packet.rays.ray.tfar[lane] : far_away);
      Hit& hit = packet.hit[lane];
      hit = on_floor ? ground_hit(packet, lane, floor) : surface_hit(packet, lane, primary);
      if (straight && hit.clear && hit.clear->kind == Clear::Kind::Glass) {
        packet.look[lane].what = Look::mirror_image;  // unless the path goes on through the glass
      } else if (straight) {
        packet.look[lane] = {on_floor ? Look::ground : packet.rays.hit.geomID[lane],
                             (hit.point - eye_).dot(packet.view[lane]), hit.normal, hit.albedo, hit.clear != nullptr};
      }
      if (on_floor && primary) {  // the floor fades into the horizon
        const float fade = smooth_step(fade_start_, fade_end_, hit.point.norm());
        packet.backdrop[lane] = scene_.background.horizon;
        packet.haze[lane] = fade;
        if (fade == 1) {
          packet.valid[lane] = 0;
          continue;
        }
      }
      // What blocks the sky also fills the mirror image of the sky.
      packet.throughput[lane] = packet.throughput[lane] + packet.gloss[lane];
      packet.gloss[lane] = {};
      if (scene_.unlit) {
        packet.radiance[lane] = hit.albedo;
        packet.valid[lane] = 0;
        continue;
      }
      const bool leaves = hit.clear && hit.clear->kind == Clear::Kind::Water && !hit.from_outside;
      if (leaves) packet.inside[lane] = hit.clear;
      if (packet.inside[lane]) {
        packet.throughput[lane] = packet.throughput[lane] * left_after(*packet.inside[lane], hit.t);
      }
      if (on_floor && mirrored) {
        const float fade = smooth_step(fade_start_, fade_end_, hit.point.norm());
        packet.radiance[lane] =
            packet.radiance[lane] + fade * (packet.throughput[lane] * scene_.background.horizon);
        packet.throughput[lane] = (1 - fade) * packet.throughput[lane];
      }
      any_left = true;
      if (hit.clear) {
        if (packet.mirrors[lane] == most_mirrors) {
          packet.radiance[lane] = packet.radiance[lane] + packet.throughput[lane] * sky_on(hit.normal);
          packet.valid[lane] = 0;
        } else {
          scatter(packet, lane, first + lane);
        }
        continue;
      }
      shaded[lane] = true;
      to_sun[lane] =
          sun_direction(points_.point(path_pair(depth, 0), first + lane, packet.shift[path_pair(depth, 0)]));
      if (hit.normal.dot(to_sun[lane]) > 0) {
        const Vector3f from = hit.light_origin + lift * hit.facet;
        set_ray(packet.shadow, lane, from, to_sun[lane]);
        facing[lane] = true;
        if (may_hit(from, to_sun[lane])) lit[lane] = -1;
        any_lit |= lit[lane] != 0;
      }
    }
    if (!any_left) return;
    if (any_lit) rtcOccluded8(lit, opaque_ ? opaque_.get() : embree_.get(), &coherent, &packet.shadow);
    if (any_lit && water_) weaken_sunlight(packet, lit);

    for (int lane = 0; lane < lanes; ++lane) {
      if (!packet.valid[lane] || !shaded[lane]) continue;
      const Hit& hit = packet.hit[lane];
      const int depth = packet.depth[lane]++;
      const Vector3f to_viewer = -packet.direction[lane];
      const Colour before = packet.throughput[lane];
      Colour gathered = {};
      if (facing[lane] && packet.shadow.tfar[lane] > 0) gathered = sunlight(hit, to_viewer, to_sun[lane]);
      if (lit[lane] && water_) gathered = packet.sunlight[lane] * gathered;
      if (depth == options_.bounces) gathered = gathered + hit.albedo * sky_on(hit.normal);
      packet.radiance[lane] = packet.radiance[lane] + before * gathered;
      if (depth == options_.bounces) {
        packet.valid[lane] = 0;
        continue;
      }
      // The sky's mirror image is taken where the diffuse ray finds sky: no rays of its own, no noise.
      const float smoothness = 1 - hit.roughness;
      const float reflected =
          hit.specular > 0 ? fresnel(hit.specular, smoothness * smoothness, hit.normal.dot(to_viewer)) : 0.0f;
      packet.throughput[lane] = before * ((1 - reflected) * hit.albedo);
      packet.gloss[lane] = reflected * before;
      packet.gloss_light[lane] = sky(2 * hit.normal.dot(to_viewer) * hit.normal - to_viewer);

      const auto p = points_.point(path_pair(depth, 1), first + lane, packet.shift[path_pair(depth, 1)]);
      const float r = std::sqrt(p.u), angle = 2 * pi * p.v;
      Vector3f t, b;
      tangents(hit.normal, t, b);
      Vector3f next = r * std::cos(angle) * t + r * std::sin(angle) * b + std::sqrt(1 - p.u) * hit.normal;
      const float below = next.dot(hit.facet);
      if (below < 0) next -= 2 * below * hit.facet;  // under the facet: mirrored above it
      packet.direction[lane] = next.normalized();
      packet.origin[lane] = hit.light_origin + lift * hit.facet;
    }
  }
}

// Every pixel has random numbers of its own.
void Tracer::scramble(Packet& packet, int x, int y) const {
  const std::uint64_t index = static_cast<std::uint64_t>(y) * options_.width + x;
  for (std::size_t k = 0; k < packet.shift.size(); ++k) {
    packet.shift[k] = random_bits(options_.seed + k / 8, index * 8 + k % 8);
  }
}

// Eight more.
void Tracer::add_samples(Packet& packet, const Spot& spot, Estimate& estimate) const {
  aim(packet, spot, estimate.samples);
  trace(packet, estimate.samples);
  for (int lane = 0; lane < lanes; ++lane) {
    const Colour light = scene_.unlit ? packet.radiance[lane] : shoulder(packet.radiance[lane]);
    estimate.add(mix(light, packet.backdrop[lane], packet.haze[lane]));
  }
}

Colour Tracer::pixel(int x, int y) const {
  Packet packet;
  scramble(packet, x, y);
  const Spot spot{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, 1};
  Estimate estimate;
  do {
    add_samples(packet, spot, estimate);
  } while (estimate.samples < samples_ && !estimate.is_settled());
  return estimate.mean();
}

Image Tracer::render() const {
  Image image;
  image.width = options_.width;
  image.height = options_.height;
  image.rgb.resize(3 * static_cast<std::size_t>(image.width) * image.height);
  constexpr int tile = 16;
  const std::vector<Block> blocks = options_.by_blocks ? survey_blocks() : std::vector<Block>();
  const std::size_t columns = (image.width + tile - 1) / tile, rows = (image.height + tile - 1) / tile;
  parallel_for(columns * rows, 1, [&](std::size_t index) {
    const int x0 = static_cast<int>(index % columns) * tile, y0 = static_cast<int>(index / columns) * tile;
    for (int y = y0; y < std::min(y0 + tile, image.height); ++y) {
      for (int x = x0; x < std::min(x0 + tile, image.width); ++x) {
        const Bytes bytes = to_bytes(blocks.empty() ? pixel(x, y) : pixel_from(blocks, x, y));
        std::uint8_t* out = &image.rgb[3 * (static_cast<std::size_t>(y) * image.width + x)];
        out[0] = bytes.r;
        out[1] = bytes.g;
        out[2] = bytes.b;
      }
    }
  });
  return image;
}

Colour shoulder(Colour c) {
  constexpr float start = 0.7f;
  const auto curve = [](float x) {
    return x <= start ? x : start + (1 - start) * (1 - std::exp(-(x - start) / (1 - start)));
  };
  const float most = std::max({c.r, c.g, c.b});
  if (most <= start) return c;
  return mix((curve(most) / most) * c, {curve(c.r), curve(c.g), curve(c.b)}, 0.5f);
}

geometry::Bounds bounds(const std::vector<Surface>& surfaces) {
  geometry::Bounds box;
  for (const Surface& surface : surfaces) {
    for (const Vec3& p : surface.positions) box.add(p);
  }
  return box;
}

Scene flat_scene(std::vector<Surface> surfaces, double aspect) {
  Scene scene;
  scene.camera = frame_flat(bounds(surfaces), aspect);
  scene.surfaces = std::move(surfaces);
  for (Surface& surface : scene.surfaces) surface.crease_degrees = 0;
  scene.ground.reset();
  scene.background = {{1, 1, 1}, {1, 1, 1}};
  scene.unlit = true;
  return scene;
}

Expected<Image> draw(const Scene& scene, const PictureOptions& options) {
  if (auto checked = check(scene, options); !checked) return forward_error(checked);
  Tracer tracer(scene, options);
  if (auto prepared = tracer.prepare(); !prepared) return forward_error(prepared);
  return tracer.render();
}

}  // namespace lope::render
