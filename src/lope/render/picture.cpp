#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/render/normals.h>
#include <lope/render/picture.h>
#include <lope/render/sample_points.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include <Eigen/Geometry>
#include <embree3/rtcore.h>

namespace lope::render {
namespace {

using Eigen::Vector3f;

constexpr int lanes = 8;  // rays of one packet: eight samples of one pixel
constexpr float pi = std::numbers::pi_v<float>;
constexpr float far_away = 1e30f;

struct DeviceDeleter {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct SceneDeleter {
  void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};
using DevicePtr = std::unique_ptr<RTCDeviceTy, DeviceDeleter>;
using ScenePtr = std::unique_ptr<RTCSceneTy, SceneDeleter>;

// Two unit vectors that make a right-handed frame with the unit vector n (Duff et al. 2017, without
// branches).
void tangents(const Vector3f& n, Vector3f& t, Vector3f& b) {
  const float sign = std::copysign(1.0f, n.z());
  const float a = -1 / (sign + n.z());
  const float c = n.x() * n.y() * a;
  t = {1 + sign * n.x() * n.x() * a, sign * c, -sign * n.x()};
  b = {c, sign + n.y() * n.y() * a, -n.y()};
}

// --- The scene as the tracer sees it
// ---------------------------------------------------------------------------

struct TracedSurface {
  std::vector<float> positions;  // relative to the scene's centre; one float of padding for Embree
  std::vector<std::uint32_t> indices;
  std::vector<CornerNormals> normals;
  const Surface* source;

  Vector3f position(std::uint32_t vertex) const {
    const float* p = &positions[3 * static_cast<std::size_t>(vertex)];
    return {p[0], p[1], p[2]};
  }
};

struct Hit {
  float t = far_away;
  Vector3f point, normal, facet;  // shading and geometric normal, both towards the viewer
  Vector3f light_origin;          // where shadow rays start: see offset_origin
  Colour albedo;
  float roughness = 1, specular = 0;
  const Clear* clear = nullptr;
  bool from_outside = true;  // the ray came from the side of the outward normal
};

class Tracer {
 public:
  Tracer(const Scene& scene, const PictureOptions& options);
  Expected<void> prepare();
  Image render() const;

 private:
  struct Packet;
  ScenePtr make_scene();
  void attach(std::size_t surface);
  void attach_balls(std::size_t balls);
  void add_geometry(RTCGeometry geometry, unsigned id, bool clear);
  Colour pixel(int x, int y) const;
  void aim(Packet& packet, int x, int y, int first) const;
  void trace(Packet& packet, int first) const;
  bool may_hit(const Vector3f& origin, const Vector3f& direction) const;
  void intersect(Packet& packet, RTCIntersectContext& context) const;
  Hit surface_hit(const Packet& packet, int lane, bool seen) const;
  Hit ball_hit(const Packet& packet, int lane) const;
  Colour left_after(const Clear& clear, float distance) const;
  void scatter(Packet& packet, int lane, int sample) const;
  void weaken_sunlight(Packet& packet, const int* lit) const;
  Hit ground_hit(const Packet& packet, int lane, float t) const;
  Colour ground_albedo(const Vector3f& point) const;
  float ground_distance(const Vector3f& origin, const Vector3f& direction) const;
  Vector3f sun_direction(SamplePoints::Point point) const;
  Colour sunlight(const Hit& hit, const Vector3f& to_viewer, const Vector3f& to_sun) const;
  Colour sky(const Vector3f& direction) const;
  Colour sky_on(const Vector3f& normal) const;
  Colour background(const Vector3f& direction) const;
  Colour studio(const Vector3f& direction, bool with_sun) const;
  float wire(const TracedSurface& surface, std::uint32_t triangle, const Vector3f& weights, float t) const;

  const Scene& scene_;
  const PictureOptions& options_;
  int samples_;
  SamplePoints points_;
  std::vector<TracedSurface> surfaces_;
  std::vector<std::vector<float>> balls_;  // x, y, z, radius
  DevicePtr device_;
  ScenePtr embree_;                // everything
  ScenePtr opaque_, clear_;        // its parts, where there is something clear
  const Clear* liquid_ = nullptr;  // the first one: rays that start inside a liquid are inside this one

  Vec3 center_ = Vec3::Zero();
  float radius_ = 1;
  Vector3f up_, ground_x_, ground_y_;
  float ground_height_ = 0, spacing_ = 1, fade_start_ = 1, fade_end_ = 2;
  Colour ground_diffuse_;  // albedo that shows the wanted colour where nothing shades it
  Vector3f sun_, sun_x_, sun_y_;
  Colour sun_light_;
  Vector3f eye_, right_, camera_up_, forward_;
  float pixel_angle_ = 0;  // width of a pixel at distance one (perspective), or in the scene (orthographic)
};

struct Tracer::Packet {
  alignas(32) int valid[lanes];
  RTCRayHit8 rays;
  RTCRay8 shadow;
  std::array<Vector3f, lanes> origin, direction;
  std::array<Colour, lanes> throughput, gloss, gloss_light, radiance;
  std::array<Colour, lanes> backdrop;  // on the screen, in front of the radiance by the part `haze`
  std::array<float, lanes> haze;
  std::array<Hit, lanes> hit;
  std::array<int, lanes> depth, mirrors;   // bounces and passages through clear surfaces so far
  std::array<const Clear*, lanes> inside;  // the liquid that the path is in
  std::array<Colour, lanes> sunlight;      // part that reaches the hit
  std::array<std::uint64_t, 16> shift;     // of this pixel, one per decision
};

// The first eight are the filter and (sun, direction) for each bounce, the others are for clear surfaces.
enum Decision { filter_pair = 0, first_path_pair = 1, first_mirror_pair = 8, decisions = 16 };
int path_pair(int depth, int which) { return first_path_pair + std::min(2 * depth + which, 6); }
int mirror_pair(int mirrors) { return first_mirror_pair + std::min(mirrors, 7); }
constexpr int most_mirrors = 14;  // then the path ends in the studio

Tracer::Tracer(const Scene& scene, const PictureOptions& options)
    : scene_(scene),
      options_(options),
      samples_((options.samples + lanes - 1) / lanes * lanes),
      points_(samples_, decisions, options.seed) {}

// --- Preparation
// -----------------------------------------------------------------------------------------------

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

// The next number of 1, 2, 5, 10, … at or above x.
double round_up(double x) {
  const double power = std::pow(10.0, std::floor(std::log10(x)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= x * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Over the viewer's left shoulder unless the scene says otherwise.
Vec3 toward_sun(const Scene& scene, const CameraAxes& frame, const Vec3& up) {
  if (scene.sun.toward.norm() > 0) return scene.sun.toward.normalized();
  Vec3 right = frame.right - frame.right.dot(up) * up;
  right = right.norm() > 1e-6 ? Vec3(right.normalized()) : frame.right;
  const Vec3 behind = right.cross(up);
  return (-0.75 * right + 0.30 * behind + 1.05 * up).normalized();
}

Expected<void> Tracer::prepare() {
  geometry::Bounds box = bounds(scene_.surfaces);
  for (const Balls& balls : scene_.balls) {
    for (const Vec3& c : balls.centers) {
      box.add(c - Vec3::Constant(balls.radius));
      box.add(c + Vec3::Constant(balls.radius));
    }
  }
  const bool empty = !(box.min.array() <= box.max.array()).all();
  if (!empty) center_ = box.center();
  radius_ = empty ? 1.0f : std::max(static_cast<float>(0.5 * box.extent().norm()), 1e-6f);

  const CameraAxes frame = axes(scene_.camera);
  eye_ = (scene_.camera.eye - center_).cast<float>();
  right_ = frame.right.cast<float>();
  camera_up_ = frame.up.cast<float>();
  forward_ = frame.forward.cast<float>();
  const double height = scene_.camera.orthographic
                            ? scene_.camera.ortho_height
                            : 2 * std::tan(scene_.camera.fov_degrees * std::numbers::pi / 360);
  pixel_angle_ = static_cast<float>(height / options_.height);

  const Vec3 up = scene_.up.norm() > 0 ? Vec3(scene_.up.normalized()) : Vec3(Vec3::UnitY());
  const Vec3 sun = toward_sun(scene_, frame, up);
  up_ = up.cast<float>();
  sun_ = sun.cast<float>();
  tangents(up_, ground_x_, ground_y_);
  tangents(sun_, sun_x_, sun_y_);
  const float spread = std::tan(static_cast<float>(scene_.sun.radius_degrees) * pi / 180);
  sun_x_ *= spread;
  sun_y_ *= spread;
  sun_light_ = static_cast<float>(scene_.sun.strength) * scene_.sun.colour;

  if (scene_.ground) {
    const Ground& ground = *scene_.ground;
    ground_height_ = static_cast<float>(ground.height - center_.dot(up));
    spacing_ = static_cast<float>(ground.spacing > 0 ? ground.spacing : round_up(radius_ / 2.5));
    fade_end_ = static_cast<float>(ground.fade_radius > 0 ? ground.fade_radius : 9.0 * radius_);
    fade_start_ = 0.2f * fade_end_;
    // Sky light on the floor from the upper half alone, then the albedo that shows the wanted colour.
    const Colour light = (1 / 3.0f) * scene_.sky.horizon + (2 / 3.0f) * scene_.sky.zenith +
                         std::max(0.0f, sun_.dot(up_)) * sun_light_;
    const auto part = [](float a, float b) { return b > 0 ? a / b : 0.0f; };
    ground_diffuse_ = {part(ground.colour.r, light.r), part(ground.colour.g, light.g),
                       part(ground.colour.b, light.b)};
  }

  device_.reset(rtcNewDevice(nullptr));
  if (!device_) return environment_error("the ray tracer Embree could not be started on this machine");
  embree_ = make_scene();
  for (const Surface& surface : scene_.surfaces) {
    if (!surface.clear) continue;
    if (!opaque_) opaque_ = make_scene();
    if (!clear_) clear_ = make_scene();
    if (!liquid_ && surface.clear->kind == Clear::Kind::Liquid) liquid_ = &*surface.clear;
  }
  surfaces_.resize(scene_.surfaces.size());
  for (std::size_t s = 0; s < surfaces_.size(); ++s) attach(s);
  balls_.resize(scene_.balls.size());
  for (std::size_t b = 0; b < balls_.size(); ++b) attach_balls(b);
  {
    const ThreadLimit one(1);  // the tree's order must not depend on the number of threads
    rtcCommitScene(embree_.get());
    if (opaque_) rtcCommitScene(opaque_.get());
    if (clear_) rtcCommitScene(clear_.get());
  }
  if (rtcGetDeviceError(device_.get()) != RTC_ERROR_NONE) {
    return environment_error("the ray tracer Embree could not take the scene in; is there memory left?");
  }
  return {};
}

ScenePtr Tracer::make_scene() {
  ScenePtr made(rtcNewScene(device_.get()));
  rtcSetSceneFlags(made.get(), RTC_SCENE_FLAG_ROBUST);
  rtcSetSceneBuildQuality(made.get(), RTC_BUILD_QUALITY_MEDIUM);
  return made;
}

void Tracer::add_geometry(RTCGeometry geometry, unsigned id, bool clear) {
  rtcCommitGeometry(geometry);
  rtcAttachGeometryByID(embree_.get(), geometry, id);
  if (opaque_) rtcAttachGeometryByID(clear ? clear_.get() : opaque_.get(), geometry, id);
  rtcReleaseGeometry(geometry);
}

// Balls follow the surfaces in the numbering.
void Tracer::attach_balls(std::size_t index) {
  const Balls& source = scene_.balls[index];
  std::vector<float>& spheres = balls_[index];
  spheres.reserve(4 * source.centers.size());
  for (const Vec3& c : source.centers) {
    for (int k = 0; k < 3; ++k) spheres.push_back(static_cast<float>(c[k] - center_[k]));
    spheres.push_back(static_cast<float>(source.radius));
  }
  RTCGeometry geometry = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_SPHERE_POINT);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, spheres.data(), 0,
                             4 * sizeof(float), source.centers.size());
  add_geometry(geometry, static_cast<unsigned>(surfaces_.size() + index), false);
}

void Tracer::attach(std::size_t index) {
  const Surface& source = scene_.surfaces[index];
  TracedSurface& traced = surfaces_[index];
  traced.source = &source;
  traced.positions.resize(3 * source.positions.size() + 1);
  for (std::size_t v = 0; v < source.positions.size(); ++v) {
    const Vec3 p = source.positions[v] - center_;
    for (int k = 0; k < 3; ++k) traced.positions[3 * v + k] = static_cast<float>(p[k]);
  }
  traced.indices.reserve(3 * source.triangles.size() + 1);
  for (const auto& triangle : source.triangles) {
    for (const int v : triangle) traced.indices.push_back(static_cast<std::uint32_t>(v));
  }
  traced.normals = corner_normals(source.positions, source.triangles, source.crease_degrees);

  RTCGeometry geometry = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_TRIANGLE);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, traced.positions.data(),
                             0, 3 * sizeof(float), source.positions.size());
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, traced.indices.data(), 0,
                             3 * sizeof(std::uint32_t), source.triangles.size());
  add_geometry(geometry, static_cast<unsigned>(index), source.clear.has_value());
}

// --- Light
// -----------------------------------------------------------------------------------------------------

float smooth_step(float from, float to, float x) {
  const float t = std::clamp((x - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

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

// Beer's law.
Colour Tracer::left_after(const Clear& clear, float distance) const {
  const float depth = clear.depth > 0 ? static_cast<float>(clear.depth) : radius_, t = distance / depth;
  return {std::pow(clear.tint.r, t), std::pow(clear.tint.g, t), std::pow(clear.tint.b, t)};
}

// Fresnel's equations for unpolarised light; `ratio` is the index on this side over that on the other one.
float dielectric(float cosine, float ratio) {
  const float sin2 = ratio * ratio * (1 - cosine * cosine);
  if (sin2 >= 1) return 1;
  const float beyond = std::sqrt(1 - sin2);
  const float s = (ratio * cosine - beyond) / (ratio * cosine + beyond);
  const float p = (cosine - ratio * beyond) / (cosine + ratio * beyond);
  return 0.5f * (s * s + p * p);
}

Vector3f Tracer::sun_direction(SamplePoints::Point point) const {
  const float r = std::sqrt(point.u), angle = 2 * pi * point.v;
  return (sun_ + r * std::cos(angle) * sun_x_ + r * std::sin(angle) * sun_y_).normalized();
}

// Schlick 1994; `grazing` is the reflectance at a right angle, less than one for rough surfaces.
float fresnel(float specular, float grazing, float cosine) {
  const float x = 1 - std::clamp(cosine, 0.0f, 1.0f);
  const float x2 = x * x;
  return specular + std::max(grazing - specular, 0.0f) * x2 * x2 * x;
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

// --- Hits
// ------------------------------------------------------------------------------------------------------

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

  hit.albedo = source.colour;
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

// --- Paths
// -----------------------------------------------------------------------------------------------------

void Tracer::aim(Packet& packet, int x, int y, int first) const {
  for (int lane = 0; lane < lanes; ++lane) {
    const auto p = points_.point(filter_pair, first + lane, packet.shift[filter_pair]);
    const float a =
        (static_cast<float>(x) + 0.5f + tent(p.u) - 0.5f * static_cast<float>(options_.width)) * pixel_angle_;
    const float b = (0.5f * static_cast<float>(options_.height) - static_cast<float>(y) - 0.5f - tent(p.v)) *
                    pixel_angle_;
    if (scene_.camera.orthographic) {
      packet.origin[lane] = eye_ + a * right_ + b * camera_up_;
      packet.direction[lane] = forward_;
    } else {
      packet.origin[lane] = eye_;
      packet.direction[lane] = (forward_ + a * right_ + b * camera_up_).normalized();
    }
    packet.valid[lane] = -1;
    packet.throughput[lane] = {1, 1, 1};
    packet.radiance[lane] = packet.gloss[lane] = packet.gloss_light[lane] = packet.backdrop[lane] = {};
    packet.haze[lane] = 0;
    packet.depth[lane] = packet.mirrors[lane] = 0;
    packet.inside[lane] = nullptr;
  }
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

// A clear surface sends the path back or lets it through, by chance in the right proportion.
void Tracer::scatter(Packet& packet, int lane, int sample) const {
  const Hit& hit = packet.hit[lane];
  const Clear& clear = *hit.clear;
  Vector3f& direction = packet.direction[lane];
  const float lift = 3e-5f * radius_, cosine = std::min(-direction.dot(hit.normal), 1.0f);
  const int pair = mirror_pair(packet.mirrors[lane]++);
  const float chance = points_.point(pair, sample, packet.shift[pair]).u;
  const auto index = static_cast<float>(clear.index);
  const bool glass = clear.kind == Clear::Kind::Glass;

  const float ratio = glass || hit.from_outside ? 1 / index : index;
  float reflected = dielectric(cosine, ratio);
  if (glass)
    reflected = packet.inside[lane] ? 0.0f : 2 * reflected / (1 + reflected);  // both faces of the wall
  if (chance < reflected) {
    direction += 2 * cosine * hit.normal;
    const float below = direction.dot(hit.facet);
    if (below < 0) direction -= 2 * below * hit.facet;
    packet.origin[lane] = hit.point + lift * hit.facet;
  } else {
    if (glass) {
      if (!packet.inside[lane]) {
        const float across = 1 / std::max(cosine, 0.15f);
        packet.throughput[lane] =
            packet.throughput[lane] * Colour{std::pow(clear.tint.r, across), std::pow(clear.tint.g, across),
                                             std::pow(clear.tint.b, across)};
      }
    } else {
      const float beyond = std::sqrt(std::max(1 - ratio * ratio * (1 - cosine * cosine), 0.0f));
      direction = ratio * direction + (ratio * cosine - beyond) * hit.normal;
      const float above = direction.dot(hit.facet);
      if (above > 0) direction -= 2 * above * hit.facet;
      packet.inside[lane] = hit.from_outside ? &clear : nullptr;
    }
    packet.origin[lane] = hit.point - lift * hit.facet;
  }
  direction.normalize();
}

// Sunlight that must come through liquid, from the places of the shadow rays: straight, weakened on its way.
// From outside a liquid that stands in the way its thickness is taken as a quarter of the depth of its tint.
void Tracer::weaken_sunlight(Packet& packet, const int* lit) const {
  constexpr float through_boundary = 0.97f;
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  for (int lane = 0; lane < lanes; ++lane) {
    packet.sunlight[lane] = {1, 1, 1};
    if (!lit[lane]) continue;
    RTCRayHit ray{};
    ray.ray.org_x = packet.shadow.org_x[lane];
    ray.ray.org_y = packet.shadow.org_y[lane];
    ray.ray.org_z = packet.shadow.org_z[lane];
    ray.ray.dir_x = packet.shadow.dir_x[lane];
    ray.ray.dir_y = packet.shadow.dir_y[lane];
    ray.ray.dir_z = packet.shadow.dir_z[lane];
    ray.ray.tfar = far_away;
    ray.ray.mask = 0xFFFFFFFFu;
    ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(clear_.get(), &context, &ray);
    if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) continue;
    const Clear& clear = *surfaces_[ray.hit.geomID].source->clear;
    if (clear.kind == Clear::Kind::Glass && !packet.inside[lane]) continue;
    const float depth = clear.depth > 0 ? static_cast<float>(clear.depth) : radius_;
    const float way = packet.inside[lane] ? ray.ray.tfar : 0.25f * depth;
    packet.sunlight[lane] =
        through_boundary * left_after(packet.inside[lane] ? *packet.inside[lane] : clear, way);
  }
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
      if (!found && floor == far_away) {
        packet.valid[lane] = 0;
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
      const bool leaves = hit.clear && hit.clear->kind == Clear::Kind::Liquid && !hit.from_outside;
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
    if (any_lit && liquid_) weaken_sunlight(packet, lit);

    for (int lane = 0; lane < lanes; ++lane) {
      if (!packet.valid[lane] || !shaded[lane]) continue;
      const Hit& hit = packet.hit[lane];
      const int depth = packet.depth[lane]++;
      const Vector3f to_viewer = -packet.direction[lane];
      const Colour before = packet.throughput[lane];
      Colour gathered = {};
      if (facing[lane] && packet.shadow.tfar[lane] > 0) gathered = sunlight(hit, to_viewer, to_sun[lane]);
      if (lit[lane] && liquid_) gathered = packet.sunlight[lane] * gathered;
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

// A pixel is settled when the standard error of its mean, were its samples independent, is below this (on the
// scale of the square root of light). Stratified samples err by about a third of that.
constexpr double settled = 0.010;

Colour Tracer::pixel(int x, int y) const {
  Packet packet;
  const std::uint64_t index = static_cast<std::uint64_t>(y) * options_.width + x;
  for (std::size_t k = 0; k < packet.shift.size(); ++k) {
    packet.shift[k] = random_bits(options_.seed + k / 8, index * 8 + k % 8);
  }
  Colour sum;
  double mean = 0, spread = 0;  // of the luminance, by Welford's update
  int count = 0;
  while (count < samples_) {
    aim(packet, x, y, count);
    trace(packet, count);
    for (int lane = 0; lane < lanes; ++lane) {
      const Colour light = scene_.unlit ? packet.radiance[lane] : shoulder(packet.radiance[lane]);
      const Colour c = mix(light, packet.backdrop[lane], packet.haze[lane]);
      sum = sum + c;
      const double value = std::sqrt(std::max(luminance(c), 0.0f));  // closer to what the eye sees
      const double delta = value - mean;
      mean += delta / (count + lane + 1);
      spread += delta * (value - mean);
    }
    count += lanes;
    if (std::sqrt(spread) < settled * count) break;
  }
  return (1.0f / static_cast<float>(count)) * sum;
}

Image Tracer::render() const {
  Image image;
  image.width = options_.width;
  image.height = options_.height;
  image.rgb.resize(3 * static_cast<std::size_t>(image.width) * image.height);
  constexpr int tile = 16;
  const std::size_t columns = (image.width + tile - 1) / tile, rows = (image.height + tile - 1) / tile;
  parallel_for(columns * rows, 1, [&](std::size_t index) {
    const int x0 = static_cast<int>(index % columns) * tile, y0 = static_cast<int>(index / columns) * tile;
    for (int y = y0; y < std::min(y0 + tile, image.height); ++y) {
      for (int x = x0; x < std::min(x0 + tile, image.width); ++x) {
        const Bytes bytes = to_bytes(pixel(x, y));
        std::uint8_t* out = &image.rgb[3 * (static_cast<std::size_t>(y) * image.width + x)];
        out[0] = bytes.r;
        out[1] = bytes.g;
        out[2] = bytes.b;
      }
    }
  });
  return image;
}

}  // namespace

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
