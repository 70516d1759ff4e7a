#include <lope/base/errors.h>
#include <lope/base/timer.h>
#include <lope/io/file.h>
#include <lope/io/mesh_io.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>
#include <papers/example_meshes.h>

namespace lope::bench {
namespace {

namespace fs = std::filesystem;
using geometry::ImplicitShape;

// As in scenes/tss.toml.
ImplicitShape creature() {
  geometry::Metaballs balls;
  balls.centers = {{-0.42, 0, 0},       {-0.22, 0.02, 0},    {0, 0.04, 0},         {0.22, 0.02, 0},
                   {0.42, 0.06, 0},     {-0.22, -0.2, 0.14}, {-0.22, -0.2, -0.14}, {0.22, -0.2, 0.14},
                   {0.22, -0.2, -0.14}, {0.48, 0.24, 0.08},  {0.48, 0.24, -0.08}};
  balls.radii = {0.13, 0.17, 0.18, 0.17, 0.14, 0.09, 0.09, 0.09, 0.09, 0.06, 0.06};
  balls.blend = 0.05;
  return geometry::metaballs(balls);
}
ImplicitShape knot() { return geometry::torus_knot({Vec3::Zero(), 2, 3, 0.33, 0.14, 0.06}); }
ImplicitShape gyroid() { return geometry::gyroid_ball(Vec3::Zero(), 0.5, 0.5); }
ImplicitShape shell() { return geometry::pierced_shell({Vec3::Zero(), 0.5, 0.4, 0.16}); }
ImplicitShape hollow() { return geometry::hollow_sphere(Vec3::Zero(), 0.5, 0.35); }

constexpr std::array<ExampleShape, 5> shapes = {{
    {"creature", creature},
    {"knot", knot},
    {"gyroid", gyroid},
    {"shell", shell},
    {"hollow", hollow},
}};

}  // namespace

std::span<const ExampleShape> example_shapes() { return shapes; }

Expected<fs::path> example_mesh(std::string_view name, int vertices, const fs::path& folder,
                                const std::function<void(std::string_view)>& print) {
  const auto* const found =
      std::find_if(shapes.begin(), shapes.end(), [&](const ExampleShape& s) { return s.name == name; });
  if (found == shapes.end()) return input_error("there is no example shape '{}'", name);
  const fs::path file = folder / fmt::format("{}_{}.msh", name, vertices);
  if (fs::exists(file)) return file;
  if (const auto made = io::make_directory(folder); !made) return forward_error(made);
  // A first, coarse mesh tells how many vertices an edge length gives; thin bodies need two corrections.
  const ImplicitShape shape = found->make();
  const Stopwatch watch;
  double edge = std::min(0.5 * shape.thinnest, 0.05);
  geometry::Mesh mesh;
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto made = geometry::tetrahedralize(shape, edge);
    if (!made) return forward_error(made);
    mesh = std::move(*made);
    const double ratio = static_cast<double>(mesh.vertices.size()) / vertices;
    if (ratio > 0.87 && ratio < 1.15) break;
    edge *= std::cbrt(ratio);
  }
  if (const auto written = io::write_mesh(mesh, file); !written) return forward_error(written);
  print(fmt::format("made {}: {} vertices, {} tetrahedra, {:.0f} s", file.filename().string(),
                    mesh.vertices.size(), mesh.tetrahedra.size(), watch.seconds()));
  return file;
}

}  // namespace lope::bench
