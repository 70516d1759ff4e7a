#include <lope/base/errors.h>
#include <lope/io/drawable_frame.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace lope::io {
namespace {

using geometry::Drawable;
using geometry::DrawnField;

constexpr std::string_view dimension_key = "/dimension";

void add_vectors(const std::string& name, const std::vector<float>& values, Frame& frame) {
  if (!values.empty()) frame.data.add(name, {values.size() / 3, 3}, values);
}

void add_indices(const std::string& name, const std::vector<std::int32_t>& values, std::size_t corners, Frame& frame) {
  if (!values.empty()) frame.data.add(name, {values.size() / corners, corners}, values);
}

void add_fields(const std::string& prefix, const std::vector<DrawnField>& fields, Frame& frame) {
  for (const DrawnField& field : fields) {
    const auto components = static_cast<std::size_t>(field.components);
    std::vector<std::size_t> shape{field.values.size() / components};
    if (components > 1) shape.push_back(components);
    frame.data.add(prefix + field.name, std::move(shape), field.values);
    if (!field.unit.empty()) frame.data.metadata["unit/" + field.name] = field.unit;
  }
}

std::string exact(double value) { return fmt::format("{:.17g}", value); }

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Reads the arrays and words of one drawable.
class Reader {
 public:
  Reader(std::string name, const Frame& frame) : name_(std::move(name)), frame_(frame) {}

  template <class T>
  void take(const std::string& array, std::vector<T>& values) const {
    if (const auto* found = frame_.data.values<T>(name_ + array)) values = *found;
  }
  const std::string* word(const std::string& key) const {
    const auto found = frame_.data.metadata.find(name_ + key);
    return found == frame_.data.metadata.end() ? nullptr : &found->second;
  }
  bool is(const std::string& key, std::string_view expected) const {
    const std::string* found = word(key);
    return found && *found == expected;
  }
  // As many numbers as there are in the text, at most three.
  int numbers(const std::string& key, double* values) const {
    const std::string* text = word(key);
    int count = 0;
    for (const std::string& part : text ? split(*text) : std::vector<std::string>()) {
      if (count == 3) return 0;
      const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), values[count]);
      if (code != std::errc() || end != part.data() + part.size() || !std::isfinite(values[count])) return 0;
      ++count;
    }
    return count;
  }
  Expected<void> fields(const std::string& place, std::vector<DrawnField>& fields) const {
    const std::string prefix = name_ + place;
    for (const NamedArray& array : frame_.data.arrays) {
      if (!array.name.starts_with(prefix)) continue;
      DrawnField field;
      field.name = array.name.substr(prefix.size());
      if (array.shape.size() == 2) field.components = static_cast<int>(array.shape[1]);
      if (field.components != 1 && field.components != 3 && field.components != 6)
        return input_error("the field '{}' has {} numbers in each place; expected 1, 3 or 6", array.name, field.components);
      if (const auto* floats = std::get_if<std::vector<float>>(&array.data)) field.values = *floats;
      else if (const auto* integers = std::get_if<std::vector<std::int32_t>>(&array.data))
        field.values.assign(integers->begin(), integers->end());
      else return input_error("the field '{}' is of type {}; expected f32", array.name, type_name(array.data));
      if (const auto unit = frame_.data.metadata.find("unit/" + field.name); unit != frame_.data.metadata.end())
        field.unit = unit->second;
      fields.push_back(std::move(field));
    }
    return {};
  }

 private:
  std::string name_;
  const Frame& frame_;
};

Expected<void> fits(const std::string& name, const std::vector<DrawnField>& fields, std::size_t places, const char* what) {
  for (const DrawnField& field : fields) {
    if (field.values.size() != places * static_cast<std::size_t>(field.components))
      return input_error("the field '{}' of '{}' does not fit its {} {}", field.name, name, places, what);
  }
  return {};
}

bool below(const std::vector<std::int32_t>& indices, std::size_t count) {
  return std::all_of(indices.begin(), indices.end(),
                     [count](std::int32_t i) { return i >= 0 && static_cast<std::size_t>(i) < count; });
}

}  // namespace

void add_drawable(const std::string& name, const Drawable& drawable, bool constant, Frame& frame) {
  const auto& [dimension, look, surface, points, volume] = drawable;
  auto& words = frame.data.metadata;
  if (constant) {
    words[name + std::string(dimension_key)] = std::to_string(dimension);
    if (!look.material.empty()) words[name + "/material"] = look.material;
    if (look.backdrop) words[name + "/backdrop"] = "true";
    if (!look.bounded) words[name + "/bounded"] = "false";
    if (look.cut) words[name + "/cut"] = "true";
    const auto add_color = [&](const char* key, const Vec3& color) {
      frame.data.add(name + key,
                     std::vector<float>{static_cast<float>(color[0]), static_cast<float>(color[1]),
                                        static_cast<float>(color[2])});
    };
    add_color("/color", look.color);
    if (look.back) add_color("/back_color", *look.back);
    if (!look.pattern.kind.empty()) {
      words[name + "/pattern"] = look.pattern.kind;
      words[name + "/pattern/width"] = exact(look.pattern.width);
      add_color("/pattern_color", look.pattern.color);
    }
    if (points.radius > 0) words[name + "/points/radius"] = exact(points.radius);
    add_vectors(name + "/points/palette", points.palette, frame);
    if (volume.spacing > 0) {
      words[name + "/cells/spacing"] = exact(volume.spacing);
      words[name + "/cells/origin"] =
          fmt::format("{} {} {}", exact(volume.origin[0]), exact(volume.origin[1]), exact(volume.origin[2]));
      if (!volume.staggered.empty()) words[name + "/cells/staggered"] = joined(volume.staggered);
      if (!volume.kinds.empty()) words[name + "/cells/kinds"] = joined(volume.kinds);
    }
  }
  add_vectors(name + "/position", surface.positions, frame);
  add_indices(name + "/triangles", surface.triangles, 3, frame);
  add_indices(name + "/tetrahedra", surface.tetrahedra, 4, frame);
  if (!surface.material_coordinates.empty())
    frame.data.add(name + "/material_coordinates", {surface.material_coordinates.size() / 6, 6},
                   surface.material_coordinates);
  add_vectors(name + "/out_of_walls", surface.out_of_walls, frame);
  add_fields(name + "/vertex/", surface.vertex_fields, frame);
  add_fields(name + "/element/", surface.element_fields, frame);
  add_vectors(name + "/points/position", points.positions, frame);
  add_fields(name + "/points/field/", points.fields, frame);
  add_indices(name + "/cells/index", volume.cells, 3, frame);
  add_fields(name + "/cells/field/", volume.fields, frame);
}

std::vector<std::string> drawable_names(const Frame& topology) {
  std::vector<std::string> names;
  constexpr std::string_view ending = "/color";
  for (const NamedArray& array : topology.data.arrays) {
    if (!array.name.ends_with(ending)) continue;
    std::string name = array.name.substr(0, array.name.size() - ending.size());
    if (topology.data.metadata.contains(name + std::string(dimension_key))) names.push_back(std::move(name));
  }
  return names;
}

Expected<void> read_drawable(const std::string& name, const Frame& frame, Drawable& drawable) {
  const Reader reader(name, frame);
  auto& [dimension, look, surface, points, volume] = drawable;
  if (reader.word(std::string(dimension_key))) {
    dimension = reader.is(std::string(dimension_key), "2") ? 2 : 3;
    if (const std::string* material = reader.word("/material")) look.material = *material;
    look.backdrop = reader.is("/backdrop", "true");
    look.bounded = !reader.is("/bounded", "false");
    look.cut = reader.is("/cut", "true");
    const auto take_color = [&](const char* key, auto& color) {
      std::vector<float> numbers;
      reader.take(key, numbers);
      if (numbers.size() == 3) color = Vec3(numbers[0], numbers[1], numbers[2]);
    };
    take_color("/color", look.color);
    take_color("/back_color", look.back);
    take_color("/pattern_color", look.pattern.color);
    if (const std::string* pattern = reader.word("/pattern")) {
      look.pattern.kind = *pattern;
      if (reader.numbers("/pattern/width", &look.pattern.width) != 1 || !(look.pattern.width > 0))
        return input_error("the width of the pattern of '{}' is not positive", name);
    }
    if (reader.word("/points/radius") && (reader.numbers("/points/radius", &points.radius) != 1 || !(points.radius > 0)))
      return input_error("the radius of the points of '{}' is not positive", name);
    reader.take("/points/palette", points.palette);
    if (reader.word("/cells/spacing")) {
      if (reader.numbers("/cells/spacing", &volume.spacing) != 1 || !(volume.spacing > 0) ||
          reader.numbers("/cells/origin", volume.origin.data()) != 3)
        return input_error("the grid of '{}' is not described", name);
      if (const std::string* staggered = reader.word("/cells/staggered")) volume.staggered = split(*staggered);
      if (const std::string* kinds = reader.word("/cells/kinds")) volume.kinds = split(*kinds);
    }
  }
  reader.take("/position", surface.positions);
  reader.take("/triangles", surface.triangles);
  reader.take("/tetrahedra", surface.tetrahedra);
  reader.take("/material_coordinates", surface.material_coordinates);
  reader.take("/out_of_walls", surface.out_of_walls);
  reader.take("/points/position", points.positions);
  reader.take("/cells/index", volume.cells);
  if (auto read = reader.fields("/vertex/", surface.vertex_fields); !read) return read;
  if (auto read = reader.fields("/element/", surface.element_fields); !read) return read;
  if (auto read = reader.fields("/points/field/", points.fields); !read) return read;
  return reader.fields("/cells/field/", volume.fields);
}

Expected<void> check_drawable(const std::string& name, const Drawable& drawable) {
  const auto& [dimension, look, surface, points, volume] = drawable;
  if (surface.positions.size() % 3 != 0 || surface.triangles.size() % 3 != 0 || surface.tetrahedra.size() % 4 != 0 ||
      points.positions.size() % 3 != 0 || points.palette.size() % 3 != 0 || volume.cells.size() % 3 != 0)
    return input_error("an array of '{}' is not of whole vectors", name);
  if (!below(surface.triangles, surface.vertices()) || !below(surface.tetrahedra, surface.vertices()))
    return input_error("the triangles or tetrahedra of '{}' do not fit its vertices", name);
  if (!surface.out_of_walls.empty() && surface.out_of_walls.size() != surface.positions.size())
    return input_error("the array out_of_walls of '{}' does not fit its vertices", name);
  if (!surface.material_coordinates.empty() &&
      surface.material_coordinates.size() != 2 * surface.triangles.size())
    return input_error("the array material_coordinates of '{}' does not fit its triangles", name);
  const std::size_t elements = surface.tetrahedra.empty() ? surface.triangles.size() / 3 : surface.tetrahedra.size() / 4;
  if (auto sound = fits(name, surface.vertex_fields, surface.vertices(), "vertices"); !sound) return sound;
  if (auto sound = fits(name, surface.element_fields, elements, "elements"); !sound) return sound;
  if (auto sound = fits(name, points.fields, points.count(), "points"); !sound) return sound;
  if (volume.count() > 0 && !(volume.spacing > 0)) return input_error("the grid of '{}' is not described", name);
  return fits(name, volume.fields, volume.count(), "cells");
}

}  // namespace lope::io
