#include "descriptions.h"

#include <nlohmann/json.hpp>

namespace lope::program {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ArgumentDescription, names, value, meaning, words, files, folders, listed,
                                   required)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CommandDescription, name, meaning, footer, arguments)

std::string to_json(const CommandDescription& command) { return nlohmann::json(command).dump(); }

CommandDescription command_from_json(const std::string& text) {
  return nlohmann::json::parse(text).get<CommandDescription>();
}

}  // namespace lope::program
