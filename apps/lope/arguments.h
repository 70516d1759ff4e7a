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

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lope::program {

// One option, flag or positional argument. Methods return this, for chains.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}
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
  bool empty() const;  // not given

 private:
  CLI::Option* option_;
};

// The arguments of the program or of one command. What is returned lives as long as the command line; variables are written to
// when it is read.
class Arguments {
 public:
  explicit Arguments(CLI::App* app) : app_(app) {}
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
  void callback(const std::function<void()>& run);

 protected:
  CLI::App* app_;

 private:
  template <class Value>
  Argument* add(const std::string& name, Value& value, const std::string& description);
  std::deque<Argument> arguments_;
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

  // Reads the arguments, which runs the callbacks of commands, then `run`: the exit status. One line about wrong arguments and
  // about what was thrown.
  int parse_and_run(int argc, char** argv, const std::function<int()>& run);

 private:
  std::unique_ptr<CLI::App> parser_;
};

}  // namespace lope::program
