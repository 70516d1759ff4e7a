#include <lope/base/paths.h>
#include <lope/base/process.h>

#include "commands.h"

namespace lope::program {

int run_benchmarks(const std::vector<std::string>& arguments) {
  const std::filesystem::path program = executable_path().parent_path() / "lope-bench";
  if (!std::filesystem::exists(program)) {
    return complain({"the benchmarks were not built (there is no " + program.string() +
                         "): `make build` builds them, with -DLOPE_BUILD_BENCH=ON -DLOPE_RENDER=ON",
                     Trouble::Environment});
  }
  const auto code = run_program(program.string(), arguments);
  return code ? *code : complain(code.error());
}

void add_bench(Arguments& app) {
  app.add_subcommand("bench", "Tables and figures of the papers; without a name, the list");
}

}  // namespace lope::program
