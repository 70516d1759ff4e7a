#include <lope/base/errors.h>
#include <lope/io/file.h>
#include <lope/io/gltf.h>
#include <lope/io/print.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace lope::io {
namespace {

using json = nlohmann::ordered_json;
using Shape = GltfFile::Shape;
using Thing = GltfFile::Thing;

// Words of the format.
enum Component { Float = 5126, UnsignedInt = 5125 };
enum Target { NoTarget = 0, Vertices = 34962, Indices = 34963 };
enum Mode { Points = 0, Triangles = 4 };

// Of a clear liquid or thin glass.
constexpr double clear = 0.35;

std::string padded(std::string bytes, char with) {
  bytes.append((4 - bytes.size() % 4) % 4, with);
  return bytes;
}

double linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }

// "_VELOCITY": an attribute that the format does not know.
std::string attribute_name(const std::string& field) {
  std::string name = "_";
  for (const char c : field) {
    const auto letter = static_cast<unsigned char>(c);
    name += std::isalnum(letter) != 0 ? static_cast<char>(std::toupper(letter)) : '_';
  }
  return name;
}

std::vector<float> difference(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) result[k] = a[k] - b[k];
  return result;
}

std::vector<float> on_corners(const std::vector<Vec3>& positions) {
  std::vector<float> result;
  for (const Vec3& x : positions) {
    for (const double coordinate : x) result.push_back(static_cast<float>(coordinate));
  }
  return result;
}

// The JSON and the data that it describes.
class Document {
 public:
  Document(const std::string& name, const std::vector<std::int64_t>& numbers,
           const std::vector<double>& times)
      : numbers_(numbers), times_(times) {
    json_ = {{"asset", {{"version", "2.0"}, {"generator", "Lope"}}}, {"scene", 0}};
    json_["scenes"] = json::array({{{"name", name}, {"nodes", json::array()}}});
    for (const char* list : {"nodes", "meshes", "materials", "accessors", "bufferViews"})
      json_[list] = json::array();
    animation_ = {{"name", name}, {"samplers", json::array()}, {"channels", json::array()}};
  }

  void add(const Thing& thing) {
    const std::size_t material = add_material(thing);
    json node{{"name", thing.name}};
    const bool always = thing.shapes.size() == 1 && thing.shapes[0].place.size() == times_.size();
    if (always) {
      node["mesh"] = add_mesh(thing.name, thing, thing.shapes[0], material);
    } else {
      node["children"] = json::array();
      for (const Shape& shape : thing.shapes) {
        const std::string name = fmt::format("{} {}", thing.name, numbers_[shape.first]);
        node["children"].push_back(
            push("nodes", {{"name", name}, {"mesh", add_mesh(name, thing, shape, material)}}));
      }
    }
    const std::size_t number = push("nodes", node);
    json_["scenes"][0]["nodes"].push_back(number);
    for (std::size_t k = 0; k < thing.shapes.size(); ++k) {
      const Shape& shape = thing.shapes[k];
      const std::size_t its_node = always ? number : node["children"][k].get<std::size_t>();
      if (shape.places.size() > 1) animate_weights(shape, its_node);
      if (!always) animate_scale(shape, its_node);
    }
  }

  std::string bytes() {
    if (!animation_["channels"].empty()) json_["animations"] = json::array({animation_});
    data_ = padded(std::move(data_), '\0');
    json_["buffers"] = json::array({{{"byteLength", data_.size()}}});
    const std::string text = padded(json_.dump(-1, ' ', true, json::error_handler_t::replace), ' ');
    std::string out = "glTF";
    put(out, std::uint32_t{2});
    put(out, static_cast<std::uint32_t>(12 + 8 + text.size() + 8 + data_.size()));
    put(out, static_cast<std::uint32_t>(text.size()));
    print(out, "JSON", text);
    put(out, static_cast<std::uint32_t>(data_.size()));
    print(out, std::string_view("BIN\0", 4), data_);
    return out;
  }

 private:
  std::size_t push(const char* list, json item) {
    json_[list].push_back(std::move(item));
    return json_[list].size() - 1;
  }

  // Numbers of `components` each; with their bounds where the format wants them.
  template <class T>
  std::size_t add_accessor(const std::vector<T>& values, std::size_t components, Target target, bool bounds) {
    json view{{"buffer", 0}, {"byteOffset", data_.size()}, {"byteLength", values.size() * sizeof(T)}};
    if (target != NoTarget) view["target"] = static_cast<int>(target);
    for (const T value : values) put(data_, value);
    const char* types[] = {"", "SCALAR", "VEC2", "VEC3"};
    json accessor{
        {"bufferView", push("bufferViews", view)},
        {"componentType", std::is_same_v<T, float> ? static_cast<int>(Float) : static_cast<int>(UnsignedInt)},
        {"count", values.size() / components},
        {"type", types[components]}};
    if (bounds) {
      std::vector<T> low(components, std::numeric_limits<T>::max()),
          high(components, std::numeric_limits<T>::lowest());
      for (std::size_t k = 0; k < values.size(); ++k) {
        low[k % components] = std::min(low[k % components], values[k]);
        high[k % components] = std::max(high[k % components], values[k]);
      }
      accessor["min"] = low;
      accessor["max"] = high;
    }
    return push("accessors", accessor);
  }

  std::size_t add_material(const Thing& thing) {
    const bool see_through = thing.material == "water" || thing.material == "glass";
    json color = json::array();
    for (const double c : thing.color) color.push_back(linear(c));
    color.push_back(see_through ? clear : 1);
    json material{
        {"name", thing.name},
        {"pbrMetallicRoughness",
         {{"baseColorFactor", color}, {"metallicFactor", 0}, {"roughnessFactor", see_through ? 0.05 : 0.7}}}};
    if (see_through) material["alphaMode"] = "BLEND";
    if (!thing.closed && !see_through) material["doubleSided"] = true;
    return push("materials", material);
  }

  std::size_t add_mesh(const std::string& name, const Thing& thing, const Shape& shape,
                       std::size_t material) {
    const bool points = shape.surface.triangles.empty();
    json attributes{{"POSITION", add_accessor(shape.places[0], 3, Vertices, true)}};
    if (!shape.corners.texture.empty()) {
      std::vector<float> texture;
      for (const auto& [u, v] : shape.corners.texture) texture.insert(texture.end(), {u, 1 - v});
      attributes["TEXCOORD_0"] = add_accessor(texture, 2, Vertices, false);
    }
    if (shape.places.size() == 1) {
      for (const Field& field : shape.fields) {
        const std::vector<float> values(field.values.begin(), field.values.end());
        attributes[attribute_name(field.name)] =
            add_accessor(values, static_cast<std::size_t>(field.components), Vertices, false);
      }
    }
    json primitive{{"attributes", attributes},
                   {"material", material},
                   {"mode", static_cast<int>(points ? Points : Triangles)}};
    if (!points) {
      std::vector<std::uint32_t> indices;
      for (const geometry::Triangle& t : shape.corners.triangles)
        indices.insert(indices.end(), t.begin(), t.end());
      primitive["indices"] = add_accessor(indices, 1, Indices, false);
    }
    for (std::size_t k = 1; k < shape.places.size(); ++k) {
      const std::size_t target =
          add_accessor(difference(shape.places[k], shape.places[0]), 3, Vertices, true);
      primitive["targets"].push_back({{"POSITION", target}});
    }
    json mesh{{"name", name}, {"primitives", json::array({primitive})}};
    if (shape.places.size() > 1) mesh["weights"] = std::vector<int>(shape.places.size() - 1, 0);
    if (points && thing.point_radius > 0) mesh["extras"] = {{"radius", thing.point_radius}};
    return push("meshes", mesh);
  }

  // Seconds since the first frame.
  float time(std::size_t frame) const { return static_cast<float>(times_[frame] - times_[0]); }

  void animate(std::size_t node, const char* path, const char* interpolation, const std::vector<float>& times,
               const std::vector<float>& values, std::size_t components) {
    const std::size_t input = add_accessor(times, 1, NoTarget, true),
                      output = add_accessor(values, components, NoTarget, false);
    animation_["samplers"].push_back(
        {{"input", input}, {"output", output}, {"interpolation", interpolation}});
    animation_["channels"].push_back(
        {{"sampler", animation_["samplers"].size() - 1}, {"target", {{"node", node}, {"path", path}}}});
  }

  void animate_weights(const Shape& shape, std::size_t node) {
    const std::size_t targets = shape.places.size() - 1;
    std::vector<float> times, weights;
    for (std::size_t k = 0; k < shape.place.size(); ++k) {
      times.push_back(time(shape.first + k));
      for (std::size_t target = 1; target <= targets; ++target)
        weights.push_back(target == shape.place[k] ? 1.0F : 0.0F);
    }
    animate(node, "weights", "LINEAR", times, weights, 1);
  }

  void animate_scale(const Shape& shape, std::size_t node) {
    std::vector<float> times, scales;
    const auto key = [&](std::size_t frame, float scale) {
      times.push_back(time(frame));
      scales.insert(scales.end(), 3, scale);
    };
    if (shape.first > 0) key(0, 0);
    key(shape.first, 1);
    if (shape.end() < times_.size()) key(shape.end(), 0);
    animate(node, "scale", "STEP", times, scales, 3);
  }

  const std::vector<std::int64_t>& numbers_;
  const std::vector<double>& times_;
  json json_, animation_;
  std::string data_;
};

std::vector<Field> fields_on(const SeriesBody& body, const std::vector<int>& vertices) {
  std::vector<Field> result;
  for (const Field& field : body.point_fields) {
    if (field.components != 1 && field.components != 3) continue;
    Field& added = result.emplace_back(Field{field.name, field.components, {}});
    for (const int vertex : vertices) {
      const double* values = field.values.data() + std::ptrdiff_t{vertex} * field.components;
      added.values.insert(added.values.end(), values, values + field.components);
    }
  }
  return result;
}

}  // namespace

void GltfFile::add(std::size_t frame, const SeriesBody& body) {
  const Surface surface = shown_part(body);
  if (surface.vertices.empty()) return;
  auto thing = std::ranges::find(things_, body.name, &Thing::name);
  if (thing == things_.end()) {
    things_.push_back(
        {body.name, body.material, body.color, !body.tetrahedra.empty(), body.point_radius, {}});
    thing = std::prev(things_.end());
  }
  std::vector<Shape>& shapes = thing->shapes;
  const bool goes_on = !shapes.empty() && shapes.back().end() == frame &&
                       shapes.back().surface.vertices == surface.vertices &&
                       shapes.back().surface.triangles == surface.triangles;
  const Corners corners = goes_on ? shapes.back().corners : corners_of(surface, body.texture);
  std::vector<int> vertices;
  std::vector<Vec3> positions;
  for (const int corner : corners.vertices) {
    vertices.push_back(surface.vertices[static_cast<std::size_t>(corner)]);
    positions.push_back(body.positions[static_cast<std::size_t>(vertices.back())]);
  }
  std::vector<float> place = on_corners(positions);
  if (goes_on && place == shapes.back().places.back()) {
    shapes.back().place.push_back(shapes.back().places.size() - 1);
    return;
  }
  bytes_ += place.size() * sizeof(float);
  // Points have another order in every frame: between two of them nothing moves from place to place.
  if (goes_on && !surface.triangles.empty()) {
    Shape& shape = shapes.back();
    shape.fields.clear();
    shape.places.push_back(std::move(place));
    shape.place.push_back(shape.places.size() - 1);
    return;
  }
  Shape& shape =
      shapes.emplace_back(Shape{frame, surface, corners, {std::move(place)}, {0}, fields_on(body, vertices)});
  bytes_ += sizeof(std::uint32_t) * 3 * corners.triangles.size() + 2 * sizeof(float) * corners.texture.size();
  for (const Field& field : shape.fields) bytes_ += sizeof(float) * field.values.size();
}

Expected<void> GltfFile::add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) {
  if (!times_.empty() && !(time > times_.back()))
    return input_error("{}: frame {} is not later than the one before it", stem_, number);
  numbers_.push_back(number);
  times_.push_back(time);
  for (const SeriesBody& body : bodies) {
    if (const auto sound = check_body(body); !sound) return sound;
    add(times_.size() - 1, body);
  }
  // And the weights of all targets in every frame, whose number grows with the square of the frames.
  std::size_t bytes = bytes_;
  for (const Thing& thing : things_) {
    for (const Shape& shape : thing.shapes) bytes += sizeof(float) * shape.place.size() * (shape.places.size() - 1);
  }
  if (bytes <= largest_) return {};
  constexpr double megabyte = 1 << 20;
  const double expected = static_cast<double>(bytes) *
                          static_cast<double>(std::max(frames_, times_.size())) /
                          static_cast<double>(times_.size());
  return input_error(
      "glTF is for small cases: these {} frames would be about {:.0f} MB, and at most {:.0f} MB are written; "
      "choose fewer frames (--frames) or another format",
      frames_, expected / megabyte, static_cast<double>(largest_) / megabyte);
}

Expected<void> GltfFile::finish() {
  if (things_.empty()) return input_error("{}: there is nothing to see in these frames", stem_);
  if (const auto made = make_directory(folder_); !made) return made;
  Document document(stem_, numbers_, times_);
  for (const Thing& thing : things_) document.add(thing);
  return write_file(folder_ / (stem_ + ".glb"), document.bytes());
}

}  // namespace lope::io
