// With particle_surface.cpp, the sources that see OpenVDB.
#include <lope/base/errors.h>
#include <lope/geometry/level_set/grid.h>
#include <lope/geometry/level_set/grid_surface.h>
#include <lope/geometry/level_set/openvdb_registry.h>
#include <lope/geometry/surface_check.h>

#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include <Eigen/Dense>
#include <fmt/core.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>

namespace lope::geometry {

namespace {

using Grid = openvdb::FloatGrid;

// Values, first and second derivatives of the n spline functions that reach a point, along one axis.
template <int n>
struct Weights {
  int first;  // index of the first node
  std::array<double, n> value, slope, curvature;
};

Weights<2> linear_weights(double u) {
  const double base = std::floor(u), f = u - base;
  return {static_cast<int>(base), {1 - f, f}, {-1, 1}, {0, 0}};
}

Weights<3> quadratic_weights(double u) {
  const double base = std::round(u), f = u - base, below = 0.5 - f, above = 0.5 + f;
  return {static_cast<int>(base) - 1,
          {0.5 * below * below, 0.75 - f * f, 0.5 * above * above},
          {-below, -2 * f, above},
          {1, -2, 1}};
}

class GridSet final : public LevelSet {
 public:
  GridSet(Grid::ConstPtr grid, Interpolation interpolation)
      : grid_(std::move(grid)), interpolation_(interpolation) {
    const auto map =
        grid_->transform().baseMap()->getAffineMap()->getMat4();  // rows times it: index to world
    Mat3 to_world;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) to_world(i, j) = map(j, i);
    }
    origin_ = Vec3(map(3, 0), map(3, 1), map(3, 2));
    to_index_ = to_world.inverse();
    const openvdb::CoordBBox box = grid_->evalActiveVoxelBoundingBox();
    for (int corner = 0; corner < 8; ++corner) {
      Vec3 index;
      for (int axis = 0; axis < 3; ++axis) {
        index[axis] = corner >> axis & 1 ? box.max()[axis] : box.min()[axis];
      }
      bounds_.add(origin_ + to_world * index);
    }
  }

  const Grid::ConstPtr& grid() const { return grid_; }

  double value(const Vec3& x) const override {
    const Vec3 u = to_index_ * (x - origin_);
    if (!is_near(u)) return grid_->background();
    if (interpolation_ == Interpolation::Linear) return value_at<2>(u, linear_weights);
    return value_at<3>(u, quadratic_weights);
  }
  LevelSetSample sample(const Vec3& x) const override {
    const Vec3 u = to_index_ * (x - origin_);
    if (!is_near(u)) return {grid_->background(), Vec3::Zero(), Mat3::Zero()};
    if (interpolation_ == Interpolation::Linear) return sample_at<2>(u, linear_weights);
    return sample_at<3>(u, quadratic_weights);
  }
  bool is_exact() const override { return false; }
  Bounds bounds() const override { return bounds_; }

  Mesh surface(const SurfaceOptions&) const override { return grid_surface(*grid_); }

 private:
  // Indices that are numbers and fit: everything else is far outside.
  static bool is_near(const Vec3& u) { return u.cwiseAbs().maxCoeff() < 1e9; }

  template <int n, class MakeWeights>
  double value_at(const Vec3& u, const MakeWeights& weights) const {
    const Weights<n> wx = weights(u.x()), wy = weights(u.y()), wz = weights(u.z());
    const auto accessor = grid_->getConstUnsafeAccessor();
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n; ++k) {
          sum += wx.value[i] * wy.value[j] * wz.value[k] *
                 accessor.getValue({wx.first + i, wy.first + j, wz.first + k});
        }
      }
    }
    return sum;
  }

  template <int n, class MakeWeights>
  LevelSetSample sample_at(const Vec3& u, const MakeWeights& weights) const {
    const Weights<n> wx = weights(u.x()), wy = weights(u.y()), wz = weights(u.z());
    const auto accessor = grid_->getConstUnsafeAccessor();
    LevelSetSample s;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const double xy = wx.value[i] * wy.value[j];
        const double dx = wx.slope[i] * wy.value[j], dy = wx.value[i] * wy.slope[j];
        const double dxx = wx.curvature[i] * wy.value[j], dyy = wx.value[i] * wy.curvature[j];
        const double dxy = wx.slope[i] * wy.slope[j];
        for (int k = 0; k < n; ++k) {
          const double phi = accessor.getValue({wx.first + i, wy.first + j, wz.first + k});
          const double z = wz.value[k] * phi, dz = wz.slope[k] * phi;
          s.value += xy * z;
          s.gradient += Vec3(dx * z, dy * z, xy * dz);
          s.hessian(0, 0) += dxx * z;
          s.hessian(1, 1) += dyy * z;
          s.hessian(2, 2) += xy * wz.curvature[k] * phi;
          s.hessian(0, 1) += dxy * z;
          s.hessian(0, 2) += dx * dz;
          s.hessian(1, 2) += dy * dz;
        }
      }
    }
    s.hessian(1, 0) = s.hessian(0, 1);
    s.hessian(2, 0) = s.hessian(0, 2);
    s.hessian(2, 1) = s.hessian(1, 2);
    s.gradient = to_index_.transpose() * s.gradient;
    s.hessian = to_index_.transpose() * s.hessian * to_index_;
    return s;
  }

  Grid::ConstPtr grid_;
  Interpolation interpolation_;
  Vec3 origin_ = Vec3::Zero();
  Mat3 to_index_ = Mat3::Identity();
  Bounds bounds_;
};

// Distances on both sides of a surface in index space: `band` voxels outside, all of the inside.
Grid::Ptr distances(const std::vector<openvdb::Vec3s>& points, const std::vector<openvdb::Vec3I>& triangles,
                    const std::vector<openvdb::Vec4I>& quads, const openvdb::math::Transform& transform,
                    double band) {
  return openvdb::tools::meshToSignedDistanceField<Grid>(
      transform, points, triangles, quads, static_cast<float>(band), std::numeric_limits<float>::max());
}

std::optional<Error> check_options(const GridOptions& options) {
  if (!(std::isfinite(options.voxel) && options.voxel > 0)) {
    return Error{fmt::format("the voxel size is {}; it must be a positive number of metres", options.voxel)};
  }
  if (!(options.band >= 2 && options.band <= 1000)) {
    return Error{fmt::format("the band is {} voxels; it must be between 2 and 1000", options.band)};
  }
  return std::nullopt;
}

Expected<LevelSetPtr> from_surface(const Mesh& surface, const GridOptions& options) {
  std::vector<openvdb::Vec3s> points;
  points.reserve(surface.vertices.size());
  for (const Vec3& x : surface.vertices) points.emplace_back(x.x(), x.y(), x.z());
  std::vector<openvdb::Vec3I> triangles;
  triangles.reserve(surface.triangles.size());
  for (const Triangle& t : surface.triangles) triangles.emplace_back(t[0], t[1], t[2]);
  const auto transform = openvdb::math::Transform::createLinearTransform(options.voxel);
  const Grid::Ptr grid = distances(points, triangles, {}, *transform, options.band);
  grid->setName("distance");
  bool has_inside = false;
  for (auto it = grid->cbeginValueOn(); it && !has_inside; ++it) has_inside = *it < 0;
  if (!has_inside) {
    return input_error("voxels of {} m are too large for this surface: none lies inside it", options.voxel);
  }
  return std::make_shared<GridSet>(grid, options.interpolation);
}

// Adds distances in the inside of a level set that holds only a band about its surface.
void fill_inside(Grid& grid) {
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec3I> triangles;
  std::vector<openvdb::Vec4I> quads;
  openvdb::tools::volumeToMesh(grid, points, triangles, quads, 0.0);
  if (points.empty()) return;
  const Grid::Ptr full = distances(points, triangles, quads, grid.transform(), 2);
  auto accessor = grid.getAccessor();
  for (auto it = full->cbeginValueOn(); it; ++it) {
    const openvdb::Coord at = it.getCoord();
    if (*it < 0 && !accessor.isValueOn(at) && accessor.getValue(at) < 0) accessor.setValueOn(at, *it);
  }
}

Expected<Grid::Ptr> read_grid(const std::filesystem::path& path, const std::string& wanted) {
  initialize_openvdb();
  openvdb::io::File file(path.string());
  file.open();
  std::string names;
  for (auto it = file.beginName(); it != file.endName(); ++it) {
    if (!names.empty()) names += ", ";
    names += '"' + *it + '"';
    if (!wanted.empty() && *it != wanted) continue;
    const auto base = file.readGrid(*it);
    const auto grid = openvdb::gridPtrCast<Grid>(base);
    const bool is_level_set = grid && (grid->getGridClass() == openvdb::GRID_LEVEL_SET ||
                                       grid->getGridClass() == openvdb::GRID_UNKNOWN);
    if (is_level_set) return grid;
    if (wanted.empty()) continue;
    return input_error("{}: the grid \"{}\" is no level set of single-precision numbers (type {}, class {})",
                       path.string(), wanted, base->type(),
                       openvdb::GridBase::gridClassToString(base->getGridClass()));
  }
  if (names.empty()) return input_error("{}: the file has no grids", path.string());
  if (!wanted.empty()) {
    return input_error("{}: no grid is called \"{}\"; there are: {}", path.string(), wanted, names);
  }
  return input_error("{}: none of the grids is a level set of single-precision numbers; there are: {}",
                     path.string(), names);
}

// A level set has both signs, a linear map and something in it.
std::optional<Error> check_grid(const Grid& grid, const std::string& where) {
  if (grid.activeVoxelCount() == 0) return Error{fmt::format("{}: the grid is empty", where)};
  if (!grid.transform().isLinear()) {
    return Error{fmt::format("{}: the grid is not a regular lattice (it has a perspective map)", where)};
  }
  bool inside = false, outside = false;
  for (auto it = grid.cbeginValueOn(); it; ++it) {
    if (!std::isfinite(*it)) return Error{fmt::format("{}: the grid holds a value that is no number", where)};
    inside = inside || *it < 0;
    outside = outside || *it > 0;
  }
  if (inside && outside && grid.background() > 0) return std::nullopt;
  return Error{
      fmt::format("{}: the grid has no {}; a level set is negative inside and positive outside the obstacle",
                  where, !inside ? "negative values" : "positive values around them")};
}

}  // namespace

Expected<LevelSetPtr> grid_level_set(const Mesh& surface, const GridOptions& options) {
  if (auto error = check_options(options)) return tl::unexpected(*error);
  const Expected<Mesh> closed = check_surface(surface);
  if (!closed) return forward_error(closed);
  double area = 0;
  for (const Triangle& t : closed->triangles) {
    const Vec3& a = closed->vertices[t[0]];
    area += 0.5 * (closed->vertices[t[1]] - a).cross(closed->vertices[t[2]] - a).norm();
  }
  const double h = options.voxel;
  const double voxels = enclosed_volume(*closed) / (h * h * h) + area / (h * h) * options.band;
  if (!(voxels <= options.max_voxels)) {
    return input_error(
        "the level set would get about {:.3g} voxels, more than the limit of {:.3g}; choose larger voxels",
        voxels, options.max_voxels);
  }
  try {
    return from_surface(*closed, options);
  } catch (const std::bad_alloc&) {
    return environment_error("no memory for a level set of about {:.3g} voxels; choose larger voxels",
                             voxels);
  } catch (const std::exception& e) {
    return input_error("the surface could not be turned into a level set: {}", e.what());
  }
}

Expected<LevelSetPtr> read_grid_level_set(const std::filesystem::path& file, const std::string& name,
                                          Interpolation interpolation) {
  if (!std::filesystem::exists(file)) return input_error("{}: there is no such file", file.string());
  try {
    const Expected<Grid::Ptr> grid = read_grid(file, name);
    if (!grid) return forward_error(grid);
    if (auto error = check_grid(**grid, file.string())) return tl::unexpected(*error);
    fill_inside(**grid);
    return std::make_shared<GridSet>(*grid, interpolation);
  } catch (const std::bad_alloc&) {
    return environment_error("{}: no memory for the level set", file.string());
  } catch (const std::exception& e) {
    return input_error("{}: not a readable .vdb file ({})", file.string(), e.what());
  }
}

Expected<void> write_grid_level_set(const LevelSet& set, const std::filesystem::path& file) {
  const auto* grid = dynamic_cast<const GridSet*>(&set);
  if (grid == nullptr) {
    return input_error("{}: only level sets made from grids can be written", file.string());
  }
  try {
    initialize_openvdb();
    openvdb::io::File(file.string()).write({grid->grid()});
  } catch (const std::exception& e) {
    return environment_error("{}: cannot be written ({})", file.string(), e.what());
  }
  return {};
}

}  // namespace lope::geometry
