#include <lope/material/registry.h>
#include <lope/scene/checking.h>
#include <lope/scene/keys.h>
#include <lope/scene/kinds/mpm.h>
#include <lope/scene/kinds/mpm_build.h>
#include <lope/scene/kinds/mpm_presets.h>
#include <lope/scene/particle_words.h>
#include <lope/scene/presets.h>
#include <lope/scene/rules.h>
#include <lope/scene/vocabulary.h>

#include <algorithm>
#include <array>
#include <numbers>

#include <fmt/core.h>

namespace lope::scene {

using namespace key_words;

namespace {

// Those that need nothing of an objective that material points do not have.
constexpr std::array<std::string_view, 11> usable_methods{
    "auto",   "newton",         "newton-pcg", "newton-pcg-mf", "newton-mgpcg", "hot",
    "gast15", "gast15-printed", "lbfgs-h",    "lbfgs-cg",      "lbfgs-jacobi"};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

void add_point_material(std::vector<Key>& keys) {
  keys.push_back(table("body[].material")
                     .by_default("{ preset = \"soft\" }")
                     .short_for("preset")
                     .says("What it is made of: a preset name, or a table."));
  const std::string path = "body[].material";
  keys.push_back(choice(path + ".preset", point_preset_names()).says("A real material by name."));
  keys.push_back(choice(path + ".model", names_of(material::densities()))
                     .says("The elastic energy density. Default: that of the preset, otherwise fixed-corotated."));
  keys.push_back(quantity(path + ".young", Dimension::Pressure).within(positive).says("Young's modulus; from the preset unless given."));
  keys.push_back(number(path + ".poisson").within({-1, 0.5, true, true}).says("Poisson's ratio; from the preset unless given."));
  keys.push_back(quantity(path + ".density", Dimension::Density).within(positive).says("Mass per volume; from the preset unless given."));
  keys.push_back(choice(path + ".flow", names_of(material::flows())).says("How it yields. Default: that of the preset, otherwise none."));
  keys.push_back(quantity(path + ".yield", Dimension::Pressure).within(positive).says("von-mises, bingham: the yield stress in tension."));
  keys.push_back(number(path + ".viscosity").within(positive).says("bingham: viscosity of the flow, Pa s."));
  keys.push_back(number(path + ".compression").within({0, 1, false, true}).says("snow: the compression at which it yields, as a part of length."));
  keys.push_back(number(path + ".stretch").within({0, 1, false, true}).says("snow: the stretch at which it yields."));
  keys.push_back(number(path + ".hardening").within(at_least_zero).says("snow: how much compression hardens it and stretch softens it, an exponent."));
  keys.push_back(quantity(path + ".friction_angle", Dimension::Angle).within({0, std::numbers::pi / 2, true, true}).says("sand: the angle of internal friction."));
}

// Which constants a rule of flow has.
std::vector<const char*> constants_of(material::Flow flow) {
  switch (flow) {
    case material::Flow::None:
      return {};
    case material::Flow::VonMises:
      return {"yield"};
    case material::Flow::Bingham:
      return {"yield", "viscosity"};
    case material::Flow::Snow:
      return {"compression", "stretch", "hardening"};
    case material::Flow::DruckerPrager:
      return {"friction_angle"};
  }
  return {};
}

double constant(const material::Plasticity& of, std::string_view name) {
  if (name == "yield") return of.yield;
  if (name == "viscosity") return of.viscosity;
  if (name == "compression") return of.compression;
  if (name == "stretch") return of.stretch;
  return name == "hardening" ? of.hardening : of.friction_angle;
}

// Fills in what the preset says.
void resolve_material(Value& material, const std::string& path, Rules& rules) {
  PointPreset preset{"", material::Density::FixedCorotated, 0, 0, 0, {}, ""};
  const bool named = material.has("preset");
  if (named) {
    const std::string& name = material.text_at("preset");
    if (const PointPreset* own = find_point_preset(name)) {
      preset = *own;
    } else {
      const MaterialPreset& elastic = *find_preset(name);
      preset.young = elastic.young;
      preset.poisson = elastic.poisson;
      preset.density = elastic.density;
    }
  }
  const auto fill = [&](const char* key, double value) {
    if (material.has(key)) return;
    if (named) material.set(key, Value::of(value));
    else rules.complain(material, path + "." + key, "is missing; give a preset, or young, poisson and density");
  };
  fill("young", preset.young);
  fill("poisson", preset.poisson);
  fill("density", preset.density);
  if (!material.has("model")) material.set("model", Value::of(std::string(material::entry(preset.model).name)));
  const bool own_flow = material.has("flow");
  const auto flow_name = [](material::Flow flow) {
    const auto all = material::flows();
    return std::string(std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.flow == flow; })->name);
  };
  if (!own_flow) material.set("flow", Value::of(flow_name(preset.plasticity.flow)));
  const material::Flow flow = material::find_flow(material.text_at("flow"))->flow;
  if (flow == material::Flow::DruckerPrager && material.text_at("model") != "stvk-hencky")
    rules.complain(material, path + ".model", "sand needs model = \"stvk-hencky\"");
  const auto wanted = constants_of(flow);
  for (const char* key : {"yield", "viscosity", "compression", "stretch", "hardening", "friction_angle"}) {
    const bool used = std::find_if(wanted.begin(), wanted.end(), [&](const char* other) { return std::string_view(other) == key; }) != wanted.end();
    if (!used && material.has(key))
      rules.complain(material[key], path + "." + key, fmt::format("has no meaning with flow = \"{}\"", material.text_at("flow")));
    if (used && !material.has(key)) {
      if (flow == preset.plasticity.flow) material.set(key, Value::of(constant(preset.plasticity, key)));
      else rules.complain(material, path + "." + key, fmt::format("is missing; flow = \"{}\" needs it", material.text_at("flow")));
    }
  }
}

void resolve_handles(Value& body, const std::string& path, Rules& rules, int dimension) {
  rules.handles(body, path, {}, dimension);
  const Value* handles = body.find("handle");
  for (std::size_t i = 0; handles && i < handles->items.size(); ++i) {
    for (const char* key : {"vertices", "tag"}) {
      const Value& where = handles->items[i]["where"];
      if (where.has(key))
        rules.complain(where[key], fmt::format("{}.handle.{}.where.{}", path, i, key),
                       "means the numbers of a mesh, and material points have none; give a place");
    }
  }
}

void resolve_jet(const Value& body, const Value& jet, const std::string& path, Rules& rules) {
  if (body.vector_at("velocity").isZero(0)) rules.complain(body, path + ".velocity", "is missing; a jet needs it");
  if (!body.vector_at("angular_velocity").isZero(0))
    rules.complain(body["angular_velocity"], path + ".angular_velocity", "has no meaning for a jet");
  if (body.has("handle")) rules.complain(body["handle"], path + ".handle", "has no meaning for a jet: its points are not there at the start");
  if (jet.has("end") && jet.number_at("end") <= jet.number_at("begin"))
    rules.complain(jet["end"], path + ".jet.end", "must be later than begin");
}

void resolve_look(Value& body, const std::string& path, Rules& rules, int dimension) {
  if (dimension == 2 && body.has("shown") && body.text_at("shown") == "surface")
    rules.complain(body["shown"], path + ".shown", "surfaces are drawn in space only");
  if (body.has("shown")) return;
  const std::string& flow = body["material"].text_at("flow");
  body.set("shown",
           Value::of(std::string(dimension == 2 || flow == "snow" || flow == "sand" ? "points" : "surface")));
}

class MpmKind final : public Kind {
 public:
  std::string_view word() const override { return "mpm"; }
  std::string_view called() const override { return "a body of material points"; }
  std::string_view meaning() const override {
    return "a place that is full of material points at the start: snow, sand, metal, jelly; `[mpm]` says the rest";
  }
  std::string_view smaller_by() const override { return "larger cells"; }
  Concerns concerns() const override { return {.minimizer = true, .scheme = false, .contact = true}; }
  std::vector<KindField> fields() const override {
    return {{"speed", 1, true}, {"velocity", 3, true}, {"plastic", 1, true}, {"part", 1, true}};
  }

  void add_body_keys(std::vector<Key>& keys) const override {
    add_body_shape(keys, {.lattices = false});
    add_body_transform(keys);
    add_point_material(keys);
    keys.push_back(number("body[].particles")
                       .within({1, 1000, false, false})
                       .by_default("8.0")
                       .says("Material points per cell, about: it decides how far apart they are (docs/material_points.md)."));
    add_body_velocity(keys);
    add_body_handles(keys);
    keys.push_back(table("body[].jet")
                       .says("Instead of being full once, at the start, its shape is filled again whenever `velocity` has carried the last "
                             "filling out of it."));
    keys.push_back(quantity("body[].jet.begin", Dimension::Time).within(at_least_zero).by_default("0.0").says("From when on."));
    keys.push_back(quantity("body[].jet.end", Dimension::Time).within(positive).says("Until when. Default: for ever."));
    add_body_copies(keys);
    add_body_color(keys);
    keys.push_back(choice("body[].shown", {"points", "surface"})
                       .free_to_change()
                       .says("In pictures: as balls, or, in space, as a surface around its points. Default: "
                             "a surface, but balls for "
                             "snow, sand and in the plane."));
  }

  void add_tables(std::vector<Key>& keys) const override {
    keys.push_back(table("mpm").says("Material points: what all bodies of kind mpm share. They feel each other through the grid."));
    keys.push_back(text("mpm.name").by_default("\"points\"").says("Its name in messages and files: one set of particles."));
    keys.push_back(quantity("mpm.cell", Dimension::Length).within(positive).required().says("Side of a cell of the grid."));
    keys.push_back(choice("mpm.scheme", {"implicit", "explicit"})
                       .by_default("\"implicit\"")
                       .says("Backward Euler, each substep a minimisation; or symplectic Euler with as many substeps as sound needs."));
    keys.push_back(choice("mpm.flow", {"within", "after"})
                       .by_default("\"within\"")
                       .says("When matter yields in an implicit substep: within its minimisation where the law allows that (von-mises, "
                             "bingham and sand with stvk-hencky), or always after it, as in HOT: then what flows freely creeps."));
    add_transfer(keys, "mpm", "0.95");
    keys.push_back(choice("mpm.positions", {"forward", "backward"})
                       .by_default("\"forward\"")
                       .says("Points move with the grid's velocity where they are, or where they will be at the end of the substep (backward "
                             "Euler, OPT §6.3): then those outside obstacles never end inside one."));
    keys.push_back(number("mpm.cfl").within({0, 1, true, false}).by_default("0.6").says("Cells that the fastest particle may cross in a substep."));
    keys.push_back(quantity("mpm.largest_substep", Dimension::Time).within(positive).says("Substeps are no longer than this. Default: as long as `cfl` allows."));
    keys.push_back(choice("mpm.embedding", {"linear", "quadratic"})
                       .by_default("\"linear\"")
                       .says("Of nodes in the coarser grids of multigrid (hot, newton-mgpcg): the weights of linear interpolation, or, for "
                             "comparison, of quadratic splines, whose coarser matrices are fuller."));
    add_seed(keys, "mpm");
    keys.push_back(choice("obstacle[].boundary", {"sticky", "slip", "separating"})
                       .by_default("\"separating\"")
                       .says("For material points: they stick to it, slide along it and never leave, or slide (with `friction`) and may leave."));
  }

  void resolve_body(Value& body, const std::string& path, Rules& rules) const override {
    const int dimension = rules.shape(body, path);
    resolve_material(*body.find("material"), path + ".material", rules);
    rules.transform(body, path + ".transform", dimension);
    rules.velocities(body, path, dimension);
    resolve_handles(body, path, rules, dimension);
    if (const Value* jet = body.find("jet")) resolve_jet(body, *jet, path, rules);
    resolve_look(body, path, rules, dimension);
  }

  void resolve_tables(Value& root, Rules& rules) const override {
    Value* table = root.find("mpm");
    if (!is_in(root)) {
      if (table) rules.complain(*table, "mpm", "there is no body with kind = \"mpm\"");
      if (Value* obstacles = root.find("obstacle")) {
        for (std::size_t i = 0; i < obstacles->items.size(); ++i)
          rules.drop(obstacles->items[i], fmt::format("obstacle.{}", i), {"boundary"}, "has a meaning only for material points");
      }
      return;
    }
    if (!table) return rules.complain(root, "mpm", "is missing; a scene with material points needs it: [mpm] with cell = 0.02, say");
    resolve_particles(*table, "mpm", rules);
    const Value& method = root["solver"]["method"];
    if (std::find(usable_methods.begin(), usable_methods.end(), method.text) == usable_methods.end())
      rules.complain(method, "solver.method", fmt::format("'{}' cannot do material points; use auto, hot or newton-mgpcg, say", method.text));
  }

  // One set of particles, whose parts are the bodies.
  std::vector<BodySettings> settings(const Value& resolved) const override {
    const auto bodies = bodies_of(*this, resolved);
    BodySettings made{resolved["mpm"].text_at("name"), bodies.front()->integer_at("dimension"), std::nullopt};
    for (const Value* body : bodies)
      made.part_colors.push_back(body->has("color") ? std::optional(color_of((*body)["color"])) : std::nullopt);
    made.color = made.part_colors.front();
    return {std::move(made)};
  }

  Expected<std::vector<Polymorphic<matter::Body>>> build(const Scene& scene, const step::Model& /*world*/) const override {
    Expected<matter::MpmBody> body = build_mpm(scene.resolved, scene.duration);
    if (!body) return forward_error(body);
    std::vector<Polymorphic<matter::Body>> bodies;
    bodies.emplace_back(std::move(*body));
    return bodies;
  }

  void check(Checking& checking) const override { check_mpm(*this, checking); }
};

}  // namespace

const Kind& mpm_kind() {
  static const MpmKind kind;
  return kind;
}

}  // namespace lope::scene
