#include <lope/scene/presets.h>
#include <lope/scene/rules.h>
#include <lope/scene/suggest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/core.h>

namespace lope::scene {

Value vector_value(const Vec3& vector) {
  Value made;
  made.kind = ValueKind::Array;
  for (const double component : vector) made.items.push_back(Value::of(component));
  return made;
}

Value integer_value(std::int64_t integer) {
  Value made;
  made.kind = ValueKind::Integer;
  made.integer = integer;
  return made;
}

// Keys that would not be used here: refused where somebody wrote them, dropped where they are defaults.
void Rules::drop(Value& table, const std::string& path, std::initializer_list<const char*> keys,
                 const std::string& why) {
  for (const char* key : keys) {
    const Value* value = table.find(key);
    if (!value) continue;
    if (!value->filled) complain(*value, path + "." + key, why);
    table.erase(key);
  }
}

void Rules::name(Value& thing, const std::string& path, const std::string& fallback, const std::string& what) {
  if (!thing.has("name")) thing.set("name", Value::of(fallback));
  if (taken(thing.text_at("name"))) {
    complain(thing["name"], path + ".name",
             fmt::format("another {} is called '{}'; names must differ", what, thing.text_at("name")));
  }
}

// Returns the dimension.
int Rules::shape(Value& body, const std::string& path, bool sheets) {
  Value& shape = *body.find("shape");
  const std::string& word = shape.members.front().key;
  Value& what = shape.members.front().value;
  const bool flat = word == "rectangle" || word == "disc" || word == "polygon";
  const int usual = flat && !sheets ? 2 : 3;
  if (!body.has("dimension")) body.set("dimension", integer_value(usual));
  const int own = body.integer_at("dimension");
  if (word != "mesh" && own != usual) {
    complain(body["dimension"], path + ".dimension",
             fmt::format("{} is {}-dimensional", word, usual == 2 ? "two" : "three"));
  }
  if (word == "box" || word == "rectangle") box(what, path + ".shape." + word, flat);
  if (word == "mesh") resolve_file(what);
  return own;
}

void Rules::transform(Value& body, const std::string& path, int dimension) {
  Value* found = body.find("transform");
  if (!found) return;
  if (Value* rotate = found->find("rotate")) axis(*rotate, path + ".rotate", dimension, Vec3::UnitY());
  if (dimension == 2 && found->has("translate")) {
    flat_vector((*found)["translate"], path + ".translate");
  }
}

void Rules::velocities(const Value& body, const std::string& path, int dimension) {
  if (dimension != 2) return;
  flat_vector(body["velocity"], path + ".velocity");
  if (body.vector_at("angular_velocity").head<2>().norm() > 0)
    complain(body["angular_velocity"], path + ".angular_velocity", "a flat body can only turn about z");
}

void Rules::box(const Value& box, const std::string& path, bool flat) {
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
void Rules::resolve_file(Value& file) const {
  const bool from_option = file.at.line == 0;
  std::filesystem::path path(file.text);
  if (path.is_relative() && !from_option) path = scene_directory_ / path;
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(path, code);
  file.text = (code ? path : absolute).lexically_normal().string();
}

// Fills the constants in from the preset, or from the body's material for a region without one.
void Rules::material(Value& material, const std::string& path, const Value* body_material) {
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

void Rules::handles(Value& body, const std::string& path, const std::vector<std::string>& regions, int dimension) {
  Value* list = body.find("handle");
  for (std::size_t i = 0; list && i < list->items.size(); ++i)
    handle(list->items[i], fmt::format("{}.handle.{}", path, i), regions, dimension);
}

void Rules::handle(Value& handle, const std::string& path, const std::vector<std::string>& regions,
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

void Rules::loads(Value& body, const std::string& path, const std::vector<std::string>& regions, int dimension) {
  Value* list = body.find("load");
  for (std::size_t i = 0; list && i < list->items.size(); ++i)
    load(list->items[i], fmt::format("{}.load.{}", path, i), regions, dimension);
}

void Rules::load(Value& load, const std::string& path, const std::vector<std::string>& regions, int dimension) {
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

void Rules::selection(const Value& where, const std::string& path, const std::vector<std::string>& regions) {
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

// The motion words of a handle or an obstacle.
void Rules::motion(Value& handle, const std::string& path, int dimension) {
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

// move and rotate: a rate (for ever or for a while), or a total with its duration.
void Rules::steady(const Value& word, const std::string& path, const char* rate, const char* total) {
  if (word.has(rate) == word.has(total)) {
    complain(word, path, fmt::format("give either {} or {} with duration", rate, total));
  } else if (word.has(total) && !word.has("duration")) {
    complain(word, path + ".duration", fmt::format("is missing: how long until the {} is reached", total));
  }
}

void Rules::axis(Value& word, const std::string& path, int dimension, const Vec3& usual) {
  if (!word.has("axis")) {
    word.set("axis", vector_value(dimension == 2 ? Vec3(Vec3::UnitZ()) : usual));
  }
  const Vec3 direction = word.vector_at("axis");
  if (dimension == 2 && direction.head<2>().norm() > 0) {
    complain(word["axis"], path + ".axis", "a flat body can only turn about [0, 0, 1]");
  }
}

void Rules::keyframes(const Value& script, const std::string& path) {
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
void Rules::combination(const Value& handle, const std::string& path) {
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

void Rules::flat_vector(const Value& vector, const std::string& path) {
  if (vector.as_vector().z() != 0) complain(vector, path, "leads out of the plane z = 0 of a flat body");
}

}  // namespace lope::scene
