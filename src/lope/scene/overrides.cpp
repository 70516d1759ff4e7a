// --set path.to.key=value
#include <lope/base/errors.h>
#include <lope/scene/key_paths.h>
#include <lope/scene/schema.h>
#include <lope/scene/suggest.h>
#include <lope/scene/validate.h>

#include <charconv>

#include <fmt/format.h>

namespace lope::scene {
namespace {

// The value of an override: TOML where the key does not want a string and it parses, otherwise the text
// itself.
Value override_value(const std::string& text, const Key& key, const Position& at) {
  const bool wants_text = key.type == Type::Text || key.type == Type::Choice;
  const bool is_quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'');
  Value value = Value::of(text);
  if (!wants_text || is_quoted) {
    if (const Expected<Value> parsed = parse_toml("value = " + text, "")) value = (*parsed)["value"];
  }
  place(value, at);
  return value;
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = path.find('.');
    parts.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    path.remove_prefix(dot + 1);
  }
}

// The element of a table list that a part of a path names: a number or a name.
Expected<Value*> find_element(Value& list, const std::string& part, const std::string& option) {
  std::size_t index = 0;
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), index);
  const bool is_number = code == std::errc() && end == part.data() + part.size();
  if (is_number && index < list.items.size()) return &list.items[index];
  std::vector<std::string> names;
  for (Value& item : list.items) {
    const Value* name = item.find("name");
    if (!name || name->kind != ValueKind::Text) continue;
    if (name->text == part) return &item;
    names.push_back(name->text);
  }
  const std::string numbers =
      list.items.empty() ? "there are none" : fmt::format("there are 0 to {}", list.items.size() - 1);
  return input_error("{}: no element '{}'{}; {}{}{}", option, part, did_you_mean(part, names), numbers,
                     names.empty() ? "" : ", also named ", fmt::join(names, ", "));
}

// The member `name` of a table, made if it is not there; an alternative that is made drops the others.
Value& open_member(Value& table, const Key& key, const Position& at) {
  const std::string name = key.name();
  if (Value* present = table.find(name)) return *present;
  if (key.presence == Presence::Alternative) {
    for (const Key* other : keys_in(key.parent(), key.kind)) {
      if (other->presence == Presence::Alternative) table.erase(other->name());
    }
  }
  Value made = Value::table();
  made.at = made.key_at = at;
  return table.set(name, std::move(made));
}

}  // namespace

Expected<void> apply_override(Value& root, const std::string& assignment) {
  const std::string option = "--set " + assignment;
  const Position at{option, 0, 0};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return input_error("{}: expected path.to.key=value, for example --set time.step=0.01", option);
  }
  const std::vector<std::string> parts = split(std::string_view(assignment).substr(0, equals));
  Value* value = &root;
  std::string schema_path, kind;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Key* key = find_key(join_path(schema_path, parts[i]), kind);
    if (!key) return input_error("{}: '{}': {}", option, parts[i], unknown_key(parts[i], schema_path, kind));
    const bool last = i + 1 == parts.size();
    if (last) {
      open_member(*value, *key, at) = override_value(assignment.substr(equals + 1), *key, at);
      return {};
    }
    if (key->type == Type::TableList) {
      Value* list = value->find(parts[i]);
      Value none;
      const Expected<Value*> element =
          find_element(list && list->kind == ValueKind::Array ? *list : none, parts[++i], option);
      if (!element) return forward_error(element);
      value = *element;
      schema_path = key->path + "[]";
      if (key->path == "body") kind = kind_in(*value);
      if (i + 1 == parts.size()) {
        return input_error("{}: name a key of '{}', for example {}.{}", option, parts[i],
                           fmt::join(parts, "."), keys_in(schema_path, kind).front()->name());
      }
    } else if (key->type == Type::Table) {
      value = &open_member(*value, *key, at);
      if (value->kind == ValueKind::Text && !key->shorthand.empty()) {
        Value expanded = Value::table();
        expanded.at = value->at;
        expanded.key_at = value->key_at;
        expanded.set(key->shorthand, *value);
        *value = std::move(expanded);
      }
      schema_path = key->path;
    } else {
      return input_error("{}: '{}' has no keys of its own; expected {}", option, parts[i], expectation(*key));
    }
    if (value->kind != ValueKind::Table) {
      return input_error("{}: '{}' is not a table in the scene file", option, parts[i]);
    }
  }
  return {};
}

}  // namespace lope::scene
