#include <lope/base/random.h>
#include <lope/material/registry.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/presets.h>
#include <lope/scene/scene.h>
#include <lope/scene/suggest.h>
#include <lope/scene/validate.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

namespace lope::scene {
namespace {

// Of one body. All pairs of bodies are looked at.
constexpr std::int64_t most_copies = 10'000;

// What the schema cannot say: rules between keys, and defaults that depend on other keys. Works on a
// validated tree.
class Resolver {
 public:
  Resolver(Problems& problems, std::filesystem::path scene_directory)
      : problems_(problems), scene_directory_(std::move(scene_directory)) {}

  void scene(Value& root, const std::string& default_name) {
    Value& names = *root.find("scene");
    if (!names.has("name")) {
      names.set("name", Value::of(default_name));
      if (const std::string fault = name_fault(default_name); !fault.empty())
        complain(root, "scene.name", fault + "; by default it is the file's name: give another one");
    }
    duration(root["time"]);
    Value& output = *root.find("output");
    if (!output.has("directory")) output.set("directory", Value::of("runs/" + names.text_at("name")));
    std::set<std::string> taken;
    std::vector<Value> no_bodies;
    std::vector<Value>& bodies = root.has("body") ? root.find("body")->items : no_bodies;
    if (bodies.empty() && root.items_at("emitter").empty()) {
      complain(root, "body", "is missing; expected tables, each written [[body]], or an [[emitter]] of liquid");
      return;
    }
    spread_copies(bodies);
    for (std::size_t i = 0; i < bodies.size(); ++i) body(bodies[i], i, taken);
    const int dimension = liquid(root, bodies, taken);
    const bool has_solid = !std::all_of(bodies.begin(), bodies.end(), is_liquid);
    if (has_solid) {
      solver(*root.find("solver"));
      scheme(root, bodies);
    } else {
      only_liquid(root);
    }
    contact(*root.find("contact"), bodies);
    outputs(output, root.has("liquid"), has_solid, dimension);
    render(*root.find("render"), root.has("liquid"), dimension);
    if (Value* obstacles = root.find("obstacle")) {
      for (std::size_t i = 0; i < obstacles->items.size(); ++i) {
        Value& item = obstacles->items[i];
        if (!item.has("draw")) {
          const char* container = root.has("liquid") ? "glass" : "cut";
          item.set("draw", Value::of(item.boolean_at("inside") ? container : "solid"));
        }
        obstacle(item, i, taken, dimension, has_solid);
      }
    }
    for (const Value& other : bodies) {
      if (other.integer_at("dimension") == bodies[0].integer_at("dimension")) continue;
      complain(other, "body", "flat and solid bodies cannot be in one scene; give all the same dimension");
      break;
    }
  }

 private:
  void complain(const Value& value, const std::string& path, const std::string& what) {
    problems_.add(value.at, path, what);
  }

  void duration(const Value& time) {
    const double steps = time.number_at("duration") / time.number_at("step");
    if (steps <= most_steps) return;
    complain(
        time["duration"], "time.duration",
        fmt::format(
            "{:.3g} s are {:.3g} steps of {:.3g} s, and a run has at most {:g}; shorten it, or give longer "
            "steps (time.step)",
            time.number_at("duration"), steps, time.number_at("step"), most_steps));
  }

  // Keys that would not be used here: refused where somebody wrote them, dropped where they are defaults.
  void drop(Value& table, const std::string& path, std::initializer_list<const char*> keys,
            const std::string& why) {
    for (const char* key : keys) {
      const Value* value = table.find(key);
      if (!value) continue;
      if (!value->filled) complain(*value, path + "." + key, why);
      table.erase(key);
    }
  }

  // Replaces every body with `copies` by as many bodies.
  void spread_copies(std::vector<Value>& bodies) {
    std::vector<Value> spread;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (!bodies[i].has("copies")) {
        spread.push_back(bodies[i]);
        continue;
      }
      const std::string path = fmt::format("body.{}.copies", i);
      const Value copies = bodies[i]["copies"];
      const std::vector<Value>& count = copies["count"].items;
      if (count.size() != 3) {
        complain(copies["count"], path + ".count", "expected three counts, along x, y and z");
        continue;
      }
      const std::int64_t all = count[0].integer * count[1].integer * count[2].integer;
      if (all > most_copies) {
        complain(copies["count"], path + ".count",
                 fmt::format("{} copies are too many; at most {}", all, most_copies));
        continue;
      }
      const bool turned = copies.boolean_at("turned");
      if (!turned && !copies["seed"].filled) {
        complain(copies["seed"], path + ".seed", "has a meaning only with turned = true");
      }
      if (turned && bodies[i].has("transform") && bodies[i]["transform"].has("rotate")) {
        complain(copies["turned"], path + ".turned", "turns each copy at random; leave out transform.rotate");
      }
      Value pattern = bodies[i];
      pattern.erase("copies");
      const std::string name = pattern.has("name") ? pattern.text_at("name") : fmt::format("body{}", i);
      std::uint64_t number = 0;
      for (std::int64_t x = 0; x < count[0].integer; ++x) {
        for (std::int64_t y = 0; y < count[1].integer; ++y) {
          for (std::int64_t z = 0; z < count[2].integer; ++z) {
            const Vec3 shift = copies.vector_at("spacing").cwiseProduct(
                Vec3(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
            Value one = pattern;
            one.set("name", Value::of(fmt::format("{}{}", name, number)));
            if (!one.has("transform")) one.set("transform", Value::table());
            Value& transform = *one.find("transform");
            const Vec3 from =
                transform.has("translate") ? transform.vector_at("translate") : Vec3(Vec3::Zero());
            transform.set("translate", vector_value(from + shift));
            if (turned)
              transform.set("rotate",
                            random_turn(static_cast<std::uint64_t>(copies.integer_at("seed")), number));
            spread.push_back(std::move(one));
            ++number;
          }
        }
      }
    }
    bodies = std::move(spread);
  }

  static Value vector_value(const Vec3& vector) {
    Value made;
    made.kind = ValueKind::Array;
    for (const double component : vector) made.items.push_back(Value::of(component));
    return made;
  }

  static Value random_turn(std::uint64_t seed, std::uint64_t number) {
    constexpr double pi = 3.14159265358979323846;
    const double height = 2 * random_unit(seed, 3 * number) - 1,
                 around = 2 * pi * random_unit(seed, 3 * number + 1);
    const double across = std::sqrt(1 - height * height);
    Value turn = Value::table();
    turn.set("axis", vector_value({across * std::cos(around), height, across * std::sin(around)}));
    turn.set("angle", Value::of(2 * pi * random_unit(seed, 3 * number + 2)));
    return turn;
  }

  void solver(Value& solver) {
    const bool by_displacement = solver.text_at("tolerance") == "displacement";
    if (by_displacement && solver.has("epsilon")) {
      complain(solver["epsilon"], "solver.epsilon",
               "has no meaning with tolerance = \"displacement\"; set accuracy, or another tolerance");
    }
    if (!by_displacement && solver.has("accuracy")) {
      complain(
          solver["accuracy"], "solver.accuracy",
          fmt::format("has no meaning with tolerance = \"{}\"; set epsilon", solver.text_at("tolerance")));
    }
    if (!by_displacement) {
      drop(solver, "solver", {"relative_accuracy"},
           fmt::format("has no meaning with tolerance = \"{}\"; set epsilon", solver.text_at("tolerance")));
    } else if (solver.has("accuracy")) {
      drop(solver, "solver", {"relative_accuracy"}, "has no meaning with accuracy; keep one of them");
    }
  }

  void scheme(Value& root, std::vector<Value>& bodies) {
    Value& time = *root.find("time");
    if (time.text_at("scheme") != "trapezoid")
      drop(time, "time", {"dissipation"}, "has a meaning only with scheme = \"trapezoid\"");
    if (time.text_at("scheme") != "static") return;
    if (root.find("contact")->text_at("friction_model") == "gast15")
      complain((*root.find("contact"))["friction_model"], "contact.friction_model",
               "\"gast15\" changes velocities, and with scheme = \"static\" there are none; leave it out");
    if (root["solver"].text_at("method") == "admm-pd")
      complain(root["solver"]["method"], "solver.method",
               "\"admm-pd\" cannot tell where it starts from an equilibrium; choose another one with scheme = \"static\"");
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (is_liquid(bodies[i])) continue;
      drop(bodies[i], fmt::format("body.{}", i), {"velocity", "angular_velocity", "damping"},
           "has no meaning with scheme = \"static\", whose bodies have no velocities");
    }
  }

  // A scene without a solid.
  void only_liquid(Value& root) {
    const std::string why = "is about solid bodies, and there is none";
    drop(*root.find("solver"), "solver",
         {"method", "accuracy", "relative_accuracy", "tolerance", "epsilon", "start"},
         why + "; for the liquid see liquid.tolerance");
    drop(*root.find("time"), "time", {"scheme", "dissipation"}, why);
    drop(*root.find("contact"), "contact", {"start", "friction_model"}, why);
    if (Value* obstacles = root.find("obstacle")) {
      for (std::size_t i = 0; i < obstacles->items.size(); ++i) {
        drop(obstacles->items[i], fmt::format("obstacle.{}", i), {"contact", "stiffness", "friction"}, why);
      }
    }
  }

  void contact(Value& contact, const std::vector<Value>& bodies) {
    const auto count = [&](const char* key) {
      return std::count_if(bodies.begin(), bodies.end(),
                           [&](const Value& body) { return !is_liquid(body) && body.boolean_at(key); });
    };
    if (count("contact") > 1 || count("self_contact") > 0) return;
    drop(contact, "contact", {"friction", "stiffness"},
         "has a meaning only for several bodies that touch, or one with self_contact = true");
  }

  void outputs(Value& output, bool has_liquid, bool has_solid, int dimension) {
    for (const Value& format : output["formats"].items) {
      if (format.text == "vdb" && !(has_liquid && dimension == 3))
        complain(format, "output.formats", "\"vdb\" holds liquids in space, and there is none");
    }
    Value& fields = *output.find("fields");
    if (fields.filled && !has_solid) fields.items = {Value::of("speed")};
    for (const Value& field : fields.items) {
      if (field.text == "cells" && !has_liquid)
        complain(field, "output.fields", "\"cells\" are those of a liquid, and there is none");
      if (field.text != "cells" && field.text != "speed" && field.text != "velocity" && !has_solid)
        complain(field, "output.fields",
                 fmt::format("\"{}\" is a field of solid bodies, and there is none", field.text));
    }
  }

  void render(Value& render, bool has_liquid, int dimension) {
    if (render["size"].items.size() != 2) {
      complain(render["size"], "render.size", "expected two integers: width and height");
    }
    const std::string& color_by = render.text_at("color_by");
    if (has_liquid && color_by != "body" && color_by != "partition" && color_by != "speed" && color_by != "velocity") {
      complain(render["color_by"], "render.color_by",
               fmt::format("a liquid has no field \"{}\"; expected one of body, partition, speed, velocity", color_by));
    } else if (color_by == "stress") {
      render.set("color_by", Value::of("von_mises"));  // what is drawn of a tensor
    }
    if (!render.boolean_at("ground"))
      drop(render, "render", {"ground_height"}, "has no meaning with ground = false");
    if (dimension == 2)
      drop(render, "render", {"camera", "ground_height", "background"},
           "has no meaning in a flat scene, which is drawn on white");
  }

  void body(Value& body, std::size_t index, std::set<std::string>& taken) {
    const std::string path = fmt::format("body.{}", index);
    if (!body.has("name")) body.set("name", Value::of(fmt::format("body{}", index)));
    if (!taken.insert(body.text_at("name")).second) {
      complain(body["name"], path + ".name",
               fmt::format("another body is called '{}'; names must differ", body.text_at("name")));
    }
    const int dimension = shape(body, path);
    if (is_liquid(body)) {
      liquid_body(body, path);
    } else {
      material(*body.find("material"), path + ".material", nullptr);
      initial(body, path);
    }
    transform(body, path + ".transform", dimension);
    if (dimension == 2) {
      flat_vector(body["velocity"], path + ".velocity");
      const Vec3 spin = body.vector_at("angular_velocity");
      if (spin.head<2>().norm() > 0) {
        complain(body["angular_velocity"], path + ".angular_velocity", "a flat body can only turn about z");
      }
    }
    std::vector<std::string> regions;
    if (Value* list = body.find("region")) {
      for (std::size_t i = 0; i < list->items.size(); ++i) {
        region(list->items[i], fmt::format("{}.region.{}", path, i), regions, body["material"]);
      }
    }
    if (Value* list = body.find("load")) {
      for (std::size_t i = 0; i < list->items.size(); ++i) {
        load(list->items[i], fmt::format("{}.load.{}", path, i), regions, dimension);
      }
    }
    if (Value* list = body.find("handle")) {
      for (std::size_t i = 0; i < list->items.size(); ++i) {
        handle(list->items[i], fmt::format("{}.handle.{}", path, i), regions, dimension);
      }
    }
  }

  void load(Value& load, const std::string& path, const std::vector<std::string>& regions, int dimension) {
    selection(load["where"], path + ".where", regions);
    if (!load.has("force") && !load.has("traction") && !load.has("pressure") && !load.has("torque"))
      complain(load, path, "needs a force, a traction, a pressure or a torque");
    for (const char* key : {"force", "traction"}) {
      if (dimension == 2 && load.has(key)) flat_vector(load[key], path + "." + key);
    }
    if (dimension == 2 && load.has("torque") && load.vector_at("torque").head<2>().norm() > 0)
      complain(load["torque"], path + ".torque", "a flat body can only turn about z");
    if (const Value* script = load.find("script")) {
      const std::vector<double> times = (*script)["times"].as_numbers();
      if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end())
        complain((*script)["times"], path + ".script.times", "must ascend, each later than the one before");
      if ((*script)["factor"].items.size() != times.size())
        complain((*script)["factor"], path + ".script.factor",
                 fmt::format("has {} keys for {} times", (*script)["factor"].items.size(), times.size()));
    }
    if (load.has("end") && load.number_at("end") <= load.number_at("begin"))
      complain(load["end"], path + ".end", "must be later than begin");
  }

  // The table of the liquid and the emitters, where there are any. Returns the dimension of the scene.
  int liquid(Value& root, const std::vector<Value>& bodies, std::set<std::string>& taken) {
    const bool wet = root.has("emitter") || std::any_of(bodies.begin(), bodies.end(), is_liquid);
    Value* table = root.find("liquid");
    if (!wet || !table) {
      if (wet) complain(root, "liquid", "is missing; a scene with liquid needs it: [liquid] with resolution = 64, say");
      if (table) complain(*table, "liquid", "there is no body with kind = \"liquid\" and no [[emitter]]");
      return bodies.empty() ? 3 : bodies[0].integer_at("dimension");
    }
    const int given = table->has("dimension") ? table->integer_at("dimension") : 0;
    const int dimension = bodies.empty() ? (given ? given : 3) : bodies[0].integer_at("dimension");
    if (given && given != dimension)
      complain((*table)["dimension"], "liquid.dimension", fmt::format("the bodies have {}", dimension));
    Value count;
    count.kind = ValueKind::Integer;
    count.integer = dimension;
    table->set("dimension", count);
    if (table->has("resolution") && table->has("cell"))
      complain(*table, "liquid", "has resolution and cell; keep one of them");
    if (!table->has("resolution") && !table->has("cell")) {
      count.integer = 64;
      table->set("resolution", count);
    }
    if (!taken.insert(table->text_at("name")).second)
      complain((*table)["name"], "liquid.name",
               fmt::format("a body is called '{}' too; names must differ", table->text_at("name")));
    if (table->text_at("transfer") != "flip")
      drop(*table, "liquid", {"flip"}, "has a meaning only with transfer = \"flip\"");
    if (const Value* domain = table->find("domain")) {
      const Vec3 extent = domain->vector_at("max") - domain->vector_at("min");
      if (extent.head<2>().minCoeff() <= 0 || (dimension == 3 && extent.z() <= 0))
        complain(*domain, "liquid.domain", "max must be greater than min");
    }
    if (Value* emitters = root.find("emitter")) {
      for (std::size_t i = 0; i < emitters->items.size(); ++i) emitter(emitters->items[i], i, dimension);
    }
    return dimension;
  }

  static bool is_liquid(const Value& body) { return body.text_at("kind") == "liquid"; }

  void emitter(Value& emitter, std::size_t index, int dimension) {
    const std::string path = fmt::format("emitter.{}", index);
    if (!emitter.has("name")) emitter.set("name", Value::of(fmt::format("emitter{}", index)));
    const auto& [word, shape] = emitter["shape"].members.front();
    if (word == "box") box(shape, path + ".shape.box", dimension == 2);
    if (word == "half_space") complain(shape, path + ".shape.half_space", "has no end; give a shape that has one");
    if (emitter.has("end") && emitter.number_at("end") <= emitter.number_at("begin"))
      complain(emitter["end"], path + ".end", "must be later than begin");
    if (dimension == 2) flat_vector(emitter["velocity"], path + ".velocity");
    transform(emitter, path + ".transform", dimension);
  }

  // What only solids have.
  void liquid_body(Value& body, const std::string& path) {
    drop(body, path, {"edge", "region", "handle", "load", "damping", "contact", "self_contact"},
         "has no meaning for a liquid");
    drop(body, path, {"material"}, "has no meaning for a liquid; see liquid.density");
    drop(body, path, {"color"}, "has no meaning for a liquid; see liquid.color");
    drop(body, path, {"initial"}, "has no meaning for a liquid, which starts where its shape is");
    auto& [word, shape] = body.find("shape")->members.front();
    if (word == "box" || word == "rectangle")
      drop(shape, path + ".shape." + word, {"lattice", "pattern"}, "has no meaning for a liquid");
  }

  // Returns the dimension.
  int shape(Value& body, const std::string& path) {
    Value& shape = *body.find("shape");
    const std::string& word = shape.members.front().key;
    Value& what = shape.members.front().value;
    const bool flat = word == "rectangle" || word == "disc" || word == "polygon";
    if (!body.has("dimension")) {
      Value dimension;
      dimension.kind = ValueKind::Integer;
      dimension.integer = flat ? 2 : 3;
      body.set("dimension", dimension);
    }
    const int dimension = body.integer_at("dimension");
    if (word != "mesh" && dimension != (flat ? 2 : 3)) {
      complain(body["dimension"], path + ".dimension",
               fmt::format("{} is {}-dimensional", word, flat ? "two" : "three"));
    }
    if (word == "box" || word == "rectangle") box(what, path + ".shape." + word, flat);
    if (word == "mesh") resolve_file(what);
    return dimension;
  }

  void box(const Value& box, const std::string& path, bool flat) {
    const bool by_size = box.has("size"), by_corners = box.has("min") && box.has("max");
    if (by_size == (box.has("min") || box.has("max")) || (!by_size && !by_corners) ||
        (by_corners && box.has("center"))) {
      complain(box, path, "give either size (and center) or min and max");
    } else if (by_corners) {
      const Vec3 extent = box.vector_at("max") - box.vector_at("min");
      if (extent.head(flat ? 2 : 3).minCoeff() <= 0) complain(box, path, "max must be greater than min");
    } else if (box.vector_at("size").head(flat ? 2 : 3).minCoeff() <= 0) {
      complain(box["size"], path + ".size",
               flat ? "needs two edge lengths greater than 0" : "needs three edge lengths greater than 0");
    }
    const std::size_t directions = flat ? 2 : 3;
    if (box.has("lattice") && box["lattice"].items.size() != directions) {
      complain(box["lattice"], path + ".lattice", fmt::format("expected {} node counts", directions));
    }
  }

  // Absolute, so that the resolved scene can be loaded from anywhere.
  void resolve_file(Value& file) const {
    const bool from_option = file.at.line == 0;
    std::filesystem::path path(file.text);
    if (path.is_relative() && !from_option) path = scene_directory_ / path;
    std::error_code code;
    const std::filesystem::path absolute = std::filesystem::absolute(path, code);
    file.text = (code ? path : absolute).lexically_normal().string();
  }

  // Fills the constants in from the preset, or from the body's material for a region without one.
  void material(Value& material, const std::string& path, const Value* body_material) {
    static constexpr std::array<const char*, 3> constants{"young", "poisson", "density"};
    if (material.has("preset")) {
      const MaterialPreset& preset = *find_preset(material.text_at("preset"));
      const std::array<double, 3> values{preset.young, preset.poisson, preset.density};
      for (std::size_t k = 0; k < constants.size(); ++k) {
        if (!material.has(constants[k])) material.set(constants[k], Value::of(values[k]));
      }
      return;
    }
    for (const char* constant : constants) {
      if (material.has(constant)) continue;
      if (body_material && body_material->has(constant)) {
        material.set(constant, (*body_material)[constant]);
      } else if (!body_material) {
        complain(material, path + "." + constant, "is missing; give a preset, or young, poisson and density");
      }
    }
  }

  void initial(Value& body, const std::string& path) {
    Value& initial = *body.find("initial");
    const bool at_rest = initial.text_at("state") == "rest";
    const std::string& model = body["material"].text_at("model");
    if (!at_rest && material::find_density(model)->defined_only_for_positive_J) {
      complain(
          initial, path + ".initial",
          fmt::format("{} is not defined for the inverted elements of a '{}' start; choose another model",
                      model, initial.text_at("state")));
    }
    if (initial.text_at("state") != "random")
      drop(initial, path + ".initial", {"extent", "seed"}, "has a meaning only with state = \"random\"");
  }

  void flat_vector(const Value& vector, const std::string& path) {
    if (vector.as_vector().z() != 0) complain(vector, path, "leads out of the plane z = 0 of a flat body");
  }

  void transform(Value& body, const std::string& path, int dimension) {
    Value* transform = body.find("transform");
    if (!transform) return;
    if (Value* rotate = transform->find("rotate")) axis(*rotate, path + ".rotate", dimension, Vec3::UnitY());
    if (dimension == 2 && transform->has("translate")) {
      flat_vector((*transform)["translate"], path + ".translate");
    }
  }

  void region(Value& region, const std::string& path, std::vector<std::string>& known,
              const Value& body_material) {
    const std::string& name = region.text_at("name");
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      complain(region["name"], path + ".name", fmt::format("another region is called '{}'", name));
    }
    selection(region["where"], path + ".where", known);
    if (Value* own = region.find("material")) material(*own, path + ".material", &body_material);
    known.push_back(name);
  }

  void selection(const Value& where, const std::string& path, const std::vector<std::string>& regions) {
    for (const char* key : {"width", "fraction"}) {
      if (where.has(key) && !where.has("side")) {
        complain(where[key], path + "." + key, "has a meaning only with 'side'");
      }
    }
    if (where.has("width") && where.has("fraction")) {
      complain(where, path, "has width and fraction; keep one of them");
    }
    if (where.has("all") && !where.boolean_at("all")) {
      complain(where["all"], path + ".all", "can only be true; leave it out and choose something else");
    }
    if (where.has("box")) {
      const Value& box = where["box"];
      if ((box.vector_at("max") - box.vector_at("min")).minCoeff() < 0) {
        complain(box, path + ".box", "max must not be below min");
      }
    }
    if (where.has("region")) {
      const std::string& name = where.text_at("region");
      if (std::find(regions.begin(), regions.end(), name) == regions.end()) {
        complain(where["region"], path + ".region",
                 fmt::format("no region '{}' above{}{}", name, did_you_mean(name, regions),
                             regions.empty() ? "; this body has no [[body.region]]" : ""));
      }
    }
  }

  void handle(Value& handle, const std::string& path, const std::vector<std::string>& regions,
              int dimension) {
    selection(handle["where"], path + ".where", regions);
    const bool pinned = handle.has("pin") && handle.boolean_at("pin");
    if (!pinned && !handle.has("move") && !handle.has("rotate") && !handle.has("script")) {
      complain(handle, path, "needs a motion: pin = true, move, rotate or script");
    }
    motion(handle, path, dimension);
    if (handle.has("release") && handle.number_at("release") <= handle.number_at("begin")) {
      complain(handle["release"], path + ".release", "must be later than begin");
    }
  }

  // The motion words of a handle or an obstacle.
  void motion(Value& handle, const std::string& path, int dimension) {
    if (Value* move = handle.find("move")) {
      steady(*move, path + ".move", "velocity", "displacement");
      for (const char* key : {"velocity", "displacement"}) {
        if (dimension == 2 && move->has(key)) flat_vector((*move)[key], fmt::format("{}.move.{}", path, key));
      }
    }
    if (Value* rotate = handle.find("rotate")) {
      steady(*rotate, path + ".rotate", "rate", "angle");
      axis(*rotate, path + ".rotate", dimension, Vec3::UnitX());
    }
    if (Value* script = handle.find("script")) {
      keyframes(*script, path + ".script");
      if (script->has("angle")) {
        axis(*script, path + ".script", dimension, Vec3::UnitX());
      } else {
        drop(*script, path + ".script", {"axis", "center"}, "has a meaning only with angle");
      }
      if (dimension == 2 && script->has("displacement")) {
        for (const Value& key : (*script)["displacement"].items)
          flat_vector(key, path + ".script.displacement");
      }
    }
    combination(handle, path);
  }

  void obstacle(Value& obstacle, std::size_t index, std::set<std::string>& taken, int dimension,
                bool has_solid) {
    const std::string path = fmt::format("obstacle.{}", index);
    if (!obstacle.has("name")) obstacle.set("name", Value::of(fmt::format("obstacle{}", index)));
    if (!taken.insert(obstacle.text_at("name")).second) {
      complain(obstacle["name"], path + ".name",
               fmt::format("another body or obstacle is called '{}'; names must differ",
                           obstacle.text_at("name")));
    }
    auto& [word, shape] = obstacle.find("shape")->members.front();
    const bool grid = word == "mesh" || word == "vdb";
    if (grid) resolve_file(shape);
    if (grid && dimension == 2) {
      complain(shape, path + ".shape." + word, "is not for flat scenes; give a shape with a formula");
    }
    if (word == "box") box(shape, path + ".shape.box", dimension == 2);
    if (word == "union") {
      for (std::size_t k = 0; k < shape.items.size(); ++k) {
        const auto& part = shape.items[k].members.front();
        if (part.key == "box")
          box(part.value, fmt::format("{}.shape.union.{}.box", path, k), dimension == 2);
      }
    }
    if (has_solid) obstacle_contact(obstacle, path, word);
    if (word != "mesh") drop(obstacle, path, {"voxel"}, "has a meaning only with shape.mesh");
    if (!grid) drop(obstacle, path, {"interpolation"}, "has a meaning only with shape.mesh and shape.vdb");
    transform(obstacle, path + ".transform", dimension);
    motion(obstacle, path, dimension);
    if (floor_height(obstacle) && obstacle["color"].filled)
      obstacle.erase("color");  // then it has the ground's
    const bool moves = obstacle.has("move") || obstacle.has("rotate") || obstacle.has("script");
    if (!moves && obstacle.number_at("begin") > 0) {
      complain(obstacle["begin"], path + ".begin",
               "says when a motion begins, and there is none; an obstacle is there from the start");
    }
  }

  void obstacle_contact(Value& obstacle, const std::string& path, const std::string& shape) {
    const bool grid = shape == "mesh" || shape == "vdb";
    if (!obstacle.has("contact")) obstacle.set("contact", Value::of(grid ? "penalty" : "constraint"));
    const bool penalty = obstacle.text_at("contact") == "penalty";
    if (grid && !penalty) {
      complain(obstacle["contact"], path + ".contact",
               fmt::format("a {} has no formula, so it cannot be a constraint; say \"penalty\"", shape));
    }
    if (!penalty) drop(obstacle, path, {"stiffness"}, "has a meaning only with contact = \"penalty\"");
  }

  // move and rotate: a rate (for ever or for a while), or a total with its duration.
  void steady(const Value& word, const std::string& path, const char* rate, const char* total) {
    if (word.has(rate) == word.has(total)) {
      complain(word, path, fmt::format("give either {} or {} with duration", rate, total));
    } else if (word.has(total) && !word.has("duration")) {
      complain(word, path + ".duration", fmt::format("is missing: how long until the {} is reached", total));
    }
  }

  void axis(Value& word, const std::string& path, int dimension, const Vec3& usual) {
    if (!word.has("axis")) {
      word.set("axis", vector_value(dimension == 2 ? Vec3(Vec3::UnitZ()) : usual));
    }
    const Vec3 direction = word.vector_at("axis");
    if (dimension == 2 && direction.head<2>().norm() > 0) {
      complain(word["axis"], path + ".axis", "a flat body can only turn about [0, 0, 1]");
    }
  }

  void keyframes(const Value& script, const std::string& path) {
    const std::vector<double> times = script["times"].as_numbers();
    if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end()) {
      complain(script["times"], path + ".times", "must ascend, each later than the one before");
    }
    if (!script.has("displacement") && !script.has("angle")) {
      complain(script, path, "needs displacement or angle, one per time");
    }
    for (const char* key : {"displacement", "angle"}) {
      if (script.has(key) && script[key].items.size() != times.size()) {
        complain(script[key], path + "." + key,
                 fmt::format("has {} keys for {} times", script[key].items.size(), times.size()));
      }
    }
  }

  // Motion words add up; periodic scripts do not add to steady motions, and there is one axis per handle.
  void combination(const Value& handle, const std::string& path) {
    const Value* script = handle.find("script");
    if (!script) return;
    const std::string& after = script->text_at("after");
    const bool periodic = after == "loop" || after == "mirror";
    const bool both_displace = handle.has("move") && script->has("displacement");
    const bool both_turn = handle.has("rotate") && script->has("angle");
    if (periodic && (both_displace || both_turn)) {
      complain(*script, path + ".script",
               fmt::format("after = \"{}\" cannot be combined with another {}", after,
                           both_displace ? "move" : "rotate"));
    }
    if (both_turn && (!(handle["rotate"]["axis"] == (*script)["axis"]) ||
                      !(handle["rotate"]["center"] == (*script)["center"]))) {
      complain(*script, path + ".script", "turns about another axis than rotate; a handle has one axis");
    }
  }

  Problems& problems_;
  std::filesystem::path scene_directory_;
};

// Colours for bodies that name none: distinct, also for most colour-blind readers (Okabe & Ito 2008,
// softened).
Vec3 palette(std::size_t index) {
  static const std::array<Vec3, 6> colors{Vec3(0.31, 0.52, 0.77), Vec3(0.90, 0.56, 0.26),
                                          Vec3(0.30, 0.65, 0.52), Vec3(0.80, 0.42, 0.45),
                                          Vec3(0.58, 0.47, 0.74), Vec3(0.85, 0.75, 0.35)};
  return colors[index % colors.size()];
}

std::optional<Vec3> optional_vector(const Value& table, std::string_view key) {
  return table.has(key) ? std::optional<Vec3>(table.vector_at(key)) : std::nullopt;
}

RenderSettings read_render(const Value& value) {
  RenderSettings render;
  if (const Value* camera = value.find("camera")) {
    render.camera.position = optional_vector(*camera, "position");
    render.camera.target = optional_vector(*camera, "target");
    render.camera.up = camera->vector_at("up");
    render.camera.field_of_view = camera->number_at("field_of_view");
  }
  render.width = static_cast<int>(value["size"].items[0].integer);
  render.height = static_cast<int>(value["size"].items[1].integer);
  render.samples = value.integer_at("samples");
  render.color_by = value.text_at("color_by");
  render.ground = value.boolean_at("ground");
  if (value.has("ground_height")) render.ground_height = value.number_at("ground_height");
  render.edges = value.boolean_at("edges");
  if (value.has("background")) render.background = color_of(value["background"]);
  return render;
}

Scene read_scene(Value root, const std::string& source) {
  Scene scene;
  scene.file = source;
  scene.name = root["scene"].text_at("name");
  scene.description = root["scene"].text_at("description");
  const Value& time = root["time"];
  scene.duration = time.number_at("duration");
  scene.frame_rate = time.has("frame_rate") ? time.number_at("frame_rate") : 1 / time.number_at("step");
  scene.threads = root["solver"].integer_at("threads");
  for (const Value& body : root.items_at("body")) {
    if (body.text_at("kind") == "liquid") continue;
    const Vec3 color = body.has("color") ? color_of(body["color"]) : palette(scene.bodies.size());
    scene.bodies.push_back({body.text_at("name"), body.integer_at("dimension"), color});
  }
  if (const Value* liquid = root.find("liquid"))
    scene.bodies.push_back({liquid->text_at("name"), liquid->integer_at("dimension"), color_of((*liquid)["color"])});
  if (const Value* obstacles = root.find("obstacle")) {
    using Draw = ObstacleSettings::Draw;
    for (const Value& obstacle : obstacles->items) {
      const std::string& word = obstacle.text_at("draw");
      const Draw draw = word == "none"    ? Draw::None
                        : word == "cut"   ? Draw::Cut
                        : word == "glass" ? Draw::Glass
                                          : Draw::Solid;
      const std::optional<Vec3> color =
          obstacle.has("color") ? std::optional(color_of(obstacle["color"])) : std::nullopt;
      scene.obstacles.push_back({obstacle.text_at("name"), draw, color.value_or(Vec3::Zero())});
      if (const auto height = floor_height(obstacle); height && !scene.floor_height) {
        scene.floor_height = height;
        scene.floor_color = color;
      }
    }
  }
  scene.refuse_overlap = root["contact"].has("start") && root["contact"].text_at("start") == "refuse";
  const Value& output = root["output"];
  scene.output = {output.text_at("directory"), output["formats"].as_texts(), output["fields"].as_texts(),
                  output.integer_at("checkpoint_every")};
  scene.render = read_render(root["render"]);
  scene.resolved = std::move(root);
  return scene;
}

Expected<Scene> resolve(Value root, const std::string& source, const std::vector<std::string>& overrides) {
  for (const std::string& assignment : overrides) {
    if (const auto applied = apply_override(root, assignment); !applied) return forward_error(applied);
  }
  if (const auto valid = validate(root); !valid) return forward_error(valid);
  Problems problems;
  const std::filesystem::path path(source);
  Resolver(problems, path.parent_path()).scene(root, path.stem().string());
  if (!problems.empty()) return tl::unexpected<Error>(problems.error());
  arrange(root);
  return read_scene(std::move(root), source);
}

}  // namespace

Expected<Scene> load_scene(const std::string& path, const std::vector<std::string>& overrides) {
  Expected<Value> root = read_toml(path);
  if (!root) return forward_error(root);
  return resolve(std::move(*root), path, overrides);
}

Expected<Scene> load_scene_text(const std::string& text, const std::string& source,
                                const std::vector<std::string>& overrides) {
  Expected<Value> root = parse_toml(text, source);
  if (!root) return forward_error(root);
  return resolve(std::move(*root), source, overrides);
}

bool writes_field(const Scene& scene, std::string_view field) {
  const auto& fields = scene.output.fields;
  return field == scene.render.color_by || std::find(fields.begin(), fields.end(), field) != fields.end();
}

std::string resolved_toml(const Scene& scene) { return write_toml(scene.resolved); }

}  // namespace lope::scene
