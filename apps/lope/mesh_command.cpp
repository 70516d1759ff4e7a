#include <fmt/core.h>

#include <lope/base/timer.h>
#include <lope/geometry/quality.h>
#include <lope/geometry/shapes.h>
#include <lope/io/mesh_io.h>
#include <lope/scene/limits.h>

#include "commands.h"
#include "patience.h"

namespace lope::program {
namespace {

int make_mesh(const std::string& input, const std::string& output, double edge) {
  const Stopwatch watch;
  if (!output.empty()) {
    if (const auto known = io::check_writable(output); !known) return complain(known.error());
  }
  auto mesh = io::read_mesh(input);
  if (!mesh) return complain(mesh.error());
  if (edge > 0) {
    if (!mesh->tetrahedra.empty()) {
      return complain({fmt::format("{} is a volume mesh already: leave out --edge, or give its surface", input), Trouble::Input});
    }
    geometry::ClosedSurface surface;
    surface.surface = std::move(*mesh);
    geometry::MeshingOptions options;
    options.max_vertices = scene::most_vertices(3);
    const Patience patience(fmt::format("{}: filling it with tetrahedra", input));
    auto volume = geometry::tetrahedralize(surface, edge, options);
    if (!volume) return complain({fmt::format("{}: {}", input, volume.error().message), volume.error().trouble});
    mesh = std::move(volume);
  }
  const geometry::QualityReport quality = geometry::assess_quality(*mesh);
  fmt::print("{}\n", geometry::describe(quality));
  if (!output.empty()) {
    if (const auto written = io::write_mesh(*mesh, output); !written) return complain(written.error());
    fmt::print("{} written in {:.1f} s\n", output, watch.seconds());
  }
  if (mesh->tetrahedra.empty() || quality.usable()) return Done;
  return complain({fmt::format("{} cannot be simulated as it is: repair the elements named above", input), Trouble::Input});
}

}  // namespace

void add_mesh(Arguments& app, int& status) {
  Arguments* command =
      app.add_subcommand("mesh", "Fill a closed surface with tetrahedra, convert a mesh, report its quality");
  auto input = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  auto edge = std::make_shared<double>(0);
  command->add_option("input", *input, "OBJ, PLY, STL, MSH, VTK, VTU, MESH, NODE/ELE")
      ->required()
      ->suggest({}, Paths::Files);
  command->add_option("-o,--output", *output, "File to write (.msh, .vtu, .mesh, .obj, .ply, .stl)")->type_name("FILE");
  command->add_option("--edge", *edge, "Tetrahedralise to this edge length, in the file's unit")->check(positive);
  command->rehearse([=] {
    const Expected<void> known = output->empty() ? Expected<void>() : io::check_writable(*output);
    return known ? static_cast<int>(Done) : complain(known.error());
  });
  command->callback([=, &status] { status = make_mesh(*input, *output, *edge); });
}

}  // namespace lope::program
