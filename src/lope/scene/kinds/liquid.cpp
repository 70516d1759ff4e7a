#include <lope/matter/liquid/pressure_methods.h>
#include <lope/scene/keys.h>
#include <lope/scene/kinds/liquid.h>
#include <lope/scene/kinds/liquid_build.h>
#include <lope/scene/kinds/liquid_check.h>
#include <lope/scene/particle_words.h>
#include <lope/scene/rules.h>
#include <lope/scene/vocabulary.h>

#include <fmt/core.h>

namespace lope::scene {

using namespace key_words;

namespace {

void resolve_emitter(Value& emitter, std::size_t index, int dimension, Rules& rules) {
  const std::string path = fmt::format("emitter.{}", index);
  if (!emitter.has("name")) emitter.set("name", Value::of(fmt::format("emitter{}", index)));
  const auto& [word, shape] = emitter["shape"].members.front();
  if (word == "box") rules.box(shape, path + ".shape.box", dimension == 2);
  if (word == "half_space") rules.complain(shape, path + ".shape.half_space", "has no end; give a shape that has one");
  if (emitter.has("end") && emitter.number_at("end") <= emitter.number_at("begin"))
    rules.complain(emitter["end"], path + ".end", "must be later than begin");
  if (dimension == 2) rules.flat_vector(emitter["velocity"], path + ".velocity");
  rules.transform(emitter, path + ".transform", dimension);
}

std::vector<std::string> solver_words() {
  std::vector<std::string> words = {"auto"};
  for (const matter::PressureMethodInfo& info : matter::pressure_methods()) words.emplace_back(info.name);
  return words;
}

class LiquidKind final : public Kind {
 public:
  std::string_view word() const override { return "liquid"; }
  std::string_view called() const override { return "a liquid"; }
  std::string_view meaning() const override {
    return "a place that is full of liquid at the start; `[liquid]` says the rest";
  }
  std::string_view other_sources() const override { return "an [[emitter]] of liquid"; }
  std::string_view tolerance_key() const override { return "liquid.tolerance"; }
  std::string_view smaller_by() const override { return "larger cells"; }
  Concerns concerns() const override { return {}; }
  bool has_volumes(int dimension) const override { return dimension == 3; }
  bool shown_through_glass() const override { return true; }
  std::vector<KindField> fields() const override {
    return {{"speed", 1, true}, {"velocity", 3, true}, {"cells", 9, false, false}};
  }
  std::string_view instead_of(std::string_view key) const override {
    if (key == "material") return "; see liquid.density";
    if (key == "color") return "; see liquid.color";
    return key == "initial" ? ", which starts where its shape is" : "";
  }

  void add_body_keys(std::vector<Key>& keys) const override {
    add_body_shape(keys, {.lattices = false});
    add_body_transform(keys);
    add_body_velocity(keys);
    add_body_copies(keys);
  }

  void add_tables(std::vector<Key>& keys) const override {
    keys.push_back(table("liquid").says("The liquid: what its bodies and emitters have in common."));
    keys.push_back(
        text("liquid.name").by_default("\"liquid\"").says("Its name in messages and files: one set of particles."));
    keys.push_back(integer("liquid.dimension")
                       .within({2, 3, false, false})
                       .says("3, or 2 in the plane z = 0. Default: that of the bodies, 3 without any."));
    keys.push_back(integer("liquid.resolution")
                       .within({4, 4096, false, false})
                       .says("Cells along the largest extent of the domain, the container or what is full at the "
                             "start (the first of these that is given). Default: 64."));
    keys.push_back(
        quantity("liquid.cell", Dimension::Length).within(positive).says("Side of a cell, instead of `resolution`."));
    keys.push_back(quantity("liquid.density", Dimension::Density)
                       .within(positive)
                       .by_default("1000.0")
                       .says("Mass per volume. In 2D: for a depth of one metre."));
    keys.push_back(choice("liquid.walls", {"separating", "sticking"})
                       .by_default("\"separating\"")
                       .says("Whether the liquid may let go of walls and ceilings (LCP), or moves along them until it "
                             "falls off at their end. It slides freely along walls in both."));
    add_transfer(keys, "liquid", "0.97");
    keys.push_back(integer("liquid.particles")
                       .within({1, 4, false, false})
                       .by_default("2")
                       .says("Particles of a cell along each axis."));
    keys.push_back(number("liquid.cfl")
                       .within({0, 5, true, false})
                       .by_default("2.0")
                       .says("Cells that the fastest particle may cross in a substep; a step has as many substeps as "
                             "that needs."));
    keys.push_back(choice("liquid.solver", solver_words())
                       .free_to_change()
                       .by_default("\"auto\"")
                       .says("Of the pressure, by the words of `lope bench lcp` ([what they are](complementarity.md#in-a-liquid)). `auto`: the "
                             "multigrid of the grid, `truncated` where walls let go and `linear-mg` where not, and policy iteration for what it "
                             "does not finish; every other one is on its own. Those that begin with `linear` need `walls = \"sticking\"`."));
    keys.push_back(quantity("liquid.tolerance", Dimension::Velocity)
                       .free_to_change()
                       .within(positive)
                       .by_default("1e-6")
                       .says("Of the pressure: largest net flow out of a cell, per area of a face, that may "
                             "remain. Less where "
                             "less happens: a thousandth of what gravity, motion and walls do in a substep."));
    keys.push_back(table("liquid.domain")
                       .says("Particles beyond are removed, and their number is told. Default: around everything, with "
                             "a margin."));
    keys.push_back(vector("liquid.domain.min", Dimension::Length).required().says("Lowest corner."));
    keys.push_back(vector("liquid.domain.max", Dimension::Length).required().says("Highest corner."));
    add_seed(keys, "liquid");
    keys.push_back(entry("liquid.color", Type::Color).free_to_change().by_default("\"#3d7fc4\"").says("In pictures."));

    keys.push_back(entry("emitter", Type::TableList)
                       .says("Shapes that are kept full of moving liquid, each with its own `[[emitter]]`."));
    keys.push_back(text("emitter[].name").says("Its name in messages and `--set`. Default: emitter0, …"));
    keys.push_back(table("emitter[].shape").required().says("One of the words below."));
    add_formula_shapes(keys, "emitter[].shape");
    add_rigid_transform(keys, "emitter[].transform");
    keys.push_back(vector("emitter[].velocity", Dimension::Velocity).required().says("Of the liquid in it."));
    keys.push_back(
        quantity("emitter[].begin", Dimension::Time).within(at_least_zero).by_default("0.0").says("From when on."));
    keys.push_back(quantity("emitter[].end", Dimension::Time).within(positive).says("Until when. Default: for ever."));
  }

  bool is_in(const Value& root) const override { return root.has("emitter") || Kind::is_in(root); }

  void resolve_body(Value& body, const std::string& path, Rules& rules) const override {
    const int dimension = rules.shape(body, path);
    rules.transform(body, path + ".transform", dimension);
    rules.velocities(body, path, dimension);
  }

  void resolve_tables(Value& root, Rules& rules) const override {
    Value* table = root.find("liquid");
    if (!is_in(root) || !table) {
      if (is_in(root))
        rules.complain(root, "liquid", "is missing; a scene with liquid needs it: [liquid] with resolution = 64, say");
      if (table) rules.complain(*table, "liquid", "there is no body with kind = \"liquid\" and no [[emitter]]");
      return;
    }
    const int given = table->has("dimension") ? table->integer_at("dimension") : 0;
    if (given && root.items_at("body").empty()) rules.scene_dimension = given;
    const int dimension = rules.scene_dimension;
    if (given && given != dimension)
      rules.complain((*table)["dimension"], "liquid.dimension", fmt::format("the bodies have {}", dimension));
    table->set("dimension", integer_value(dimension));
    if (table->has("resolution") && table->has("cell"))
      rules.complain(*table, "liquid", "has resolution and cell; keep one of them");
    if (!table->has("resolution") && !table->has("cell")) table->set("resolution", integer_value(64));
    resolve_particles(*table, "liquid", rules);
    const auto* solver = matter::find_pressure_method(table->text_at("solver"));
    if (solver && solver->linear && table->text_at("walls") == "separating") {
      rules.complain((*table)["solver"], "liquid.solver",
                     fmt::format("'{}' does not let the liquid go of walls; take walls = \"sticking\" with it, or another solver",
                                 solver->name));
    }
    if (const Value* domain = table->find("domain")) {
      const Vec3 extent = domain->vector_at("max") - domain->vector_at("min");
      if (extent.head<2>().minCoeff() <= 0 || (dimension == 3 && extent.z() <= 0))
        rules.complain(*domain, "liquid.domain", "max must be greater than min");
    }
    if (Value* emitters = root.find("emitter")) {
      for (std::size_t i = 0; i < emitters->items.size(); ++i) resolve_emitter(emitters->items[i], i, dimension, rules);
    }
  }

  // One set of particles, whatever it came from.
  std::vector<BodySettings> settings(const Value& resolved) const override {
    const Value& liquid = resolved["liquid"];
    return {{liquid.text_at("name"), liquid.integer_at("dimension"), color_of(liquid["color"])}};
  }

  Expected<std::vector<Polymorphic<matter::Body>>> build(const Scene& scene, const step::Model& world) const override {
    Expected<matter::LiquidBody> liquid = build_liquid(scene.resolved, world.obstacles, scene.duration);
    if (!liquid) return forward_error(liquid);
    std::vector<Polymorphic<matter::Body>> bodies;
    bodies.emplace_back(std::move(*liquid));
    return bodies;
  }

  void check(Checking& checking) const override { check_liquids(checking); }
};

}  // namespace

const Kind& liquid_kind() {
  static const LiquidKind kind;
  return kind;
}

}  // namespace lope::scene
