#include <lope/base/errors.h>
#include <lope/base/paths.h>
#include <lope/optimize/methods.h>
#include <lope/scene/schema.h>
#include <lope/scene/suggest.h>

#include <algorithm>
#include <new>
#include <system_error>

#include "commands.h"
#include <fmt/core.h>

namespace lope::program {

namespace fs = std::filesystem;

int complain(const Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return error.trouble == Trouble::Input ? BadInput : BadEnvironment;
}

int complain(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "error: out of memory. `lope check` estimates what a scene needs; a coarser mesh (edge) or "
               "--method newton-pcg needs less.\n");
  } catch (const std::system_error& error) {
    const bool resources = error.code() == std::errc::resource_unavailable_try_again;
    fmt::print(stderr, "error: {}{}\n", error.what(),
               resources
                   ? ": the system gives no more threads (see ulimit -u and -v); --threads 1 needs fewest"
                   : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  } catch (...) {
    fmt::print(stderr, "error: of an unknown kind\n");
  }
  return BadEnvironment;
}

void SceneArguments::add_to(Arguments& command) {
  command.add_option("scene", scene, "A scene file (.toml), or the name of a scene that comes with Lope")
      ->required()
      ->suggest(scene_names, Paths::Files);
  command.add_option("--set", overrides, "Override a value of the scene: path.to.key=value (repeatable)")
      ->take_all()
      ->type_name("KEY=VALUE")
      ->suggest(override_keys);
  command.add_option("--mesh", mesh, "Use this mesh file for the first body")->type_name("FILE");
  command.add_option("--method", method, "Solver method (see `lope solvers`)")->type_name("NAME")->suggest(method_names);
  command.add_option("--threads", threads, "Number of threads (default: all cores)")->in_range(0, 4096);
}

Expected<scene::Scene> SceneArguments::load() const {
  const auto path = find_scene(scene);
  if (!path) return forward_error(path);
  std::vector<std::string> all = overrides;
  if (!mesh.empty()) all.push_back("body.0.shape.mesh=" + mesh);
  if (!method.empty()) all.push_back("solver.method=" + method);
  if (threads > 0) all.push_back("solver.threads=" + std::to_string(threads));
  return scene::load_scene(path->string(), all);
}

fs::path scene_folder() {
  const fs::path program = executable_path().parent_path();
  for (const fs::path& candidate : {program / "../share/lope/scenes", fs::path("scenes")}) {
    if (fs::is_directory(candidate)) return fs::canonical(candidate);
  }
  return {};
}

std::vector<std::string> scene_names() {
  std::vector<std::string> names;
  const fs::path folder = scene_folder();
  if (folder.empty()) return names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : optimize::methods()) names.emplace_back(method.name);
  return names;
}

std::vector<std::string> override_keys() {
  std::vector<std::string> keys;
  for (const scene::Key& key : scene::schema()) {
    if (key.type == scene::Type::Table || key.type == scene::Type::TableList) continue;
    if (key.path.find("union") != std::string::npos) continue;  // as those of one shape
    std::string path = key.path;
    for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]")) path.replace(at, 2, ".0");
    keys.push_back(path + "=");
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names = scene::find_key("render.color_by")->choices;
  names.emplace_back("pressure");  // of a liquid's cells
  return names;
}

Expected<fs::path> find_scene(const std::string& name) {
  if (fs::exists(name)) return fs::path(name);
  const fs::path shipped = scene_folder() / (name + ".toml");
  if (name.find('/') == std::string::npos && fs::exists(shipped)) return shipped;
  return input_error("there is no scene file '{}', and no scene of that name comes with Lope (see `lope scenes`){}", name,
                     scene::did_you_mean(name, scene_names()));
}

fs::path free_directory(const fs::path& wanted, const std::function<bool(const fs::path&)>& taken) {
  fs::path free = wanted;
  for (int number = 2; fs::exists(free) || taken(free); ++number)
    free = fmt::format("{}-{}", wanted.string(), number);
  return free;
}

}  // namespace lope::program
