// The path tracer behind picture.h: an implementation detail of render.
//
// Light is followed backwards in packets of eight samples of one pixel. tracer_scene.cpp hands the scene to
// Embree, tracer_hits.cpp finds what a ray meets, tracer_light.cpp what lights it, tracer_clear.cpp what
// water and glass do to a path, picture.cpp follows the paths, tracer_blocks.cpp spares some of them.
#pragma once

#include <lope/render/normals.h>
#include <lope/render/picture.h>
#include <lope/render/sample_points.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include <embree3/rtcore.h>

namespace lope::render {

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
inline void tangents(const Vector3f& n, Vector3f& t, Vector3f& b) {
  const float sign = std::copysign(1.0f, n.z());
  const float a = -1 / (sign + n.z());
  const float c = n.x() * n.y() * a;
  t = {1 + sign * n.x() * n.x() * a, sign * c, -sign * n.x()};
  b = {c, sign + n.y() * n.y() * a, -n.y()};
}

inline float smooth_step(float from, float to, float x) {
  const float t = std::clamp((x - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

// Schlick 1994; `grazing` is the reflectance at a right angle, less than one for rough surfaces.
inline float fresnel(float specular, float grazing, float cosine) {
  const float x = 1 - std::clamp(cosine, 0.0f, 1.0f);
  const float x2 = x * x;
  return specular + std::max(grazing - specular, 0.0f) * x2 * x2 * x;
}

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

// What a sample sees first, through glass but not by its mirror image.
struct Look {
  static constexpr std::uint32_t nothing = 0xFFFFFFFFu, ground = nothing - 1, mirror_image = nothing - 2;
  std::uint32_t what = nothing;  // number of the surface or of the balls
  float t = far_away;            // from the camera
  Vector3f normal = Vector3f::Zero();
  Colour albedo;
  bool clear = false;
};

// The part of the picture that rays are aimed at: a tent filter about a point, in pixels.
struct Spot {
  float x, y, radius;
};

// The mean of a spot's samples and their spread.
struct Estimate {
  Colour sum;
  double middle = 0, spread = 0;  // of the square roots of luminance, closer to what the eye sees; by Welford's update
  int samples = 0;

  void add(const Colour& c) {
    sum = sum + c;
    const double value = std::sqrt(std::max(luminance(c), 0.0f));
    const double delta = value - middle;
    middle += delta / ++samples;
    spread += delta * (value - middle);
  }
  // When the standard error of the mean, were the samples independent, is below a hundredth (of the scale above). Stratified
  // samples err by about a third of that.
  bool is_settled() const { return std::sqrt(spread) < 0.010 * samples; }
  Colour mean() const { return (1.0f / static_cast<float>(samples)) * sum; }
};

class Tracer {
 public:
  Tracer(const Scene& scene, const PictureOptions& options);
  Expected<void> prepare();
  Image render() const;

 private:
  struct Packet;
  struct Block;
  ScenePtr make_scene();
  void attach(std::size_t surface);
  void attach_balls(std::size_t balls);
  void add_geometry(RTCGeometry geometry, unsigned id, bool clear);
  Colour pixel(int x, int y) const;
  void scramble(Packet& packet, int x, int y) const;
  void add_samples(Packet& packet, const Spot& spot, Estimate& estimate) const;
  std::vector<Block> survey_blocks() const;
  Colour pixel_from(const std::vector<Block>& blocks, int x, int y) const;
  void aim(Packet& packet, const Spot& spot, int first) const;
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
  Colour patterned(const TracedSurface& surface, std::uint32_t triangle, const Vector3f& weights,
                   float t) const;
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
  const Clear* water_ = nullptr;  // the first one: rays that start inside water are inside this one

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

// Two by two pixels (tracer_blocks.cpp).
struct Tracer::Block {
  Colour colour;
  Look look;
  bool plain = false;  // one thing, seen at about one angle: need not be seen pixel by pixel
};

struct Tracer::Packet {
  alignas(32) int valid[lanes];
  RTCRayHit8 rays;
  RTCRay8 shadow;
  std::array<Vector3f, lanes> origin, direction;
  std::array<Vector3f, lanes> view;  // the direction at the start
  std::array<Look, lanes> look;
  std::array<Colour, lanes> throughput, gloss, gloss_light, radiance;
  std::array<Colour, lanes> backdrop;  // on the screen, in front of the radiance by the part `haze`
  std::array<float, lanes> haze;
  std::array<Hit, lanes> hit;
  std::array<int, lanes> depth, mirrors;   // bounces and passages through clear surfaces so far
  std::array<const Clear*, lanes> inside;  // the water that the path is in
  std::array<Colour, lanes> sunlight;      // part that reaches the hit
  std::array<std::uint64_t, 16> shift;     // of this pixel, one per decision
};

// The first eight are the filter and (sun, direction) for each bounce, the others are for clear surfaces.
enum Decision { filter_pair = 0, first_path_pair = 1, first_mirror_pair = 8, decisions = 16 };
inline int path_pair(int depth, int which) { return first_path_pair + std::min(2 * depth + which, 6); }
inline int mirror_pair(int mirrors) { return first_mirror_pair + std::min(mirrors, 7); }
constexpr int most_mirrors = 14;  // then the path ends in the studio

}  // namespace lope::render
