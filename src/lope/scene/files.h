// The files that a scene names.
#pragma once

#include <lope/scene/document.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

// Whether the value at this path of the schema names a file.
bool names_file(std::string_view schema_path);

// The files of a resolved scene whose bytes are compared: those of obstacles, and of kinds of matter without a
// fingerprint.
std::vector<std::string> rigid_files(const Value& resolved);

// The resolved scene as it is kept in a directory: files by their way from there, so that a project can be moved, but for
// those that have nothing but the root folder in common with it.
Value with_relative_files(Value resolved, const std::filesystem::path& directory);

}  // namespace lope::scene
