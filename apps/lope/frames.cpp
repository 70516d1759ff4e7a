#include "frames.h"

#include <lope/geometry/partition.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

namespace lope::program {
namespace {

namespace fs = std::filesystem;

template <std::size_t corners>
std::vector<std::array<int, corners>> elements(const std::vector<std::int32_t>& flat) {
  std::vector<std::array<int, corners>> result(flat.size() / corners);
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(i * corners), corners, result[i].begin());
  }
  return result;
}

Expected<FrameBody> read_body(const NamedArrays& data, const std::string& name, const fs::path& path) {
  FrameBody body;
  body.name = name;
  const auto dimension = data.metadata.find(name + "/dimension");
  body.dimension = dimension != data.metadata.end() && dimension->second == "2" ? 2 : 3;
  if (const auto* triangles = data.values<std::int32_t>(name + "/triangles")) body.triangles = elements<3>(*triangles);
  if (const auto* tetrahedra = data.values<std::int32_t>(name + "/tetrahedra")) body.tetrahedra = elements<4>(*tetrahedra);
  if (const auto* part = data.values<std::int32_t>(name + "/element/partition")) body.partition.assign(part->begin(), part->end());
  if (const auto* color = data.values<float>(name + "/color"); color && color->size() == 3) {
    body.color = Vec3((*color)[0], (*color)[1], (*color)[2]);
  }
  const auto says = [&](const char* key, const char* word) {
    const auto found = data.metadata.find(name + key);
    return found != data.metadata.end() && found->second == word;
  };
  body.obstacle = says("/kind", "obstacle");
  body.bounded = !says("/bounded", "false");
  body.cut = says("/draw", "cut");
  body.glass = says("/draw", "glass");
  body.liquid = says("/kind", "liquid");
  if (body.liquid) {
    const auto spacing = data.metadata.find(name + "/spacing"), origin = data.metadata.find(name + "/origin");
    const bool read = spacing != data.metadata.end() && origin != data.metadata.end() &&
                      std::sscanf(spacing->second.c_str(), "%lf", &body.spacing) == 1 &&
                      std::sscanf(origin->second.c_str(), "%lf %lf %lf", &body.origin[0], &body.origin[1], &body.origin[2]) == 3;
    if (!read || !(body.spacing > 0)) return input_error("{}: the grid of liquid '{}' is not described", path.string(), name);
    return body;
  }
  if (body.dimension == 3 && body.tetrahedra.empty() && !body.obstacle) return input_error("{}: body '{}' has no tetrahedra", path.string(), name);
  return body;
}

template <class Elements>
void add_to_vertices(const Elements& elements, const std::vector<double>& values, std::vector<double>& sum,
                     std::vector<double>& count) {
  for (std::size_t e = 0; e < elements.size() && e < values.size(); ++e) {
    for (const int vertex : elements[e]) {
      sum[static_cast<std::size_t>(vertex)] += values[e];
      count[static_cast<std::size_t>(vertex)] += 1;
    }
  }
}

template <class T>
void copy_values(const NamedArrays& data, const std::string& name, std::vector<T>& values) {
  if (const auto* found = data.values<T>(name)) values = *found;
}

Expected<CellData> read_cells(const NamedArrays& data, const std::string& body, const fs::path& path) {
  CellData cells;
  const std::string name = body + "/cell/";
  if (const auto* index = data.values<std::int32_t>(name + "index")) cells.index = elements<3>(*index);
  copy_values(data, name + "kind", cells.kind);
  copy_values(data, name + "separating", cells.separating);
  copy_values(data, name + "pressure", cells.pressure);
  copy_values(data, name + "level_set", cells.level_set);
  copy_values(data, name + "velocity", cells.velocity);
  const std::size_t count = cells.index.size();
  if (cells.kind.size() != count || cells.separating.size() != count || cells.pressure.size() != count ||
      cells.level_set.size() != count || cells.velocity.size() != 3 * count) {
    return input_error("{}: the cells of liquid '{}' do not fit together", path.string(), body);
  }
  return cells;
}

bool indices_fit(const FrameBody& body, std::size_t vertices) {
  const auto fits = [vertices](const auto& element) {
    return std::all_of(element.begin(), element.end(),
                       [vertices](int i) { return i >= 0 && static_cast<std::size_t>(i) < vertices; });
  };
  return std::all_of(body.triangles.begin(), body.triangles.end(), fits) &&
         std::all_of(body.tetrahedra.begin(), body.tetrahedra.end(), fits);
}

// "3, 7 to 9": the numbers from 0 to the last that are not there; empty where there are none.
std::string gaps(const std::vector<std::int64_t>& numbers) {
  std::string text;
  std::int64_t expected = 0;
  for (const std::int64_t number : numbers) {
    if (number > expected) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", expected);
      if (number > expected + 1) text += fmt::format(" to {}", number - 1);
    }
    expected = number + 1;
  }
  return text;
}

}  // namespace

Expected<RunFrames> RunFrames::open(const fs::path& run_directory) {
  RunFrames run;
  run.folder_ = run_directory / "frames";
  run.numbers_ = io::frame_numbers(run.folder_);
  if (run.numbers_.empty()) {
    return input_error("{} holds no frames: give the directory of a run (runs/NAME)", run_directory.string());
  }
  if (const std::string missing = gaps(run.numbers_); !missing.empty())
    fmt::print(stderr, "warning: {}: frames are missing: {}\n", run.folder_.string(), missing);
  const fs::path path = io::topology_path(run.folder_);
  const auto topology = io::read_frame(path);
  if (!topology) return forward_error(topology);
  constexpr std::string_view ending = "/triangles";
  for (const NamedArray& array : topology->data.arrays) {
    if (!array.name.ends_with(ending) || !topology->data.values<std::int32_t>(array.name)) continue;
    auto body = read_body(topology->data, array.name.substr(0, array.name.size() - ending.size()), path);
    if (!body) return forward_error(body);
    run.bodies_.push_back(std::move(*body));
  }
  for (const auto& [key, word] : topology->data.metadata) {
    constexpr std::string_view kind = "/kind";
    if (!key.ends_with(kind) || word != "liquid") continue;
    auto body = read_body(topology->data, key.substr(0, key.size() - kind.size()), path);
    if (!body) return forward_error(body);
    run.bodies_.push_back(std::move(*body));
  }
  return run;
}

Expected<RunFrames::Data> RunFrames::read(std::int64_t number) const {
  const fs::path path = io::frame_path(folder_, number);
  const auto frame = io::read_frame(path);
  if (!frame) return forward_error(frame);
  Data result;
  result.time = frame->time;
  for (const FrameBody& body : bodies_) {
    BodyFrame part;
    const auto* x = frame->data.values<float>(body.name + "/position");
    if (!x || x->size() % 3 != 0) return input_error("{}: positions of body '{}' are missing", path.string(), body.name);
    for (std::size_t i = 0; i < x->size(); i += 3) part.positions.emplace_back((*x)[i], (*x)[i + 1], (*x)[i + 2]);
    if (!indices_fit(body, part.positions.size())) {
      return input_error("{}: body '{}' does not fit topology.lope", path.string(), body.name);
    }
    for (const NamedArray& array : frame->data.arrays) {
      for (const char* place : {"/vertex/", "/element/"}) {
        const std::string prefix = body.name + place;
        const auto* values = frame->data.values<float>(array.name);
        if (!array.name.starts_with(prefix) || !values) continue;
        FieldData field{array.name.substr(prefix.size()), "", std::string_view(place) == "/element/", 1, {}};
        if (array.shape.size() == 2) field.components = static_cast<int>(array.shape[1]);
        if (field.components != 1 && field.components != 3 && field.components != 6) {
          return input_error("{}: the field '{}' has {} numbers in each place; expected 1, 3 or 6", path.string(),
                             array.name, field.components);
        }
        field.values.assign(values->begin(), values->end());
        if (const auto unit = frame->data.metadata.find("unit/" + field.name); unit != frame->data.metadata.end()) {
          field.unit = unit->second;
        }
        part.fields.push_back(std::move(field));
      }
    }
    if (body.liquid) {
      auto cells = read_cells(frame->data, body.name, path);
      if (!cells) return forward_error(cells);
      part.cells = std::move(*cells);
      for (const FieldData& field : part.fields) {
        if (field.values.size() == part.positions.size() * static_cast<std::size_t>(field.components)) continue;
        return input_error("{}: the field '{}' of liquid '{}' does not fit its particles", path.string(), field.name, body.name);
      }
    }
    result.bodies.push_back(std::move(part));
  }
  return result;
}

const FieldData* field_named(const BodyFrame& frame, const std::string& name) {
  const auto find = [&](const std::string& wanted) -> const FieldData* {
    const auto found = std::find_if(frame.fields.begin(), frame.fields.end(),
                                    [&](const FieldData& candidate) { return candidate.name == wanted; });
    return found == frame.fields.end() ? nullptr : &*found;
  };
  if (const FieldData* field = find(name)) return field;
  if (name == "speed") return find("velocity");
  if (name == "von_mises") return find("stress");
  return name == "stress" ? find("von_mises") : nullptr;
}

std::vector<double> vertex_values(const FrameBody& body, const BodyFrame& frame, const std::string& name) {
  const FieldData* field = field_named(frame, name);
  if (!field) return {};
  const std::vector<double> values = io::shown_values(field->components, field->values);
  if (!field->on_elements) return values;
  std::vector<double> sum(frame.positions.size(), 0.0), count(frame.positions.size(), 0.0);
  if (body.dimension == 3) {
    add_to_vertices(body.tetrahedra, values, sum, count);
  } else {
    add_to_vertices(body.triangles, values, sum, count);
  }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = count[i] > 0 ? sum[i] / count[i] : 0;
  return sum;
}

std::vector<double> partition_of(const FrameBody& body) {
  if (body.partition.size() == body.element_count()) return body.partition;
  geometry::Mesh mesh;
  mesh.tetrahedra = body.tetrahedra;
  if (body.dimension == 2) mesh.triangles = body.triangles;
  int last = -1;
  for (const auto& element : mesh.tetrahedra)
    last = std::max(last, *std::max_element(element.begin(), element.end()));
  for (const auto& element : mesh.triangles)
    last = std::max(last, *std::max_element(element.begin(), element.end()));
  mesh.vertices.assign(static_cast<std::size_t>(last + 1), Vec3::Zero());  // their number counts
  const std::vector<int> parts = geometry::partition_for_colouring(mesh);
  return {parts.begin(), parts.end()};
}

}  // namespace lope::program
