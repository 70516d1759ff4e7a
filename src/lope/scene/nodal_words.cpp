#include <lope/base/errors.h>
#include <lope/scene/handle_motion.h>
#include <lope/scene/nodal_words.h>

#include <algorithm>
#include <utility>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::scene {
namespace {

// A handle's name in messages.
std::string called(const Value& handle) {
  return handle.has("name") ? fmt::format("handle '{}'", handle.text_at("name")) : "this handle";
}

// A vertex may belong to several handles, but to one at a time.
Expected<void> check_claims(const std::vector<Value>& values, const matter::NodalBody& body) {
  for (std::size_t j = 1; j < body.handles.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const matter::Handle &a = body.handles[i], &b = body.handles[j];
      if (std::max(a.begin, b.begin) >= std::min(a.end, b.end)) continue;
      std::vector<int> shared;
      std::set_intersection(a.vertices.begin(), a.vertices.end(), b.vertices.begin(), b.vertices.end(),
                            std::back_inserter(shared));
      if (shared.empty()) continue;
      return input_error(
          "{}: {} of body '{}' claims {} vertices (the first is {}) that already belong to the handle at {}; "
          "make the "
          "regions smaller or release one before the other begins",
          to_string(values[j].at), called(values[j]), body.name, shared.size(), shared.front(),
          to_string(values[i].at));
    }
  }
  return {};
}

}  // namespace

Expected<void> read_handles(const Value& value, const Selector& selector, matter::NodalBody& body) {
  const Value* handles = value.find("handle");
  if (!handles) return {};
  const geometry::Bounds whole = geometry::bounds(body.rest_positions());
  for (const Value& item : handles->items) {
    const Expected<std::vector<int>> chosen = selector.vertices(item["where"]);
    if (!chosen) return forward_error(chosen);
    matter::Handle handle;
    handle.vertices = *chosen;
    geometry::Bounds own;
    for (const int i : handle.vertices) own.add(body.rest_positions()[static_cast<std::size_t>(i)]);
    handle.motion = handle_motion(item, whole, own);
    if (item.has("name")) handle.name = item.text_at("name");
    handle.begin = item.number_at("begin");
    if (item.has("release")) handle.end = item.number_at("release");
    body.handles.push_back(std::move(handle));
  }
  return check_claims(handles->items, body);
}

Expected<void> read_loads(const Value& value, const Selector& selector, const std::vector<std::array<int, 3>>& surface,
                          matter::NodalBody& body) {
  const Value* loads = value.find("load");
  if (!loads) return {};
  for (const Value& item : loads->items) {
    const Expected<std::vector<int>> chosen = selector.vertices(item["where"]);
    if (!chosen) return forward_error(chosen);
    matter::Load load;
    load.vertices = *chosen;
    if (item.has("name")) load.name = item.text_at("name");
    if (item.has("force")) load.force = item.vector_at("force");
    if (item.has("traction")) load.traction = item.vector_at("traction");
    if (item.has("pressure")) load.pressure = item.number_at("pressure");
    if (item.has("torque")) load.torque = item.vector_at("torque");
    if (const Value* script = item.find("script")) {
      load.factor = {(*script)["times"].as_numbers(), (*script)["factor"].as_numbers(),
                     after_last_key(script->text_at("after"))};
    }
    load.begin = item.number_at("begin");
    if (item.has("end")) load.end = item.number_at("end");
    matter::spread(body.rest_positions(), surface, load);
    if (load.faces.empty() && (item.has("pressure") || item.has("traction"))) {
      return input_error("{}: this load has a {} but holds no whole piece of the surface of body '{}'; choose more "
                         "vertices or give a force",
                         to_string(item.at), item.has("pressure") ? "pressure" : "traction", body.name);
    }
    body.loads.push_back(std::move(load));
  }
  return {};
}

void read_velocities(const Value& value, const Vec3& center, matter::NodalBody& body) {
  if (!value.has("velocity")) return;  // static
  const Vec3 velocity = value.vector_at("velocity"), spin = value.vector_at("angular_velocity");
  if (velocity.isZero(0) && spin.isZero(0)) return;
  for (const Vec3& point : body.rest_positions()) {
    body.initial_velocities.push_back(velocity + spin.cross(point - center));
  }
}

void read_damping(const Value& value, matter::NodalBody& body) {
  const Value* damping = value.find("damping");
  if (!damping) return;
  body.mass_damping = damping->number_at("mass");
  body.stiffness_damping = damping->number_at("stiffness");
}

void read_contact(const Value& value, matter::NodalBody& body) {
  if (value.has("contact")) body.touches_others = value.boolean_at("contact");
  if (value.has("self_contact")) body.self_contact = value.boolean_at("self_contact");
}

}  // namespace lope::scene
