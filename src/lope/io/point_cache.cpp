#include <lope/base/errors.h>
#include <lope/io/file.h>
#include <lope/io/point_cache.h>
#include <lope/io/print.h>

#include <algorithm>

namespace lope::io {

Expected<void> PointCaches::add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) {
  numbers_.push_back(number);
  times_.push_back(time);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const SeriesBody& body = bodies[b];
    if (const auto sound = check_body(body); !sound) return sound;
    Surface surface = shown_part(body);
    if (caches_.size() == b) caches_.push_back({body.name, obj_bytes(std::span(&body, 1)), surface, {}});
    Cache& cache = caches_[b];
    if (surface.vertices != cache.surface.vertices || surface.triangles != cache.surface.triangles)
      return input_error(
          "the mesh of '{}' is not the same in frame {}; point caches are of meshes that stay the same",
          body.name, number);
    for (const int vertex : surface.vertices) {
      const Vec3& v = body.positions[static_cast<std::size_t>(vertex)];
      for (Eigen::Index k = 0; k < 3; ++k) cache.positions.push_back(static_cast<float>(v[k]));
    }
  }
  return {};
}

Expected<void> PointCaches::finish() {
  if (const auto made = make_directory(folder_); !made) return made;
  const char* extension = format_ == CacheFormat::Pc2 ? "pc2" : "mdd";
  for (const Cache& cache : caches_) {
    if (const auto written = write_file(folder_ / file_name(stem_, cache.name, "obj"), cache.base); !written)
      return written;
    if (const auto written = write_file(folder_ / file_name(stem_, cache.name, extension), bytes(cache));
        !written)
      return written;
  }
  return {};
}

std::string PointCaches::bytes(const Cache& cache) const {
  const auto samples = static_cast<std::int32_t>(numbers_.size());
  const auto points = static_cast<std::int32_t>(cache.surface.vertices.size());
  std::string out;
  out.reserve(32 + 4 * (times_.size() + cache.positions.size()));
  if (format_ == CacheFormat::Pc2) {
    print(out, std::string_view("POINTCACHE2\0", 12));
    put(out, std::int32_t{1});
    put(out, points);
    put(out, static_cast<float>(numbers_.front()));
    put(out, numbers_.size() > 1 ? static_cast<float>(numbers_[1] - numbers_[0]) : 1.0F);
    put(out, samples);
    for (const float x : cache.positions) put(out, x);
    return out;
  }
  put_big_endian(out, samples);
  put_big_endian(out, points);
  for (const double time : times_) put_big_endian(out, static_cast<float>(time));
  for (const float x : cache.positions) put_big_endian(out, x);
  return out;
}

}  // namespace lope::io
