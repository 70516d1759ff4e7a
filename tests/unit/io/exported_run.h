// A run of a few frames and its exports, for the tests of formats.
#pragma once

#include <lope/io/export.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include <unit/io/samples.h>

namespace lope::io {

inline constexpr int frames = 4;

// A cube that moves along y, turned over to tests: a mesh, as a body of nodes draws it; and water, whose surface changes.
inline geometry::Mesh cube_at(int frame) {
  geometry::Mesh cube = cube_surface(1);
  for (Vec3& v : cube.vertices) v[1] += 0.25 * frame;
  return cube;
}

inline std::vector<float> flat(const std::vector<Vec3>& points) {
  std::vector<float> result;
  for (const Vec3& p : points) {
    for (Eigen::Index k = 0; k < 3; ++k) result.push_back(static_cast<float>(p[k]));
  }
  return result;
}

inline std::vector<std::int32_t> flat(const std::vector<geometry::Triangle>& triangles) {
  std::vector<std::int32_t> result;
  for (const geometry::Triangle& t : triangles) result.insert(result.end(), t.begin(), t.end());
  return result;
}

inline std::vector<float> repeated(std::initializer_list<float> values, std::size_t times) {
  std::vector<float> result;
  for (std::size_t i = 0; i < times; ++i) result.insert(result.end(), values);
  return result;
}

// A run of a cube, particles and a surface without a constant mesh, at 10 frames per second.
inline void write_run(const std::filesystem::path& folder) {
  ASSERT_TRUE(make_directory(folder / "frames"));
  Frame topology;
  geometry::Drawable cube, sand, water;
  cube.look.color = Vec3(1, 0.5, 0);
  cube.surface.triangles = flat(cube_at(0).triangles);
  sand.points.radius = 0.01;
  add_drawable("cube", cube, true, topology);
  add_drawable("sand", sand, true, topology);
  add_drawable("water", water, true, topology);
  ASSERT_TRUE(write_frame(topology, topology_path(folder / "frames")));
  for (int number = 0; number < frames; ++number) {
    Frame frame;
    frame.number = number;
    frame.time = 0.1 * number;
    geometry::Drawable now;
    now.surface.positions = flat(cube_at(number).vertices);
    const std::size_t count = now.surface.vertices();
    now.surface.vertex_fields = {{"velocity", "m/s", 3, repeated({1, 2.5F, 3}, count)},
                                 {"heat", "K", 1, repeated({300.0F + static_cast<float>(number)}, count)},
                                 {"stress", "Pa", 6, repeated({1, 2, 3, 4, 5, 6}, count)}};
    add_drawable("cube", now, false, frame);
    geometry::Drawable grains;
    grains.points.positions = repeated({0.5F, static_cast<float>(number), 0.25F}, 5);
    grains.points.fields = {{"velocity", "m/s", 3, repeated({0, 1, 0}, 5)}};
    add_drawable("sand", grains, false, frame);
    geometry::Drawable surface;
    const geometry::Mesh shape = cube_surface(1 + number % 2);
    surface.surface.positions = flat(shape.vertices);
    surface.surface.triangles = flat(shape.triangles);
    add_drawable("water", surface, false, frame);
    ASSERT_TRUE(write_frame(frame, frame_path(folder / "frames", number)));
  }
}

class Export : public testing::Test {
 protected:
  Export() { write_run(folder_.path()); }
  // The folder that it was written to, or the error.
  Expected<std::filesystem::path> exported(const std::string& format, const ExportOptions& how = {}) {
    const auto run = RunFrames::open(folder_.path());
    if (!run) return forward_error(run);
    ExportOptions options = how;
    options.format = format;
    options.folder = folder_ / (format + (how.z_up ? "_z" : ""));
    options.stem = "run";
    const auto done = export_run(*run, options);
    if (!done) return forward_error(done);
    return options.folder;
  }
  TemporaryFolder folder_;
};

template <class T>
T number_at(const std::string& bytes, std::size_t at, bool big_endian) {
  std::array<char, sizeof(T)> raw{};
  std::memcpy(raw.data(), bytes.data() + at, raw.size());
  if (big_endian != (std::endian::native == std::endian::big)) std::ranges::reverse(raw);
  return std::bit_cast<T>(raw);
}

}  // namespace lope::io
