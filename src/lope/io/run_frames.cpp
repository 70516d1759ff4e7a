#include <lope/base/errors.h>
#include <lope/io/run_frames.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/core.h>

namespace lope::io {
namespace {

namespace fs = std::filesystem;
using geometry::Drawable;
using geometry::DrawnField;

template <std::size_t corners>
std::vector<std::array<int, corners>> elements(const std::vector<std::int32_t>& flat) {
  std::vector<std::array<int, corners>> result(flat.size() / corners);
  for (std::size_t i = 0; i < result.size(); ++i)
    std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(i * corners), corners, result[i].begin());
  return result;
}

using Cells = std::map<std::array<int, 3>, double>;

// The cells that something fills (kind 1, where kinds are told) and their values.
Cells full_cells(const geometry::DrawnVolume& volume, const DrawnField& field) {
  const std::vector<double> values = shown(field);
  const DrawnField* kind = find_field(volume.fields, "kind");
  const auto places = elements<3>(volume.cells);
  Cells cells;
  for (std::size_t c = 0; c < places.size(); ++c) {
    if (!kind || kind->values[c] == 1) cells[places[c]] = values[c];
  }
  return cells;
}

// The mean over the cells around a point, with the weight (1 − d²/R²)³, R = 1.6 cells; NaN where there are none.
double mean_around(const Cells& cells, const Vec3& u, int dimension) {
  constexpr double radius = 1.6;
  double weight = 0, sum = 0;
  std::array<int, 3> from{0, 0, 0}, to{0, 0, 0};
  for (int a = 0; a < dimension; ++a) {
    from[static_cast<std::size_t>(a)] = static_cast<int>(std::floor(u[a] - radius));
    to[static_cast<std::size_t>(a)] = static_cast<int>(std::floor(u[a] + radius));
  }
  for (int i = from[0]; i <= to[0]; ++i) {
    for (int j = from[1]; j <= to[1]; ++j) {
      for (int k = from[2]; k <= to[2]; ++k) {
        const auto found = cells.find({i, j, k});
        if (found == cells.end()) continue;
        const Vec3 middle(i + 0.5, j + 0.5, dimension == 3 ? k + 0.5 : u[2]);
        const double t = 1 - (middle - u).squaredNorm() / (radius * radius);
        if (t <= 0) continue;
        weight += t * t * t;
        sum += t * t * t * found->second;
      }
    }
  }
  return weight > 0 ? sum / weight : std::nan("");
}

}  // namespace

Expected<RunFrames> RunFrames::open(const fs::path& run_directory) {
  RunFrames run;
  run.folder_ = run_directory / "frames";
  run.numbers_ = frame_numbers(run.folder_);
  if (run.numbers_.empty())
    return input_error("{} holds no frames: give the directory of a run (runs/NAME)", run_directory.string());
  const fs::path path = topology_path(run.folder_);
  const auto topology = read_frame(path);
  if (!topology) return forward_error(topology);
  for (std::string& name : drawable_names(*topology)) {
    Thing thing{std::move(name), {}};
    if (const auto read = read_drawable(thing.name, *topology, thing.constant); !read)
      return input_error("{}: {}", path.string(), read.error().message);
    run.things_.push_back(std::move(thing));
  }
  return run;
}

std::string RunFrames::gaps() const {
  std::string text;
  std::int64_t expected = 0;
  for (const std::int64_t number : numbers_) {
    if (number > expected) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", expected);
      if (number > expected + 1) text += fmt::format(" to {}", number - 1);
    }
    expected = number + 1;
  }
  return text;
}

Expected<RunFrames::Data> RunFrames::read(std::int64_t number) const {
  const fs::path path = frame_path(folder_, number);
  const auto frame = read_frame(path);
  if (!frame) return forward_error(frame);
  Data result;
  result.time = frame->time;
  for (const Thing& thing : things_) {
    Drawable drawable = thing.constant;
    Expected<void> sound = read_drawable(thing.name, *frame, drawable);
    if (sound) sound = check_drawable(thing.name, drawable);
    if (!sound) return input_error("{}: {}", path.string(), sound.error().message);
    result.drawables.push_back(std::move(drawable));
  }
  return result;
}

const DrawnField* field_or_like(const std::vector<DrawnField>& fields, const std::string& name) {
  if (const DrawnField* field = find_field(fields, name)) return field;
  if (name == "speed") return find_field(fields, "velocity");
  if (name == "von_mises") return find_field(fields, "stress");
  return name == "stress" ? find_field(fields, "von_mises") : nullptr;
}

std::vector<double> shown(const DrawnField& field) {
  return shown_values(field.components, std::vector<double>(field.values.begin(), field.values.end()));
}

std::vector<double> on_vertices(const Drawable& drawable, const std::string& name) {
  const geometry::DrawnSurface& surface = drawable.surface;
  if (const DrawnField* field = field_or_like(surface.vertex_fields, name)) return shown(*field);
  const DrawnField* field = field_or_like(surface.element_fields, name);
  if (!field) {
    const geometry::DrawnVolume& volume = drawable.volume;
    const DrawnField* of_cells = find_field(volume.fields, name);
    if (!of_cells) return {};
    const Cells cells = full_cells(volume, *of_cells);
    std::vector<double> result;
    for (const Vec3& x : to_vectors(surface.positions))
      result.push_back(mean_around(cells, (x - volume.origin) / volume.spacing, drawable.dimension));
    return result;
  }
  const std::vector<double> values = shown(*field);
  const std::vector<std::int32_t>& corners = surface.tetrahedra.empty() ? surface.triangles : surface.tetrahedra;
  const std::size_t each = surface.tetrahedra.empty() ? 3 : 4;
  std::vector<double> sum(surface.vertices(), 0.0), count(surface.vertices(), 0.0);
  for (std::size_t k = 0; k < corners.size(); ++k) {
    sum[static_cast<std::size_t>(corners[k])] += values[k / each];
    count[static_cast<std::size_t>(corners[k])] += 1;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = count[i] > 0 ? sum[i] / count[i] : 0;
  return sum;
}

std::vector<double> on_points(const Drawable& drawable, const std::string& name) {
  if (const DrawnField* field = field_or_like(drawable.points.fields, name)) return shown(*field);
  const geometry::DrawnVolume& volume = drawable.volume;
  const DrawnField* field = find_field(volume.fields, name);
  if (!field) return {};
  const std::vector<double> values = shown(*field);
  std::map<std::array<int, 3>, double> of_cell;
  const auto cells = elements<3>(volume.cells);
  for (std::size_t c = 0; c < cells.size(); ++c) of_cell[cells[c]] = values[c];
  std::vector<double> result;
  for (const Vec3& x : to_vectors(drawable.points.positions)) {
    const Vec3 u = (x - volume.origin) / volume.spacing;
    std::array<int, 3> cell{0, 0, 0};
    for (int k = 0; k < drawable.dimension; ++k) cell[static_cast<std::size_t>(k)] = static_cast<int>(std::floor(u[k]));
    const auto found = of_cell.find(cell);
    result.push_back(found == of_cell.end() ? std::nan("") : found->second);
  }
  return result;
}

std::vector<Vec3> to_vectors(const std::vector<float>& numbers) {
  std::vector<Vec3> result;
  result.reserve(numbers.size() / 3);
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) result.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
  return result;
}

std::vector<geometry::Triangle> to_triangles(const std::vector<std::int32_t>& indices) { return elements<3>(indices); }

std::vector<geometry::Tetrahedron> to_tetrahedra(const std::vector<std::int32_t>& indices) { return elements<4>(indices); }

}  // namespace lope::io
