#include <lope/base/errors.h>
#include <lope/geometry/transform.h>
#include <lope/io/sheet_io.h>
#include <lope/scene/kinds/cloth_build.h>
#include <lope/scene/kinds/cloth_panels.h>
#include <lope/scene/limits.h>
#include <lope/scene/nodal_words.h>

#include <algorithm>
#include <cmath>

namespace lope::scene {
namespace {

// When no edge is given: of the larger extent.
constexpr double default_resolution = 60;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// `extent`: the larger one, `area`: of the shape.
Expected<double> edge_of(const Value& body, double extent, double area) {
  const double edge = body.has("edge") ? body.number_at("edge") : extent / default_resolution;
  const double vertices = area / (0.5 * std::sqrt(3.0) * edge * edge);
  if (const double most = most_vertices(3); vertices > most) {
    return input_error("{}: body '{}': about {:.3g} vertices, and {:.3g} are too many for this machine; a longer edge",
                       to_string(body.at), body.text_at("name"), vertices, most);
  }
  if (edge > extent) {
    return input_error("{}: body '{}': its edge of {:.3g} m is longer than the cloth ({:.3g} m)", to_string(body.at),
                       body.text_at("name"), edge, extent);
  }
  return edge;
}

Expected<geometry::Sheet> sewn_panels(const Value& body) {
  auto panels = read_panels(body);
  if (!panels) return forward_error(panels);
  double extent = 0, area = 0;
  for (const geometry::Panel& panel : *panels) {
    geometry::Bounds box;
    for (const Vec2& p : panel.outline.empty() ? panel.patch.flat : panel.outline) box.add({p[0], p[1], 0});
    extent = std::max(extent, box.extent().maxCoeff());
    if (!panel.outline.empty()) area += box.extent()[0] * box.extent()[1];
  }
  const Expected<double> edge = edge_of(body, extent, area);
  if (!edge) return forward_error(edge);
  auto sewn = geometry::sew(std::move(*panels), read_seams(body), *edge);
  if (!sewn)
    return input_error("{}: body '{}': {}", to_string(body.at), body.text_at("name"), sewn.error().message);
  return std::move(*sewn);
}

Expected<geometry::Sheet> shape_of(const Value& body) {
  if (body.has("panel")) return sewn_panels(body);
  const auto& [word, what] = body["shape"].members.front();
  if (word == "mesh") return io::read_sheet(what.text, body.has("uv_unit") ? body.number_at("uv_unit") : 0);
  geometry::Sheet sheet;
  if (word == "rectangle") {
    const Vec3 size = what.vector_at("size");
    const Expected<double> edge = edge_of(body, std::max(size[0], size[1]), size[0] * size[1]);
    if (!edge) return forward_error(edge);
    sheet = geometry::rectangle_sheet(size[0], size[1], *edge);
  } else if (word == "disc") {
    const double radius = what.number_at("radius");
    const Expected<double> edge = edge_of(body, 2 * radius, 3.15 * radius * radius);
    if (!edge) return forward_error(edge);
    sheet = geometry::disc_sheet(radius, *edge);
  } else {
    const bool tube = word == "tube";
    const double bottom = what.number_at(tube ? "radius" : "bottom_radius"),
                 top = what.number_at(tube ? "radius" : "top_radius");
    const double length = what.number_at("length");
    const Expected<double> edge = edge_of(body, std::max(length, 2 * std::max(bottom, top)),
                                          3.15 * (bottom + top) * std::hypot(length, top - bottom));
    if (!edge) return forward_error(edge);
    sheet = geometry::funnel_sheet(bottom, top, length, *edge);
  }
  for (Vec3& p : sheet.vertices) p += what.vector_at("center");
  return sheet;
}

// In space; lengths of the material grow with `scale`.
void place(const Value& body, geometry::Sheet& sheet) {
  const Value* transform = body.find("transform");
  if (!transform) return;
  if (transform->has("scale")) {
    const double scale = transform->number_at("scale");
    for (Vec3& p : sheet.vertices) p *= scale;
    for (Vec2& p : sheet.flat) p *= scale;
  }
  geometry::Mesh mesh;
  mesh.vertices = std::move(sheet.vertices);
  if (const Value* rotate = transform->find("rotate"))
    geometry::rotate(mesh, rotate->vector_at("axis"), rotate->number_at("angle"));
  if (transform->has("translate")) geometry::translate(mesh, transform->vector_at("translate"));
  sheet.vertices = std::move(mesh.vertices);
}

matter::ClothMaterial material_of(const Value& value) {
  matter::ClothMaterial material;
  const double warp = value.number_at("warp"), weft = value.number_at("weft"), poisson = value.number_at("poisson");
  const double widened = 1 / (1 - poisson * poisson);
  material.membrane.model = value.text_at("model") == "stvk" ? material::MembraneModel::StVenantKirchhoff
                                                             : material::MembraneModel::Corotated;
  material.membrane.warp = warp * widened;
  material.membrane.weft = weft * widened;
  material.membrane.coupling = poisson * std::sqrt(warp * weft) * widened;
  material.membrane.shear = value.number_at("shear");
  if (value.has("stretch_limit")) {
    material.membrane.largest_stretch = 1 + value.number_at("stretch_limit");
    // So stiff that twice the limit takes ten times the force of the cloth itself there.
    const double limit = value.number_at("stretch_limit");
    material.membrane.limit_stiffness = 10 * std::max(warp, weft) * 2 * limit / (3 * limit * limit);
  }
  const bool curved = value.text_at("bending") == "curved";
  material.bending.model =
      curved || value.text_at("bending") == "dihedral" ? matter::BendingModel::Dihedral : matter::BendingModel::Quadratic;
  material.bending.curved_at_rest = curved;
  material.bending.warp = value.number_at("bend_warp");
  material.bending.weft = value.number_at("bend_weft");
  material.area_density = value.number_at("weight");
  material.grain = value.number_at("grain");
  return material;
}

Expected<matter::ClothBody> build_cloth(const Value& value, const step::Model& world) {
  matter::ClothBody body;
  body.name = value.text_at("name");
  Expected<geometry::Sheet> sheet = shape_of(value);
  if (!sheet) return forward_error(sheet);
  body.sheet = std::move(*sheet);
  place(value, body.sheet);
  if (const auto sound = geometry::check_sheet(body.sheet); !sound)
    return input_error("{}: body '{}': {}", to_string(value.at), body.name, sound.error().message);
  body.material = material_of(value["material"]);
  const Value& air = value["air"];
  body.air.drag = air.number_at("drag");
  body.air.density = air.number_at("density");
  body.air.wind = air.vector_at("wind");
  geometry::Mesh mesh;
  mesh.vertices = body.sheet.vertices;
  mesh.triangles = body.sheet.triangles;
  const Selector selector(mesh);
  if (const auto added = read_handles(value, selector, body); !added) return forward_error(added);
  if (const auto added = read_loads(value, selector, body.sheet.triangles, body); !added) return forward_error(added);
  if (value.has("velocity")) {
    Vec3 moment = Vec3::Zero();
    double area = 0;
    for (std::size_t t = 0; t < body.sheet.triangles.size(); ++t) {
      const geometry::Triangle &f = body.sheet.flat_triangles[t], &n = body.sheet.triangles[t];
      const double part = geometry::twice_area(body.sheet.flat[index(f[0])], body.sheet.flat[index(f[1])], body.sheet.flat[index(f[2])]);
      area += part;
      for (const int i : n) moment += part / 3 * body.sheet.vertices[index(i)];
    }
    read_velocities(value, moment / area, body);
  }
  read_damping(value, body);
  read_contact(value, body);
  if (value.has("sewing")) body.sewing = value.number_at("sewing");
  if (value.has("thickness")) body.thickness = value.number_at("thickness");
  const bool between_bodies = world.body_contact.model == step::BodyContactModel::Barrier;
  body.touches_others = body.touches_others && between_bodies;
  body.self_contact = body.self_contact && between_bodies;
  if (between_bodies || std::any_of(world.obstacles.begin(), world.obstacles.end(), [](const matter::Obstacle& obstacle) {
        return obstacle.contact == matter::ContactKind::Barrier;
      })) {
    body.surface.vertices = body.sheet.vertices;
    body.surface.triangles = body.sheet.triangles;
  }
  return body;
}

}  // namespace

double mass_of(const matter::ClothBody& body) {
  double area = 0;
  for (const geometry::Triangle& f : body.sheet.flat_triangles)
    area += 0.5 * geometry::twice_area(body.sheet.flat[index(f[0])], body.sheet.flat[index(f[1])], body.sheet.flat[index(f[2])]);
  return area * body.material.area_density;
}

Expected<std::vector<Polymorphic<matter::Body>>> build_cloths(const std::vector<const Value*>& bodies, const step::Model& world) {
  std::vector<Polymorphic<matter::Body>> result;
  for (const Value* body : bodies) {
    Expected<matter::ClothBody> cloth = build_cloth(*body, world);
    if (!cloth) return forward_error(cloth);
    result.emplace_back(std::move(*cloth));
  }
  return result;
}

}  // namespace lope::scene
