#include <lope/base/paths.h>
#include <lope/base/process.h>

#include <algorithm>

#include "commands.h"
#include <fmt/core.h>

namespace lope::program {
namespace {

namespace fs = std::filesystem;

// What lope-bench, a program of its own, says of itself. Its first argument's words are the benchmarks. Nothing: it was not built.
std::optional<CommandDescription> describe_benchmarks() {
  const fs::path program = executable_path().parent_path() / "lope-bench";
  if (!fs::exists(program)) return {};
  const auto text = read_program(program.string(), {"--describe"});
  if (!text) return {};
  return command_from_json(*text);
}

std::vector<CommandDescription> describe(const CommandLine& app) {
  std::vector<CommandDescription> commands = app.describe_commands();
  for (CommandDescription& command : commands) {
    if (command.name != "bench") continue;
    if (auto benchmarks = describe_benchmarks()) command.arguments = std::move(benchmarks->arguments);
  }
  return commands;
}

// "NAME   what it shows", as `lope bench` lists them.
Names list_benchmarks() {
  Names names;
  const fs::path program = executable_path().parent_path() / "lope-bench";
  const auto text = fs::exists(program) ? read_program(program.string(), {}) : Expected<std::string>("");
  if (!text) return names;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    const std::size_t blank = line.find(' '), word = line.find_first_not_of(' ', blank);
    if (blank != std::string::npos && word != std::string::npos)
      names.emplace_back(line.substr(0, blank), line.substr(word));
    at = end + 1;
  }
  return names;
}

}  // namespace

void add_words(CommandLine& app) {
  app.add_subcommand("completion", "Print the completion for bash: source <(lope completion)")
      ->callback([&app] { fmt::print("{}", bash_completion(describe(app))); });
  app.add_subcommand("manual", "Print the manual page: lope manual | man -l -")->callback([&app] {
    fmt::print("{}", manual_page(describe(app), list_benchmarks()));
  });
}

}  // namespace lope::program
