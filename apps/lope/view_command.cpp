#include <lope/base/errors.h>
#include <lope/base/paths.h>
#include <lope/io/frame.h>
#include <lope/scene/run_directory.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "commands.h"
#include "progress.h"
#include "stop_signals.h"
#include "view_server.h"
#include <fmt/core.h>

namespace lope::program {
namespace {

namespace fs = std::filesystem;

struct ViewArguments {
  std::string what;
  std::vector<std::string> overrides;
  fs::path page;
  int port = 0;
};

// The built page: installed, beside the sources, or the one that is named.
Expected<fs::path> find_page(const fs::path& named) {
  const fs::path page = named.empty() ? executable_path().parent_path() / "../share/lope/viewer" : named;
  if (fs::exists(page / "index.html")) return fs::canonical(page);
  return environment_error(
      "the page of the viewer has not been built: `make page` builds it (it needs Node.js and npm)");
}

std::vector<fs::path> scenes_with(const fs::path& own) {
  std::vector<fs::path> scenes;
  if (!own.empty()) scenes.push_back(own);
  for (const std::string& name : scene_names()) scenes.push_back(scene_folder() / (name + ".toml"));
  return scenes;
}

// What the first page shows, below the address of the site.
Expected<std::string> first_page(const ViewArguments& arguments, const fs::path& scene, ViewedRuns& runs) {
  if (arguments.what.empty()) return "";
  if (scene.empty()) return fmt::format("#run/{}", runs.add(arguments.what));
  const auto id = runs.start(fs::absolute(scene), arguments.overrides);
  if (!id) return forward_error(id);
  return fmt::format("#run/{}", *id);
}

// The scene that is to be started; empty: none.
Expected<fs::path> scene_of(const ViewArguments& arguments) {
  fs::path scene;
  if (!arguments.what.empty() && !fs::is_directory(arguments.what)) {
    const auto found = find_scene(arguments.what);
    if (!found) return forward_error(found);
    scene = *found;
  } else if (!arguments.what.empty() && !scene::holds_run(arguments.what)) {
    return input_error("{} is not the directory of a run", arguments.what);
  }
  if (scene.empty() && !arguments.overrides.empty())
    return input_error("--set changes a scene that is started: name one");
  return scene;
}

int look_at(const ViewArguments& arguments) {
  const auto path = scene_of(arguments);
  if (!path) return complain(path.error());
  if (path->empty()) return Done;
  const auto scene = scene::load_scene(path->string(), arguments.overrides);
  return scene ? Done : complain(scene.error());
}

int view(const ViewArguments& arguments) {
  const auto page = find_page(arguments.page);
  if (!page) return complain(page.error());
  const auto found = scene_of(arguments);
  if (!found) return complain(found.error());
  const fs::path& scene = *found;

  ViewedRuns runs(executable_path());
  std::optional<Site> site;  // outlives the threads of the server
  auto server = ViewServer::open(arguments.port);
  if (!server) return complain(server.error());
  SiteOptions options;
  options.token = make_token();
  options.port = server->port();
  options.page = *page;
  options.pictures = executable_path().parent_path() / "../share/lope/pictures";
  options.scenes = scenes_with(scene.empty() ? scene : fs::absolute(scene));
  site.emplace(options, runs);
  const StopSignals signals("\nStopping; runs that were started here write their checkpoints.\n");
  // What is started inherits this: a wish for a checkpoint that comes before the first step ends nothing.
  std::signal(SIGUSR1, SIG_IGN);
  const auto first = first_page(arguments, scene, runs);
  if (!first) return complain(first.error());
  server->serve([&site](const Request& request) { return site->answer(request); });
  tell(stdout, fmt::format("http://127.0.0.1:{}/{}/{}\nOpen this address in a browser on this machine. "
                           "Ctrl-C ends the viewer.\n",
                           server->port(), options.token, *first));
  while (!stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  // Now, since a second signal ends this program at once.
  runs.stop_all();
  return Done;
}

}  // namespace

void add_view(Arguments& app, int& status) {
  Arguments* command = app.add_subcommand("view", "Watch a run, or scenes that you choose, in a browser");
  auto arguments = std::make_shared<ViewArguments>();
  command
      ->add_option("what", arguments->what,
                   "Directory of a run, finished or not; or a scene, which is started; default: a gallery of scenes")
      ->suggest(scene_names, Paths::Files);
  command
      ->add_option("--set", arguments->overrides,
                   "Override a value of the scene: path.to.key=value (repeatable)")
      ->take_all()
      ->type_name("KEY=VALUE")
      ->suggest(override_keys);
  command->add_option("--port", arguments->port, "Port on 127.0.0.1 (default: any that is free)")
      ->in_range(0, 65535);
  command->add_option("--page", arguments->page, "Folder of another build of the page")
      ->type_name("DIR")
      ->hide();
  command->rehearse([arguments] { return look_at(*arguments); });
  command->callback([arguments, &status] { status = view(*arguments); });
}

}  // namespace lope::program
