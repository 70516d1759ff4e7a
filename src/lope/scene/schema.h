// The one table of what a scene file may say. Defaults, validation, overrides, the reference page
// (docs/scene_reference.md) and the JSON Schema for editors all come from it: a key that is not here does not
// exist. The kinds of matter add their own keys to it (kind.h): below a [[body]] every kind has its own.
#pragma once

#include <lope/scene/units.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

enum class Type {
  Boolean,
  Integer,
  Quantity,  // a number of the key's dimension
  Vector,    // two or three quantities (z = 0 where there are two)
  IntegerList,
  QuantityList,
  VectorList,
  Text,
  Choice,  // one of `choices`; blanks and underscores count as hyphens, case does not matter
  ChoiceList,
  Color,  // "#rrggbb", a colour name, or three numbers in [0, 1]
  Table,
  TableList,  // [[key]]
};

struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false;  // the limit itself is not allowed
  bool open_max = false;

  bool contains(double value) const;
  bool limited() const;
  // "greater than 0 s", "between 0 and 1", "at least 1".
  std::string text(std::string_view unit) const;
};

enum class Presence {
  Optional,
  Required,
  Filled,       // absent: the default is filled in
  Alternative,  // exactly one of a table's alternatives must be there
};

struct Key {
  std::string path;  // "body[].shape.box.size": [] stands for any element of a table list
  Type type = Type::Table;
  Presence presence = Presence::Optional;
  std::string fallback;  // the default as TOML text, when Filled
  Dimension dimension = Dimension::Number;
  Range range;  // of the number, or of every component
  std::vector<std::string>
      choices;              // Choice and ChoiceList: the words; Quantity and Vector: words also allowed
  std::string shorthand;    // Table: a plain string s stands for { shorthand = s }
  std::string description;  // one sentence for the reference page
  std::string kind;         // the kind of the [[body]] that it belongs to; empty: any, or not below a body
  bool may_change = false;  // when a run is resumed

  std::string name() const;    // last part of the path
  std::string parent() const;  // path of the table that holds it ("" for the top level)
};

const std::vector<Key>& schema();

// The key with this path, or nullptr. Below "body[]" that of a body of this kind; without a kind the first there is.
const Key* find_key(std::string_view path, std::string_view kind = {});

// The keys directly in the table `path` ("" for the top level, "body[]" for an element of [[body]]), below "body[]" those of
// this kind; without a kind all of them.
std::vector<const Key*> keys_in(std::string_view path, std::string_view kind = {});

// "a length: a number in m or a string such as "10 cm"" …: what a key expects, for messages and the
// reference.
std::string expectation(const Key& key);

// Colour names that Type::Color knows, with their sRGB values.
struct NamedColor {
  std::string_view name;
  std::string_view hex;
};
const std::vector<NamedColor>& named_colors();

// docs/scene_reference.md.
std::string reference_page();

// A JSON Schema (2020-12) of the scene file, for editors with TOML support.
std::string json_schema();

}  // namespace lope::scene
