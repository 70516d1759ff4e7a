// build_model: from a resolved scene to the Model of the integrator.
#include <lope/base/random.h>
#include <lope/material/registry.h>
#include <lope/matter/solid/solid.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/stopping.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/handle_motion.h>
#include <lope/scene/limits.h>
#include <lope/scene/liquid_model.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/scene.h>
#include <lope/scene/selection.h>

#include <algorithm>
#include <array>
#include <utility>

#include <Eigen/Geometry>

namespace lope::scene {
namespace {

void add_material(const Value& material, matter::SolidBody& body) {
  body.materials.push_back(
      material::from_young_poisson(material::find_density(material.text_at("model"))->density,
                                   material.number_at("young"), material.number_at("poisson")));
  body.density_of_material.push_back(material.number_at("density"));
}

Expected<void> add_regions(const Value& value, Selector& selector, matter::SolidBody& body) {
  const Value* regions = value.find("region");
  if (!regions) return {};
  for (const Value& region : regions->items) {
    const Expected<std::vector<int>> chosen = selector.elements(region["where"]);
    if (!chosen) return forward_error(chosen);
    selector.name_region(region.text_at("name"), *chosen);
    if (!region.has("material")) continue;
    body.material_of_element.resize(element_count(body.mesh), 0);
    for (const int element : *chosen) {
      body.material_of_element[static_cast<std::size_t>(element)] = static_cast<int>(body.materials.size());
    }
    add_material(region["material"], body);
  }
  return {};
}

// A handle's name in messages.
std::string called(const Value& handle) {
  return handle.has("name") ? fmt::format("handle '{}'", handle.text_at("name")) : "this handle";
}

// A vertex may belong to several handles, but to one at a time.
Expected<void> check_claims(const std::vector<Value>& values, const matter::SolidBody& body) {
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

Expected<void> add_handles(const Value& value, const Selector& selector, matter::SolidBody& body) {
  const Value* handles = value.find("handle");
  if (!handles) return {};
  const geometry::Bounds whole = geometry::bounds(body.mesh.vertices);
  for (const Value& item : handles->items) {
    const Expected<std::vector<int>> chosen = selector.vertices(item["where"]);
    if (!chosen) return forward_error(chosen);
    matter::Handle handle;
    handle.vertices = *chosen;
    geometry::Bounds own;
    for (const int i : handle.vertices) own.add(body.mesh.vertices[static_cast<std::size_t>(i)]);
    handle.motion = handle_motion(item, whole, own);
    if (item.has("name")) handle.name = item.text_at("name");
    handle.begin = item.number_at("begin");
    if (item.has("release")) handle.end = item.number_at("release");
    body.handles.push_back(std::move(handle));
  }
  return check_claims(handles->items, body);
}

Expected<void> add_loads(const Value& value, const Selector& selector, matter::SolidBody& body) {
  const Value* loads = value.find("load");
  if (!loads) return {};
  const std::vector<std::array<int, 3>> surface = matter::surface_faces(body);
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
    matter::spread(body.mesh.vertices, surface, load);
    if (load.faces.empty() && (item.has("pressure") || item.has("traction"))) {
      return input_error("{}: this load has a {} but holds no whole piece of the surface of body '{}'; choose more "
                         "vertices or give a force",
                         to_string(item.at), item.has("pressure") ? "pressure" : "traction", body.name);
    }
    body.loads.push_back(std::move(load));
  }
  return {};
}

Vec3 center_of_mass(const matter::SolidBody& body) {
  Vec3 moment = Vec3::Zero();
  double mass = 0;
  for (std::size_t e = 0; e < element_count(body.mesh); ++e) {
    const std::size_t material =
        body.material_of_element.empty() ? 0 : static_cast<std::size_t>(body.material_of_element[e]);
    const double part = body.density_of_material[material] * element_measure(body.mesh, e);
    moment += part * element_centroid(body.mesh, e);
    mass += part;
  }
  return moment / mass;
}

void set_velocities(const Value& value, matter::SolidBody& body) {
  if (!value.has("velocity")) return;  // static
  const Vec3 velocity = value.vector_at("velocity"), spin = value.vector_at("angular_velocity");
  if (velocity.isZero(0) && spin.isZero(0)) return;
  const Vec3 center = center_of_mass(body);
  for (const Vec3& point : body.mesh.vertices) {
    body.initial_velocities.push_back(velocity + spin.cross(point - center));
  }
}

// The torture tests of OPT §7: random positions or a single point. What a handle holds from the start stays.
void set_positions(const Value& initial, matter::SolidBody& body) {
  const std::string& state = initial.text_at("state");
  if (state == "rest") return;
  const geometry::Bounds box = geometry::bounds(body.mesh.vertices);
  const Vec3 size =
      initial.has("extent") ? Vec3(Vec3::Constant(initial.number_at("extent"))) : Vec3(box.extent());
  std::vector<Vec3>& positions = body.initial_positions;
  positions.assign(body.mesh.vertices.size(), box.center());
  if (state == "random") {
    const auto seed = static_cast<std::uint64_t>(initial.integer_at("seed"));
    for (std::size_t i = 0; i < positions.size(); ++i) {
      for (int k = 0; k < body.dimension; ++k) {
        positions[i][k] += size[k] * (random_unit(seed, 3 * i + static_cast<std::uint64_t>(k)) - 0.5);
      }
    }
  }
  for (const matter::Handle& handle : body.handles) {
    if (handle.begin > 0) continue;
    for (const int i : handle.vertices) {
      positions[static_cast<std::size_t>(i)] = body.mesh.vertices[static_cast<std::size_t>(i)];
    }
  }
}

Expected<matter::SolidBody> build_solid(const Value& value) {
  matter::SolidBody body;
  body.name = value.text_at("name");
  body.dimension = value.integer_at("dimension");
  Expected<geometry::Mesh> mesh = body_mesh(value);
  if (!mesh) return forward_error(mesh);
  body.mesh = std::move(*mesh);
  add_material(value["material"], body);
  Selector selector(body.mesh);
  if (const auto added = add_regions(value, selector, body); !added) return forward_error(added);
  if (const auto added = add_handles(value, selector, body); !added) return forward_error(added);
  if (const auto added = add_loads(value, selector, body); !added) return forward_error(added);
  set_velocities(value, body);
  set_positions(value["initial"], body);
  if (const Value* damping = value.find("damping")) {
    body.mass_damping = damping->number_at("mass");
    body.stiffness_damping = damping->number_at("stiffness");
  }
  body.touches_others = value.boolean_at("contact");
  body.self_contact = value.boolean_at("self_contact");
  return body;
}

// How many bodies from here on have this one's mesh: copies follow each other.
std::size_t alike_from(const std::vector<Value>& bodies, std::size_t first) {
  const auto same = [&](const Value& a, const char* key) {
    const Value *one = bodies[first].find(key), *other = a.find(key);
    return one && other ? *one == *other : one == other;
  };
  std::size_t end = first + 1;
  while (end < bodies.size() && same(bodies[end], "shape") && same(bodies[end], "edge")) ++end;
  return end - first;
}

// Meshes the solids; where there are many alike, the first tells whether they all fit into the machine.
Expected<std::vector<matter::SolidBody>> build_solids(const std::vector<Value>& bodies) {
  std::vector<matter::SolidBody> solids;
  double vertices = 0;
  std::size_t told_until = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].text_at("kind") == "liquid") continue;
    Expected<matter::SolidBody> solid = build_solid(bodies[i]);
    if (!solid) return forward_error(solid);
    if (i >= told_until) {
      const std::size_t alike = alike_from(bodies, i);
      told_until = i + alike;
      const auto each = static_cast<double>(solid->mesh.vertices.size());
      vertices += each * static_cast<double>(alike);
      if (const double most = most_vertices(solid->dimension); vertices > most) {
        return input_error(
            "{}: body '{}': with it the scene has {:.3g} vertices ({} bodies of {} from here on), and {:.3g} "
            "are too many for this machine; fewer copies, or a longer edge",
            to_string(bodies[i].at), solid->name, vertices, alike, each, most);
      }
    }
    solids.push_back(std::move(*solid));
  }
  return solids;
}

// Of the bodies whose steps are solved in common.
double smallest_size(const step::Model& model) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const matter::NodalBody& body : each<matter::NodalBody>(model.bodies))
    smallest = std::min(smallest, body.region().extent().maxCoeff());
  return smallest;
}

optimize::StoppingOptions stopping(const Value& solver, const step::Model& model) {
  using optimize::StoppingTest;
  struct Row {
    const char* word;
    StoppingTest test;
  };
  static constexpr std::array<Row, 3> rows{
      {{"characteristic", StoppingTest::CharacteristicGlobal},
       {"characteristic-nodewise", StoppingTest::CharacteristicNodewise},
       {"gradient", StoppingTest::GradientNorm}}};
  const std::string& word = solver.text_at("tolerance");
  for (const Row& row : rows) {
    if (word == row.word)
      return {row.test, solver.has("epsilon") ? solver.number_at("epsilon") : optimize::default_epsilon(row.test)};
  }
  return {StoppingTest::Displacement, solver.has("accuracy")
                                          ? solver.number_at("accuracy")
                                          : solver.number_at("relative_accuracy") * smallest_size(model)};
}

// How the steps of solids are solved.
void set_solver(const Value& solver, step::Model& model) {
  model.solver.method = *optimize::find_method(solver.text_at("method"));
  model.solver.stopping = stopping(solver, model);
  const std::string& start = solver.text_at("start");
  model.solver.initial_guess = start == "inertia"  ? step::InitialGuess::Inertia
                               : start == "rescue" ? step::InitialGuess::Rescue
                                                   : step::InitialGuess::Best;
}

step::Scheme scheme(const std::string& word) {
  if (word == "bdf-2") return step::Scheme::Bdf2;
  if (word == "static") return step::Scheme::Static;
  return word == "trapezoid" ? step::Scheme::Trapezoid : step::Scheme::BackwardEuler;
}

}  // namespace

Expected<step::Model> build_model(const Scene& scene) {
  const Value& root = scene.resolved;
  step::Model model;
  model.gravity = root.vector_at("gravity");
  model.step = root["time"].number_at("step");
  const int dimension = root.items_at("body").empty() ? root["liquid"].integer_at("dimension")
                                                      : root["body"].items.front().integer_at("dimension");
  Expected<std::vector<matter::SolidBody>> solids = build_solids(root.items_at("body"));
  if (!solids) return forward_error(solids);
  const bool has_solids = !solids->empty();
  for (matter::SolidBody& solid : *solids) model.bodies.emplace_back(std::move(solid));
  for (const Value& value : root.items_at("obstacle")) {
    Expected<step::Obstacle> obstacle = build_obstacle(value, dimension);
    if (!obstacle) return forward_error(obstacle);
    model.obstacles.push_back(std::move(*obstacle));
  }
  if (root.has("liquid")) {
    Expected<matter::LiquidBody> liquid = build_liquid(root, model.obstacles, scene.duration);
    if (!liquid) return forward_error(liquid);
    model.bodies.emplace_back(std::move(*liquid));
  }
  const Value& contact = root["contact"];
  if (contact.has("friction")) model.body_contact.friction = contact.number_at("friction");
  if (contact.has("stiffness")) model.body_contact.stiffness = contact.number_at("stiffness");
  model.solver.max_iterations = root["solver"].integer_at("max_iterations");
  if (has_solids) {
    model.scheme = scheme(root["time"].text_at("scheme"));
    if (root["time"].has("dissipation")) model.dissipation = root["time"].number_at("dissipation");
    if (contact.text_at("friction_model") == "gast15") model.friction_model = step::FrictionModel::Gast15;
    set_solver(root["solver"], model);
  }
  return model;
}

}  // namespace lope::scene
