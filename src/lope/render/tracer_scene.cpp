#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/render/tracer.h>

#include <Eigen/Geometry>

namespace lope::render {
namespace {

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

}  // namespace

Tracer::Tracer(const Scene& scene, const PictureOptions& options)
    : scene_(scene),
      options_(options),
      samples_((options.samples + lanes - 1) / lanes * lanes),
      points_(samples_, decisions, options.seed) {}

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
    if (!water_ && surface.clear->kind == Clear::Kind::Water) water_ = &*surface.clear;
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

}  // namespace lope::render
