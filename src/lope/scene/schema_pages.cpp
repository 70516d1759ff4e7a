// The two documents that are printed from the schema: the reference page and the JSON Schema.
#include <lope/scene/kind.h>
#include <lope/scene/presets.h>
#include <lope/scene/schema.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lope::scene {
namespace {

using Json = nlohmann::ordered_json;

// Reference page
// -------------------------------------------------------------------------------------------------

std::string without_brackets(std::string path) {
  for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]")) path.erase(at, 2);
  return path;
}

std::string type_words(const Key& key) {
  const DimensionInfo& unit = info(key.dimension);
  const std::string in_unit = unit.si.empty() ? "" : fmt::format(" [{}]", unit.si);
  switch (key.type) {
    case Type::Boolean:
      return "true or false";
    case Type::Integer:
      return "integer";
    case Type::Quantity:
      return key.dimension == Dimension::Number
                 ? "number"
                 : std::string(unit.name.substr(unit.name.find(' ') + 1)) + in_unit;
    case Type::Vector:
      return "vector" + in_unit;
    case Type::IntegerList:
      return "integers";
    case Type::QuantityList:
      return "numbers" + in_unit;
    case Type::VectorList:
      return "vectors" + in_unit;
    case Type::Text:
      return "string";
    case Type::Choice:
      return "word";
    case Type::ChoiceList:
      return "words";
    case Type::Color:
      return "colour";
    case Type::Table:
      return key.shorthand.empty() ? "table" : fmt::format("`{}` or table", key.shorthand);
    case Type::TableList:
      return "tables";
  }
  return "";
}

std::string default_words(const Key& key) {
  switch (key.presence) {
    case Presence::Required:
      return "required";
    case Presence::Filled:
      return key.fallback == "{}" ? "" : fmt::format("`{}`", key.fallback);
    case Presence::Alternative:
      return "one of these";
    case Presence::Optional:
      return "";
  }
  return "";
}

std::string limit_words(const Key& key) {
  const bool preset = key.name() == "preset";
  if (!key.choices.empty() && !preset) return fmt::format("`{}`", fmt::join(key.choices, "`, `"));
  return key.range.limited() ? key.range.text(info(key.dimension).si) : "";
}

void add_rows(const std::vector<const Key*>& keys, std::string& page) {
  page += "| key | type | default | legal | meaning |\n|---|---|---|---|---|\n";
  for (const Key* key : keys) {
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", key->name(), type_words(*key), default_words(*key),
                        limit_words(*key), key->description);
  }
  page += "\n";
}

std::string heading(const Key& key) {
  const std::string path = without_brackets(key.path);
  return key.type == Type::TableList ? fmt::format("`[[{}]]`", path) : fmt::format("`{}`", path);
}

// The keys of a body that belong to one kind, or (empty) to all.
std::vector<const Key*> body_keys(std::string_view kind) {
  std::vector<const Key*> found = keys_in("body[]");
  std::erase_if(found, [&](const Key* key) { return key->kind != kind; });
  return found;
}

class Sections {
 public:
  explicit Sections(std::string& page) : page_(page) {}

  // A section per table that has keys. Tables that repeat under several parents are described once.
  void add(const std::vector<const Key*>& keys) {
    for (const Key* key : keys) {
      if (key->type != Type::Table && key->type != Type::TableList) continue;
      const std::string inner = key->type == Type::TableList ? key->path + "[]" : key->path;
      if (inner.starts_with("body[].region[].material")) continue;
      if (inner.starts_with("body[].region[].where")) continue;
      if (inner.starts_with("obstacle[].shape.union[]")) continue;
      if (inner == "body[]") {
        add_bodies(*key);
        continue;
      }
      add_table(*key, inner);
      add(keys_in(inner, key->kind));
    }
  }

 private:
  // A table that another kind has in the same words is not repeated.
  void add_table(const Key& key, const std::string& inner) {
    const bool nested_selection = inner.starts_with("body[].handle[].where.");
    std::string section = key.description;
    if (!key.shorthand.empty()) section += fmt::format(" A string `\"s\"` stands for `{{ {} = \"s\" }}`.", key.shorthand);
    section += "\n\n";
    add_rows(keys_in(inner, key.kind), section);
    const auto [known, is_new] = described_.emplace(inner, section);
    if (!is_new && known->second == section) return;
    const std::string of = is_new ? "" : fmt::format(" of {}", find_kind(key.kind)->called());
    page_ += fmt::format("{} {}{}\n\n{}", nested_selection ? "####" : "###", heading(key), of, section);
  }

  void add_bodies(const Key& body) {
    page_ += fmt::format("### {}\n\n{}\n\n", heading(body), body.description);
    add_rows(body_keys(""), page_);
    for (const Kind* kind : kinds()) {
      page_ += fmt::format("### `[[body]]` with `kind = \"{}\"`\n\n{}. Its further keys:\n\n", kind->word(), sentence(kind->meaning()));
      add_rows(body_keys(kind->word()), page_);
      add(body_keys(kind->word()));
    }
  }

  static std::string sentence(std::string_view words) {
    std::string result(words);
    result[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(result[0])));
    return result;
  }

  std::string& page_;
  std::map<std::string, std::string> described_;
};

void add_presets(std::string& page) {
  page +=
      "## Material presets\n\n| preset | Young's modulus [Pa] | Poisson's ratio | density [kg/m³] | source "
      "|\n"
      "|---|---|---|---|---|\n";
  for (const MaterialPreset& preset : material_presets()) {
    page += fmt::format("| `{}` | {:g} | {:g} | {:g} | {} |\n", preset.name, preset.young, preset.poisson,
                        preset.density, preset.source);
  }
  page += "\n";
}

// JSON Schema
// ----------------------------------------------------------------------------------------------------

void limit(Json& schema, const Range& range) {
  if (std::isfinite(range.min)) schema[range.open_min ? "exclusiveMinimum" : "minimum"] = range.min;
  if (std::isfinite(range.max)) schema[range.open_max ? "exclusiveMaximum" : "maximum"] = range.max;
}

Json quantity_schema(const Key& key) {
  Json number{{"type", "number"}};
  limit(number, key.range);
  Json with_unit{{"type", "string"}, {"pattern", "^\\s*[-+]?[0-9.]"}};
  return Json{{"anyOf", {number, with_unit}}};
}

Json vector_schema(const Key& key) {
  return {{"type", "array"}, {"items", quantity_schema(key)}, {"minItems", 2}, {"maxItems", 3}};
}

Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

Json or_words(Json schema, const Key& key) {
  if (key.choices.empty()) return schema;
  return Json{{"anyOf", {std::move(schema), Json{{"enum", key.choices}}}}};
}

Json table_schema(const std::string& path, std::string_view kind);

Json body_schema();

Json key_schema(const Key& key) {
  Json integer{{"type", "integer"}};
  limit(integer, key.range);
  switch (key.type) {
    case Type::Boolean:
      return {{"type", "boolean"}};
    case Type::Integer:
      return integer;
    case Type::Quantity:
      return or_words(quantity_schema(key), key);
    case Type::Vector:
      return or_words(vector_schema(key), key);
    case Type::IntegerList:
      return list_of(integer);
    case Type::QuantityList:
      return list_of(quantity_schema(key));
    case Type::VectorList:
      return list_of(vector_schema(key));
    case Type::Text:
      return {{"type", "string"}};
    case Type::Choice:
      return {{"enum", key.choices}};
    case Type::ChoiceList:
      return list_of({{"enum", key.choices}});
    case Type::Color:
      return {{"type", {"string", "array"}}};
    case Type::Table: {
      Json table = table_schema(key.path, key.kind);
      if (key.shorthand.empty()) return table;
      const Key* word = find_key(key.path + "." + key.shorthand, key.kind);
      return Json{{"anyOf", {key_schema(*word), std::move(table)}}};
    }
    case Type::TableList:
      return list_of(key.path == "body" ? body_schema() : table_schema(key.path + "[]", key.kind));
  }
  return {};
}

Json table_schema(const std::string& path, std::string_view kind) {
  Json table{{"type", "object"}, {"additionalProperties", false}};
  Json properties = Json::object(), required = Json::array(), alternatives = Json::array();
  for (const Key* key : keys_in(path, kind)) {
    Json schema = key_schema(*key);
    schema["description"] = key->description;
    if (key->presence == Presence::Filled) schema["$comment"] = "default: " + key->fallback;
    properties[key->name()] = std::move(schema);
    if (key->presence == Presence::Required) required.push_back(key->name());
    if (key->presence == Presence::Alternative) alternatives.push_back({{"required", {key->name()}}});
  }
  table["properties"] = std::move(properties);
  if (!required.empty()) table["required"] = std::move(required);
  if (!alternatives.empty()) table["oneOf"] = std::move(alternatives);
  return table;
}

// One of the kinds, which `kind` tells; without it the first.
Json body_schema() {
  Json choices = Json::array();
  for (const Kind* kind : kinds()) {
    Json one = table_schema("body[]", kind->word());
    one["properties"]["kind"]["enum"] = {kind->word()};
    if (kind != kinds().front()) one["required"].push_back("kind");
    choices.push_back(std::move(one));
  }
  return Json{{"oneOf", std::move(choices)}};
}

}  // namespace

std::string reference_page() {
  std::string page =
      "# Scene file reference\n\n"
      "<!-- Generated from the schema (src/lope/scene/schema.cpp and kinds/); a test compares the two. Do not edit. "
      "-->\n\n"
      "A scene is a [TOML](https://toml.io) file. Quantities are numbers in SI units or strings with a unit\n"
      "(`\"25 ms\"`, `\"0.5 MPa\"`, `\"1/24 s\"`, `\"90 deg\"`, `\"1 turn/s\"`, `\"50 %\"`); vectors have "
      "two or three\n"
      "components, each of them a quantity. A key that is not on this page is an error. Every value can be "
      "set from\n"
      "the command line: `--set time.step=\"10 ms\"`, `--set body.0.material=rubber`, `--set "
      "body.bar.edge=0.02`\n"
      "(elements of `[[…]]` by number or by name). For a first scene see [the "
      "tutorial](scene_tutorial.md).\n\n"
      "## Top level\n\n";
  add_rows(keys_in(""), page);
  page += "## Tables\n\n";
  Sections(page).add(keys_in(""));
  add_presets(page);
  page += "## Colours\n\nNames: ";
  std::string separator;
  for (const NamedColor& color : named_colors()) {
    page += fmt::format("{}`{}` ({})", separator, color.name, color.hex);
    separator = ", ";
  }
  return page + ".\n";
}

std::string json_schema() {
  Json root{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Lope scene"}};
  root.update(table_schema("", ""));
  return root.dump(2) + "\n";
}

}  // namespace lope::scene
