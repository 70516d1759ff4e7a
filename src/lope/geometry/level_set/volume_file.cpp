#include <lope/base/errors.h>
#include <lope/geometry/level_set/openvdb_registry.h>
#include <lope/geometry/level_set/volume_file.h>

#include <exception>
#include <system_error>

#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>

namespace lope::geometry {
namespace {

using Grid = openvdb::FloatGrid;

constexpr float band = 3;  // voxels to both sides

Grid::Ptr distances(const Mesh& surface, double voxel) {
  const auto transform = openvdb::math::Transform::createLinearTransform(voxel);
  std::vector<openvdb::Vec3s> points;
  points.reserve(surface.vertices.size());
  for (const Vec3& x : surface.vertices)
    points.emplace_back(static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2]));
  std::vector<openvdb::Vec3I> triangles;
  triangles.reserve(surface.triangles.size());
  for (const Triangle& t : surface.triangles)
    triangles.emplace_back(static_cast<std::uint32_t>(t[0]), static_cast<std::uint32_t>(t[1]), static_cast<std::uint32_t>(t[2]));
  return openvdb::tools::meshToLevelSet<Grid>(*transform, points, triangles, band);
}

template <class GridType, class MakeValue>
openvdb::GridBase::Ptr field_grid(const CellGrid& cells, const CellField& field, const MakeValue& make) {
  const auto grid = GridType::create();
  grid->setName(field.name);
  const auto transform = openvdb::math::Transform::createLinearTransform(cells.spacing);
  const Vec3 first =
      cells.origin + Vec3::Constant(0.5 * cells.spacing);  // .vdb voxels have their value in the middle
  transform->postTranslate({first[0], first[1], first[2]});
  grid->setTransform(transform);
  if (field.staggered) grid->setGridClass(openvdb::GRID_STAGGERED);
  auto accessor = grid->getAccessor();
  for (std::size_t i = 0; i < cells.cells.size(); ++i) {
    const auto& c = cells.cells[i];
    accessor.setValueOn({c[0], c[1], c[2]},
                        make(&field.values[i * static_cast<std::size_t>(field.components)]));
  }
  return grid;
}

}  // namespace

Expected<void> write_volume(const Mesh& surface, double voxel, const CellGrid& cells, const std::filesystem::path& file) {
  for (const CellField& field : cells.fields) {
    if ((field.components != 1 && field.components != 3) ||
        field.values.size() != cells.cells.size() * static_cast<std::size_t>(field.components)) {
      return input_error("{}: the field '{}' has {} values of {} components for {} cells", file.string(),
                         field.name, field.values.size(), field.components, cells.cells.size());
    }
  }
  const std::filesystem::path part = file.string() + ".part";
  try {
    initialize_openvdb();
    openvdb::GridPtrVec grids;
    const Grid::Ptr level_set = distances(surface, voxel);
    level_set->setName("surface");
    level_set->setGridClass(openvdb::GRID_LEVEL_SET);
    grids.push_back(level_set);
    for (const CellField& field : cells.fields) {
      grids.push_back(field.components == 1
                          ? field_grid<openvdb::FloatGrid>(cells, field, [](const float* v) { return *v; })
                          : field_grid<openvdb::Vec3SGrid>(cells, field, [](const float* v) {
                              return openvdb::Vec3s(v[0], v[1], v[2]);
                            }));
    }
    openvdb::io::File(part.string()).write(grids);
    std::filesystem::rename(part, file);
  } catch (const std::exception& e) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    return environment_error("{}: cannot be written ({})", file.string(), e.what());
  }
  return {};
}

}  // namespace lope::geometry
