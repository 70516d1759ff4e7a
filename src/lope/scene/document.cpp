#include <lope/base/errors.h>
#include <lope/scene/document.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <toml++/toml.h>

namespace lope::scene {
namespace {

Position position_of(const toml::source_region& region, const std::string& source) {
  return {source, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

struct UnsupportedValue {
  Position at;
};

Value convert(const toml::node& node, const std::string& source) {
  Value value;
  value.at = position_of(node.source(), source);
  if (const auto* boolean = node.as_boolean()) {
    value.kind = ValueKind::Boolean;
    value.boolean = boolean->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = ValueKind::Integer;
    value.integer = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.kind = ValueKind::Number;
    value.number = number->get();
  } else if (const auto* text = node.as_string()) {
    value.kind = ValueKind::Text;
    value.text = text->get();
  } else if (const auto* array = node.as_array()) {
    value.kind = ValueKind::Array;
    for (const toml::node& item : *array) value.items.push_back(convert(item, source));
  } else if (const auto* table = node.as_table()) {
    for (const auto& [key, member] : *table) {
      Value& added = value.set(key.str(), convert(member, source));
      added.key_at = position_of(key.source(), source);
    }
    // The library sorts keys; errors are to be told in the order of the file.
    std::stable_sort(value.members.begin(), value.members.end(), [](const auto& a, const auto& b) {
      return std::pair(a.value.key_at.line, a.value.key_at.column) <
             std::pair(b.value.key_at.line, b.value.key_at.column);
    });
  } else {
    throw UnsupportedValue{value.at};
  }
  return value;
}

// Tables within tables are gone through by recursion, here and in the library. Far more than any scene needs:
constexpr int most_key_parts = 32;  // of a.b.c
constexpr int most_brackets = 64;   // open at one place
constexpr std::size_t longest_key = 1000;
constexpr std::size_t largest_file = std::size_t{64} << 20;  // bytes

// Goes through TOML text by its letters, to refuse what is nested too deeply before anything follows it down. Whether the
// text is TOML at all is for the library to say.
class NestingCheck {
 public:
  NestingCheck(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Expected<void> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        step();
      }
      if (c == '.' && ++dots_ >= most_key_parts) return refuse("a key of more than {} parts", most_key_parts);
      if ((c == '[' || c == '{') && ++brackets_ > most_brackets) {
        return refuse("more than {} brackets within each other", most_brackets);
      }
      if (c == ']' || c == '}') --brackets_;
      if (c == '=' && at_ - begin_ > longest_key) return refuse("a key of more than {} bytes", longest_key);
      if (std::string_view("=,[]{}#\n").find(c) != std::string_view::npos) {
        dots_ = 0;
        begin_ = at_;
      }
    }
    return {};
  }

 private:
  // Past a string, which may hold dots and brackets; one that does not end is for the library to refuse.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool long_one = text_.substr(at_, 3) == three;
    const std::string_view end = long_one ? std::string_view(three) : std::string_view(three).substr(0, 1);
    for (std::size_t k = 0; k < end.size(); ++k) step();
    while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
      if (!long_one && text_[at_] == '\n') return;
      if (quote == '"' && text_[at_] == '\\') step();
      if (at_ < text_.size()) step();
    }
    for (std::size_t k = 0; k < end.size() && at_ < text_.size(); ++k) step();
  }

  void step() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {  // not within a letter of UTF-8
      ++column_;
    }
  }

  template <class Limit>
  tl::unexpected<Error> refuse(fmt::format_string<const Limit&> what, const Limit& limit) const {
    return input_error("{}: {}; no scene needs that: is this file a scene?",
                       to_string({source_, line_, column_ - 1}), fmt::format(what, limit));
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0, begin_ = 0;  // where we are, and where the present key began
  int line_ = 1, column_ = 1;
  int dots_ = 0, brackets_ = 0;
};

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          result += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
          result += c;
        }
    }
  }
  return result + "\"";
}

std::string written_key(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  });
  return bare ? key : quoted(key);
}

std::string written_number(double number) {
  std::string text = fmt::format("{}", number);
  const bool looks_integer = text.find_first_of(".en") == std::string::npos;
  return looks_integer ? text + ".0" : text;
}

bool is_table_array(const Value& value) {
  return value.kind == ValueKind::Array && !value.items.empty() &&
         value.items.front().kind == ValueKind::Table;
}

void write_section(const Value& table, const std::string& path, std::string& out) {
  const auto nested = [&path](const std::string& key) {
    return path.empty() ? written_key(key) : path + "." + written_key(key);
  };
  // Sections for the first level only: deeper tables read better on one line.
  const auto is_section = [&path](const Value& value) {
    return value.kind == ValueKind::Table && path.empty();
  };
  for (const auto& [key, value] : table.members) {
    if (is_section(value) || is_table_array(value)) continue;
    out += written_key(key) + " = " + write_value(value) + "\n";
  }
  for (const auto& [key, value] : table.members) {
    if (is_section(value)) {
      out += fmt::format("\n[{}]\n", nested(key));
      write_section(value, nested(key), out);
    } else if (is_table_array(value)) {
      for (const Value& item : value.items) {
        out += fmt::format("\n[[{}]]\n", nested(key));
        write_section(item, nested(key), out);
      }
    }
  }
}

}  // namespace

std::string to_string(const Position& position) {
  if (position.line == 0) return position.source;
  return fmt::format("{}:{}:{}", position.source, position.line, position.column);
}

std::string_view kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::Boolean:
      return "a boolean";
    case ValueKind::Integer:
      return "an integer";
    case ValueKind::Number:
      return "a number";
    case ValueKind::Text:
      return "a string";
    case ValueKind::Array:
      return "an array";
    case ValueKind::Table:
      return "a table";
  }
  return "";
}

Value Value::of(double number) {
  Value value;
  value.kind = ValueKind::Number;
  value.number = number;
  return value;
}

Value Value::of(std::string text) {
  Value value;
  value.kind = ValueKind::Text;
  value.text = std::move(text);
  return value;
}

Value Value::table() { return {}; }

const std::vector<Value>& Value::items_at(std::string_view key) const {
  static const std::vector<Value> none;
  const Value* list = find(key);
  return list ? list->items : none;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(static_cast<const Value*>(this)->find(key));
}

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

Value& Value::set(std::string_view key, Value value) {
  assert(kind == ValueKind::Table);
  if (Value* present = find(key)) return *present = std::move(value);
  members.push_back({std::string(key), std::move(value)});
  return members.back().value;
}

void Value::erase(std::string_view key) {
  std::erase_if(members, [key](const auto& member) { return member.key == key; });
}

const Value& Value::operator[](std::string_view key) const {
  const Value* value = find(key);
  assert(value);
  return *value;
}

double Value::number_at(std::string_view key) const {
  const Value& value = (*this)[key];
  assert(value.kind == ValueKind::Number);
  return value.number;
}

int Value::integer_at(std::string_view key) const {
  const Value& value = (*this)[key];
  assert(value.kind == ValueKind::Integer);
  return static_cast<int>(value.integer);
}

bool Value::boolean_at(std::string_view key) const {
  const Value& value = (*this)[key];
  assert(value.kind == ValueKind::Boolean);
  return value.boolean;
}

const std::string& Value::text_at(std::string_view key) const {
  const Value& value = (*this)[key];
  assert(value.kind == ValueKind::Text);
  return value.text;
}

Vec3 Value::as_vector() const {
  assert(kind == ValueKind::Array && items.size() == 3);
  return {items[0].number, items[1].number, items[2].number};
}

Vec3 Value::vector_at(std::string_view key) const { return (*this)[key].as_vector(); }

std::vector<double> Value::as_numbers() const {
  std::vector<double> numbers;
  for (const Value& item : items) numbers.push_back(item.number);
  return numbers;
}

std::vector<std::string> Value::as_texts() const {
  std::vector<std::string> texts;
  for (const Value& item : items) texts.push_back(item.text);
  return texts;
}

bool operator==(const Value& a, const Value& b) {
  return a.kind == b.kind && a.boolean == b.boolean && a.integer == b.integer && a.number == b.number &&
         a.text == b.text && a.items == b.items && a.members == b.members;
}

Expected<Value> parse_toml(std::string_view text, const std::string& source) {
  if (const auto flat = NestingCheck(text, source).run(); !flat) return forward_error(flat);
  try {
    return convert(toml::parse(text, source), source);
  } catch (const toml::parse_error& error) {
    return input_error("{}: TOML syntax: {}", to_string(position_of(error.source(), source)),
                       error.description());
  } catch (const UnsupportedValue& unsupported) {
    return input_error("{}: dates and times of day mean nothing here; write durations as \"25 ms\"",
                       to_string(unsupported.at));
  }
}

Expected<Value> read_toml(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) {
    return input_error("{}: no such file; name a scene file (.toml)", path);
  }
  if (std::filesystem::is_directory(path, code)) {
    return input_error("{}: is a directory; name a scene file (.toml) inside it", path);
  }
  std::ifstream file(path, std::ios::binary);
  std::string content;
  std::array<char, 65536> block;
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    content.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (content.size() > largest_file) {
      return input_error("{}: more than {} MB; name a scene file (.toml)", path, largest_file >> 20);
    }
  }
  if (!file.eof()) return input_error("{}: cannot be read; check its permissions", path);
  return parse_toml(content, path);
}

std::string write_value(const Value& value) {
  switch (value.kind) {
    case ValueKind::Boolean:
      return value.boolean ? "true" : "false";
    case ValueKind::Integer:
      return fmt::format("{}", value.integer);
    case ValueKind::Number:
      return written_number(value.number);
    case ValueKind::Text:
      return quoted(value.text);
    case ValueKind::Array: {
      std::string out;
      for (const Value& item : value.items) out += (out.empty() ? "" : ", ") + write_value(item);
      return "[" + out + "]";
    }
    case ValueKind::Table: {
      std::string out;
      for (const auto& [key, member] : value.members) {
        out += (out.empty() ? "" : ", ") + written_key(key) + " = " + write_value(member);
      }
      return out.empty() ? "{}" : "{ " + out + " }";
    }
  }
  return "";
}

std::string write_toml(const Value& root) {
  std::string out;
  write_section(root, "", out);
  return out;
}

}  // namespace lope::scene
