// Names of keys, shared by validation and overrides.
#pragma once

#include <lope/scene/document.h>

#include <string>
#include <string_view>

namespace lope::scene {

std::string join_path(std::string_view parent, std::string_view name);

// What to say of a key that a table (path in the schema) does not have, in a body of this kind, or (empty) elsewhere.
std::string unknown_key(std::string_view name, std::string_view table, std::string_view kind);

// The kind of a [[body]] that may not be validated yet; what is none counts as the default.
std::string kind_in(const Value& body);

// Gives a whole tree one position.
void place(Value& value, const Position& at);

}  // namespace lope::scene
