#include <lope/material/registry.h>
#include <lope/optimize/methods.h>
#include <lope/scene/presets.h>
#include <lope/scene/schema.h>

#include <algorithm>
#include <map>

namespace lope::scene {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
const Range positive{0, unlimited, true, true};
const Range at_least_zero{0, unlimited, false, true};
const Range fraction{0, 1, true, false};
const Range unit_interval{0, 1, false, false};
const Range at_least_one{1, 1e9, false, false};

// A key under construction: the table below reads as sentences.
struct Entry : Key {
  Entry& says(std::string text) {
    description = std::move(text);
    return *this;
  }
  Entry& required() {
    presence = Presence::Required;
    return *this;
  }
  Entry& alternative() {
    presence = Presence::Alternative;
    return *this;
  }
  Entry& by_default(std::string toml) {
    presence = Presence::Filled;
    fallback = std::move(toml);
    return *this;
  }
  Entry& within(Range limits) {
    range = limits;
    return *this;
  }
  Entry& or_word(std::string word) {
    choices.push_back(std::move(word));
    return *this;
  }
  Entry& short_for(std::string key) {
    shorthand = std::move(key);
    return *this;
  }
};

Entry entry(std::string path, Type type, Dimension dimension = Dimension::Number) {
  Entry made;
  made.path = std::move(path);
  made.type = type;
  made.dimension = dimension;
  return made;
}
Entry table(std::string path) { return entry(std::move(path), Type::Table); }
Entry text(std::string path) { return entry(std::move(path), Type::Text); }
Entry boolean(std::string path) { return entry(std::move(path), Type::Boolean); }
Entry integer(std::string path) { return entry(std::move(path), Type::Integer); }
Entry number(std::string path) { return entry(std::move(path), Type::Quantity); }
Entry quantity(std::string path, Dimension dimension) {
  return entry(std::move(path), Type::Quantity, dimension);
}
Entry vector(std::string path, Dimension dimension) {
  return entry(std::move(path), Type::Vector, dimension);
}
Entry choice(std::string path, std::vector<std::string> words) {
  Entry made = entry(std::move(path), Type::Choice);
  made.choices = std::move(words);
  return made;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const MaterialPreset& preset : material_presets()) names.emplace_back(preset.name);
  return names;
}

std::vector<std::string> density_names() {
  std::vector<std::string> names;
  for (const material::DensityEntry& entry : material::densities()) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const optimize::MethodInfo& method : optimize::methods()) names.emplace_back(method.name);
  return names;
}

const std::vector<std::string> sides{"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const SolidField& field : solid_fields()) names.emplace_back(field.name);
  return names;
}

// Fields of a liquid's grid.
const std::vector<std::string> grid_field_names{"cells"};
const std::vector<std::string> after_words{"hold", "extend", "loop", "mirror"};

std::vector<std::string> color_choices() {
  std::vector<std::string> words{"body", "partition"};
  const std::vector<std::string> fields = field_names();
  words.insert(words.end(), fields.begin(), fields.end());
  return words;
}

void add_material(std::vector<Key>& keys, const std::string& path) {
  keys.push_back(
      choice(path + ".preset", preset_names()).says("A real material by name; see the table below."));
  keys.push_back(choice(path + ".model", density_names())
                     .by_default("\"fixed-corotated\"")
                     .says("The elastic energy density."));
  keys.push_back(quantity(path + ".young", Dimension::Pressure)
                     .within(positive)
                     .says("Young's modulus; from the preset unless given."));
  keys.push_back(number(path + ".poisson")
                     .within({-1, 0.5, true, true})
                     .says("Poisson's ratio; from the preset unless given. In 2D: plane strain."));
  keys.push_back(
      quantity(path + ".density", Dimension::Density)
          .within(positive)
          .says("Mass per volume; from the preset unless given. In 2D: for a depth of one metre."));
}

// How vertices (or, by their centroids, elements) are chosen, always in the undeformed body after its
// transform.
void add_selection(std::vector<Key>& keys, const std::string& path) {
  keys.push_back(boolean(path + ".all").alternative().says("true: everything."));
  keys.push_back(choice(path + ".side", sides)
                     .alternative()
                     .says("The layer of the body next to one side of its bounding box."));
  keys.push_back(
      quantity(path + ".width", Dimension::Length)
          .within(at_least_zero)
          .says("With `side`: thickness of the layer. Default: 1 % of the extent in that direction."));
  keys.push_back(number(path + ".fraction")
                     .within(unit_interval)
                     .says("With `side`: thickness of the layer as a fraction of the body's extent."));
  keys.push_back(table(path + ".box").alternative().says("An axis-aligned box."));
  keys.push_back(vector(path + ".box.min", Dimension::Length).required().says("Lowest corner."));
  keys.push_back(vector(path + ".box.max", Dimension::Length).required().says("Highest corner."));
  keys.push_back(table(path + ".sphere").alternative().says("A ball (2D: a disc)."));
  keys.push_back(vector(path + ".sphere.center", Dimension::Length).required().says("Its centre."));
  keys.push_back(
      quantity(path + ".sphere.radius", Dimension::Length).within(positive).required().says("Its radius."));
  keys.push_back(table(path + ".plane").alternative().says("A half-space."));
  keys.push_back(
      vector(path + ".plane.point", Dimension::Length).required().says("A point of its boundary."));
  keys.push_back(vector(path + ".plane.normal", Dimension::Number)
                     .required()
                     .says("Direction towards which everything is chosen (any length but 0)."));
  keys.push_back(vector(path + ".nearest", Dimension::Length)
                     .alternative()
                     .says("The one vertex (element) nearest to this point."));
  keys.push_back(entry(path + ".vertices", Type::IntegerList)
                     .alternative()
                     .within({0, 2e9, false, false})
                     .says("Vertex (element) numbers, from 0, as in the mesh file."));
  keys.push_back(integer(path + ".tag")
                     .alternative()
                     .within({-2e9, 2e9, false, false})
                     .says("Elements with this region number in the mesh file, or their vertices."));
  keys.push_back(
      text(path + ".region").alternative().says("A `[[body.region]]` of the same body by its name."));
}

void add_shapes(std::vector<Key>& keys) {
  const std::string path = "body[].shape";
  const auto center = [&](const std::string& shape) {
    keys.push_back(vector(path + "." + shape + ".center", Dimension::Length)
                       .by_default("[0.0, 0.0, 0.0]")
                       .says("Where its centre is."));
  };
  const auto length = [&](const std::string& key, const std::string& words) {
    keys.push_back(quantity(path + "." + key, Dimension::Length).within(positive).required().says(words));
  };
  const auto axis = [&](const std::string& shape) {
    keys.push_back(vector(path + "." + shape + ".axis", Dimension::Number)
                       .by_default("[0.0, 1.0, 0.0]")
                       .says("Direction of its axis (any length but 0)."));
  };
  for (const std::string shape : {"box", "rectangle"}) {
    const bool flat = shape == "rectangle";
    keys.push_back(table(path + "." + shape).alternative().says(flat ? "A rectangle (2D)." : "A box (3D)."));
    keys.push_back(vector(path + "." + shape + ".size", Dimension::Length)
                       .within(at_least_zero)
                       .says("Edge lengths, greater than 0; with `center`."));
    keys.push_back(vector(path + "." + shape + ".center", Dimension::Length)
                       .says("Where its centre is. Default with `size`: the origin."));
    keys.push_back(vector(path + "." + shape + ".min", Dimension::Length)
                       .says("Lowest corner; with `max`, instead of `size`."));
    keys.push_back(vector(path + "." + shape + ".max", Dimension::Length).says("Highest corner."));
    keys.push_back(entry(path + "." + shape + ".lattice", Type::IntegerList)
                       .within({2, 4096, false, false})
                       .says("Number of nodes along each edge: a regular lattice instead of `edge`."));
  }
  keys.push_back(
      choice(path + ".box.pattern", {"five-tets", "kuhn", "mirrored-kuhn"})
          .by_default("\"five-tets\"")
          .says("How cells are cut: into five tetrahedra, alternating; into six along one diagonal; into "
                "six, mirrored from cell to cell."));
  keys.push_back(table(path + ".sphere").alternative().says("A ball."));
  length("sphere.radius", "Its radius.");
  center("sphere");
  keys.push_back(table(path + ".disc").alternative().says("A disc (2D)."));
  length("disc.radius", "Its radius.");
  center("disc");
  keys.push_back(table(path + ".torus").alternative().says("A ring."));
  length("torus.ring_radius", "From the centre to the middle of the tube.");
  length("torus.tube_radius", "Radius of the tube.");
  axis("torus");
  center("torus");
  keys.push_back(table(path + ".cylinder").alternative().says("A solid cylinder."));
  length("cylinder.radius", "Its radius.");
  length("cylinder.length", "Its length along the axis.");
  axis("cylinder");
  center("cylinder");
  keys.push_back(table(path + ".capsule").alternative().says("A cylinder with round ends."));
  length("capsule.radius", "Radius of the cylinder and of the ends.");
  length("capsule.length", "Between the centres of the two half spheres.");
  axis("capsule");
  center("capsule");
  keys.push_back(table(path + ".hollow_sphere").alternative().says("A ball with a concentric cavity."));
  length("hollow_sphere.radius", "Its outer radius.");
  length("hollow_sphere.inner_radius", "Radius of the cavity.");
  center("hollow_sphere");
  keys.push_back(table(path + ".torus_knot")
                     .alternative()
                     .says("A tube around a torus knot; the axis of its torus is z."));
  keys.push_back(integer(path + ".torus_knot.p")
                     .within({1, 64, false, false})
                     .by_default("2")
                     .says("Turns about the axis."));
  keys.push_back(integer(path + ".torus_knot.q")
                     .within({1, 64, false, false})
                     .by_default("3")
                     .says("Turns about the ring; p and q have no common divisor."));
  length("torus_knot.ring_radius", "Radius of the torus' ring.");
  length("torus_knot.winding_radius", "Distance of the tube's middle from the ring.");
  length("torus_knot.tube_radius", "Radius of the tube.");
  center("torus_knot");
  keys.push_back(
      table(path + ".gyroid_ball").alternative().says("One of the two labyrinths of a gyroid in a ball."));
  length("gyroid_ball.radius", "Radius of the ball.");
  length("gyroid_ball.period", "Period of the gyroid.");
  center("gyroid_ball");
  keys.push_back(table(path + ".pierced_shell")
                     .alternative()
                     .says("A hollow sphere with six round holes, where the axes meet its wall."));
  length("pierced_shell.radius", "Its outer radius.");
  length("pierced_shell.inner_radius", "Radius of the cavity.");
  length("pierced_shell.hole_radius", "Radius of the holes, less than 0.7 of the cavity's.");
  center("pierced_shell");
  keys.push_back(table(path + ".metaballs").alternative().says("Balls that melt into each other."));
  keys.push_back(entry(path + ".metaballs.centers", Type::VectorList, Dimension::Length)
                     .required()
                     .says("Where the balls are. Of balls that do not hang together the largest part is kept."));
  keys.push_back(entry(path + ".metaballs.radii", Type::QuantityList, Dimension::Length)
                     .within(positive)
                     .required()
                     .says("Their radii: one for each, or one for all."));
  length("metaballs.blend", "How near they must be to melt.");
  keys.push_back(table(path + ".polygon").alternative().says("A simple polygon (2D)."));
  keys.push_back(entry(path + ".polygon.points", Type::VectorList, Dimension::Length)
                     .required()
                     .says("Its corners in order; the last is joined to the first."));
  keys.push_back(
      text(path + ".mesh")
          .alternative()
          .says("A mesh file, relative to the scene file: a volume mesh as it is, or a closed surface "
                "that is filled with elements of size `edge`. For flat bodies: triangles."));
}

// Motion words: they add up. `centers`: the words for the centre of a rotation, the first is the default.
void add_motion(std::vector<Key>& keys, const std::string& path, const std::vector<std::string>& centers) {
  const auto center = [&](const std::string& key, const std::string& words) {
    Entry made = vector(key, Dimension::Length);
    made.choices = centers;
    return made.by_default("\"" + centers.front() + "\"").says(words);
  };
  keys.push_back(table(path + ".move").says("A steady motion: for ever, or to a given displacement."));
  keys.push_back(vector(path + ".move.velocity", Dimension::Velocity).says("For ever (or for `duration`)."));
  keys.push_back(vector(path + ".move.displacement", Dimension::Length)
                     .says("Where to, reached after `duration` and then held."));
  keys.push_back(quantity(path + ".move.duration", Dimension::Time).within(positive).says("How long."));
  keys.push_back(table(path + ".rotate").says("A steady rotation: for ever, or by a given angle."));
  keys.push_back(vector(path + ".rotate.axis", Dimension::Number)
                     .says("Direction of the axis (any length but 0; right-handed). Default: x, in 2D z."));
  keys.push_back(center(path + ".rotate.center",
                        "A point of the axis, or the centre of the bounding box of what the word says."));
  keys.push_back(
      quantity(path + ".rotate.rate", Dimension::AngularVelocity).says("For ever (or for `duration`)."));
  keys.push_back(quantity(path + ".rotate.angle", Dimension::Angle)
                     .says("By how much, reached after `duration` and then held."));
  keys.push_back(quantity(path + ".rotate.duration", Dimension::Time).within(positive).says("How long."));
  keys.push_back(table(path + ".script").says("Keyframes, linear in between."));
  keys.push_back(entry(path + ".script.times", Type::QuantityList, Dimension::Time)
                     .within(at_least_zero)
                     .required()
                     .says("Ascending times of the keys."));
  keys.push_back(
      entry(path + ".script.displacement", Type::VectorList, Dimension::Length).says("One per time."));
  keys.push_back(entry(path + ".script.angle", Type::QuantityList, Dimension::Angle)
                     .says("One per time, about `axis` through `center`."));
  keys.push_back(vector(path + ".script.axis", Dimension::Number).says("Of the angles, as in `rotate`."));
  keys.push_back(center(path + ".script.center", "As in `rotate`."));
  keys.push_back(
      choice(path + ".script.after", after_words)
          .by_default("\"hold\"")
          .says("After the last key: stay, go on with the last slope, start again, run back and forth."));
}

// The shapes of an obstacle that have a formula.
void add_obstacle_shapes(std::vector<Key>& keys, const std::string& path) {
  const auto length = [&](const std::string& key, const std::string& words) {
    keys.push_back(quantity(path + "." + key, Dimension::Length).within(positive).required().says(words));
  };
  const auto place = [&](const std::string& key, const std::string& words) {
    keys.push_back(vector(path + "." + key, Dimension::Length).by_default("[0.0, 0.0, 0.0]").says(words));
  };
  const auto axis = [&](const std::string& key, const std::string& words) {
    keys.push_back(vector(path + "." + key, Dimension::Number).by_default("[0.0, 1.0, 0.0]").says(words));
  };
  keys.push_back(
      table(path + ".half_space").alternative().says("Everything on one side of a plane: a floor, a wall."));
  place("half_space.point", "A point of the plane.");
  axis("half_space.normal", "Out of the obstacle (any length but 0).");
  keys.push_back(table(path + ".sphere").alternative().says("A ball."));
  length("sphere.radius", "Its radius.");
  place("sphere.center", "Its centre.");
  keys.push_back(table(path + ".box").alternative().says("A box with sharp edges."));
  keys.push_back(vector(path + ".box.size", Dimension::Length)
                     .within(at_least_zero)
                     .says("Edge lengths, greater than 0; with `center`."));
  keys.push_back(
      vector(path + ".box.center", Dimension::Length).says("Its centre. Default with `size`: the origin."));
  keys.push_back(
      vector(path + ".box.min", Dimension::Length).says("Lowest corner; with `max`, instead of `size`."));
  keys.push_back(vector(path + ".box.max", Dimension::Length).says("Highest corner."));
  keys.push_back(table(path + ".cylinder").alternative().says("A solid cylinder."));
  length("cylinder.radius", "Its radius.");
  length("cylinder.length", "Its length along the axis.");
  axis("cylinder.axis", "Direction of its axis (any length but 0).");
  place("cylinder.center", "Its centre.");
  keys.push_back(table(path + ".capsule").alternative().says("A cylinder with round ends."));
  length("capsule.radius", "Radius of the cylinder and of the ends.");
  length("capsule.length", "Between the centres of the two half spheres.");
  axis("capsule.axis", "Direction of its axis (any length but 0).");
  place("capsule.center", "Its centre.");
  keys.push_back(table(path + ".torus").alternative().says("A ring."));
  length("torus.ring_radius", "From the centre to the middle of the tube.");
  length("torus.tube_radius", "Radius of the tube.");
  axis("torus.axis", "Direction of its axis (any length but 0).");
  place("torus.center", "Its centre.");
  keys.push_back(table(path + ".cone").alternative().says("A full cone."));
  length("cone.radius", "Radius of its base.");
  length("cone.length", "From the base to the apex.");
  axis("cone.axis", "From the base to the apex (any length but 0).");
  place("cone.base", "The centre of its base.");
}

void add_obstacles(std::vector<Key>& keys) {
  keys.push_back(
      entry("obstacle", Type::TableList)
          .says("Rigid, scripted shapes that no body can enter, each with its own `[[obstacle]]`."));
  keys.push_back(
      text("obstacle[].name").says("Its name in messages, files and `--set`. Default: obstacle0, …"));
  keys.push_back(table("obstacle[].shape").required().says("One of the words below."));
  add_obstacle_shapes(keys, "obstacle[].shape");
  keys.push_back(
      entry("obstacle[].shape.union", Type::TableList).alternative().says("Several shapes as one."));
  add_obstacle_shapes(keys, "obstacle[].shape.union[]");
  keys.push_back(
      text("obstacle[].shape.mesh")
          .alternative()
          .says("A file with a closed surface, relative to the scene file: becomes a grid of distances "
                "(`voxel`), with `contact = \"penalty\"`."));
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
  keys.push_back(table("obstacle[].transform").says("Applied to the shape: first turned, then moved."));
  keys.push_back(table("obstacle[].transform.rotate").says("Turns about an axis through the origin."));
  keys.push_back(vector("obstacle[].transform.rotate.axis", Dimension::Number)
                     .says("Direction of the axis (any length but 0; right-handed). Default: y, in 2D z."));
  keys.push_back(
      quantity("obstacle[].transform.rotate.angle", Dimension::Angle).required().says("By how much."));
  keys.push_back(vector("obstacle[].transform.translate", Dimension::Length).says("Moves."));
  keys.push_back(
      choice("obstacle[].contact", {"constraint", "penalty"})
          .says("Exact, no vertex is ever inside (OPT §5.1), for shapes with a formula; or a force that "
                "pushes vertices out (OPT §5.2). Default: constraint where possible."));
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
                     .says("In pictures. A floor has the ground's colour unless it is given one."));
  keys.push_back(
      choice("obstacle[].draw", {"solid", "cut", "glass", "none"})
          .says("In pictures: whole; without the walls between the camera and what is inside; as thin glass; not at "
                "all. Default: for containers glass in scenes with a liquid, otherwise cut; else solid. A floor is "
                "drawn as the ground."));

  keys.push_back(table("contact").by_default("{}").says("Bodies against each other, and how a run starts."));
  keys.push_back(
      number("contact.friction")
          .within(at_least_zero)
          .by_default("0.0")
          .says("Coulomb's coefficient of friction of bodies with each other and with themselves."));
  keys.push_back(choice("contact.friction_model", {"implicit", "gast15"})
                     .by_default("\"implicit\"")
                     .says("Friction, of obstacles and bodies, as a part of each step's solution, so that what should "
                           "stick sticks; or by the rules of OPT §5 after it, for comparison."));
  keys.push_back(
      quantity("contact.stiffness", Dimension::Pressure)
          .within(positive)
          .says("k of the energy k·depth³ of a vertex inside a body. Default: ten times the largest Young's "
                "modulus of the two bodies."));
  keys.push_back(
      choice("contact.start", {"resolve", "refuse"})
          .by_default("\"resolve\"")
          .says("Vertices that start inside an obstacle: moved to its surface, said in the log; or an "
                "error."));
}

void add_loads(std::vector<Key>& keys) {
  const std::string path = "body[].load[]";
  keys.push_back(entry("body[].load", Type::TableList)
                     .says("Forces on a part of the body, each with its own `[[body.load]]`. The words of one load add up."));
  keys.push_back(text(path + ".name").says("For messages and `--set`."));
  keys.push_back(table(path + ".where").required().short_for("region").says("On which vertices; a traction or a "
                                                                            "pressure acts on the surface between them."));
  add_selection(keys, path + ".where");
  keys.push_back(vector(path + ".force", Dimension::Force).says("In all, spread evenly over the surface."));
  keys.push_back(vector(path + ".traction", Dimension::Pressure).says("Force per area at rest, in a fixed direction."));
  keys.push_back(quantity(path + ".pressure", Dimension::Pressure)
                     .says("Against the surface as it is; negative: it pulls."));
  keys.push_back(vector(path + ".torque", Dimension::Torque).says("In all, about the middle of the vertices as they are."));
  keys.push_back(table(path + ".script").says("A factor that changes with time, linear between keys."));
  keys.push_back(entry(path + ".script.times", Type::QuantityList, Dimension::Time)
                     .within(at_least_zero)
                     .required()
                     .says("Ascending times of the keys."));
  keys.push_back(entry(path + ".script.factor", Type::QuantityList, Dimension::Number).required().says("One per time."));
  keys.push_back(choice(path + ".script.after", after_words)
                     .by_default("\"hold\"")
                     .says("After the last key: stay, go on with the last slope, start again, run back and forth."));
  keys.push_back(quantity(path + ".begin", Dimension::Time)
                     .within(at_least_zero)
                     .by_default("0.0")
                     .says("Nothing acts before this time; the times of the script count from it."));
  keys.push_back(quantity(path + ".end", Dimension::Time).within(positive).says("Nothing acts after this time."));
}

void add_body(std::vector<Key>& keys) {
  keys.push_back(entry("body", Type::TableList)
                     .says("The bodies, each with its own `[[body]]`. At least one, or an `[[emitter]]`."));
  keys.push_back(
      text("body[].name").says("Its name in messages, files and `--set`. Default: body0, body1, …"));
  keys.push_back(choice("body[].kind", {"solid", "liquid"})
                     .by_default("\"solid\"")
                     .says("An elastic body; or a place that is full of liquid at the start: then shape, transform, "
                           "velocity and angular_velocity count, and `[liquid]` says the rest."));
  keys.push_back(
      integer("body[].dimension")
          .within({2, 3, false, false})
          .says("3, or 2 for a flat body in the plane z = 0. Default: 2 for rectangle, disc and polygon, "
                "else 3."));
  keys.push_back(table("body[].shape").required().says("The undeformed shape: one of the words below."));
  add_shapes(keys);
  keys.push_back(
      quantity("body[].edge", Dimension::Length)
          .within(positive)
          .says("Wanted edge length of the elements, after the transform. Default: 1/12 of the largest "
                "extent, or a third of what is across the thinnest part if that is less (but not more than "
                "about "
                "50000 cells). Volume meshes and lattices are taken as they are."));
  keys.push_back(table("body[].transform").says("Applied to the shape in the order of its keys."));
  keys.push_back(
      quantity("body[].transform.fit", Dimension::Length)
          .within(positive)
          .says("Scales the largest extent to this length and moves the bounding box's lowest corner to "
                "the origin."));
  keys.push_back(number("body[].transform.scale").within(positive).says("Scales about the origin."));
  keys.push_back(table("body[].transform.rotate").says("Turns about an axis through the origin."));
  keys.push_back(vector("body[].transform.rotate.axis", Dimension::Number)
                     .says("Direction of the axis (any length but 0; right-handed). Default: y, in 2D z."));
  keys.push_back(quantity("body[].transform.rotate.angle", Dimension::Angle).required().says("By how much."));
  keys.push_back(vector("body[].transform.translate", Dimension::Length).says("Moves."));
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
  keys.push_back(
      vector("body[].velocity", Dimension::Velocity).by_default("[0.0, 0.0, 0.0]").says("At the start."));
  keys.push_back(vector("body[].angular_velocity", Dimension::AngularVelocity)
                     .by_default("[0.0, 0.0, 0.0]")
                     .says("At the start, about the centre of mass."));
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
  keys.push_back(table("body[].damping").by_default("{}").says("Rayleigh damping (OPT §4.2, lagged). Not with scheme = \"static\"."));
  keys.push_back(quantity("body[].damping.mass", Dimension::Frequency)
                     .within(at_least_zero)
                     .by_default("0.0")
                     .says("Drag: deceleration per velocity."));
  keys.push_back(quantity("body[].damping.stiffness", Dimension::Time)
                     .within(at_least_zero)
                     .by_default("0.0")
                     .says("Viscosity: damping force per elastic force rate."));
  keys.push_back(
      table("body[].copies").says("Several bodies like this one on a lattice, called NAME0, NAME1, …"));
  keys.push_back(entry("body[].copies.count", Type::IntegerList)
                     .within({1, 100, false, false})
                     .required()
                     .says("How many along x, y and z."));
  keys.push_back(vector("body[].copies.spacing", Dimension::Length)
                     .required()
                     .says("From one to the next along x, y and z, added to the transform."));
  keys.push_back(boolean("body[].copies.turned")
                     .by_default("false")
                     .says("true: each is turned at random instead of `transform.rotate`."));
  keys.push_back(integer("body[].copies.seed")
                     .within({0, 2147483647, false, false})
                     .by_default("1")
                     .says("Of the random turns."));
  keys.push_back(
      boolean("body[].contact")
          .by_default("true")
          .says("Whether it touches other bodies (OPT §5.3); both must say so. Bodies that may touch are "
                "solved together, which costs a little even if they never meet."));
  keys.push_back(boolean("body[].self_contact")
                     .by_default("false")
                     .says("Whether it touches itself, as when it folds."));
  keys.push_back(
      entry("body[].color", Type::Color).says("In pictures. Default: one per body from a palette."));
  keys.push_back(entry("body[].handle", Type::TableList)
                     .says("Vertices that follow a script. The motion words of one handle add up."));
  keys.push_back(text("body[].handle[].name").says("For messages and `--set`."));
  keys.push_back(table("body[].handle[].where").required().short_for("region").says("Which vertices."));
  add_selection(keys, "body[].handle[].where");
  keys.push_back(boolean("body[].handle[].pin").says("true: held where they are."));
  add_motion(keys, "body[].handle[]", {"body", "handle"});
  keys.push_back(
      quantity("body[].handle[].begin", Dimension::Time)
          .within(at_least_zero)
          .by_default("0.0")
          .says(
              "The vertices are free before this time; then they are caught where they are, and the times of "
              "their motion count from it."));
  keys.push_back(quantity("body[].handle[].release", Dimension::Time)
                     .within(positive)
                     .says("The vertices are free from this time on."));
  add_loads(keys);
}

void add_liquid(std::vector<Key>& keys) {
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
  keys.push_back(choice("liquid.transfer", {"apic", "flip"})
                     .by_default("\"apic\"")
                     .says("How velocities go between particles and grid: smooth and keeping spin, or livelier and "
                           "noisier."));
  keys.push_back(number("liquid.flip")
                     .within(unit_interval)
                     .by_default("0.97")
                     .says("With `transfer = \"flip\"`: its share, the rest is PIC, which damps."));
  keys.push_back(integer("liquid.particles")
                     .within({1, 4, false, false})
                     .by_default("2")
                     .says("Particles of a cell along each axis."));
  keys.push_back(number("liquid.cfl")
                     .within({0, 5, true, false})
                     .by_default("2.0")
                     .says("Cells that the fastest particle may cross in a substep; a step has as many substeps as "
                           "that needs."));
  keys.push_back(quantity("liquid.tolerance", Dimension::Velocity)
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
  keys.push_back(integer("liquid.seed")
                     .within({0, 2147483647, false, false})
                     .by_default("1")
                     .says("Of the particles' first places."));
  keys.push_back(entry("liquid.color", Type::Color).by_default("\"#3d7fc4\"").says("In pictures."));

  keys.push_back(entry("emitter", Type::TableList)
                     .says("Shapes that are kept full of moving liquid, each with its own `[[emitter]]`."));
  keys.push_back(text("emitter[].name").says("Its name in messages and `--set`. Default: emitter0, …"));
  keys.push_back(table("emitter[].shape").required().says("One of the words below."));
  add_obstacle_shapes(keys, "emitter[].shape");
  keys.push_back(table("emitter[].transform").says("Applied to the shape: first turned, then moved."));
  keys.push_back(table("emitter[].transform.rotate").says("Turns about an axis through the origin."));
  keys.push_back(vector("emitter[].transform.rotate.axis", Dimension::Number)
                     .says("Direction of the axis (any length but 0; right-handed). Default: y, in 2D z."));
  keys.push_back(quantity("emitter[].transform.rotate.angle", Dimension::Angle).required().says("By how much."));
  keys.push_back(vector("emitter[].transform.translate", Dimension::Length).says("Moves."));
  keys.push_back(vector("emitter[].velocity", Dimension::Velocity).required().says("Of the liquid in it."));
  keys.push_back(
      quantity("emitter[].begin", Dimension::Time).within(at_least_zero).by_default("0.0").says("From when on."));
  keys.push_back(quantity("emitter[].end", Dimension::Time).within(positive).says("Until when. Default: for ever."));
}

std::vector<Key> make_schema() {
  std::vector<Key> keys;
  keys.push_back(vector("gravity", Dimension::Acceleration)
                     .by_default("[0.0, -9.80665, 0.0]")
                     .says("Acceleration of gravity."));
  keys.push_back(table("scene").by_default("{}").says("What the scene is called."));
  keys.push_back(text("scene.name").says("Used for the run's directory. Default: the file's name."));
  keys.push_back(text("scene.description").by_default("\"\"").says("What it shows, in a sentence."));

  keys.push_back(table("time").by_default("{}").says("How long, in which strides."));
  keys.push_back(quantity("time.step", Dimension::Time)
                     .within(positive)
                     .by_default("0.025")
                     .says("Length of a time step."));
  keys.push_back(quantity("time.duration", Dimension::Time)
                     .within(positive)
                     .by_default("2.0")
                     .says("How much time is simulated."));
  keys.push_back(quantity("time.frame_rate", Dimension::Frequency)
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

  keys.push_back(table("solver").by_default("{}").says("How each step is solved. Rarely needed."));
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

  keys.push_back(table("output").by_default("{}").says("What is written, and where."));
  keys.push_back(text("output.directory").says("Default: runs/NAME, with the scene's name."));
  Entry formats = entry("output.formats", Type::ChoiceList);
  formats.choices = {"vtu", "ply", "obj", "vdb"};
  keys.push_back(formats.by_default("[\"vtu\"]").says("File formats of the frames."));
  Entry fields = entry("output.fields", Type::ChoiceList);
  fields.choices = field_names();
  fields.choices.insert(fields.choices.end(), grid_field_names.begin(), grid_field_names.end());
  keys.push_back(fields.by_default("[\"speed\", \"von_mises\", \"stretch\"]")
                     .says("Fields written with every frame (units and components: [files](formats.md#fields)). "
                           "`stress` is the whole Cauchy stress tensor, `von_mises` its von Mises value. `cells`: the "
                           "grid of a liquid, with kinds of cells, pressure, velocity and level set (in 2D always)."));
  keys.push_back(integer("output.checkpoint_every")
                     .within({0, 1e9, false, false})
                     .by_default("20")
                     .says("Steps between checkpoints; 0: only at the end and when interrupted."));

  keys.push_back(table("render").by_default("{}").says("Pictures of the frames."));
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
      choice("render.color_by", color_choices())
          .by_default("\"body\"")
          .says("What the colours show. Vectors are shown by their length, `stress` by its von Mises value (as `von_mises`)."));
  keys.push_back(boolean("render.ground").by_default("true").says("Draw a ground below the scene."));
  keys.push_back(quantity("render.ground_height", Dimension::Length)
                     .says("Its height (y). Default: just below the lowest point of the run."));
  keys.push_back(boolean("render.edges").by_default("false").says("Draw the edges of the surface mesh."));
  keys.push_back(entry("render.background", Type::Color)
                     .says("Colour of the sky. Default: a bright grey, darker above."));

  add_body(keys);
  add_liquid(keys);
  add_obstacles(keys);
  return keys;
}

struct Schema {
  std::vector<Key> keys = make_schema();
  std::map<std::string, const Key*, std::less<>> by_path;
  std::map<std::string, std::vector<const Key*>, std::less<>> by_parent;

  Schema() {
    for (const Key& key : keys) {
      by_path.emplace(key.path, &key);
      by_parent[key.parent()].push_back(&key);
    }
  }
};

const Schema& the_schema() {
  static const Schema instance;
  return instance;
}

}  // namespace

const std::vector<SolidField>& solid_fields() {
  static const std::vector<SolidField> fields{
      {"speed", 1, true},    {"displacement", 3, true},  {"velocity", 3, true},
      {"residual", 1, true}, {"contact_force", 1, true}, {"von_mises", 1, false},
      {"stress", 6, false},  {"stretch", 1, false},      {"volume_ratio", 1, false}};
  return fields;
}

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

const Key* find_key(std::string_view path) {
  const auto found = the_schema().by_path.find(path);
  return found == the_schema().by_path.end() ? nullptr : found->second;
}

std::vector<const Key*> keys_in(std::string_view path) {
  const auto found = the_schema().by_parent.find(path);
  return found == the_schema().by_parent.end() ? std::vector<const Key*>() : found->second;
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
