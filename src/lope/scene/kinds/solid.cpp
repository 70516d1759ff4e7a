#include <lope/material/registry.h>
#include <lope/scene/keys.h>
#include <lope/scene/kinds/solid.h>
#include <lope/scene/kinds/solid_build.h>
#include <lope/scene/kinds/solid_check.h>
#include <lope/scene/rules.h>
#include <lope/scene/vocabulary.h>
#include <lope/scene/weighted_sum.h>

#include <algorithm>

#include <fmt/core.h>

namespace lope::scene {

using namespace key_words;

namespace {

void resolve_initial(Value& body, const std::string& path, Rules& rules) {
  Value& initial = *body.find("initial");
  const bool at_rest = initial.text_at("state") == "rest";
  const std::string& model = body["material"].text_at("model");
  if (!at_rest && material::find_density(model)->defined_only_for_positive_J) {
    rules.complain(
        initial, path + ".initial",
        fmt::format("{} is not defined for the inverted elements of a '{}' start; choose another model",
                    model, initial.text_at("state")));
  }
  if (initial.text_at("state") != "random")
    rules.drop(initial, path + ".initial", {"extent", "seed"}, "has a meaning only with state = \"random\"");
}

void resolve_region(Value& region, const std::string& path, std::vector<std::string>& known, const Value& body_material,
                    Rules& rules) {
  const std::string& name = region.text_at("name");
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    rules.complain(region["name"], path + ".name", fmt::format("another region is called '{}'", name));
  }
  rules.selection(region["where"], path + ".where", known);
  if (Value* own = region.find("material")) rules.material(*own, path + ".material", &body_material);
  known.push_back(name);
}

std::vector<double> solid_fingerprint(const matter::SolidBody& body) {
  WeightedSum shape, elements, materials, handles;
  for (const Vec3& vertex : body.mesh.vertices) {
    for (const double coordinate : vertex) shape.add(coordinate);
  }
  for (const auto& tetrahedron : body.mesh.tetrahedra) {
    for (const int i : tetrahedron) elements.add(i);
  }
  for (const auto& triangle : body.mesh.triangles) {
    for (const int i : triangle) elements.add(i);
  }
  for (std::size_t m = 0; m < body.materials.size(); ++m) {
    const material::Parameters& material = body.materials[m];
    for (const double number :
         {static_cast<double>(material.density), material.mu, material.lambda, body.density_of_material[m]}) {
      materials.add(number);
    }
  }
  for (const int m : body.material_of_element) materials.add(m);
  for (const matter::Handle& handle : body.handles) {
    for (const int i : handle.vertices) handles.add(i);
  }
  return {static_cast<double>(body.mesh.vertices.size()),
          shape.value(),
          elements.value(),
          materials.value(),
          handles.value(),
          static_cast<double>(body.handles.size())};
}

class SolidKind final : public Kind {
 public:
  std::string_view word() const override { return "solid"; }
  std::string_view called() const override { return "a solid body"; }
  std::string_view meaning() const override { return "an elastic body"; }
  std::string_view smaller_by() const override { return "a longer edge"; }
  Concerns concerns() const override { return {.minimizer = true, .scheme = true, .contact = true}; }
  std::vector<KindField> fields() const override {
    return {{"speed", 1, true},    {"displacement", 3, true},  {"velocity", 3, true},
            {"residual", 1, true}, {"contact_force", 1, true}, {"von_mises", 1, false},
            {"stress", 6, false},  {"stretch", 1, false},      {"volume_ratio", 1, false}};
  }

  void add_body_keys(std::vector<Key>& keys) const override {
    add_body_shape(keys, {});
    add_body_edge(keys);
    add_body_transform(keys);
    keys.push_back(table("body[].material")
                       .by_default("{ preset = \"elastomer\" }")
                       .short_for("preset")
                       .says("What it is made of: a preset name, or a table."));
    add_material(keys, "body[].material");
    keys.push_back(
        entry("body[].region", Type::TableList)
            .says("Named parts of the body; a part may have a material of its own (later ones win)."));
    keys.push_back(text("body[].region[].name").required().says("Its name."));
    keys.push_back(table("body[].region[].where")
                       .required()
                       .short_for("region")
                       .says("Which elements: those whose centroid is chosen."));
    add_selection(keys, "body[].region[].where");
    keys.push_back(
        table("body[].region[].material").short_for("preset").says("Its material. Default: the body's."));
    add_material(keys, "body[].region[].material");
    add_body_velocity(keys);
    keys.push_back(table("body[].initial")
                       .by_default("{ state = \"rest\" }")
                       .short_for("state")
                       .says("Where the vertices start: one of the states, or a table."));
    keys.push_back(
        choice("body[].initial.state", {"rest", "random", "point"})
            .by_default("\"rest\"")
            .says("The undeformed shape; random points of its bounding box; all vertices in its centre "
                  "(the torture tests of OPT Figs. 6 and 8)."));
    keys.push_back(integer("body[].initial.seed")
                       .within({0, 2147483647, false, false})
                       .by_default("1")
                       .says("Of the random positions."));
    keys.push_back(
        quantity("body[].initial.extent", Dimension::Length)
            .within(positive)
            .says("Random positions in a cube of this size about the body's centre, instead of its bounding "
                  "box."));
    add_body_damping(keys);
    add_body_copies(keys);
    add_body_contact(keys);
    add_body_color(keys);
    add_body_handles(keys);
    add_body_loads(keys);
  }

  void resolve_body(Value& body, const std::string& path, Rules& rules) const override {
    const int dimension = rules.shape(body, path);
    rules.material(*body.find("material"), path + ".material", nullptr);
    resolve_initial(body, path, rules);
    rules.transform(body, path + ".transform", dimension);
    rules.velocities(body, path, dimension);
    std::vector<std::string> regions;
    Value* list = body.find("region");
    for (std::size_t i = 0; list && i < list->items.size(); ++i)
      resolve_region(list->items[i], fmt::format("{}.region.{}", path, i), regions, body["material"], rules);
    rules.loads(body, path, regions, dimension);
    rules.handles(body, path, regions, dimension);
  }

  Expected<std::vector<Polymorphic<matter::Body>>> build(const Scene& scene, const step::Model& /*world*/) const override {
    return build_solids(bodies_of(*this, scene.resolved));
  }

  void check(Checking& checking) const override { check_solids(*this, checking); }

  bool has_fingerprint() const override { return true; }
  std::vector<double> fingerprint(const matter::Body& body) const override {
    return solid_fingerprint(dynamic_cast<const matter::SolidBody&>(body));
  }
};

}  // namespace

const Kind& solid_kind() {
  static const SolidKind kind;
  return kind;
}

}  // namespace lope::scene
