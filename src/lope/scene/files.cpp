#include <lope/scene/files.h>
#include <lope/scene/kind.h>

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/core.h>

namespace lope::scene {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> file_keys{"body[].shape.mesh", "body[].panel[].shape.mesh",
                                                    "obstacle[].shape.mesh", "obstacle[].shape.vdb"};

// The value that names the file of a body's or an obstacle's shape, or null.
template <class Item>
auto* file_of(Item& item, std::string_view list) {
  auto* shape = item.find("shape");
  decltype(shape) file = nullptr;
  if (shape && names_file(fmt::format("{}[].shape.{}", list, shape->members.front().key)))
    file = &shape->members.front().value;
  return file;
}

bool on_the_same_tree(const fs::path& a, const fs::path& b) {
  const fs::path one = a.relative_path(), other = b.relative_path();
  return !one.empty() && !other.empty() && *one.begin() == *other.begin();
}

}  // namespace

bool names_file(std::string_view schema_path) {
  return std::find(file_keys.begin(), file_keys.end(), schema_path) != file_keys.end();
}

std::vector<std::string> rigid_files(const Value& resolved) {
  std::vector<std::string> files;
  for (const char* list : {"body", "obstacle"}) {
    for (const Value& item : resolved.items_at(list)) {
      if (item.has("kind") && find_kind(item.text_at("kind"))->has_fingerprint()) continue;
      if (const Value* file = file_of(item, list)) files.push_back(file->text);
    }
  }
  return files;
}

Value with_relative_files(Value resolved, const fs::path& directory) {
  std::error_code code;
  const fs::path from = fs::absolute(directory, code).lexically_normal();
  if (code) return resolved;
  const auto make_relative = [&](Value& item, std::string_view list) {
    Value* file = file_of(item, list);
    if (file && on_the_same_tree(file->text, from))
      file->text = fs::path(file->text).lexically_relative(from).string();
  };
  for (const char* list : {"body", "obstacle"}) {
    Value* items = resolved.find(list);
    if (!items) continue;
    for (Value& item : items->items) {
      make_relative(item, list);
      Value* panels = item.find("panel");
      if (!panels) continue;
      for (Value& panel : panels->items) make_relative(panel, "body[].panel");
    }
  }
  return resolved;
}

}  // namespace lope::scene
