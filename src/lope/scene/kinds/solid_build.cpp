#include <lope/base/errors.h>
#include <lope/base/random.h>
#include <lope/material/registry.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/kinds/solid_build.h>
#include <lope/scene/limits.h>
#include <lope/scene/nodal_words.h>

#include <utility>

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
  if (const auto added = read_handles(value, selector, body); !added) return forward_error(added);
  if (const auto added = read_loads(value, selector, matter::surface_faces(body), body); !added) return forward_error(added);
  if (value.has("velocity")) read_velocities(value, center_of_mass(body), body);
  set_positions(value["initial"], body);
  read_damping(value, body);
  read_contact(value, body);
  return body;
}

// How many bodies from here on have this one's mesh: copies follow each other.
std::size_t alike_from(const std::vector<const Value*>& bodies, std::size_t first) {
  const auto same = [&](const Value& a, const char* key) {
    const Value *one = bodies[first]->find(key), *other = a.find(key);
    return one && other ? *one == *other : one == other;
  };
  std::size_t end = first + 1;
  while (end < bodies.size() && same(*bodies[end], "shape") && same(*bodies[end], "edge")) ++end;
  return end - first;
}

}  // namespace

// Meshes the solids; where there are many alike, the first tells whether they all fit into the machine.
Expected<std::vector<Polymorphic<matter::Body>>> build_solids(const std::vector<const Value*>& bodies) {
  std::vector<Polymorphic<matter::Body>> solids;
  double vertices = 0;
  std::size_t told_until = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    Expected<matter::SolidBody> solid = build_solid(*bodies[i]);
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
            to_string(bodies[i]->at), solid->name, vertices, alike, each, most);
      }
    }
    solids.emplace_back(std::move(*solid));
  }
  return solids;
}

}  // namespace lope::scene
