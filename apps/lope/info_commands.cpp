#include <lope/base/cpu.h>
#include <lope/base/parallel.h>
#include <lope/optimize/methods.h>
#include <lope/scene/check.h>

#include "commands.h"
#include "patience.h"
#include <fmt/core.h>

namespace lope::program {
namespace {

namespace fs = std::filesystem;

int list_scenes() {
  const fs::path folder = scene_folder();
  if (folder.empty()) return complain({"the folder of scenes was not found beside the program", Trouble::Environment});
  for (const std::string& name : scene_names()) {
    const auto scene = scene::load_scene((folder / (name + ".toml")).string());
    fmt::print("{:20} {}\n", name, scene ? scene->description : scene.error().message);
  }
  fmt::print("\nRun one with: lope run NAME --render\n");
  return Done;
}

void list_solvers() {
  for (const auto& method : optimize::methods()) {
    fmt::print("{:12} {:14} {}\n", method.name, method.source, method.description);
  }
  fmt::print("\nSIMD kernels: {}.\n", name(selected_isa()));
}

int check_scene(const SceneArguments& arguments) {
  const auto scene = arguments.load();
  if (!scene) return complain(scene.error());
  std::optional<Patience> patience(std::in_place, fmt::format("{}: making and checking meshes", scene->name));
  const auto model = scene::build_model(*scene);
  if (!model) return complain(model.error());
  const scene::CheckReport report = scene::check(*scene, *model);
  patience.reset();
  fmt::print("{}", scene::describe(report));
  return report.failed() ? BadInput : Done;
}

}  // namespace

void add_scenes(Arguments& app, int& status) {
  app.add_subcommand("scenes", "List the scenes that come with Lope")->callback([&status] { status = list_scenes(); });
}

void add_solvers(Arguments& app, int&) {
  app.add_subcommand("solvers", "List the solver methods and what this CPU runs")->callback(list_solvers);
}

void add_check(Arguments& app, int& status) {
  Arguments* command =
      app.add_subcommand("check", "Validate a scene, look for trouble and estimate its memory; runs nothing");
  auto arguments = std::make_shared<SceneArguments>();
  arguments->add_to(*command);
  command->rehearse([arguments] {
    const auto scene = arguments->load();
    return scene ? static_cast<int>(Done) : complain(scene.error());
  });
  command->callback([arguments, &status] { status = check_scene(*arguments); });
}

}  // namespace lope::program
