#include <lope/base/errors.h>
#include <lope/io/sheet_io.h>
#include <lope/scene/keys.h>
#include <lope/scene/kinds/cloth_panels.h>
#include <lope/scene/vocabulary.h>

#include <set>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::scene {

using namespace key_words;

namespace {

// "front.left": panel and edge; nothing where there is no dot.
std::array<std::string, 2> panel_and_edge(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return {};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

geometry::RigidPose pose_of(const Value& panel) {
  geometry::RigidPose pose;
  const Value* transform = panel.find("transform");
  if (!transform) return pose;
  if (const Value* rotate = transform->find("rotate"))
    pose.rotation = Eigen::AngleAxisd(rotate->number_at("angle"), rotate->vector_at("axis").normalized())
                        .toRotationMatrix();
  if (transform->has("translate")) pose.translation = transform->vector_at("translate");
  return pose;
}

}  // namespace

void add_panel_keys(std::vector<Key>& keys) {
  const std::string panel = "body[].panel", shape = panel + "[].shape", edge = panel + "[].edge",
                    seam = "body[].seam";
  keys.push_back(tables(panel).says(
      "In place of `shape`: flat pieces of cloth, each placed in space, which seams join."));
  keys.push_back(text(panel + "[].name").required().says("What seams and messages call it; without dots."));
  keys.push_back(table(shape).required().says("The flat piece, in the plane of x and y."));
  keys.push_back(table(shape + ".rectangle")
                     .alternative()
                     .says("A rectangle around the origin. Its edges are called bottom, right, top, left."));
  keys.push_back(vector(shape + ".rectangle.size", Dimension::Length)
                     .within(at_least_zero)
                     .required()
                     .says("Its two edge lengths, greater than 0."));
  keys.push_back(table(shape + ".polygon").alternative().says("A simple polygon."));
  keys.push_back(entry(shape + ".polygon.points", Type::VectorList, Dimension::Length)
                     .required()
                     .says("Its corners in order; the last is joined to the first."));
  keys.push_back(text(shape + ".mesh")
                     .alternative()
                     .says("An OBJ file as for `body.shape`, taken as it is, in its own place in space: what "
                           "it is sewn to gets its vertices."));
  keys.push_back(tables(edge).says("Parts of its border that seams can name."));
  keys.push_back(text(edge + "[].name").required().says("The name."));
  for (const char* end : {"from", "to"}) {
    keys.push_back(integer(fmt::format("{}[].{}", edge, end))
                       .within({0, 1e9, false, false})
                       .required()
                       .says(fmt::format("The corner where it {}, counted from 0, in the order of the "
                                         "corners; of a mesh file the vertex, "
                                         "counter-clockwise around the flat shape.",
                                         std::string_view(end) == "from" ? "begins" : "ends")));
  }
  add_rigid_transform(keys, panel + "[].transform");
  keys.push_back(
      tables(seam).says("Edges that are sewn together. Both sides get the same vertices, which become one."));
  for (const char* side : {"first", "second"}) {
    keys.push_back(text(fmt::format("{}[].{}", seam, side))
                       .required()
                       .says("PANEL.EDGE. The end of one side meets the beginning of the other: both panels "
                             "then have their outer sides, from "
                             "which their corners run counter-clockwise, on the same side of the cloth."));
  }
  keys.push_back(number(seam + "[].ease")
                     .within(unit_interval)
                     .by_default("0.05")
                     .says("How much longer one side may be than the other: it is gathered."));
  keys.push_back(quantity("body[].sewing", Dimension::Time)
                     .within(positive)
                     .says("With panels: seams whose sides are placed apart start as stretched cloth and "
                           "close within this time. Default: 0.5 s."));
}

void resolve_panels(Value& body, const std::string& path, Rules& rules) {
  if (!body.has("panel")) {
    rules.drop(body, path, {"seam", "sewing"}, "has a meaning only with panels");
    return;
  }
  if (!body.has("sewing")) body.set("sewing", Value::of(0.5));
  std::set<std::string> names;
  std::size_t number = 0;
  for (Value& panel : body.find("panel")->items) {
    const std::string here = fmt::format("{}.panel.{}", path, number++);
    const std::string& name = panel.text_at("name");
    if (name.empty() || name.find('.') != std::string::npos)
      rules.complain(panel["name"], here + ".name", "needs letters and no dot, since seams name PANEL.EDGE");
    if (!names.insert(name).second)
      rules.complain(panel["name"], here + ".name", "another panel is called '" + name + "'");
    auto& [word, what] = panel.find("shape")->members.front();
    if (word == "mesh") rules.resolve_file(what);
    if (word == "rectangle") {
      if (what.vector_at("size").head<2>().minCoeff() <= 0)
        rules.complain(what["size"], here + ".shape.rectangle.size", "needs two edge lengths greater than 0");
      rules.drop(panel, here, {"edge"}, "has no meaning for rectangles: bottom, right, top, left");
    }
    rules.transform(panel, here + ".transform", 3);
  }
  number = 0;
  for (const Value& seam : body.items_at("seam")) {
    const std::string here = fmt::format("{}.seam.{}", path, number++);
    for (const char* side : {"first", "second"}) {
      if (panel_and_edge(seam.text_at(side))[1].empty())
        rules.complain(seam[side], here + "." + side, "needs PANEL.EDGE, such as \"front.left\"");
    }
  }
}

Expected<std::vector<geometry::Panel>> read_panels(const Value& body) {
  std::vector<geometry::Panel> panels;
  for (const Value& item : body.items_at("panel")) {
    geometry::Panel& panel = panels.emplace_back();
    panel.name = item.text_at("name");
    panel.pose = pose_of(item);
    const auto& [word, what] = item["shape"].members.front();
    for (const Value& edge : item.items_at("edge"))
      panel.edges.push_back({edge.text_at("name"), edge.integer_at("from"), edge.integer_at("to")});
    if (word == "rectangle") {
      const Vec2 half = 0.5 * what.vector_at("size").head<2>();
      panel.outline = {-half, {half[0], -half[1]}, half, {-half[0], half[1]}};
      panel.edges = {{"bottom", 0, 1}, {"right", 1, 2}, {"top", 2, 3}, {"left", 3, 0}};
    } else if (word == "polygon") {
      for (const Value& point : what["points"].items) panel.outline.push_back(point.as_vector().head<2>());
    } else {
      auto patch = io::read_sheet(what.text, body.has("uv_unit") ? body.number_at("uv_unit") : 0);
      if (!patch) return forward_error(patch);
      if (const auto sound = geometry::check_sheet(*patch); !sound)
        return input_error("{}: panel '{}': {}: {}", to_string(what.at), panel.name, what.text,
                           sound.error().message);
      panel.patch = std::move(*patch);
    }
  }
  return panels;
}

std::vector<geometry::PanelSeam> read_seams(const Value& body) {
  std::vector<geometry::PanelSeam> seams;
  for (const Value& item : body.items_at("seam")) {
    const auto first = panel_and_edge(item.text_at("first")), second = panel_and_edge(item.text_at("second"));
    seams.push_back({{first[0], second[0]}, {first[1], second[1]}, item.number_at("ease")});
  }
  return seams;
}

}  // namespace lope::scene
