#include <lope/scene/checking.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// Fewer steps than these do not show a motion that repeats, and a turn.
constexpr double steps_of_a_period = 10;
constexpr double large_turn = std::numbers::pi / 4;

}  // namespace

// Steps see a motion at their ends only.
void Checking::pace(const geometry::Motion& motion, const std::string& what) {
  const auto judge = [&](const auto& curve) {
    const std::vector<double>& times = curve.times;
    if (times.size() < 2) return;
    const double length = times.back() - times.front();
    const bool mirrored = curve.after == geometry::AfterLastKey::Mirror;
    if ((mirrored || curve.after == geometry::AfterLastKey::Loop) && length > 0) {
      const double period = mirrored ? 2 * length : length;
      if (period >= steps_of_a_period * model.step) return;
      return warn(
          "{} repeats its motion every {:.3g} s, which are {:.2g} steps; use steps of at most {:.2g} s",
          what, period, period / model.step, period / (2 * steps_of_a_period));
    }
    double shortest = length;
    for (std::size_t k = 1; k < times.size(); ++k) {
      const bool moves = curve.values[k] != curve.values[k - 1];
      if (moves && times[k] > times[k - 1]) shortest = std::min(shortest, times[k] - times[k - 1]);
    }
    if (times.size() == 2 || shortest >= model.step * (1 - 1e-6)) return;
    warn(
        "{} has keys {:.3g} s apart, closer than a step of {:.3g} s, which does not see what is between "
        "them",
        what, shortest, model.step);
  };
  judge(motion.displacement);
  judge(motion.angle);
  constexpr int most_steps = 20000;
  for (int k = 0; k < most_steps && k * model.step < scene.duration; ++k) {
    const double turn = std::abs(motion.angle.at((k + 1) * model.step) - motion.angle.at(k * model.step));
    if (turn <= large_turn) continue;
    return warn("{} turns by {:.3g}° in a step, and its points go straight; use steps of at most {:.2g} s",
                what, turn * 180 / std::numbers::pi, model.step * large_turn / (3 * turn));
  }
}

std::size_t Checking::handles(const matter::NodalBody& body) {
  std::vector<std::uint8_t> held(body.rest_positions().size(), 0);
  std::size_t held_always = 0;
  for (std::size_t j = 0; j < body.handles.size(); ++j) {
    const matter::Handle& handle = body.handles[j];
    if (handle.vertices.empty())
      fail("body '{}': handle {} holds no vertex; enlarge its region", body.name, j);
    for (const int i : handle.vertices) held[static_cast<std::size_t>(i)] = 1;
    speed(body, j);
    pace(handle.motion, fmt::format("body '{}': handle {}", body.name, j));
    const bool always = handle.begin <= 0 && handle.end >= scene.duration;
    held_always += always ? handle.vertices.size() : 0;
  }
  if (!held.empty() && held_always >= held.size()) {
    warn("body '{}': all its vertices are scripted for the whole run; nothing is left to solve", body.name);
  }
  return static_cast<std::size_t>(std::count(held.begin(), held.end(), 1));
}

// The farthest way of a corner of the handle's bounding box within one step.
void Checking::speed(const matter::NodalBody& body, std::size_t j) {
  const matter::Handle& handle = body.handles[j];
  geometry::Bounds box;
  for (const int i : handle.vertices) box.add(body.rest_positions()[static_cast<std::size_t>(i)]);
  if (handle.vertices.empty()) return;
  const double size = geometry::bounds(body.rest_positions()).extent().maxCoeff();
  const double end = std::min(handle.end, scene.duration) - handle.begin;
  const std::array<Vec3, 2> corners{box.min, box.max};
  constexpr int most_steps = 20000;  // a long scene is judged by its beginning
  for (int k = 0; k < most_steps && k * model.step < end; ++k) {
    const double t = k * model.step;
    for (const Vec3& corner : corners) {
      const double way =
          (handle.motion.position(corner, t + model.step) - handle.motion.position(corner, t)).norm();
      if (way <= size) continue;
      return warn(
          "body '{}': handle {} moves by {:.3g} m in the step at {:.4g} s, more than the body's size "
          "{:.3g} m; "
          "use shorter steps or a slower motion",
          body.name, j, way, handle.begin + t, size);
    }
  }
}

void Checking::count_nodes(const Kind& kind, const matter::NodalBody& body, std::size_t elements) {
  report.unknowns += body.unknowns();
  count_frame(kind, static_cast<double>(body.rest_positions().size()), static_cast<double>(elements));
  // x, v, their predecessors and accelerations.
  report.checkpoint += 5 * static_cast<double>(body.unknowns()) * sizeof(double);
}

void Checking::count_frame(const Kind& kind, double vertices, double elements) {
  double numbers = 3 * vertices;
  for (const KindField& field : kind.fields()) {
    if (writes_field(scene, field.name)) numbers += field.components * (field.on_vertices ? vertices : elements);
  }
  report.frame += numbers * sizeof(float);
}

}  // namespace lope::scene
