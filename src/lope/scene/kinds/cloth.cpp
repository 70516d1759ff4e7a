#include <lope/scene/checking.h>
#include <lope/scene/keys.h>
#include <lope/scene/kinds/cloth.h>
#include <lope/scene/kinds/cloth_build.h>
#include <lope/scene/kinds/cloth_panels.h>
#include <lope/scene/kinds/cloth_presets.h>
#include <lope/scene/rules.h>
#include <lope/scene/vocabulary.h>
#include <lope/scene/weighted_sum.h>

#include <cmath>

#include <fmt/core.h>

namespace lope::scene {

using namespace key_words;

namespace {

std::string preset_sentence() {
  std::string words = "A fabric by name:";
  for (const ClothPreset& preset : cloth_presets()) words += fmt::format(" {} ({});", preset.name, preset.source);
  words.back() = '.';
  return words;
}

void add_material_keys(std::vector<Key>& keys) {
  const std::string path = "body[].material";
  std::vector<std::string> names;
  for (const ClothPreset& preset : cloth_presets()) names.emplace_back(preset.name);
  keys.push_back(table(path)
                     .by_default("{ preset = \"cotton\" }")
                     .short_for("preset")
                     .says("What it is made of: a preset name, or a table."));
  keys.push_back(choice(path + ".preset", names).says(preset_sentence()));
  keys.push_back(choice(path + ".model", {"corotated", "stvk"})
                     .by_default("\"corotated\"")
                     .says("The membrane: linear in the stretches, or in the squares of the stretches (Saint "
                           "Venant–Kirchhoff)."));
  const auto constant = [&](const char* name, Dimension dimension, Range range, std::string meaning) {
    keys.push_back(quantity(path + "." + name, dimension).within(range).says(std::move(meaning)));
  };
  // One number along the warp and one along the weft.
  const auto along_both = [&](const std::string& warp, const std::string& weft, Dimension dimension, Range range,
                              const std::string& meaning) {
    constant(warp.c_str(), dimension, range, meaning + "; from the preset unless given.");
    constant(weft.c_str(), dimension, range,
             fmt::format("The same along the weft. Default: that of the preset, or `{}` where that is given.", warp));
  };
  constant("weight", Dimension::AreaDensity, positive, "Mass per area; from the preset unless given.");
  along_both("warp", "weft", Dimension::Stiffness, positive,
             "Force per width and strain along the warp, the other direction free");
  constant("poisson", Dimension::Number, {-0.9, 0.9, false, false},
           "How much one direction narrows when the other is stretched (of the two the geometric mean); from the "
           "preset unless given.");
  constant("shear", Dimension::Stiffness, positive, "Force per width and shear angle; from the preset unless given.");
  along_both("bend_warp", "bend_weft", Dimension::Torque, at_least_zero,
             "Bending stiffness: torque per width and curvature, N·m");
  keys.push_back(choice(path + ".bending", {"quadratic", "dihedral", "curved"})
                     .by_default("\"quadratic\"")
                     .says("Flat at rest, the cheapest; by the angles between triangles, flat at rest; by the angles, with those "
                           "of the mesh at rest."));
  keys.push_back(quantity(path + ".grain", Dimension::Angle)
                     .by_default("0.0")
                     .says("Of the warp, from the first material coordinate (x of rectangle and disc, around "
                           "tube and funnel opposite to their seam, u of a mesh file)."));
  keys.push_back(number(path + ".stretch_limit")
                     .within(positive)
                     .says("Strain from which the cloth becomes much stiffer. Default: never."));
}

void resolve_material(Value& material, const std::string& path, Rules& rules) {
  const bool given = material.has("preset");
  const ClothPreset* preset = given ? find_cloth_preset(material.text_at("preset")) : nullptr;
  const auto fill = [&](const char* key, double of_preset, const char* like) {
    if (material.has(key)) return;
    if (like && material.has(like) && !preset) {
      material.set(key, Value::of(material.number_at(like)));
    } else if (preset) {
      material.set(key, Value::of(of_preset));
    } else {
      rules.complain(material, path, fmt::format("needs a preset, or {}", key));
      material.set(key, Value::of(1.0));
    }
  };
  fill("weight", preset ? preset->weight : 0, nullptr);
  fill("warp", preset ? preset->warp : 0, nullptr);
  fill("weft", preset ? preset->weft : 0, "warp");
  if (!material.has("poisson")) material.set("poisson", Value::of(preset ? preset->poisson : 0.2));
  fill("shear", preset ? preset->shear : 0, nullptr);
  fill("bend_warp", preset ? preset->bend_warp : 0, nullptr);
  fill("bend_weft", preset ? preset->bend_weft : 0, "bend_warp");
}

void add_look_keys(std::vector<Key>& keys) {
  const std::string pattern = "body[].pattern";
  keys.push_back(entry("body[].back_color", Type::Color)
                     .free_to_change()
                     .says("In pictures, of the side from which its triangles are clockwise. Default: like "
                           "the other side."));
  keys.push_back(table(pattern).free_to_change().says(
      "In pictures, on the other side: what is woven or printed on it, along warp and weft."));
  keys.push_back(
      choice(pattern + ".kind", {"stripes", "checks", "weave"})
          .required()
          .free_to_change()
          .says("Bands along the weft; bands along both; threads that go over and under each other."));
  keys.push_back(quantity(pattern + ".width", Dimension::Length)
                     .within(positive)
                     .required()
                     .free_to_change()
                     .says("Of a band or a thread."));
  keys.push_back(entry(pattern + ".color", Type::Color)
                     .by_default("\"ivory\"")
                     .free_to_change()
                     .says("Of every other band, or of the threads along the warp."));
}

void resolve_shape(Value& shape, Value& body, const std::string& path, Rules& rules) {
  auto& [word, what] = shape.members.front();
  if (word == "mesh") {
    rules.resolve_file(what);
    rules.drop(body, path, {"edge"}, "has no meaning for mesh files, which are taken as they are");
  } else {
    rules.drop(body, path, {"uv_unit"}, "has a meaning only with a mesh file");
  }
  if (word == "rectangle" && what.vector_at("size").head<2>().minCoeff() <= 0)
    rules.complain(what["size"], path + ".shape.rectangle.size", "needs two edge lengths greater than 0");
}

class ClothKind final : public Kind {
 public:
  std::string_view word() const override { return "cloth"; }
  std::string_view called() const override { return "a cloth"; }
  std::string_view meaning() const override {
    return "a sheet that resists stretching and bending; it meets itself and other bodies with `model = \"barrier\"` in `[contact]`";
  }
  std::string_view smaller_by() const override { return "a longer edge"; }
  Concerns concerns() const override { return {.minimizer = true, .scheme = true, .contact = true}; }
  std::vector<KindField> fields() const override {
    return {{"speed", 1, true},    {"displacement", 3, true},  {"velocity", 3, true},
            {"residual", 1, true}, {"contact_force", 1, true}, {"von_mises", 1, false},
            {"stretch", 1, false}, {"compression", 1, false}};
  }

  void add_body_keys(std::vector<Key>& keys) const override {
    const std::string shape = "body[].shape";
    keys.push_back(integer("body[].dimension").within({3, 3, false, false}).says("3: cloth moves in space."));
    keys.push_back(
        table(shape).says("The undeformed shape, unless there are panels: before its transform in the plane "
                          "of x and y, or around the y axis."));
    keys.push_back(table(shape + ".rectangle").alternative().says("A rectangle."));
    keys.push_back(vector(shape + ".rectangle.size", Dimension::Length)
                       .within(at_least_zero)
                       .required()
                       .says("Its two edge lengths, greater than 0."));
    keys.push_back(table(shape + ".disc").alternative().says("A disc."));
    keys.push_back(quantity(shape + ".disc.radius", Dimension::Length).within(positive).required().says("Its radius."));
    keys.push_back(table(shape + ".tube")
                       .alternative()
                       .says("A cylinder's wall around the y axis, closed by a seam; flat when free."));
    keys.push_back(
        quantity(shape + ".tube.radius", Dimension::Length).within(positive).required().says("Its radius."));
    keys.push_back(
        table(shape + ".funnel")
            .alternative()
            .says("A cut-off cone around the y axis, open at both ends, closed by a seam; flat when free."));
    for (const char* end : {"bottom", "top"}) {
      keys.push_back(quantity(fmt::format("{}.funnel.{}_radius", shape, end), Dimension::Length)
                         .within(positive)
                         .required()
                         .says(fmt::format("Its radius at the {}.", end)));
    }
    for (const char* word : {"tube", "funnel"}) {
      keys.push_back(quantity(fmt::format("{}.{}.length", shape, word), Dimension::Length)
                         .within(positive)
                         .required()
                         .says("Its height along the axis."));
    }
    for (const char* word : {"rectangle", "disc", "tube", "funnel"}) {
      keys.push_back(vector(shape + "." + word + ".center", Dimension::Length)
                         .by_default("[0.0, 0.0, 0.0]")
                         .says("Where its centre is."));
    }
    keys.push_back(text(shape + ".mesh")
                       .alternative()
                       .says("An OBJ file, relative to the scene file: its texture coordinates (UV) say what "
                             "it is when flat, in one "
                             "or more patches. A flat one needs none; a curved one without is flattened."));
    add_panel_keys(keys);
    keys.push_back(quantity("body[].uv_unit", Dimension::Length)
                       .within(positive)
                       .says("With a mesh: the length of one unit of its texture coordinates. Default: so that the cloth has the "
                             "same area flat as in space."));
    keys.push_back(quantity("body[].edge", Dimension::Length)
                       .within(positive)
                       .says("Wanted edge length of the triangles before the transform. Default: 1/60 of the larger extent. Mesh "
                             "files are taken as they are."));
    add_rigid_transform(keys, "body[].transform");
    keys.push_back(number("body[].transform.scale")
                       .within(positive)
                       .says("Before all else: scales about the origin, the flat shape too."));
    add_material_keys(keys);
    keys.push_back(table("body[].air").by_default("{}").says("The air around it, which pushes it along the normals of its triangles."));
    keys.push_back(number("body[].air.drag")
                       .within(at_least_zero)
                       .by_default("0.0")
                       .says("Drag coefficient of a plate across the wind, about 2; 0: no air. Not with scheme = \"static\"."));
    keys.push_back(vector("body[].air.wind", Dimension::Velocity).by_default("[0.0, 0.0, 0.0]").says("Velocity of the air."));
    keys.push_back(quantity("body[].air.density", Dimension::Density).within(positive).by_default("1.2").says("Of the air."));
    add_body_velocity(keys);
    add_body_damping(keys);
    add_body_contact(keys);
    keys.push_back(quantity("body[].thickness", Dimension::Length)
                       .within(positive)
                       .says("With barriers: how far layers of the cloth keep apart. Default: `contact.thickness`."));
    add_body_color(keys);
    add_look_keys(keys);
    add_body_handles(keys);
    add_body_loads(keys);
  }

  void resolve_body(Value& body, const std::string& path, Rules& rules) const override {
    body.set("dimension", integer_value(3));
    if (body.has("shape") == body.has("panel"))
      rules.complain(
          body, path,
          body.has("panel") ? "has a shape and panels; keep one of them" : "needs a shape or panels");
    if (Value* shape = body.find("shape")) resolve_shape(*shape, body, path, rules);
    resolve_panels(body, path, rules);
    resolve_material(*body.find("material"), path + ".material", rules);
    const Value& air = body["air"];
    if (air.number_at("drag") == 0 && air.vector_at("wind").norm() > 0)
      rules.complain(air, path + ".air", "wind needs a drag coefficient: drag = 2");
    rules.transform(body, path + ".transform", 3);
    rules.velocities(body, path, 3);
    rules.loads(body, path, {}, 3);
    rules.handles(body, path, {}, 3);
  }

  void resolve_tables(Value& root, Rules& rules) const override {
    if (!is_in(root)) return;
    const Value& contact = root["contact"];
    if (contact.has("model") && contact.text_at("model") == "barrier") return;
    for (const Value* body : bodies_of(*this, root)) {
      if (body->has("self_contact") && body->boolean_at("self_contact"))
        rules.complain((*body)["self_contact"], "body.self_contact", "cloth touches itself with contact.model = \"barrier\" only");
    }
  }

  std::vector<BodySettings> settings(const Value& resolved) const override {
    std::vector<BodySettings> all = Kind::settings(resolved);
    const std::vector<const Value*> bodies = bodies_of(*this, resolved);
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      if (bodies[b]->has("back_color")) all[b].back_color = color_of((*bodies[b])["back_color"]);
      const Value* pattern = bodies[b]->find("pattern");
      if (pattern)
        all[b].pattern = {pattern->text_at("kind"), pattern->number_at("width"),
                          color_of((*pattern)["color"])};
    }
    return all;
  }

  Expected<std::vector<Polymorphic<matter::Body>>> build(const Scene& scene, const step::Model& world) const override {
    return build_cloths(bodies_of(*this, scene.resolved), world);
  }

  void check(Checking& checking) const override {
    if (is_in(checking.scene.resolved) && checking.model.bodies.size() > 1 &&
        checking.model.body_contact.model != step::BodyContactModel::Barrier)
      checking.warn("cloth goes through other bodies unless contact.model = \"barrier\"");
    for (const matter::ClothBody& body : each<matter::ClothBody>(checking.model.bodies)) {
      if (const int pieces = geometry::sheet_pieces(body.sheet); pieces > 1)
        checking.warn("body '{}': consists of {} separate pieces", body.name, pieces);
      const std::size_t scripted = checking.handles(body);
      const double mass = mass_of(body);
      checking.report.bodies.push_back(
          {body.name,
           fmt::format("body '{}': {:.4g} kg, {} scripted vertices. {} vertices, {} triangles", body.name, mass, scripted,
                       body.sheet.vertices.size(), body.sheet.triangles.size()),
           "",
           {{"mass", mass}, {"elements", static_cast<double>(body.sheet.triangles.size())}}});
      checking.count_nodes(*this, body, body.sheet.triangles.size());
      // Thirteen blocks a row; the factor of a plane mesh.
      const auto vertices = static_cast<double>(body.sheet.vertices.size());
      checking.report.memory.elements += 2 * vertices * 500 + 24 * vertices * 24;
      checking.report.memory.matrix += 13 * vertices * 76;
      checking.report.memory.factor += 7.75 * vertices * std::log2(std::max(2.0, vertices)) * 72;
    }
  }

  bool has_fingerprint() const override { return true; }
  std::vector<double> fingerprint(const matter::Body& body) const override {
    const auto& cloth = dynamic_cast<const matter::ClothBody&>(body);
    WeightedSum shape, flat, elements, handles;
    for (const Vec3& vertex : cloth.sheet.vertices) {
      for (const double coordinate : vertex) shape.add(coordinate);
    }
    for (const Vec2& vertex : cloth.sheet.flat) {
      for (const double coordinate : vertex) flat.add(coordinate);
    }
    for (const geometry::Triangle& triangle : cloth.sheet.triangles) {
      for (const int i : triangle) elements.add(i);
    }
    for (const matter::Handle& handle : cloth.handles) {
      for (const int i : handle.vertices) handles.add(i);
    }
    return {static_cast<double>(cloth.sheet.vertices.size()), shape.value(), flat.value(), elements.value(), handles.value(),
            static_cast<double>(cloth.handles.size())};
  }
};

}  // namespace

const Kind& cloth_kind() {
  static const ClothKind kind;
  return kind;
}

}  // namespace lope::scene
