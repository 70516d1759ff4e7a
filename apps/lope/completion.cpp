// The completion for bash. All that it knows are tables which are written here from the descriptions of the commands; its own
// part is the same for any program, and needs nothing of the package bash-completion.
#include <algorithm>

#include "commands.h"
#include <fmt/format.h>

namespace lope::program {
namespace {

// For double quotes.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') result += '\\';
    result += c;
  }
  return "\"" + result + "\"";
}

// What an argument takes: its words, and marks that begin with a character which no word begins with.
std::string value_of(const ArgumentDescription& argument) {
  std::string words = fmt::format("{}", fmt::join(argument.words, " "));
  if (argument.files) words += " @files";
  if (argument.folders) words += " @folders";
  if (argument.listed) words += " @listed";
  return words.empty() || words[0] != ' ' ? words : words.substr(1);
}

void add_case(std::string& table, const std::string& command, const std::string& key,
              const std::string& words) {
  table += fmt::format("    {}) echo {} ;;\n", quoted(command + ":" + key), quoted(words));
}

struct Tables {
  std::string options;  // COMMAND: names of its options
  std::string values;   // COMMAND:OPTION or COMMAND:NUMBER of a positional argument: value_of

  void add(const CommandDescription& command) {
    std::vector<std::string> names = {"--help"};
    int place = 0;
    for (const ArgumentDescription& argument : command.arguments) {
      names.insert(names.end(), argument.names.begin(), argument.names.end());
      if (argument.names.empty()) add_case(values, command.name, std::to_string(place++), value_of(argument));
      if (argument.value.empty()) continue;
      for (const std::string& name : argument.names)
        add_case(values, command.name, name, "@value " + value_of(argument));
    }
    options += fmt::format("    {}) echo {} ;;\n", quoted(command.name),
                           quoted(fmt::format("{}", fmt::join(names, " "))));
  }
};

constexpr const char* logic = R"BASH(
_lope() {
  local current=${COMP_WORDS[COMP_CWORD]} command="" place=0 i word takes="" before=""
  COMPREPLY=()
  # bash cuts words at "="; what belongs to one is put together again.
  local words=() joined
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ ${#words[@]} -gt 0 && ( $word == = || ${COMP_WORDS[i-1]} == = ) ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  joined=${words[-1]-}
  for ((i = 0; i < ${#words[@]} - 1; i++)); do
    word=${words[i]}
    if [[ -n $takes ]]; then
      takes=""
    elif [[ $word == -* ]]; then
      [[ $(_lope_values "$command:$word") == @value* ]] && takes=$word
    elif [[ -z $command ]]; then
      command=$word
    else
      place=$((place + 1))
    fi
  done
  [[ $joined == --*=* ]] && takes=${joined%%=*} joined=${joined#*=}
  local offered
  if [[ -n $takes ]]; then
    offered=$(_lope_values "$command:$takes")
  elif [[ $joined == -* ]]; then
    offered=$(_lope_options "$command")
  elif [[ -z $command ]]; then
    offered=$(_lope_commands)
  else
    offered=$(_lope_values "$command:$place")
  fi
  local listed="" files="" folders="" choices=()
  for word in $offered; do
    case $word in
      @value) ;;
      @listed) listed=yes ;;
      @files) files=yes ;;
      @folders) folders=yes ;;
      *) choices+=("$word") ;;
    esac
  done
  [[ -n $listed && $joined == *,* ]] && before=${joined%,*},
  for word in "${choices[@]}"; do
    [[ $before$word == "$joined"* ]] && COMPREPLY+=("$before$word")
  done
  if [[ -n $files ]]; then
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$joined")
    compopt -o filenames 2>/dev/null
  elif [[ -n $folders ]]; then
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$joined")
    compopt -o filenames 2>/dev/null
  fi
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=,] ]] && compopt -o nospace 2>/dev/null
  # What bash will replace is the part behind the last "=" alone.
  if [[ $joined != "$current" ]]; then
    local cut=${joined%"$current"}
    [[ $current == = ]] && cut=$joined
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$cut"}; done
  fi
  return 0
}
complete -F _lope lope
)BASH";

}  // namespace

std::string bash_completion(const std::vector<CommandDescription>& commands) {
  Tables tables;
  std::vector<std::string> names;
  for (const CommandDescription& command : commands) {
    tables.add(command);
    names.push_back(command.name);
  }
  tables.options += "    \"\") echo \"--help --version --dry-run\" ;;\n";
  return fmt::format(
      "# Completion of lope in bash; written by `lope completion`.\n"
      "_lope_commands() {{ echo {}; }}\n"
      "_lope_options() {{\n  case $1 in\n{}  esac\n}}\n"
      "_lope_values() {{\n  case $1 in\n{}  esac\n}}\n{}",
      quoted(fmt::format("{}", fmt::join(names, " "))), tables.options, tables.values, logic + 1);
}

}  // namespace lope::program
