// The manual page: what the commands say of themselves, the scenes, the methods, and a few words that are only here.
#include <lope/optimize/complementarity/methods.h>
#include <lope/optimize/methods.h>
#include <lope/scene/scene.h>

#include <algorithm>
#include <cctype>

#include "commands.h"
#include <fmt/format.h>

namespace lope::program {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  bool bold = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '`') {
      result += bold ? "\\fP" : "\\fB";
      bold = !bold;
    } else if (c == ',' && k + 1 < text.size() && text[k + 1] != ' ') {
      result += ",\\:";  // a line may be broken there
    } else {
      result += c;
    }
  }
  return result;
}

// Text in lines of its own: none may begin like a request.
std::string lines(std::string_view text) {
  std::string result = escaped(text);
  if (!result.empty() && (result[0] == '.' || result[0] == '\'')) result.insert(0, "\\&");
  for (std::size_t at = 0; (at = result.find('\n', at)) != std::string::npos; ++at) {
    if (at + 1 < result.size() && (result[at + 1] == '.' || result[at + 1] == '\''))
      result.insert(at + 1, "\\&");
  }
  return result + "\n";
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fP"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fP"; }
std::string item(const std::string& term, std::string_view meaning) {
  return ".TP\n" + term + "\n" + lines(meaning);
}
std::string section(std::string_view name) { return fmt::format(".SH {}\n", name); }

std::string term(const ArgumentDescription& argument) {
  if (argument.names.empty()) return italic(argument.value);
  std::vector<std::string> names;
  for (const std::string& name : argument.names) names.push_back(bold(name));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     argument.value.empty() ? "" : " " + italic(argument.value));
}

// The words of arguments that have few of them.
std::string meaning(const ArgumentDescription& argument) {
  constexpr std::size_t few = 10;
  std::string text = argument.meaning;
  if (argument.words.empty() || argument.words.size() > few) return text;
  return text + fmt::format("{}: {}", text.empty() ? "One of" : "; one of", fmt::join(argument.words, ", "));
}

std::string command_text(const CommandDescription& command) {
  std::string synopsis = bold("lope " + command.name);
  for (const ArgumentDescription& argument : command.arguments) {
    if (argument.names.empty())
      synopsis += argument.required ? " " + italic(argument.value) : " [" + italic(argument.value) + "]";
  }
  const bool options = std::any_of(command.arguments.begin(), command.arguments.end(),
                                   [](const auto& a) { return !a.names.empty(); });
  std::string text = ".SS " + synopsis + (options ? " [options]" : "") + "\n" + lines(command.meaning + ".");
  for (const ArgumentDescription& argument : command.arguments)
    text += item(term(argument), meaning(argument));
  if (!command.footer.empty())
    text += ".PP\n.nf\n" + lines(command.footer.substr(command.footer.find_first_not_of('\n'))) + ".fi\n";
  return text;
}

std::string scene_text() {
  std::string text;
  for (const std::string& name : scene_names()) {
    const auto scene = scene::load_scene((scene_folder() / (name + ".toml")).string());
    text += item(bold(name), scene ? scene->description : scene.error().message);
  }
  return text;
}

std::string method_text() {
  std::string text;
  for (const auto& method : optimize::methods()) text += item(bold(method.name), method.description);
  return text;
}

std::string lcp_text() {
  std::string text;
  for (const auto& method : optimize::complementarity::lcp_methods())
    text += item(bold(method.name), method.description);
  return text;
}

}  // namespace

std::string manual_page(const std::vector<CommandDescription>& commands, const Names& benchmarks) {
  std::string page = fmt::format(
      ".\\\" Written by `lope manual`.\n.TH LOPE 1 \"\" \"lope {}\" \"Simulation in long strides\"\n.ad "
      "l\n.nh\n",
      LOPE_VERSION);
  page +=
      section("NAME") + "lope \\- simulate solids, cloth, material points and liquids in long time steps\n";
  page += section("SYNOPSIS") +
          ".B lope\n[\\fB\\-\\-help\\fP] [\\fB\\-\\-version\\fP] [\\fB\\-\\-dry\\-run\\fP] \\fICOMMAND\\fP "
          "[\\fIarguments\\fP]\n";
  page += section("DESCRIPTION") +
          lines(
              "Every time step is an optimisation problem, solved to a stated accuracy; where it is not, the "
              "log, the statistics and the "
              "exit status say so. A scene is a text file (TOML) or the name of one that comes with the "
              "program.") +
          item(bold("--dry-run"),
               "Only look at the arguments, and at the scene if there is one. Stands before the command.");
  page += section("COMMANDS");
  for (const CommandDescription& command : commands) page += command_text(command);
  if (!benchmarks.empty()) {
    page += section("BENCHMARKS");
    for (const auto& [name, shows] : benchmarks) page += item(bold(name), shows);
  }
  page += section("SCENES") + scene_text();
  page += section("METHODS") + method_text();
  page += section("METHODS OF LOPE LCP") + lcp_text();
  page +=
      section("EXIT STATUS") + item("0", "done, every step converged") +
      item("1", "wrong arguments or a wrong scene") + item("2", "some step did not reach its accuracy") +
      item("3", "the surroundings: disk, memory, a program that is missing") +
      item("128 + N",
           "interrupted by signal N; the checkpoint is written, and `--resume` goes on with the same bits");
  page += section("ENVIRONMENT") + item(bold("LOPE_ISA"), "The kernels to use: baseline, avx2 or avx512.");
  page += section("FILES") + item(italic("runs/NAME"),
                                  "The directory of a run: scene.toml (resolved), frames, stats.jsonl, "
                                  "checkpoint.h5, log.txt, pictures.");
  page += section("EXAMPLES") +
          ".nf\nlope run flagship \\-\\-render\nlope check beam.toml\nlope run beam.toml \\-\\-set "
          "body.0.edge=\"2 cm\" \\-o runs/fine\n"
          "lope run runs/fine \\-\\-resume\nlope export runs/fine \\-\\-format vtu\n.fi\n";
  page += section("COPYRIGHT") + lines(
                                     "The sources are under the MIT licence. A binary links CGAL's mesh "
                                     "generation, which is under the GNU General Public License, "
                                     "version 3 or later, and is distributed under that licence.");
  return page;
}

}  // namespace lope::program
