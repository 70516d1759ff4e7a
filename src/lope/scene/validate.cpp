#include <lope/scene/key_paths.h>
#include <lope/scene/kind.h>
#include <lope/scene/suggest.h>
#include <lope/scene/validate.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace lope::scene {
namespace {

std::vector<std::string> names_of(const std::vector<const Key*>& keys) {
  std::vector<std::string> names;
  for (const Key* key : keys) names.push_back(key->name());
  return names;
}

// Where a name that is unknown here would be known, e.g. 'young' belongs to body.material.
std::string elsewhere(std::string_view name) {
  for (const Key& key : schema()) {
    if (key.name() != name) continue;
    std::string home = key.parent();
    for (std::size_t at = home.find("[]"); at != std::string::npos; at = home.find("[]")) home.erase(at, 2);
    return home.empty() ? fmt::format("; '{}' belongs to the top of the file, before any [table]", name)
                        : fmt::format("; '{}' belongs to '{}'", name, home);
  }
  return "";
}

// "soft rubber" and "Soft_Rubber" are "soft-rubber".
std::string normalized_word(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    c = (c == ' ' || c == '_') ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

void sort_members(Value& value, const std::vector<const Key*>& keys) {
  const auto rank = [&keys](const std::string& name) {
    return std::find_if(keys.begin(), keys.end(), [&](const Key* key) { return key->name() == name; });
  };
  std::stable_sort(value.members.begin(), value.members.end(),
                   [&rank](const auto& a, const auto& b) { return rank(a.key) < rank(b.key); });
}

void arrange_table(Value& value, const std::string& schema_path, const std::string& kind) {
  sort_members(value, keys_in(schema_path, kind));
  for (auto& [name, member] : value.members) {
    const std::string path = join_path(schema_path, name);
    if (member.kind == ValueKind::Table) arrange_table(member, path, kind);
    for (Value& item : member.items) {
      if (item.kind == ValueKind::Table) arrange_table(item, path + "[]", path == "body" ? kind_in(item) : kind);
    }
  }
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// Validates one tree; recursive over tables.
class Validator {
 public:
  explicit Validator(Problems& problems) : problems_(problems) {}

  // `schema_path` is the table's path in the schema, `path` its path in the file.
  void table(Value& value, const std::string& schema_path, const std::string& path) {
    const std::vector<const Key*> keys = keys_in(schema_path, kind_);
    bool has_unknown = false;
    for (auto& [name, member] : value.members) {
      const Key* key = find_key(join_path(schema_path, name), kind_);
      if (key) {
        check(member, *key, join_path(path, name));
      } else {
        has_unknown = true;
        problems_.add(member.key_at, join_path(path, name), unknown_key(name, schema_path, kind_));
      }
    }
    fill(value, keys, path);
    // What seems to be missing may be what was misspelt: one message is enough.
    if (!has_unknown) {
      check_required(value, keys, path);
      check_alternatives(value, keys, path);
    }
    sort_members(value, keys);
  }

 private:
  void complain(const Value& value, const std::string& path, const std::string& what) {
    problems_.add(value.at, path, what);
  }

  void wrong_kind(const Value& value, const Key& key, const std::string& path) {
    complain(value, path, fmt::format("expected {}, found {}", expectation(key), kind_name(value.kind)));
  }

  void check(Value& value, const Key& key, const std::string& path) {
    switch (key.type) {
      case Type::Boolean:
        if (value.kind != ValueKind::Boolean) wrong_kind(value, key, path);
        break;
      case Type::Integer:
        check_integer(value, key, path);
        break;
      case Type::Quantity:
        if (!is_word(value, key)) check_quantity(value, key, path);
        break;
      case Type::Vector:
        if (!is_word(value, key)) check_vector(value, key, path);
        break;
      case Type::Text:
        check_text(value, key, path);
        break;
      case Type::Choice:
        check_choice(value, key, path);
        break;
      case Type::Color:
        check_color(value, key, path);
        break;
      case Type::IntegerList:
      case Type::QuantityList:
      case Type::VectorList:
      case Type::ChoiceList:
        check_list(value, key, path);
        break;
      case Type::Table:
        check_table(value, key, path);
        break;
      case Type::TableList:
        check_table_list(value, key, path);
        break;
    }
  }

  static bool is_word(const Value& value, const Key& key) {
    return value.kind == ValueKind::Text &&
           std::find(key.choices.begin(), key.choices.end(), value.text) != key.choices.end();
  }

  void check_range(double number, const Value& value, const Key& key, const std::string& path) {
    if (key.range.contains(number)) return;
    complain(
        value, path,
        fmt::format("{} is out of range; it must be {}", number, key.range.text(info(key.dimension).si)));
  }

  void check_integer(Value& value, const Key& key, const std::string& path) {
    if (value.kind == ValueKind::Number && value.number == std::floor(value.number) &&
        std::abs(value.number) < 1e15) {
      value.kind = ValueKind::Integer;
      value.integer = static_cast<std::int64_t>(value.number);
      value.number = 0;
    }
    if (value.kind != ValueKind::Integer) return wrong_kind(value, key, path);
    check_range(static_cast<double>(value.integer), value, key, path);
  }

  void check_quantity(Value& value, const Key& key, const std::string& path) {
    if (value.kind == ValueKind::Integer) {
      value.number = static_cast<double>(value.integer);
      value.integer = 0;
    } else if (value.kind == ValueKind::Text) {
      const Expected<double> parsed = parse_quantity(value.text, key.dimension);
      if (!parsed) return complain(value, path, parsed.error().message);
      value.number = *parsed;
      value.text.clear();
    } else if (value.kind != ValueKind::Number) {
      return wrong_kind(value, key, path);
    }
    value.kind = ValueKind::Number;
    if (!std::isfinite(value.number)) {
      return complain(value, path,
                      fmt::format("{} is not finite; expected {}", value.number, expectation(key)));
    }
    check_range(value.number, value, key, path);
  }

  void check_vector(Value& value, const Key& key, const std::string& path) {
    if (value.kind != ValueKind::Array) return wrong_kind(value, key, path);
    if (value.items.size() != 2 && value.items.size() != 3) {
      return complain(value, path,
                      fmt::format("expected {}, found {} components", expectation(key), value.items.size()));
    }
    for (Value& item : value.items) check_quantity(item, key, path);
    if (value.items.size() == 2) value.items.push_back(Value::of(0.0));
    const bool direction = key.dimension == Dimension::Number;
    if (direction && value.as_vector().norm() == 0) complain(value, path, "a direction cannot be zero");
  }

  void check_choice(Value& value, const Key& key, const std::string& path) {
    if (value.kind != ValueKind::Text) return wrong_kind(value, key, path);
    const std::string word = normalized_word(value.text);
    const auto found =
        std::find_if(key.choices.begin(), key.choices.end(),
                     [&word](const std::string& choice) { return normalized_word(choice) == word; });
    if (found == key.choices.end()) {
      return complain(value, path,
                      fmt::format("unknown {} '{}'{}; expected {}", key.name(), value.text,
                                  did_you_mean(word, key.choices), expectation(key)));
    }
    value.text = *found;
  }

  void check_text(const Value& value, const Key& key, const std::string& path) {
    if (value.kind != ValueKind::Text) return wrong_kind(value, key, path);
    if (key.name() == "name") {
      if (const std::string fault = name_fault(value.text); !fault.empty()) complain(value, path, fault);
    } else if (key.path != "scene.description" && has_control(value.text)) {
      complain(value, path, "has characters that no file name has (line breaks, NUL, …)");
    }
  }

  void check_color(Value& value, const Key& key, const std::string& path) {
    if (value.kind == ValueKind::Array && value.items.size() == 3) {
      for (Value& item : value.items) {
        Key component;
        component.type = Type::Quantity;
        component.range = {0, 1, false, false};
        check_quantity(item, component, path);
      }
      return;
    }
    if (value.kind != ValueKind::Text) return wrong_kind(value, key, path);
    std::vector<std::string> names;
    for (const NamedColor& color : named_colors()) names.emplace_back(color.name);
    const std::string& text = value.text;
    const bool hex =
        text.size() == 7 && text[0] == '#' &&
        std::all_of(text.begin() + 1, text.end(), [](unsigned char c) { return std::isxdigit(c); });
    if (hex || std::find(names.begin(), names.end(), text) != names.end()) return;
    complain(value, path,
             fmt::format("unknown color '{}'{}; expected \"#rrggbb\", [r, g, b] or one of {}", text,
                         did_you_mean(text, names), fmt::join(names, ", ")));
  }

  void check_list(Value& value, const Key& key, const std::string& path) {
    if (value.kind != ValueKind::Array) return wrong_kind(value, key, path);
    if (value.items.empty() && key.type != Type::ChoiceList) {
      return complain(value, path, fmt::format("is empty; expected {}", expectation(key)));
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const std::string item_path = join_path(path, std::to_string(i));
      switch (key.type) {
        case Type::IntegerList:
          check_integer(value.items[i], key, item_path);
          break;
        case Type::QuantityList:
          check_quantity(value.items[i], key, item_path);
          break;
        case Type::VectorList:
          check_vector(value.items[i], key, item_path);
          break;
        default:
          check_choice(value.items[i], key, item_path);
          break;
      }
    }
  }

  void check_table(Value& value, const Key& key, const std::string& path) {
    if (value.kind == ValueKind::Text && !key.shorthand.empty()) {
      Value inner = value;
      inner.key_at = value.at;
      Value outer = Value::table();
      outer.at = value.at;
      outer.key_at = value.key_at;
      outer.set(key.shorthand, std::move(inner));
      value = std::move(outer);
    }
    if (value.kind != ValueKind::Table) return wrong_kind(value, key, path);
    table(value, key.path, path);
  }

  void check_table_list(Value& value, const Key& key, const std::string& path) {
    if (value.kind != ValueKind::Array) return wrong_kind(value, key, path);
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      Value& item = value.items[i];
      const std::string item_path = join_path(path, std::to_string(i));
      if (item.kind != ValueKind::Table) {
        wrong_kind(item, key, item_path);
      } else {
        if (key.path == "body") kind_ = kind_in(item);
        table(item, key.path + "[]", item_path);
        if (key.path == "body") kind_.clear();
      }
    }
  }

  void fill(Value& value, const std::vector<const Key*>& keys, const std::string& path) {
    for (const Key* key : keys) {
      if (value.has(key->name()) || key->presence != Presence::Filled) continue;
      const Expected<Value> parsed = parse_toml("default = " + key->fallback, "default");
      Value fallback = (*parsed)["default"];
      place(fallback, value.at);
      check(fallback, *key, join_path(path, key->name()));
      fallback.filled = true;
      value.set(key->name(), std::move(fallback));
    }
  }

  void check_required(const Value& value, const std::vector<const Key*>& keys, const std::string& path) {
    for (const Key* key : keys) {
      if (key->presence != Presence::Required) continue;
      const Value* member = value.find(key->name());
      const bool empty_list = member && key->type == Type::TableList && member->items.empty();
      if (member && !empty_list) continue;
      complain(value, join_path(path, key->name()),
               fmt::format("is missing; expected {}", expectation(*key)));
    }
  }

  void check_alternatives(const Value& value, const std::vector<const Key*>& keys, const std::string& path) {
    std::vector<std::string> alternatives, present;
    for (const Key* key : keys) {
      if (key->presence != Presence::Alternative) continue;
      alternatives.push_back(key->name());
      if (value.has(key->name())) present.push_back(key->name());
    }
    if (alternatives.empty() || present.size() == 1) return;
    if (present.empty()) {
      complain(value, path, fmt::format("needs one of {}", fmt::join(alternatives, ", ")));
    } else {
      complain(value, path, fmt::format("has {}; keep one of them", fmt::join(present, " and ")));
    }
  }

  Problems& problems_;
  std::string kind_;  // of the body whose keys are being looked at
};

}  // namespace

std::string join_path(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
}

std::string unknown_key(std::string_view name, std::string_view table, std::string_view kind) {
  const Kind* own = find_kind(kind);
  if (own && find_key(join_path(table, name)))
    return fmt::format("has no meaning for {}{}", own->called(), own->instead_of(name));
  const std::vector<std::string> known = names_of(keys_in(table, kind));
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) hint = elsewhere(name);
  if (hint.empty()) hint = fmt::format("; known here: {}", fmt::join(known, ", "));
  return "unknown key" + hint;
}

void place(Value& value, const Position& at) {
  value.at = value.key_at = at;
  for (Value& item : value.items) place(item, at);
  for (auto& [name, member] : value.members) place(member, at);
}

std::string kind_in(const Value& body) {
  const Value* word = body.find("kind");
  const Kind* found = word && word->kind == ValueKind::Text ? find_kind(normalized_word(word->text)) : nullptr;
  return std::string((found ? found : kinds().front())->word());
}

void Problems::add(const Position& at, const std::string& key_path, const std::string& what) {
  const std::string key = key_path.empty() ? "" : key_path + ": ";
  lines_.push_back(fmt::format("{}: {}{}", to_string(at), key, what));
}

Error Problems::error() const {
  const std::size_t told = std::min<std::size_t>(lines_.size(), most_errors_told);
  std::string message = fmt::format("{}", fmt::join(lines_.begin(), lines_.begin() + told, "\n"));
  if (told < lines_.size()) message += fmt::format("\n… and {} more", lines_.size() - told);
  return {message, Trouble::Input};
}

Expected<void> validate(Value& root) {
  Problems problems;
  Validator(problems).table(root, "", "");
  if (problems.empty()) return {};
  return tl::unexpected<Error>(problems.error());
}

std::string name_fault(std::string_view name) {
  constexpr std::size_t longest = 100;  // bytes; file systems take 255, and endings are added
  if (name.empty()) return "is empty; a name is part of file names";
  if (name.size() > longest) {
    return fmt::format("has {} bytes; a name is part of file names and has at most {}", name.size(), longest);
  }
  const bool separates = name.find_first_of("/\\") != std::string_view::npos;
  if (separates || has_control(name) || name.front() == '.' || name.front() == ' ' || name.back() == ' ') {
    return "is part of file names: no '/', '\\', line breaks or other control characters, no '.' or blank at "
           "its beginning, no blank at its end";
  }
  return "";
}

void arrange(Value& root) { arrange_table(root, "", ""); }

Vec3 color_of(const Value& value) {
  if (value.kind == ValueKind::Array) return value.as_vector();
  std::string hex = value.text;
  for (const NamedColor& color : named_colors()) {
    if (color.name == value.text) hex = color.hex;
  }
  Vec3 color;
  for (int k = 0; k < 3; ++k) {
    int byte = 0;
    std::from_chars(hex.data() + 1 + 2 * k, hex.data() + 3 + 2 * k, byte, 16);
    color[k] = byte / 255.0;
  }
  return color;
}

}  // namespace lope::scene
