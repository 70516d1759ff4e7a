#include <lope/scene/kind.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/resolve.h>
#include <lope/scene/scene.h>
#include <lope/scene/validate.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace lope::scene {
namespace {

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

Scene read_scene(Value root, const std::string& source, int dimension) {
  Scene scene;
  scene.file = source;
  scene.name = root["scene"].text_at("name");
  scene.description = root["scene"].text_at("description");
  const Value& time = root["time"];
  scene.duration = time.number_at("duration");
  scene.frame_rate = time.has("frame_rate") ? time.number_at("frame_rate") : 1 / time.number_at("step");
  scene.threads = root["solver"].integer_at("threads");
  scene.dimension = dimension;
  for (const Kind* kind : kinds()) {
    if (!kind->is_in(root)) continue;
    for (BodySettings& body : kind->settings(root)) {
      if (!body.color) body.color = palette(scene.bodies.size());
      for (std::size_t k = 0; k < body.part_colors.size(); ++k) {
        if (!body.part_colors[k]) body.part_colors[k] = palette(scene.bodies.size() + k);
      }
      scene.bodies.push_back(std::move(body));
    }
  }
  if (const Value* obstacles = root.find("obstacle")) {
    using Draw = ObstacleLook::Draw;
    for (const Value& obstacle : obstacles->items) {
      const std::string& word = obstacle.text_at("draw");
      const Draw draw = word == "none"    ? Draw::None
                        : word == "cut"   ? Draw::Cut
                        : word == "glass" ? Draw::Glass
                                          : Draw::Solid;
      const std::optional<Vec3> color =
          obstacle.has("color") ? std::optional(color_of(obstacle["color"])) : std::nullopt;
      scene.obstacle_looks.push_back({draw, color.value_or(Vec3::Zero())});
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

}  // namespace

Expected<Scene> load_scene_tree(Value root, const std::string& source,
                                const std::vector<std::string>& overrides) {
  for (const std::string& assignment : overrides) {
    if (const auto applied = apply_override(root, assignment); !applied) return forward_error(applied);
  }
  if (const auto valid = validate(root); !valid) return forward_error(valid);
  Problems problems;
  const std::filesystem::path path(source);
  const int dimension = resolve_tree(root, path.stem().string(), path.parent_path(), problems);
  if (!problems.empty()) return tl::unexpected<Error>(problems.error());
  arrange(root);
  return read_scene(std::move(root), source, dimension);
}

Expected<Scene> load_scene(const std::string& path, const std::vector<std::string>& overrides) {
  Expected<Value> root = read_toml(path);
  if (!root) return forward_error(root);
  return load_scene_tree(std::move(*root), path, overrides);
}

Expected<Scene> load_scene_text(const std::string& text, const std::string& source,
                                const std::vector<std::string>& overrides) {
  Expected<Value> root = parse_toml(text, source);
  if (!root) return forward_error(root);
  return load_scene_tree(std::move(*root), source, overrides);
}

bool writes_field(const Scene& scene, std::string_view field) {
  const auto& fields = scene.output.fields;
  return field == scene.render.color_by || std::find(fields.begin(), fields.end(), field) != fields.end();
}

std::string resolved_toml(const Scene& scene) { return write_toml(scene.resolved); }

}  // namespace lope::scene
