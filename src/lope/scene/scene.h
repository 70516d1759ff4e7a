// The scene: what a scene file means, and the Model it makes.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/drawable.h>
#include <lope/scene/document.h>
#include <lope/step/model.h>

#include <optional>
#include <string>
#include <vector>

namespace lope::scene {

struct OutputSettings {
  std::string directory;
  std::vector<std::string> formats;  // of io::export_formats
  std::vector<std::string> fields;   // of the kinds of matter (kind.h)
  int checkpoint_every = 0;          // steps; 0: at the end only
};

struct CameraSettings {
  std::optional<Vec3> position;  // metres; none: chosen by the renderer
  std::optional<Vec3> target;
  Vec3 up = Vec3::UnitY();
  double field_of_view = 0.6;  // vertical, radians
};

struct RenderSettings {
  CameraSettings camera;
  int width = 0;
  int height = 0;
  int samples = 0;       // rays per pixel
  std::string color_by;  // "body" or a field
  bool ground = true;
  std::optional<double> ground_height;  // y, metres
  bool edges = false;
  std::optional<Vec3> background;  // sRGB; none: the renderer's own
};

// What pictures and messages need to know of a body; the rest goes into the Model.
struct BodySettings {
  std::string name;
  int dimension = 3;
  std::optional<Vec3> color;  // sRGB; in a loaded scene every body has one
  std::optional<Vec3> back_color = {};
  geometry::Pattern pattern = {};
  // Of its parts, where one body of the Model stands for several of the scene file; likewise.
  std::vector<std::optional<Vec3>> part_colors = {};
};

// How pictures show an obstacle of the Model.
struct ObstacleLook {
  enum class Draw { Solid, Cut, Glass, None };
  Draw draw = Draw::Solid;
  Vec3 color = Vec3::Zero();  // sRGB
};

struct Scene {
  std::string file;  // as the user named it
  std::string name;
  std::string description;
  int dimension = 3;
  double duration = 0;    // seconds
  double frame_rate = 0;  // frames per simulated second
  int threads = 0;        // 0: as many as there are cores
  std::vector<BodySettings> bodies;  // as in the Model
  std::vector<ObstacleLook> obstacle_looks;
  bool refuse_overlap = false;         // vertices that start inside an obstacle are an error
  std::optional<double> floor_height;  // of a resting horizontal floor, which pictures draw as their ground
  std::optional<Vec3> floor_color;     // sRGB; none: the renderer's own
  OutputSettings output;
  RenderSettings render;
  Value resolved;  // the whole scene, validated, in SI, defaults filled in; positions point into the file
};

// Whether frames hold this field: it is among the fields of the output, or what the colours show.
bool writes_field(const Scene& scene, std::string_view field);

// Reads a scene file, applies the overrides ("path.to.key=value", see validate.h) in their order, validates
// and resolves. All problems found (up to a handful) are in the error, one per line. Mesh files named in the
// scene are relative to the scene file, those named in overrides to the working directory.
Expected<Scene> load_scene(const std::string& path, const std::vector<std::string>& overrides = {});

// The same from text in memory; `source` stands for the path.
Expected<Scene> load_scene_text(const std::string& text, const std::string& source,
                                const std::vector<std::string>& overrides = {});

// The same from a tree that was made by a program: the positions of its values name their places in messages. `source` stands for
// the path: its folder is where the files named in the scene are, its stem the name of a scene without one.
Expected<Scene> load_scene_tree(Value root, const std::string& source,
                                const std::vector<std::string>& overrides = {});

// Meshes the bodies, chooses the vertices of the handles, computes initial states. Fails on meshes that
// cannot be read or made, on inverted or empty elements, on regions that choose nothing, on vertices claimed
// by two handles at one time; with the file and line of the culprit.
Expected<step::Model> build_model(const Scene& scene);

// The resolved scene as TOML: loads back (from any directory) to an equal scene.
std::string resolved_toml(const Scene& scene);

}  // namespace lope::scene
