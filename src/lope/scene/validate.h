// From what the user wrote to what is meant: overrides, checks against the schema, defaults.
#pragma once

#include <lope/base/expected.h>
#include <lope/scene/document.h>

#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

// No run has more steps.
inline constexpr double most_steps = 1e9;

// How many problems are told at once.
inline constexpr int most_errors_told = 8;

// Collects problems, one line each.
class Problems {
 public:
  void add(const Position& at, const std::string& key_path, const std::string& what);
  bool empty() const { return lines_.empty(); }
  // All lines (at most most_errors_told, then their number) as one error.
  Error error() const;

 private:
  std::vector<std::string> lines_;
};

// Applies "path.to.key=value" to an unvalidated tree. Elements of table lists are addressed by number or by
// name
// ("body.0.edge", "body.bar.edge"). The value is TOML or, where that does not parse or the key wants a
// string, the bare text. Setting one of several alternatives (body.0.shape.mesh) replaces the present one.
// Fails on an unknown path, naming the nearest known key.
Expected<void> apply_override(Value& root, const std::string& assignment);

// Checks a tree against the schema and resolves it: quantities become SI numbers, shorthands tables, defaults
// are filled in (and marked so), keys come in the order of the schema. Fails with every problem found, up to
// most_errors_told, each "file:line:column: key.path: what is wrong, what is legal".
Expected<void> validate(Value& root);

// What is wrong with the name of a scene, a body, …, which becomes part of file names; empty: nothing.
std::string name_fault(std::string_view name);

// Puts the keys of a validated tree, and of what was added to it, into the order of the schema.
void arrange(Value& root);

// "#rrggbb", a colour name or three numbers as sRGB in [0, 1]; the value is a validated colour.
Vec3 color_of(const Value& value);

}  // namespace lope::scene
