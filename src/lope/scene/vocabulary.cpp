#include <lope/material/registry.h>
#include <lope/scene/keys.h>
#include <lope/scene/presets.h>
#include <lope/scene/vocabulary.h>

namespace lope::scene {

using namespace key_words;

namespace {

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const MaterialPreset& preset : material_presets()) names.emplace_back(preset.name);
  return names;
}

std::vector<std::string> density_names() {
  std::vector<std::string> names;
  for (const material::DensityEntry& density : material::densities()) names.emplace_back(density.name);
  return names;
}

const std::vector<std::string> sides{"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
const std::vector<std::string> after_words{"hold", "extend", "loop", "mirror"};

}  // namespace

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

void add_body_shape(std::vector<Key>& keys, const ShapeWords& words) {
  keys.push_back(table("body[].shape").required().says("The undeformed shape: one of the words below."));
  const std::string path = "body[].shape";
  const auto center = [&](const std::string& shape) {
    keys.push_back(vector(path + "." + shape + ".center", Dimension::Length)
                       .by_default("[0.0, 0.0, 0.0]")
                       .says("Where its centre is."));
  };
  const auto length = [&](const std::string& key, const std::string& meaning) {
    keys.push_back(quantity(path + "." + key, Dimension::Length).within(positive).required().says(meaning));
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
    if (!words.lattices) continue;
    keys.push_back(entry(path + "." + shape + ".lattice", Type::IntegerList)
                       .within({2, 4096, false, false})
                       .says("Number of nodes along each edge: a regular lattice instead of `edge`."));
  }
  if (words.lattices) {
    keys.push_back(
        choice(path + ".box.pattern", {"five-tets", "kuhn", "mirrored-kuhn"})
            .by_default("\"five-tets\"")
            .says("How cells are cut: into five tetrahedra, alternating; into six along one diagonal; into "
                  "six, mirrored from cell to cell."));
  }
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

void add_body_edge(std::vector<Key>& keys) {
  keys.push_back(
      quantity("body[].edge", Dimension::Length)
          .within(positive)
          .says("Wanted edge length of the elements, after the transform. Default: 1/12 of the largest "
                "extent, or a third of what is across the thinnest part if that is less (but not more than "
                "about "
                "50000 cells). Volume meshes and lattices are taken as they are."));
}

void add_body_transform(std::vector<Key>& keys) {
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
}

void add_body_velocity(std::vector<Key>& keys) {
  keys.push_back(
      vector("body[].velocity", Dimension::Velocity).by_default("[0.0, 0.0, 0.0]").says("At the start."));
  keys.push_back(vector("body[].angular_velocity", Dimension::AngularVelocity)
                     .by_default("[0.0, 0.0, 0.0]")
                     .says("At the start, about the centre of mass."));
}

void add_body_damping(std::vector<Key>& keys) {
  keys.push_back(table("body[].damping").by_default("{}").says("Rayleigh damping (OPT §4.2, lagged). Not with scheme = \"static\"."));
  keys.push_back(quantity("body[].damping.mass", Dimension::Frequency)
                     .within(at_least_zero)
                     .by_default("0.0")
                     .says("Drag: deceleration per velocity."));
  keys.push_back(quantity("body[].damping.stiffness", Dimension::Time)
                     .within(at_least_zero)
                     .by_default("0.0")
                     .says("Viscosity: damping force per elastic force rate."));
}

void add_body_copies(std::vector<Key>& keys) {
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
}

void add_body_contact(std::vector<Key>& keys) {
  keys.push_back(
      boolean("body[].contact")
          .by_default("true")
          .says("Whether it touches other bodies (OPT §5.3); both must say so. Bodies that may touch are "
                "solved together, which costs a little even if they never meet."));
  keys.push_back(boolean("body[].self_contact")
                     .by_default("false")
                     .says("Whether it touches itself, as when it folds."));
}

void add_body_color(std::vector<Key>& keys) {
  keys.push_back(
      entry("body[].color", Type::Color).free_to_change().says("In pictures. Default: one per body from a palette."));
}

void add_body_handles(std::vector<Key>& keys) {
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
}

void add_body_loads(std::vector<Key>& keys) {
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

void add_formula_shapes(std::vector<Key>& keys, const std::string& path) {
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

void add_rigid_transform(std::vector<Key>& keys, const std::string& path) {
  keys.push_back(table(path).says("Applied to the shape: first turned, then moved."));
  keys.push_back(table(path + ".rotate").says("Turns about an axis through the origin."));
  keys.push_back(vector(path + ".rotate.axis", Dimension::Number)
                     .says("Direction of the axis (any length but 0; right-handed). Default: y, in 2D z."));
  keys.push_back(quantity(path + ".rotate.angle", Dimension::Angle).required().says("By how much."));
  keys.push_back(vector(path + ".translate", Dimension::Length).says("Moves."));
}

}  // namespace lope::scene
