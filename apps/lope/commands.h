// The commands of the program. Each adds its arguments to the parser and sets the exit status when it runs:
// 0 done and converged, 1 usage or scene error, 2 some step did not reach its accuracy, 3 environment; a run that was
// interrupted gives 128 + the number of the signal, as a shell would.
#pragma once

#include <lope/base/expected.h>
#include <lope/io/run_frames.h>
#include <lope/scene/scene.h>
#include <lope/step/model.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"

namespace lope::program {

enum Status { Done = 0, BadInput = 1, NotConverged = 2, BadEnvironment = 3 };

void add_run(Arguments& app, int& status);
void add_check(Arguments& app, int& status);
void add_render(Arguments& app, int& status);
void add_export(Arguments& app, int& status);
void add_mesh(Arguments& app, int& status);
void add_scenes(Arguments& app, int& status);
void add_solvers(Arguments& app, int& status);
// The benchmarks are a program of their own beside this one, lope-bench, which a first picture need not wait
// for: it takes all arguments after `lope bench`, --help too.
void add_view(Arguments& app, int& status);
void add_bench(Arguments& app);
int run_benchmarks(const std::vector<std::string>& arguments);
void add_compare(Arguments& app, int& status);
void add_lcp(Arguments& app, int& status);
// What the program says of itself, for shells and `man`: after all others, which they describe.
void add_words(CommandLine& app);
// The two texts. `benchmarks`: name and one line of each, if they were built.
using Names = std::vector<std::pair<std::string, std::string>>;
std::string bash_completion(const std::vector<CommandDescription>& commands);
std::string manual_page(const std::vector<CommandDescription>& commands, const Names& benchmarks);

// Checks of numbers on the command line, with one short sentence where they fail.
inline std::string positive(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  return value > 0 && value < 1e300 ? "" : "'" + text + "' is not a positive number";
}
inline std::string not_negative(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  return value >= 0 && value < 1e300 ? "" : "'" + text + "' is negative";
}

// Prints the error and returns its status.
int complain(const Error& error);
// The same of what was thrown.
int complain(const std::exception_ptr& thrown);

// The arguments that every command about a scene shares.
struct SceneArguments {
  std::string scene;                   // a file, or the name of a scene that comes with Lope
  std::vector<std::string> overrides;  // --set
  std::string mesh;                    // --mesh
  std::string method;                  // --method
  int threads = 0;                     // --threads

  void add_to(Arguments& command);
  Expected<scene::Scene> load() const;
};

// Folder of the scenes that come with Lope: beside the sources or installed; empty if there is none.
std::filesystem::path scene_folder();
// The names of the scenes there, sorted.
std::vector<std::string> scene_names();
// Words for completion: methods; "path.to.key=" of all keys of scene files; what pictures may be coloured by.
std::vector<std::string> method_names();
std::vector<std::string> override_keys();
std::vector<std::string> field_names();
// `name` itself if it is a file, otherwise the scene of that name that comes with Lope.
Expected<std::filesystem::path> find_scene(const std::string& name);

// `wanted`, or the first of NAME-2, NAME-3, … that is not there and not taken otherwise.
std::filesystem::path free_directory(
    const std::filesystem::path& wanted, const std::function<bool(const std::filesystem::path&)>& taken =
                                             [](const std::filesystem::path&) { return false; });

// Writes the frames of a run in these formats (io::export_formats) into folders of the run. A line about each.
Expected<std::vector<std::string>> export_frames(const std::filesystem::path& directory, const std::vector<std::string>& formats);

// An error if this program was built without pictures.
Expected<void> check_pictures();

// The frames of a run; says where some are missing.
Expected<io::RunFrames> open_frames(const std::filesystem::path& directory);

// Pictures of the run in `directory` (render_command.cpp).
struct PictureRequest {
  std::filesystem::path directory;
  std::optional<long> frame;  // one still of this frame
  bool still = false;         // a still of the most dramatic frame
  bool movie = false;
  bool plots = false;
  std::string color_by;  // empty: as the scene says
  int width = 0, height = 0, samples = 0;
  bool by_blocks = false;  // render::PictureOptions
  bool edges = false;
  bool points = false;     // in place of the surfaces around them
  bool quiet = false;      // no words on the way
};
// Prints the place of each file as soon as it is there: first the still, which takes seconds, then plots, last the movie.
Expected<void> make_pictures(const PictureRequest& request);

}  // namespace lope::program
