// Folders and meshes for the tests of files.
#pragma once

#include <lope/base/random.h>
#include <lope/geometry/mesh.h>
#include <lope/io/file.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace lope::io {

// A folder that lives as long as the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("lope_io_{}_{}", getpid(), count++);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

  // Makes a file and returns its path. Does not wait for the disk, as write_file does: tests make thousands.
  std::filesystem::path file(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::remove(path);
    std::FILE* file = std::fopen(path.string().c_str(), "wb");
    EXPECT_NE(file, nullptr) << path;
    if (!file) return path;
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::fclose(file);
    return path;
  }

 private:
  std::filesystem::path path_;
};

// A cube of n × n × n cells, six tetrahedra each, with vertices moved at random: digits for the formats to
// lose.
inline geometry::Mesh cube_mesh(int n, std::uint64_t seed = 1) {
  geometry::Mesh mesh;
  const int m = n + 1;
  for (int i = 0; i < m * m * m; ++i) {
    const Vec3 noise(random_unit(seed, 3 * i), random_unit(seed, 3 * i + 1), random_unit(seed, 3 * i + 2));
    mesh.vertices.push_back(Vec3(i % m, i / m % m, i / (m * m)) + 0.1 * noise);
  }
  constexpr int paths[6][2] = {{0, 1}, {1, 2}, {2, 0}, {1, 0}, {2, 1}, {0, 2}};
  const int stride[3] = {1, m, m * m};
  for (int z = 0; z < n; ++z) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        const int corner = x + m * y + m * m * z;
        for (int p = 0; p < 6; ++p) {
          const int first = corner + stride[paths[p][0]];
          const int second = first + stride[paths[p][1]];
          const int last = corner + stride[0] + stride[1] + stride[2];
          if (p < 3) {
            mesh.tetrahedra.push_back({corner, first, second, last});
          } else {
            mesh.tetrahedra.push_back({corner, second, first, last});
          }
        }
      }
    }
  }
  return mesh;
}

inline geometry::Mesh cube_surface(int n) {
  geometry::Mesh mesh = cube_mesh(n);
  mesh.triangles = geometry::boundary_triangles(mesh.tetrahedra);
  mesh.tetrahedra.clear();
  return mesh;
}

inline void expect_equal(const geometry::Mesh& a, const geometry::Mesh& b) {
  ASSERT_EQ(a.vertices.size(), b.vertices.size());
  for (std::size_t i = 0; i < a.vertices.size(); ++i)
    ASSERT_EQ(a.vertices[i], b.vertices[i]) << "vertex " << i;
  EXPECT_EQ(a.triangles, b.triangles);
  EXPECT_EQ(a.tetrahedra, b.tetrahedra);
  EXPECT_EQ(a.region, b.region);
}

}  // namespace lope::io
