// A scene file as a tree of values that remember where they stand in it. The only file of Lope that knows the
// TOML library is document.cpp.
#pragma once

#include <lope/base/expected.h>
#include <lope/math/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

// Where a value was written: a place in a file, or (line 0) the command-line option that gave it.
struct Position {
  std::string source;
  int line = 0;
  int column = 0;
};

// "scene.toml:12:8", or the option as it was typed.
std::string to_string(const Position& position);

enum class ValueKind { Boolean, Integer, Number, Text, Array, Table };

// "a boolean", "a table", …
std::string_view kind_name(ValueKind kind);

struct Member;

// One value; which member counts depends on `kind`. Tables keep the order in which their keys were added.
class Value {
 public:
  ValueKind kind = ValueKind::Table;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Value> items;     // Array
  std::vector<Member> members;  // Table
  Position at;                  // of the value
  Position key_at;              // of the key that names it
  bool filled = false;          // a default of the schema: nobody wrote it

  static Value of(double number);
  static Value of(std::string text);
  static Value table();

  Value* find(std::string_view key);
  const Value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // Sets or replaces a member of a table.
  Value& set(std::string_view key, Value value);
  void erase(std::string_view key);

  // Reading a validated tree: the member must exist and have the right kind (asserted).
  const Value& operator[](std::string_view key) const;
  double number_at(std::string_view key) const;
  int integer_at(std::string_view key) const;
  bool boolean_at(std::string_view key) const;
  const std::string& text_at(std::string_view key) const;
  Vec3 vector_at(std::string_view key) const;
  Vec3 as_vector() const;
  // Of a list that may be absent.
  const std::vector<Value>& items_at(std::string_view key) const;
  std::vector<double> as_numbers() const;
  std::vector<std::string> as_texts() const;
};

// Same kinds and contents in the same order; where they come from does not matter.
bool operator==(const Value& a, const Value& b);

// An entry of a table.
struct Member {
  std::string key;
  Value value;
  bool operator==(const Member& other) const = default;
};

// Parses TOML. `source` names the file in positions. Fails with file, line and column of the syntax error, or of the
// place where tables are nested too deeply.
Expected<Value> parse_toml(std::string_view text, const std::string& source);

// Reads and parses a file. A missing, unreadable or huge file is an input error.
Expected<Value> read_toml(const std::string& path);

// Writes a tree: top-level tables as [sections], arrays of tables as [[…]], deeper tables inline.
std::string write_toml(const Value& root);

// A single value on one line, tables inline.
std::string write_value(const Value& value);

}  // namespace lope::scene
