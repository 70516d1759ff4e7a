#include <lope/io/export.h>
#include <lope/optimize/methods.h>
#include <lope/scene/keys.h>
#include <lope/scene/kind.h>
#include <lope/scene/vocabulary.h>

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

namespace lope::scene {

using namespace key_words;

namespace {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const optimize::MethodInfo& method : optimize::methods()) names.emplace_back(method.name);
  return names;
}

// The fields of all kinds of matter that are `wanted`, each once.
std::vector<std::string> field_names(const std::function<bool(const KindField&)>& wanted) {
  std::vector<std::string> names;
  for (const Kind* kind : kinds()) {
    for (const KindField& field : kind->fields()) {
      if (wanted(field) && std::find(names.begin(), names.end(), field.name) == names.end())
        names.emplace_back(field.name);
    }
  }
  return names;
}

std::vector<std::string> drawn_names() {
  std::vector<std::string> words{"body", "partition"};
  const std::vector<std::string> fields = field_names([](const KindField& field) { return field.drawn; });
  words.insert(words.end(), fields.begin(), fields.end());
  return words;
}

void add_names(std::vector<Key>& keys) {
  keys.push_back(vector("gravity", Dimension::Acceleration)
                     .by_default("[0.0, -9.80665, 0.0]")
                     .says("Acceleration of gravity."));
  keys.push_back(table("scene").by_default("{}").free_to_change().says("What the scene is called."));
  keys.push_back(text("scene.name").says("Used for the run's directory. Default: the file's name."));
  keys.push_back(text("scene.description").by_default("\"\"").says("What it shows, in a sentence."));
}

void add_time(std::vector<Key>& keys) {
  keys.push_back(table("time").by_default("{}").says("How long, in which strides."));
  keys.push_back(quantity("time.step", Dimension::Time)
                     .free_to_change()
                     .within(positive)
                     .by_default("0.025")
                     .says("Length of a time step."));
  keys.push_back(quantity("time.duration", Dimension::Time)
                     .free_to_change()
                     .within(positive)
                     .by_default("2.0")
                     .says("How much time is simulated."));
  keys.push_back(quantity("time.frame_rate", Dimension::Frequency)
                     .free_to_change()
                     .within(positive)
                     .says("Frames written per simulated second. Default: one per step."));
  keys.push_back(
      choice("time.scheme", {"backward-euler", "bdf-2", "trapezoid", "static"})
          .by_default("\"backward-euler\"")
          .says("The time scheme: of first order, robust and damping; of second order, damping less; of second "
                "order, and as good as free of damping but for `dissipation`; no inertia at all: every step ends in "
                "equilibrium with the loads and scripts of its time."));
  keys.push_back(number("time.dissipation")
                     .within(unit_interval)
                     .by_default("0.2")
                     .says("With `trapezoid`: the part of the fastest oscillations' amplitude that a step takes. 0 keeps "
                           "all energy of small vibrations, but may gain some where bodies turn fast or touch."));
  keys.push_back(quantity("time.impact_step", Dimension::Time)
                     .within(positive)
                     .says("A step in which contact takes more than 2 % of the energy is taken in parts of at most this "
                           "length, so that bodies bounce at long strides as they would at short ones. A third of the time "
                           "that bodies touch in a bounce is short enough. Default: no step is divided."));
}

void add_solver(std::vector<Key>& keys) {
  keys.push_back(table("solver").by_default("{}").free_to_change().says("How each step is solved. Rarely needed."));
  keys.push_back(choice("solver.method", method_names())
                     .by_default("\"auto\"")
                     .says("How to minimise; `lope solvers` explains the names."));
  keys.push_back(
      quantity("solver.accuracy", Dimension::Length)
          .within(positive)
          .says("A step is solved when the estimated remaining displacement of every vertex is below this. "
                "Default: `relative_accuracy`."));
  keys.push_back(number("solver.relative_accuracy")
                     .within(fraction)
                     .by_default("1e-4")
                     .says("The accuracy as a fraction of the smallest body's largest extent."));
  keys.push_back(
      choice("solver.tolerance", {"displacement", "characteristic", "characteristic-nodewise", "gradient"})
          .by_default("\"displacement\"")
          .says("The stopping test: the accuracy above, the norm of DOT eq. 15, that of HOT's appendix, or "
                "the plain norm of the gradient in newtons (OPT)."));
  keys.push_back(number("solver.epsilon")
                     .within(positive)
                     .says("Tolerance of the other three tests. Default: 1e-5, 1e-7 and 1e-3."));
  keys.push_back(choice("solver.start", {"best", "inertia", "rescue"})
                     .by_default("\"best\"")
                     .says("Where a step's minimisation starts: the best of four guesses (OPT §3.1), where "
                           "inertia alone would lead "
                           "(DOT), or the best of the four and of every body's rest shape placed nearest to "
                           "where the body is, which "
                           "helps bodies that start torn to pieces."));
  keys.push_back(
      integer("solver.max_iterations")
          .within(at_least_one)
          .by_default("500")
          .says("Per step of a solid, and per pressure of a liquid; a step that needs more counts as not "
                "converged."));
  keys.push_back(integer("solver.threads")
                     .within({0, 4096, false, false})
                     .by_default("0")
                     .says("0: as many as there are cores. Results do not depend on it."));
}

void add_output(std::vector<Key>& keys) {
  keys.push_back(table("output").by_default("{}").free_to_change().says("What is written, and where."));
  keys.push_back(text("output.directory").says("Default: runs/NAME, with the scene's name."));
  Entry formats = entry("output.formats", Type::ChoiceList);
  formats.choices = io::export_formats();
  keys.push_back(formats.by_default("[\"vtu\"]").says("File formats of the frames."));
  Entry fields = entry("output.fields", Type::ChoiceList);
  fields.choices = field_names([](const KindField&) { return true; });
  keys.push_back(fields.by_default("[\"velocity\", \"von_mises\", \"stretch\"]")
                     .says("Fields written with every frame (units and components: [files](formats.md#fields)). "
                           "`stress` is the whole Cauchy stress tensor, `von_mises` its von Mises value. `cells`: the "
                           "grid of a liquid, with kinds of cells, pressure, velocity and level set (in 2D always)."));
  keys.push_back(integer("output.checkpoint_every")
                     .within({0, 1e9, false, false})
                     .by_default("20")
                     .says("Steps between checkpoints; 0: only at the end and when interrupted."));
}

void add_render(std::vector<Key>& keys) {
  keys.push_back(table("render").by_default("{}").free_to_change().says("Pictures of the frames."));
  keys.push_back(
      table("render.camera").by_default("{}").says("Default: a view that shows the whole motion."));
  keys.push_back(vector("render.camera.position", Dimension::Length).says("Where the camera stands."));
  keys.push_back(vector("render.camera.target", Dimension::Length).says("What it looks at."));
  keys.push_back(
      vector("render.camera.up", Dimension::Number).by_default("[0.0, 1.0, 0.0]").says("Which way is up."));
  keys.push_back(quantity("render.camera.field_of_view", Dimension::Angle)
                     .within({0, 3.0, true, false})
                     .by_default("0.6")
                     .says("Vertical opening angle."));
  keys.push_back(entry("render.size", Type::IntegerList)
                     .within({16, 16384, false, false})
                     .by_default("[1280, 720]")
                     .says("Width and height in pixels."));
  keys.push_back(
      integer("render.samples").within({1, 65536, false, false}).by_default("32").says("Rays per pixel."));
  keys.push_back(
      choice("render.color_by", drawn_names())
          .by_default("\"body\"")
          .says("What the colours show. Vectors are shown by their length, `stress` by its von Mises value (as `von_mises`)."));
  keys.push_back(boolean("render.ground").by_default("true").says("Draw a ground below the scene."));
  keys.push_back(quantity("render.ground_height", Dimension::Length)
                     .says("Its height (y). Default: just below the lowest point of the run."));
  keys.push_back(boolean("render.edges").by_default("false").says("Draw the edges of the surface mesh."));
  keys.push_back(entry("render.background", Type::Color)
                     .says("Colour of the sky. Default: a bright grey, darker above."));
}

void add_bodies(std::vector<Key>& keys) {
  keys.push_back(tables("body").says("The bodies, each with its own `[[body]]`. At least one, or an `[[emitter]]`."));
  keys.push_back(text("body[].name").says("Its name in messages, files and `--set`. Default: body0, body1, …"));
  std::vector<std::string> words;
  std::string meanings;
  for (const Kind* kind : kinds()) {
    words.emplace_back(kind->word());
    meanings += fmt::format(" `{}`: {}.", kind->word(), kind->meaning());
  }
  const std::string usual = fmt::format("\"{}\"", words.front());
  keys.push_back(choice("body[].kind", words)
                     .by_default(usual)
                     .says("What kind of matter it is; the further keys of a body depend on it." + meanings));
  keys.push_back(
      integer("body[].dimension")
          .within({2, 3, false, false})
          .says("3, or 2 for a flat body in the plane z = 0. Default: 2 for rectangle, disc and polygon, "
                "else 3."));
  for (const Kind* kind : kinds()) {
    const std::size_t first = keys.size();
    kind->add_body_keys(keys);
    for (std::size_t k = first; k < keys.size(); ++k) keys[k].kind = kind->word();
  }
  for (const Kind* kind : kinds()) kind->add_tables(keys);
}

void add_obstacles(std::vector<Key>& keys) {
  keys.push_back(
      entry("obstacle", Type::TableList)
          .says("Rigid, scripted shapes that no body can enter, each with its own `[[obstacle]]`."));
  keys.push_back(
      text("obstacle[].name").says("Its name in messages, files and `--set`. Default: obstacle0, …"));
  keys.push_back(table("obstacle[].shape").required().says("One of the words below."));
  add_formula_shapes(keys, "obstacle[].shape");
  keys.push_back(
      entry("obstacle[].shape.union", Type::TableList).alternative().says("Several shapes as one."));
  add_formula_shapes(keys, "obstacle[].shape.union[]");
  keys.push_back(
      text("obstacle[].shape.mesh")
          .alternative()
          .says("A file with a closed surface, relative to the scene file: becomes a grid of distances "
                "(`voxel`), with `contact = \"penalty\"`, or is met as it is, with `contact = \"barrier\"`."));
  keys.push_back(text("obstacle[].shape.vdb")
                     .alternative()
                     .says("An OpenVDB file with a level set, relative to the scene file, with `contact = "
                           "\"penalty\"`."));
  keys.push_back(boolean("obstacle[].inside")
                     .by_default("false")
                     .says("true: a container; bodies are inside the shape and cannot leave it."));
  keys.push_back(
      quantity("obstacle[].voxel", Dimension::Length)
          .within(positive)
          .says("With `mesh`: side of the cells of the grid. Default: 1/64 of the largest extent."));
  keys.push_back(choice("obstacle[].interpolation", {"linear", "quadratic"})
                     .by_default("\"linear\"")
                     .says("With `mesh` and `vdb`: between the cells, as in OPT, or smoother."));
  add_rigid_transform(keys, "obstacle[].transform");
  keys.push_back(
      choice("obstacle[].contact", {"constraint", "penalty", "barrier"})
          .says("Exact, no vertex is ever inside (OPT §5.1), for shapes with a formula; a force that "
                "pushes vertices out (OPT §5.2); or a barrier around its triangles that nothing crosses "
                "(those of a `mesh`; shapes with a "
                "formula and an end are met as they are drawn, with 32 sides around a circle). Default: "
                "constraint where possible, otherwise penalty."));
  keys.push_back(
      quantity("obstacle[].stiffness", Dimension::Pressure)
          .within(positive)
          .says("With `penalty`: k of the energy k·depth³. Default: from the bodies' stiffness, size and "
                "weight."));
  keys.push_back(number("obstacle[].friction")
                     .within(at_least_zero)
                     .by_default("0.0")
                     .says("Coulomb's coefficient of friction."));
  add_motion(keys, "obstacle[]", {"obstacle"});
  keys.push_back(quantity("obstacle[].begin", Dimension::Time)
                     .within(at_least_zero)
                     .by_default("0.0")
                     .says("At rest before this time; the times of its motion count from it."));
  keys.push_back(entry("obstacle[].color", Type::Color)
                     .by_default("\"#b9bec6\"")
                     .free_to_change()
                     .says("In pictures. A floor has the ground's colour unless it is given one."));
  keys.push_back(
      choice("obstacle[].draw", {"solid", "cut", "glass", "none"})
          .free_to_change()
          .says("In pictures: whole; without the walls between the camera and what is inside; as thin glass; not at "
                "all. Default: for containers glass in scenes with a liquid, otherwise cut; else solid. A floor is "
                "drawn as the ground."));
}

void add_contact(std::vector<Key>& keys) {
  keys.push_back(table("contact").by_default("{}").says("Bodies against each other, and how a run starts."));
  keys.push_back(
      number("contact.friction")
          .within(at_least_zero)
          .by_default("0.0")
          .says("Coulomb's coefficient of friction of bodies with each other and with themselves."));
  keys.push_back(choice("contact.model", {"penalty", "barrier"})
                     .by_default("\"penalty\"")
                     .says("Vertices inside a body are pushed out (OPT §5.3); or surfaces never cross, those of solids and open "
                           "sheets (docs/contact.md)."));
  keys.push_back(quantity("contact.reach", Dimension::Length)
                     .within(positive)
                     .says("With barriers: the gap between surfaces at which they begin to push. Default: 1/20 of the mean edge of a "
                           "body's surface."));
  keys.push_back(quantity("contact.thickness", Dimension::Length)
                     .within(positive)
                     .says("With barriers: surfaces stay farther apart than this, as if they were the middles of sheets. Default: none "
                           "but that of bodies which have one."));
  keys.push_back(choice("contact.friction_model", {"implicit", "gast15"})
                     .by_default("\"implicit\"")
                     .says("Friction, of obstacles and bodies, as a part of each step's solution, so that what should "
                           "stick sticks; or by the rules of OPT §5 after it, for comparison."));
  keys.push_back(
      quantity("contact.stiffness", Dimension::Pressure)
          .within(positive)
          .says("k of the energy k·depth³ of a vertex inside a body. Default: ten times the largest Young's "
                "modulus of the two bodies. With `model = \"barrier\"`: the pressure at half the reach, about. Default: a tenth of the "
                "softer body's stiffness."));
  keys.push_back(
      choice("contact.start", {"resolve", "refuse"})
          .by_default("\"resolve\"")
          .says("Vertices that start inside an obstacle: moved to its surface, said in the log; or an "
                "error."));
}

std::vector<Key> make_schema() {
  std::vector<Key> keys;
  add_names(keys);
  add_time(keys);
  add_solver(keys);
  add_output(keys);
  add_render(keys);
  add_bodies(keys);
  add_obstacles(keys);
  add_contact(keys);
  return keys;
}

struct Schema {
  std::vector<Key> keys = make_schema();
  std::multimap<std::string, const Key*, std::less<>> by_path, by_parent;  // equal ones in the order of the keys

  Schema() {
    for (const Key& key : keys) {
      by_path.emplace(key.path, &key);
      by_parent.emplace(key.parent(), &key);
    }
  }
};

const Schema& the_schema() {
  static const Schema instance;
  return instance;
}

bool belongs(const Key& key, std::string_view kind) { return kind.empty() || key.kind.empty() || key.kind == kind; }

}  // namespace

bool Range::contains(double value) const {
  return (open_min ? value > min : value >= min) && (open_max ? value < max : value <= max);
}

bool Range::limited() const { return min > -unlimited || max < unlimited; }

std::string Range::text(std::string_view unit) const {
  const auto with_unit = [unit](double value) {
    return unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
  };
  if (max == unlimited) return fmt::format("{} {}", open_min ? "greater than" : "at least", with_unit(min));
  if (min == -unlimited) return fmt::format("{} {}", open_max ? "less than" : "at most", with_unit(max));
  if (open_min && open_max) return fmt::format("between {} and {}, both excluded", min, with_unit(max));
  if (open_min) return fmt::format("greater than {} and at most {}", min, with_unit(max));
  if (open_max) return fmt::format("at least {} and less than {}", min, with_unit(max));
  return fmt::format("between {} and {}", min, with_unit(max));
}

std::string Key::name() const {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string Key::parent() const {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

const std::vector<Key>& schema() { return the_schema().keys; }

const Key* find_key(std::string_view path, std::string_view kind) {
  const auto [begin, end] = the_schema().by_path.equal_range(path);
  const auto found = std::find_if(begin, end, [&](const auto& entry) { return belongs(*entry.second, kind); });
  return found == end ? nullptr : found->second;
}

std::vector<const Key*> keys_in(std::string_view path, std::string_view kind) {
  std::vector<const Key*> found;
  const auto [begin, end] = the_schema().by_parent.equal_range(path);
  for (auto it = begin; it != end; ++it) {
    if (belongs(*it->second, kind)) found.push_back(it->second);
  }
  return found;
}

std::string expectation(const Key& key) {
  const std::string words = fmt::format("{}", fmt::join(key.choices, ", "));
  const std::string or_words = words.empty() ? "" : fmt::format(", or one of the words {}", words);
  const DimensionInfo& unit = info(key.dimension);
  const std::string in_unit =
      unit.si.empty() ? "" : fmt::format(" in {} (or with units: {})", unit.si, unit.examples);
  switch (key.type) {
    case Type::Boolean:
      return "true or false";
    case Type::Integer:
      return "an integer";
    case Type::Quantity:
      return expectation(key.dimension) + or_words;
    case Type::Vector:
      return fmt::format("two or three numbers [x, y, z]{}{}", in_unit, or_words);
    case Type::IntegerList:
      return "an array of integers";
    case Type::QuantityList:
      return fmt::format("an array of numbers{}", in_unit);
    case Type::VectorList:
      return fmt::format("an array of vectors [x, y, z]{}", in_unit);
    case Type::Text:
      return "a string";
    case Type::Choice:
      return fmt::format("one of {}", words);
    case Type::ChoiceList:
      return fmt::format("an array of any of {}", words);
    case Type::Color:
      return "a colour: \"#rrggbb\", a name, or three numbers between 0 and 1";
    case Type::Table:
      return key.shorthand.empty() ? "a table" : "a string or a table";
    case Type::TableList:
      return fmt::format("tables, each written [[{}]]", key.name());
  }
  return "";
}

const std::vector<NamedColor>& named_colors() {
  static const std::vector<NamedColor> colors{
      {"white", "#f2f2f2"},  {"black", "#1a1a1a"},  {"grey", "#8c8c8c"},  {"red", "#c83c3c"},
      {"orange", "#e08a2e"}, {"yellow", "#e3c53a"}, {"green", "#4f9d55"}, {"teal", "#2f9c95"},
      {"blue", "#3c6fc8"},   {"purple", "#8456b8"}, {"pink", "#d97ba6"},  {"brown", "#8a5a3c"},
      {"ivory", "#ece5d0"},  {"coral", "#e0705a"},  {"navy", "#27406e"},  {"olive", "#7d8438"},
  };
  return colors;
}

}  // namespace lope::scene
