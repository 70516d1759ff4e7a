// Small surfaces and pixel helpers for the tests of this room.
#pragma once

#include <lope/render/picture.h>

#include <cmath>
#include <numbers>

namespace lope::render {

inline Surface make_box(const Vec3& low, const Vec3& high) {
  Surface surface;
  for (int i = 0; i < 8; ++i) {
    surface.positions.emplace_back(i & 1 ? high.x() : low.x(), i & 2 ? high.y() : low.y(),
                                   i & 4 ? high.z() : low.z());
  }
  surface.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                       {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
  return surface;
}

inline Surface make_sphere(const Vec3& center, double radius, int rings) {
  Surface surface;
  const int around = 2 * rings;
  for (int i = 0; i <= rings; ++i) {
    for (int j = 0; j < around; ++j) {
      const double a = std::numbers::pi * i / rings, b = 2 * std::numbers::pi * j / around;
      surface.positions.push_back(
          center + radius * Vec3(std::sin(a) * std::sin(b), std::cos(a), std::sin(a) * std::cos(b)));
      if (i == rings) continue;
      const int p = i * around + j, q = i * around + (j + 1) % around;
      if (i > 0) surface.triangles.push_back({p, p + around, q});
      if (i < rings - 1) surface.triangles.push_back({q, p + around, q + around});
    }
  }
  return surface;
}

inline Bytes pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = &image.rgb[3 * (static_cast<std::size_t>(y) * image.width + x)];
  return {p[0], p[1], p[2]};
}

// The picture's pixel that shows a point.
inline Bytes pixel_at(const Image& image, const Camera& camera, const Vec3& point) {
  const Vec3 p = project(camera, static_cast<double>(image.width) / image.height, point);
  return pixel(image, static_cast<int>((0.5 + 0.5 * p.x()) * image.width),
               static_cast<int>((0.5 - 0.5 * p.y()) * image.height));
}

inline int brightness(Bytes c) { return c.r + c.g + c.b; }

}  // namespace lope::render
