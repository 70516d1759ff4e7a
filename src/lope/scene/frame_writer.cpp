#include <lope/scene/frame_writer.h>
#include <lope/scene/obstacles.h>

#include <fmt/core.h>

namespace lope::scene {
namespace {

std::vector<std::int32_t> flat(const std::vector<geometry::Triangle>& triangles) {
  std::vector<std::int32_t> result;
  result.reserve(3 * triangles.size());
  for (const geometry::Triangle& triangle : triangles) result.insert(result.end(), triangle.begin(), triangle.end());
  return result;
}

std::vector<float> placed(const geometry::Mesh& surface, const geometry::RigidPose& pose) {
  std::vector<float> result;
  result.reserve(3 * surface.vertices.size());
  for (const Vec3& vertex : surface.vertices) {
    for (const double coordinate : pose.place(vertex)) result.push_back(static_cast<float>(coordinate));
  }
  return result;
}

// Of the vertices, at the end of a step of length h.
std::vector<float> velocities(const geometry::Mesh& surface, const step::Obstacle& obstacle, double time, double h) {
  const geometry::RigidPose before = obstacle.pose(time - h), now = obstacle.pose(time);
  std::vector<float> result;
  result.reserve(3 * surface.vertices.size());
  for (const Vec3& vertex : surface.vertices) {
    for (const double v : geometry::carried_velocity(before, now, h, now.place(vertex)))
      result.push_back(static_cast<float>(v));
  }
  return result;
}

bool moves(const step::Obstacle& obstacle) {
  return !obstacle.motion.displacement.times.empty() || !obstacle.motion.angle.times.empty();
}

// How far obstacles without an end are drawn: as far as matter may go; where that is not known, as far as it is at the
// start, and as far again.
geometry::Bounds surroundings(const step::Model& model) {
  geometry::Bounds free, all;
  bool any_free = false;
  const auto add = [](geometry::Bounds& to, const geometry::Bounds& box) {
    to.add(box.min);
    to.add(box.max);
  };
  for (const auto& body : model.bodies) {
    if (const auto domain = body->domain()) {
      add(all, *domain);
    } else {
      add(free, body->region());
      any_free = true;
    }
  }
  if (!any_free) return all;
  const Vec3 margin = Vec3::Constant(free.extent().maxCoeff());
  add(all, {free.min - margin, free.max + margin});
  return all;
}

}  // namespace

FrameWriter::FrameWriter(const Scene& scene, step::Simulation& simulation) : scene_(scene), simulation_(simulation) {
  choose_obstacles();
}

void FrameWriter::choose_obstacles() {
  const step::Model& model = simulation_.model();
  const geometry::Bounds region = surroundings(model);
  for (std::size_t k = 0; k < model.obstacles.size(); ++k) {
    using Draw = ObstacleLook::Draw;
    const Draw draw = scene_.obstacle_looks[k].draw;
    if (draw == Draw::None) continue;
    if (scene_.floor_height && floor_height(scene_.resolved["obstacle"].items[k])) continue;
    const geometry::Bounds own = model.obstacles[k].shape->bounds();
    const bool container = draw == Draw::Cut || draw == Draw::Glass;
    obstacles_.push_back({k, container || (own.min.allFinite() && own.max.allFinite()),
                          obstacle_surface(model.obstacles[k], region)});
  }
}

io::Frame FrameWriter::topology() const {
  const step::Model& model = simulation_.model();
  io::Frame frame;
  frame.data.metadata["scene"] = scene_.name;
  const std::optional<double> ground =
      scene_.render.ground_height ? scene_.render.ground_height : scene_.floor_height;
  if (scene_.render.ground && ground) frame.data.metadata["ground"] = fmt::format("{}", *ground);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    geometry::Drawable body;
    body.dimension = model.bodies[i]->dimension;
    if (scene_.bodies[i].color) body.look.color = *scene_.bodies[i].color;
    body.look.back = scene_.bodies[i].back_color;
    body.look.pattern = scene_.bodies[i].pattern;
    for (const std::optional<Vec3>& color : scene_.bodies[i].part_colors) {
      for (int k = 0; k < 3; ++k) body.points.palette.push_back(static_cast<float>((*color)[k]));
    }
    simulation_.matter(i).draw_once(wanted(), body);
    io::add_drawable(model.bodies[i]->name, body, true, frame);
  }
  for (const DrawnSurface& drawn : obstacles_) {
    const ObstacleLook& look = scene_.obstacle_looks[drawn.obstacle];
    geometry::Drawable made;
    made.dimension = scene_.dimension;
    made.surface.triangles = flat(drawn.mesh.triangles);
    made.look = {.color = look.color,
                 .material = look.draw == ObstacleLook::Draw::Glass ? "glass" : "",
                 .backdrop = true,
                 .bounded = drawn.bounded,
                 .cut = look.draw == ObstacleLook::Draw::Cut,
                 .back = {},
                 .pattern = {}};
    io::add_drawable(model.obstacles[drawn.obstacle].name, made, true, frame);
  }
  return frame;
}

io::Frame FrameWriter::snapshot(std::int64_t number) const {
  const step::Model& model = simulation_.model();
  const step::State& state = simulation_.state();
  io::Frame frame;
  frame.number = number;
  frame.time = state.time;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    geometry::Drawable body;
    simulation_.matter(i).draw(*state.bodies[i], state.time, wanted(), body);
    io::add_drawable(model.bodies[i]->name, body, false, frame);
  }
  for (const DrawnSurface& drawn : obstacles_) {
    const step::Obstacle& obstacle = model.obstacles[drawn.obstacle];
    geometry::Drawable made;
    made.surface.positions = placed(drawn.mesh, obstacle.pose(frame.time));
    if (moves(obstacle) && writes_field(scene_, "velocity"))
      made.surface.vertex_fields = {{"velocity", "m/s", 3, velocities(drawn.mesh, obstacle, frame.time, model.step)}};
    io::add_drawable(obstacle.name, made, false, frame);
  }
  return frame;
}

matter::FieldFilter FrameWriter::wanted() const {
  return [this](const std::string& field) { return writes_field(scene_, field); };
}

}  // namespace lope::scene
