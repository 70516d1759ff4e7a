#include <lope/base/cpu.h>
#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/scene/suggest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "commands.h"
#include "program.h"
#include <fmt/core.h>

namespace {

// LOPE_ISA, if it is set, must name an instruction set of this machine: nobody shall measure another one by mistake.
lope::Expected<void> isa_of_environment() {
  const char* wanted = std::getenv("LOPE_ISA");
  if (!wanted || !*wanted) return {};
  const auto isa = lope::isa_named(wanted);
  if (!isa) return lope::input_error("LOPE_ISA: {}", isa.error().message);
  return {};
}

// What libraries throw where nothing can catch it, in threads of their own: memory or threads that are not to be had.
[[noreturn]] void end_with_words() {
  const std::exception_ptr thrown = std::current_exception();
  if (!thrown) std::abort();
  std::_Exit(lope::program::complain(thrown));
}

void handle_terminate() { std::set_terminate(end_with_words); }
#if defined(__ELF__)
// Before the libraries are initialised: one of OpenVDB's starts threads there.
[[gnu::used, gnu::section(".preinit_array")]] void (*const before_libraries)() = handle_terminate;
#endif

}  // namespace

namespace lope::program {

int run(int argc, char** argv) {
  handle_terminate();
#ifdef SIGXFSZ
  // A file beyond its size limit is a write error like a full disk, not a sudden end.
  std::signal(SIGXFSZ, SIG_IGN);
#endif
  const ThreadLimit threads(0);
  CommandLine app{
      "Lope: simulation in long strides. Every time step is an optimisation problem, solved to a stated "
      "accuracy.",
      "lope"};
  app.require_command();
  if (const auto isa = isa_of_environment(); !isa) return complain(isa.error());
  app.set_version(fmt::format("lope {} ({} kernels)", LOPE_VERSION, name(selected_isa())));
  app.footer("First steps:  lope scenes   lope run flagship --render   lope view   lope check my_scene.toml");
  int status = Done;
  add_run(app, status);
  add_check(app, status);
  add_render(app, status);
  add_export(app, status);
  add_view(app, status);
  add_mesh(app, status);
  add_scenes(app, status);
  add_solvers(app, status);
  add_bench(app);
  add_compare(app, status);
  add_lcp(app, status);
  add_words(app);
  if (argc < 2) {
    fmt::print("{}", app.help());
    return BadInput;
  }
  const std::vector<std::string> names = app.commands();
  const char* command = argc > 2 && argv[1] == std::string_view("--dry-run") ? argv[2] : argv[1];
  if (command[0] != '-' && std::find(names.begin(), names.end(), command) == names.end()) {
    return complain(
        {fmt::format("there is no command '{}'{}; see `lope --help`", command, scene::did_you_mean(command, names)),
         Trouble::Input});
  }
  if (argv[1] == std::string_view("bench")) return run_benchmarks({argv + 2, argv + argc});
  if (argc > 2 && argv[1] == std::string_view("--dry-run") && argv[2] == std::string_view("bench")) {
    argv[2] = argv[1];
    return run_benchmarks({argv + 2, argv + argc});
  }
  return app.parse_and_run(argc, argv, [&status] { return status; });
}

}  // namespace lope::program
