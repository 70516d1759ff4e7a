// From a validated tree to a resolved one: names, defaults that depend on other keys, rules between keys.
#pragma once

#include <lope/scene/document.h>
#include <lope/scene/validate.h>

#include <filesystem>
#include <string>

namespace lope::scene {

// Works on a validated tree. `default_name`: of a scene that has none; files are named relative to `directory`. Returns the
// dimension of the scene.
int resolve_tree(Value& root, const std::string& default_name, const std::filesystem::path& directory, Problems& problems);

}  // namespace lope::scene
