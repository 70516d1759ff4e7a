// What the schema cannot say: rules between keys, and defaults that depend on other keys. These are the rules of words that
// kinds of matter, obstacles and emitters share (vocabulary.h); they work on a validated tree and collect what is wrong.
#pragma once

#include <lope/scene/document.h>
#include <lope/scene/validate.h>

#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace lope::scene {

class Rules {
 public:
  // Files are named relative to `scene_directory`.
  Rules(Problems& problems, std::filesystem::path scene_directory)
      : problems_(problems), scene_directory_(std::move(scene_directory)) {}

  // Of the scene, once the bodies are resolved; a kind whose matter comes from elsewhere may set it.
  int scene_dimension = 3;

  void complain(const Value& value, const std::string& path, const std::string& what) {
    problems_.add(value.at, path, what);
  }
  // Keys that would not be used here: refused where somebody wrote them, dropped where they are defaults.
  void drop(Value& table, const std::string& path, std::initializer_list<const char*> keys, const std::string& why);
  // Fills `name` in where there is none, and refuses it where another `what` has it.
  void name(Value& thing, const std::string& path, const std::string& fallback, const std::string& what);
  bool taken(const std::string& name) { return !names_.insert(name).second; }

  // Shape, transform and velocities of a body, and its dimension, which is returned: 2 for rectangle, disc and polygon, in
  // space for kinds whose `sheets` these are.
  int shape(Value& body, const std::string& path, bool sheets = false);
  void transform(Value& body, const std::string& path, int dimension);
  void velocities(const Value& body, const std::string& path, int dimension);
  void box(const Value& box, const std::string& path, bool flat);
  // Absolute, so that the resolved scene can be loaded from anywhere.
  void resolve_file(Value& file) const;

  // Fills the constants in from the preset, or from the body's material for a region without one.
  void material(Value& material, const std::string& path, const Value* body_material);
  // The handles and loads of a body whose regions have these names.
  void handles(Value& body, const std::string& path, const std::vector<std::string>& regions, int dimension);
  void loads(Value& body, const std::string& path, const std::vector<std::string>& regions, int dimension);
  void selection(const Value& where, const std::string& path, const std::vector<std::string>& regions);
  // The motion words of a handle or an obstacle.
  void motion(Value& handle, const std::string& path, int dimension);

  void flat_vector(const Value& vector, const std::string& path);

 private:
  void handle(Value& handle, const std::string& path, const std::vector<std::string>& regions, int dimension);
  void load(Value& load, const std::string& path, const std::vector<std::string>& regions, int dimension);
  void steady(const Value& word, const std::string& path, const char* rate, const char* total);
  void axis(Value& word, const std::string& path, int dimension, const Vec3& usual);
  void keyframes(const Value& script, const std::string& path);
  void combination(const Value& handle, const std::string& path);

  Problems& problems_;
  std::filesystem::path scene_directory_;
  std::set<std::string> names_;
};

// Three numbers.
Value vector_value(const Vec3& vector);
Value integer_value(std::int64_t integer);

}  // namespace lope::scene
