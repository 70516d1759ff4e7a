// The command line. CLI11 reads it, behind an interface of ours: its headers take the compiler ten seconds, so that one source
// includes them. Names and meanings are CLI11's.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "descriptions.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lope::program {

// What the value of an argument usually is, beside the words it suggests.
enum class Paths { None, Files, Folders };

// One option, flag or positional argument. Methods return this, for chains.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;
  Argument* required();
  Argument* type_name(const std::string& name);
  // What is wrong with a value; empty: nothing.
  Argument* check(const std::function<std::string(const std::string&)>& fault);
  Argument* in_range(int least, int most);
  Argument* one_of(const std::vector<std::string>& values);
  Argument* delimiter(char between);
  Argument* take_all();
  Argument* capture_default_str();
  Argument* hide();  // from the help
  Argument* excludes(Argument* other);
  // What completion offers. The words are asked for when they are needed. (one_of() suggests its values, and a type name FILE or DIR
  // says what paths.)
  Argument* suggest(std::function<std::vector<std::string>()> words, Paths paths = Paths::None);
  bool empty() const;   // not given
  bool hidden() const;
  ArgumentDescription describe() const;

 private:
  CLI::Option* option_;
  std::function<std::vector<std::string>()> words_;
  Paths paths_ = Paths::None;
  bool listed_ = false;  // several values in one word, separated by commas
};

// The rehearsal of a command: all that can be said of its arguments without doing anything.
struct Rehearsal {
  bool wanted = false;  // --dry-run
  int status = 0;       // the first that was not 0
};

// The arguments of the program or of one command. What is returned lives as long as the command line; variables are written to
// when it is read.
class Arguments {
 public:
  Arguments(CLI::App* app, Rehearsal* rehearsal) : app_(app), rehearsal_(rehearsal) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  Arguments* add_subcommand(const std::string& name, const std::string& description);
  Argument* add_option(const std::string& name, std::string& value, const std::string& description = "");
  Argument* add_option(const std::string& name, std::filesystem::path& value, const std::string& description);
  Argument* add_option(const std::string& name, int& value, const std::string& description);
  Argument* add_option(const std::string& name, std::int64_t& value, const std::string& description);
  Argument* add_option(const std::string& name, double& value, const std::string& description);
  Argument* add_option(const std::string& name, std::vector<std::string>& value,
                       const std::string& description);
  Argument* add_flag(const std::string& name, bool& value, const std::string& description);
  void allow_extras();
  void footer(const std::string& text);
  // What the command does, unless it is a rehearsal.
  void callback(const std::function<void()>& run);
  // What it does in a rehearsal, in the order given: looks at arguments, prints what is wrong, returns the status.
  void rehearse(std::function<int()> look);
  CommandDescription describe() const;

 protected:
  CLI::App* app_;
  Rehearsal* rehearsal_;

 private:
  template <class Value>
  Argument* add(const std::string& name, Value& value, const std::string& description);
  std::deque<Argument> arguments_;
  std::vector<std::function<int()>> looks_;

 protected:
  std::deque<Arguments> commands_;
};

class CommandLine : public Arguments {
 public:
  CommandLine(const std::string& description, const std::string& name);
  ~CommandLine();

  void set_version(const std::string& version);
  void require_command();
  std::vector<std::string> commands() const;  // their names
  std::string help() const;
  // All commands, in the order in which they were added.
  std::vector<CommandDescription> describe_commands() const;
  bool rehearses() const { return rehearsing_.wanted; }

  // Reads the arguments, which runs the callbacks of commands, then `run`: the exit status. One line about wrong arguments and
  // about what was thrown.
  int parse_and_run(int argc, char** argv, const std::function<int()>& run);

 private:
  std::unique_ptr<CLI::App> parser_;
  Rehearsal rehearsing_;
};

}  // namespace lope::program
