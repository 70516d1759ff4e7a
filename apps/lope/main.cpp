#include <exception>
#include <new>

#include <fmt/core.h>

#include "commands.h"

int main(int argc, char** argv) {
  using namespace lope::program;
  CLI::App app{"Lope: simulation in long strides. Every time step is an optimisation problem, solved to a stated accuracy."};
  app.require_subcommand(1);
  app.set_version_flag("--version", LOPE_VERSION);
  app.footer("First steps:  lope scenes   lope run flagship --render   lope check my_scene.toml");
  int status = Done;
  add_run(app, status);
  add_check(app, status);
  add_render(app, status);
  add_export(app, status);
  add_mesh(app, status);
  add_scenes(app, status);
  add_solvers(app, status);
  add_bench(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? Done : BadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory. `lope check` estimates what a scene needs; a coarser mesh (edge) or "
                       "--method newton-pcg needs less.\n");
    return BadEnvironment;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return BadEnvironment;
  }
  return status;
}
