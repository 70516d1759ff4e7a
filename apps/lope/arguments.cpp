#include "arguments.h"

#include <exception>

#include "commands.h"
#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace lope::program {
namespace {

std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string words = error.what();
  while (!words.empty() && words.back() == '\n') words.pop_back();
  const auto commands = app->get_subcommands();
  return fmt::format("error: {}; see `{} {}--help`\n", words, app->get_name(),
                     commands.empty() ? "" : commands[0]->get_name() + " ");
}

}  // namespace

Argument* Argument::required() {
  option_->required();
  return this;
}
Argument* Argument::type_name(const std::string& name) {
  option_->type_name(name);
  if (name == "FILE") paths_ = Paths::Files;
  if (name == "DIR") paths_ = Paths::Folders;
  return this;
}
Argument* Argument::check(const std::function<std::string(const std::string&)>& fault) {
  option_->check(fault);
  return this;
}
Argument* Argument::in_range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return this;
}
Argument* Argument::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return suggest([values] { return values; });
}
Argument* Argument::delimiter(char between) {
  option_->delimiter(between);
  listed_ = true;
  return this;
}
Argument* Argument::take_all() {
  option_->take_all();
  return this;
}
Argument* Argument::capture_default_str() {
  option_->capture_default_str();
  return this;
}
Argument* Argument::hide() {
  option_->group("");
  return this;
}
Argument* Argument::excludes(Argument* other) {
  option_->excludes(other->option_);
  return this;
}
Argument* Argument::suggest(std::function<std::vector<std::string>()> words, Paths paths) {
  words_ = std::move(words);
  if (paths != Paths::None) paths_ = paths;
  return this;
}
bool Argument::empty() const { return option_->empty(); }
bool Argument::hidden() const { return option_->get_group().empty(); }

ArgumentDescription Argument::describe() const {
  ArgumentDescription description;
  for (const std::string& name : option_->get_snames()) description.names.push_back("-" + name);
  for (const std::string& name : option_->get_lnames()) description.names.push_back("--" + name);
  const bool positional = description.names.empty();
  if (positional) {
    description.value = option_->get_name();
  } else if (option_->get_items_expected_max() > 0) {
    // CLI11 adds what its checks ask for, after a colon or in braces.
    const std::string type = option_->get_type_name();
    description.value = type.substr(0, type.find_first_of(":{ "));
    if (description.value.empty()) description.value = "VALUE";
  }
  description.meaning = option_->get_description();
  if (words_) description.words = words_();
  description.files = paths_ == Paths::Files;
  description.folders = paths_ == Paths::Folders;
  description.listed = listed_;
  description.required = option_->get_required();
  return description;
}

Arguments* Arguments::add_subcommand(const std::string& name, const std::string& description) {
  return &commands_.emplace_back(app_->add_subcommand(name, description), rehearsal_);
}

template <class Value>
Argument* Arguments::add(const std::string& name, Value& value, const std::string& description) {
  return &arguments_.emplace_back(app_->add_option(name, value, description));
}
Argument* Arguments::add_option(const std::string& name, std::string& value, const std::string& description) {
  return add(name, value, description);
}
Argument* Arguments::add_option(const std::string& name, std::filesystem::path& value,
                                const std::string& description) {
  return add(name, value, description);
}
Argument* Arguments::add_option(const std::string& name, int& value, const std::string& description) {
  return add(name, value, description);
}
Argument* Arguments::add_option(const std::string& name, std::int64_t& value,
                                const std::string& description) {
  return add(name, value, description);
}
Argument* Arguments::add_option(const std::string& name, double& value, const std::string& description) {
  return add(name, value, description);
}
Argument* Arguments::add_option(const std::string& name, std::vector<std::string>& value,
                                const std::string& description) {
  return add(name, value, description);
}
Argument* Arguments::add_flag(const std::string& name, bool& value, const std::string& description) {
  return &arguments_.emplace_back(app_->add_flag(name, value, description));
}
void Arguments::allow_extras() { app_->allow_extras(); }
void Arguments::footer(const std::string& text) { app_->footer(text); }
void Arguments::callback(const std::function<void()>& run) {
  app_->callback([this, run] {
    if (!rehearsal_->wanted) return run();
    for (const auto& look : looks_) {
      if (rehearsal_->status == 0) rehearsal_->status = look();
    }
  });
}
void Arguments::rehearse(std::function<int()> look) { looks_.push_back(std::move(look)); }

CommandDescription Arguments::describe() const {
  CommandDescription description{app_->get_name(), app_->get_description(), app_->get_footer(), {}};
  // Commands without a footer have that of the program.
  if (app_->get_parent() && app_->get_parent()->get_footer() == description.footer) description.footer.clear();
  for (const Argument& argument : arguments_) {
    if (!argument.hidden()) description.arguments.push_back(argument.describe());
  }
  return description;
}

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : Arguments(nullptr, &rehearsing_), parser_(std::make_unique<CLI::App>(description, name)) {
  app_ = parser_.get();
  app_->failure_message(usage_error);
  app_->add_flag("--dry-run", rehearsing_.wanted, "Only look at the arguments, and at the scene if there is one; before the command");
}
CommandLine::~CommandLine() = default;

void CommandLine::set_version(const std::string& version) { app_->set_version_flag("--version", version); }
void CommandLine::require_command() { app_->require_subcommand(1); }
std::string CommandLine::help() const { return app_->help(); }

std::vector<std::string> CommandLine::commands() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_->get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<CommandDescription> CommandLine::describe_commands() const {
  std::vector<CommandDescription> descriptions;
  for (const Arguments& command : commands_) descriptions.push_back(command.describe());
  return descriptions;
}

int CommandLine::parse_and_run(int argc, char** argv, const std::function<int()>& run) {
  try {
    app_->parse(argc, argv);
    return rehearsing_.wanted && !commands_.empty() ? rehearsing_.status : run();
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? Done : BadInput;
  } catch (...) {
    return complain(std::current_exception());
  }
}

}  // namespace lope::program
