// What the program says of its own commands: from this completion and the manual page are made.
#pragma once

#include <string>
#include <vector>

namespace lope::program {

struct ArgumentDescription {
  std::vector<std::string> names;  // "-o", "--output"; empty: positional
  std::string value;               // what stands for the value: "DIR"; empty: a flag
  std::string meaning;
  std::vector<std::string> words;  // what the value may be, or often is
  bool files = false;              // it may be the name of a file, or
  bool folders = false;            // of a folder
  bool listed = false;             // several values in one word, separated by commas
  bool required = false;
};

struct CommandDescription {
  std::string name;
  std::string meaning;
  std::string footer;  // further lines of its help
  std::vector<ArgumentDescription> arguments;
};

// From one program to another.
std::string to_json(const CommandDescription& command);
CommandDescription command_from_json(const std::string& text);

}  // namespace lope::program
