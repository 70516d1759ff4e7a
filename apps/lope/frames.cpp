#include "frames.h"

#include <algorithm>

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

Expected<FrameBody> read_body(const io::NamedArrays& data, const std::string& name, const fs::path& path) {
  FrameBody body;
  body.name = name;
  const auto dimension = data.metadata.find(name + "/dimension");
  body.dimension = dimension != data.metadata.end() && dimension->second == "2" ? 2 : 3;
  body.triangles = elements<3>(*data.values<std::int32_t>(name + "/triangles"));
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

bool indices_fit(const FrameBody& body, std::size_t vertices) {
  const auto fits = [vertices](const auto& element) {
    return std::all_of(element.begin(), element.end(),
                       [vertices](int i) { return i >= 0 && static_cast<std::size_t>(i) < vertices; });
  };
  return std::all_of(body.triangles.begin(), body.triangles.end(), fits) &&
         std::all_of(body.tetrahedra.begin(), body.tetrahedra.end(), fits);
}

}  // namespace

Expected<RunFrames> RunFrames::open(const fs::path& run_directory) {
  RunFrames run;
  run.folder_ = run_directory / "frames";
  run.numbers_ = io::frame_numbers(run.folder_);
  if (run.numbers_.empty()) {
    return input_error("{} holds no frames: give the directory of a run (runs/NAME)", run_directory.string());
  }
  const fs::path path = io::topology_path(run.folder_);
  const auto topology = io::read_frame(path);
  if (!topology) return forward_error(topology);
  constexpr std::string_view ending = "/triangles";
  for (const io::NamedArray& array : topology->data.arrays) {
    if (!array.name.ends_with(ending) || !topology->data.values<std::int32_t>(array.name)) continue;
    auto body = read_body(topology->data, array.name.substr(0, array.name.size() - ending.size()), path);
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
    for (const io::NamedArray& array : frame->data.arrays) {
      for (const char* place : {"/vertex/", "/element/"}) {
        const std::string prefix = body.name + place;
        const auto* values = frame->data.values<float>(array.name);
        if (!array.name.starts_with(prefix) || !values) continue;
        FieldData field{array.name.substr(prefix.size()), "", std::string_view(place) == "/element/", {}};
        field.values.assign(values->begin(), values->end());
        if (const auto unit = frame->data.metadata.find("unit/" + field.name); unit != frame->data.metadata.end()) {
          field.unit = unit->second;
        }
        part.fields.push_back(std::move(field));
      }
    }
    result.bodies.push_back(std::move(part));
  }
  return result;
}

std::vector<double> vertex_values(const FrameBody& body, const BodyFrame& frame, const std::string& name) {
  const auto field = std::find_if(frame.fields.begin(), frame.fields.end(),
                                  [&](const FieldData& candidate) { return candidate.name == name; });
  if (field == frame.fields.end()) return {};
  if (!field->on_elements) return field->values;
  std::vector<double> sum(frame.positions.size(), 0.0), count(frame.positions.size(), 0.0);
  if (body.dimension == 3) {
    add_to_vertices(body.tetrahedra, field->values, sum, count);
  } else {
    add_to_vertices(body.triangles, field->values, sum, count);
  }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = count[i] > 0 ? sum[i] / count[i] : 0;
  return sum;
}

}  // namespace lope::program
