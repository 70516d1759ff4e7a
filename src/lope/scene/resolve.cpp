#include <lope/base/random.h>
#include <lope/scene/kind.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/resolve.h>
#include <lope/scene/rules.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// Of one body. All pairs of bodies are looked at.
constexpr std::int64_t most_copies = 10'000;

const Kind& kind_of(const Value& body) { return *find_kind(body.text_at("kind")); }

class Resolver {
 public:
  explicit Resolver(Rules& rules) : rules_(rules) {}

  void scene(Value& root, const std::string& default_name) {
    Value& names = *root.find("scene");
    if (!names.has("name")) {
      names.set("name", Value::of(default_name));
      if (const std::string fault = name_fault(default_name); !fault.empty())
        rules_.complain(root, "scene.name", fault + "; by default it is the file's name: give another one");
    }
    duration(root["time"]);
    Value& output = *root.find("output");
    if (!output.has("directory")) output.set("directory", Value::of("runs/" + names.text_at("name")));
    std::vector<Value> no_bodies;
    std::vector<Value>& bodies = root.has("body") ? root.find("body")->items : no_bodies;
    for (const Kind* kind : kinds()) {
      if (kind->is_in(root)) present_.push_back(kind);
    }
    if (present_.empty()) return nothing(root);
    spread_copies(bodies);
    for (std::size_t i = 0; i < bodies.size(); ++i) body(bodies[i], i);
    if (!bodies.empty()) rules_.scene_dimension = bodies[0].integer_at("dimension");
    for (const Kind* kind : kinds()) kind->resolve_tables(root, rules_);
    const int dimension = rules_.scene_dimension;
    shared_tables(root, bodies);
    outputs(output, dimension);
    render(*root.find("render"), dimension);
    if (Value* obstacles = root.find("obstacle")) {
      for (std::size_t i = 0; i < obstacles->items.size(); ++i) obstacle(obstacles->items[i], i, dimension);
    }
    for (const Value& other : bodies) {
      if (other.integer_at("dimension") == dimension) continue;
      rules_.complain(other, "body", "flat and solid bodies cannot be in one scene; give all the same dimension");
      break;
    }
  }

 private:
  void duration(const Value& time) {
    const double steps = time.number_at("duration") / time.number_at("step");
    if (steps <= most_steps) return;
    rules_.complain(
        time["duration"], "time.duration",
        fmt::format(
            "{:.3g} s are {:.3g} steps of {:.3g} s, and a run has at most {:g}; shorten it, or give longer "
            "steps (time.step)",
            time.number_at("duration"), steps, time.number_at("step"), most_steps));
  }

  void nothing(const Value& root) {
    std::string others;
    for (const Kind* kind : kinds()) {
      if (!kind->other_sources().empty()) others += fmt::format(", or {}", kind->other_sources());
    }
    rules_.complain(root, "body", "is missing; expected tables, each written [[body]]" + others);
  }

  void body(Value& body, std::size_t index) {
    const std::string path = fmt::format("body.{}", index);
    rules_.name(body, path, fmt::format("body{}", index), "body");
    kind_of(body).resolve_body(body, path, rules_);
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
        rules_.complain(copies["count"], path + ".count", "expected three counts, along x, y and z");
        continue;
      }
      const std::int64_t all = count[0].integer * count[1].integer * count[2].integer;
      if (all > most_copies) {
        rules_.complain(copies["count"], path + ".count",
                 fmt::format("{} copies are too many; at most {}", all, most_copies));
        continue;
      }
      const bool turned = copies.boolean_at("turned");
      if (!turned && !copies["seed"].filled) {
        rules_.complain(copies["seed"], path + ".seed", "has a meaning only with turned = true");
      }
      if (turned && bodies[i].has("transform") && bodies[i]["transform"].has("rotate")) {
        rules_.complain(copies["turned"], path + ".turned", "turns each copy at random; leave out transform.rotate");
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

  // What concerns only some kinds of matter.
  void shared_tables(Value& root, std::vector<Value>& bodies) {
    for (const Kind* kind : present_) {
      const Concerns own = kind->concerns();
      concerns_.minimizer |= own.minimizer;
      concerns_.scheme |= own.scheme;
      concerns_.contact |= own.contact;
    }
    Value& solver_table = *root.find("solver");
    if (concerns_.minimizer) {
      solver(solver_table);
    } else {
      std::string own;
      for (const Kind* kind : present_) {
        if (!kind->tolerance_key().empty()) own += fmt::format("; see {}", kind->tolerance_key());
      }
      rules_.drop(solver_table, "solver", {"method", "accuracy", "relative_accuracy", "tolerance", "epsilon", "start"},
                  none_of(&Concerns::minimizer) + own);
    }
    if (concerns_.scheme) {
      scheme(root, bodies);
    } else {
      rules_.drop(*root.find("time"), "time", {"scheme", "dissipation", "impact_step"}, none_of(&Concerns::scheme));
    }
    Value& contact_table = *root.find("contact");
    if (!concerns_.contact) {
      const std::string why = none_of(&Concerns::contact);
      rules_.drop(contact_table, "contact", {"start", "friction_model"}, why);
      if (Value* obstacles = root.find("obstacle")) {
        for (std::size_t i = 0; i < obstacles->items.size(); ++i)
          rules_.drop(obstacles->items[i], fmt::format("obstacle.{}", i), {"contact", "stiffness", "friction"}, why);
      }
    }
    const auto is_barrier = [](const Value& obstacle) { return obstacle.has("contact") && obstacle.text_at("contact") == "barrier"; };
    const Value* obstacles = root.find("obstacle");
    contact(contact_table, bodies,
            obstacles && std::any_of(obstacles->items.begin(), obstacles->items.end(), is_barrier));
  }

  // Why a key that only some kinds have a use for is refused.
  static std::string none_of(bool Concerns::* concern) {
    std::string words;
    for (const Kind* kind : kinds()) {
      if (kind->concerns().*concern) words += fmt::format("{}{}", words.empty() ? "" : ", ", kind->word());
    }
    return fmt::format("is about bodies of kind {}, and there is none", words);
  }

  void solver(Value& solver) {
    const bool by_displacement = solver.text_at("tolerance") == "displacement";
    if (by_displacement && solver.has("epsilon")) {
      rules_.complain(solver["epsilon"], "solver.epsilon",
               "has no meaning with tolerance = \"displacement\"; set accuracy, or another tolerance");
    }
    if (!by_displacement && solver.has("accuracy")) {
      rules_.complain(
          solver["accuracy"], "solver.accuracy",
          fmt::format("has no meaning with tolerance = \"{}\"; set epsilon", solver.text_at("tolerance")));
    }
    if (!by_displacement) {
      rules_.drop(solver, "solver", {"relative_accuracy"},
           fmt::format("has no meaning with tolerance = \"{}\"; set epsilon", solver.text_at("tolerance")));
    } else if (solver.has("accuracy")) {
      rules_.drop(solver, "solver", {"relative_accuracy"}, "has no meaning with accuracy; keep one of them");
    }
  }

  void scheme(Value& root, std::vector<Value>& bodies) {
    Value& time = *root.find("time");
    if (time.text_at("scheme") != "trapezoid")
      rules_.drop(time, "time", {"dissipation"}, "has a meaning only with scheme = \"trapezoid\"");
    if (time.text_at("scheme") != "static") return;
    rules_.drop(time, "time", {"impact_step"}, "has no meaning with scheme = \"static\", in which nothing hits anything");
    if (root.find("contact")->text_at("friction_model") == "gast15")
      rules_.complain((*root.find("contact"))["friction_model"], "contact.friction_model",
               "\"gast15\" changes velocities, and with scheme = \"static\" there are none; leave it out");
    if (concerns_.minimizer && root["solver"].text_at("method") == "admm-pd")
      rules_.complain(root["solver"]["method"], "solver.method",
               "\"admm-pd\" cannot tell where it starts from an equilibrium; choose another one with scheme = \"static\"");
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (!kind_of(bodies[i]).concerns().scheme) continue;
      rules_.drop(bodies[i], fmt::format("body.{}", i), {"velocity", "angular_velocity", "damping"},
           "has no meaning with scheme = \"static\", whose bodies have no velocities");
    }
  }

  void contact(Value& contact, const std::vector<Value>& bodies, bool barriers) {
    const auto count = [&](const char* key) {
      return std::count_if(bodies.begin(), bodies.end(),
                           [&](const Value& body) { return body.has(key) && body.boolean_at(key); });
    };
    const bool touching = count("contact") > 1 || count("self_contact") > 0;
    if (!barriers && !(touching && contact.text_at("model") == "barrier"))
      rules_.drop(contact, "contact", {"reach", "thickness"}, "has a meaning only with model = \"barrier\"");
    if (touching) return;
    rules_.drop(contact, "contact", {"friction", "stiffness", "model"},
         "has a meaning only for several bodies that touch, or one with self_contact = true");
  }

  // The kinds of the scene that have this field.
  bool has_field(std::string_view name, bool drawn) const {
    return std::any_of(present_.begin(), present_.end(), [&](const Kind* kind) {
      const std::vector<KindField> fields = kind->fields();
      return std::any_of(fields.begin(), fields.end(),
                         [&](const KindField& field) { return field.name == name && (field.drawn || !drawn); });
    });
  }

  void outputs(Value& output, int dimension) {
    const bool volumes = std::any_of(present_.begin(), present_.end(),
                                     [&](const Kind* kind) { return kind->has_volumes(dimension); });
    for (const Value& format : output["formats"].items) {
      if (format.text == "vdb" && !volumes)
        rules_.complain(format, "output.formats", "\"vdb\" holds volumes, such as a liquid's in space, and there is none");
    }
    Value& fields = *output.find("fields");
    if (fields.filled) std::erase_if(fields.items, [&](const Value& field) { return !has_field(field.text, false); });
    for (const Value& field : fields.items) {
      if (!has_field(field.text, false))
        rules_.complain(field, "output.fields", fmt::format("nothing in the scene has a field \"{}\"", field.text));
    }
  }

  void render(Value& render, int dimension) {
    if (render["size"].items.size() != 2)
      rules_.complain(render["size"], "render.size", "expected two integers: width and height");
    const std::string& color_by = render.text_at("color_by");
    if (color_by != "body" && color_by != "partition" && !has_field(color_by, true)) {
      rules_.complain(render["color_by"], "render.color_by", fmt::format("nothing in the scene has a field \"{}\"", color_by));
    } else if (color_by == "stress") {
      render.set("color_by", Value::of("von_mises"));  // what is drawn of a tensor
    }
    if (!render.boolean_at("ground"))
      rules_.drop(render, "render", {"ground_height"}, "has no meaning with ground = false");
    if (dimension == 2)
      rules_.drop(render, "render", {"camera", "ground_height", "background"},
                  "has no meaning in a flat scene, which is drawn on white");
  }

  void obstacle(Value& obstacle, std::size_t index, int dimension) {
    const std::string path = fmt::format("obstacle.{}", index);
    rules_.name(obstacle, path, fmt::format("obstacle{}", index), "body or obstacle");
    if (!obstacle.has("draw")) {
      const bool clear = std::any_of(present_.begin(), present_.end(), [](const Kind* kind) { return kind->shown_through_glass(); });
      obstacle.set("draw", Value::of(!obstacle.boolean_at("inside") ? "solid" : clear ? "glass" : "cut"));
    }
    auto& [word, shape] = obstacle.find("shape")->members.front();
    const bool grid = word == "mesh" || word == "vdb";
    if (grid) rules_.resolve_file(shape);
    if (grid && dimension == 2) {
      rules_.complain(shape, path + ".shape." + word, "is not for flat scenes; give a shape with a formula");
    }
    if (word == "box") rules_.box(shape, path + ".shape.box", dimension == 2);
    if (word == "union") {
      for (std::size_t k = 0; k < shape.items.size(); ++k) {
        const auto& part = shape.items[k].members.front();
        if (part.key == "box")
          rules_.box(part.value, fmt::format("{}.shape.union.{}.box", path, k), dimension == 2);
      }
    }
    if (concerns_.contact) obstacle_contact(obstacle, path, dimension);
    if (word != "mesh") rules_.drop(obstacle, path, {"voxel"}, "has a meaning only with shape.mesh");
    if (!grid) rules_.drop(obstacle, path, {"interpolation"}, "has a meaning only with shape.mesh and shape.vdb");
    rules_.transform(obstacle, path + ".transform", dimension);
    rules_.motion(obstacle, path, dimension);
    if (floor_height(obstacle) && obstacle["color"].filled)
      obstacle.erase("color");  // then it has the ground's
    const bool moves = obstacle.has("move") || obstacle.has("rotate") || obstacle.has("script");
    if (!moves && obstacle.number_at("begin") > 0) {
      rules_.complain(obstacle["begin"], path + ".begin",
               "says when a motion begins, and there is none; an obstacle is there from the start");
    }
  }

  // Whether a shape has triangles on all of its surface.
  static bool has_end(const std::string& word, const Value& shape) {
    if (word != "union") return word != "half_space" && word != "vdb";
    return std::all_of(shape.items.begin(), shape.items.end(), [](const Value& part) {
      return has_end(part.members.front().key, part.members.front().value);
    });
  }

  void obstacle_contact(Value& obstacle, const std::string& path, int dimension) {
    const auto& [shape, what] = obstacle["shape"].members.front();
    const bool grid = shape == "mesh" || shape == "vdb";
    if (!obstacle.has("contact")) obstacle.set("contact", Value::of(grid ? "penalty" : "constraint"));
    const bool penalty = obstacle.text_at("contact") == "penalty", barrier = obstacle.text_at("contact") == "barrier";
    if (barrier && dimension == 2) {
      rules_.complain(obstacle["contact"], path + ".contact",
                      "a barrier is around triangles, and flat obstacles have none; say \"constraint\"");
    } else if (barrier && !has_end(shape, what)) {
      rules_.complain(obstacle["contact"], path + ".contact",
                      fmt::format("a barrier is around triangles, and a {} has none{}; say \"{}\"", shape,
                                  grid ? "" : " where it does not end", grid ? "penalty" : "constraint"));
    } else if (grid && !penalty && !barrier) {
      rules_.complain(obstacle["contact"], path + ".contact",
               fmt::format("a {} has no formula, so it cannot be a constraint; say \"penalty\"", shape));
    }
    if (!penalty) rules_.drop(obstacle, path, {"stiffness"}, "has a meaning only with contact = \"penalty\"");
  }

  Rules& rules_;
  std::vector<const Kind*> present_;
  Concerns concerns_;  // of all of them
};

}  // namespace

int resolve_tree(Value& root, const std::string& default_name, const std::filesystem::path& directory, Problems& problems) {
  Rules rules(problems, directory);
  Resolver(rules).scene(root, default_name);
  return rules.scene_dimension;
}

}  // namespace lope::scene
