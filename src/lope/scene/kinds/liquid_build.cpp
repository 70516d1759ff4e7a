#include <lope/base/errors.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/kinds/liquid_build.h>
#include <lope/scene/kinds/liquid_check.h>
#include <lope/scene/limits.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/particle_words.h>

#include <algorithm>
#include <cmath>

namespace lope::scene {
namespace {

// Cells along an axis that BrickSet can count, to either side of the first.
constexpr double most_cells = 8e6;
// A source's mesh file is turned into a grid finer than the liquid's by this factor.
constexpr double voxels_per_cell = 2;

bool has_end(const geometry::Bounds& box, int dimension) {
  return box.min.head(dimension).allFinite() && box.max.head(dimension).allFinite() &&
         (box.extent().head(dimension).array() > 0).all();
}

void add(geometry::Bounds& to, const geometry::Bounds& box) {
  to.add(box.min);
  to.add(box.max);
}

// Flat in 2D.
geometry::Bounds flattened(geometry::Bounds box, int dimension) {
  if (dimension == 2) box.min.z() = box.max.z() = 0;
  return box;
}

// Of the corners of a box on their way.
geometry::Bounds swept(const step::Obstacle& obstacle, const geometry::Bounds& box, double duration) {
  constexpr int samples = 256;
  geometry::Bounds result;
  for (int k = 0; k <= samples; ++k) {
    const geometry::RigidPose pose = obstacle.pose(duration * k / samples);
    for (int corner = 0; corner < 8; ++corner) {
      Vec3 x;
      for (int a = 0; a < 3; ++a) x[a] = (corner >> a) & 1 ? box.max[a] : box.min[a];
      result.add(pose.place(x));
    }
  }
  return result;
}

// Cells that are full of liquid; particles and cells are counted by ints.
double most_liquid_cells(int dimension, int particles_per_axis) {
  const double particles = std::pow(particles_per_axis, dimension);
  return std::min(2e9 / particles, affordable_bytes() / liquid_bytes(dimension, particles, 1));
}

// The volume (2D: area) inside a shape with an end, to a few per cent.
double measure(const geometry::LevelSet& shape, int dimension) {
  const int samples = dimension == 3 ? 32 : 256;  // along an axis
  const geometry::Bounds box = flattened(shape.bounds(), dimension);
  const Vec3 step = box.extent() / samples;
  int inside = 0;
  for (int k = 0; k < (dimension == 3 ? samples : 1); ++k) {
    for (int j = 0; j < samples; ++j) {
      for (int i = 0; i < samples; ++i) {
        const Vec3 cells(i + 0.5, j + 0.5, dimension == 3 ? k + 0.5 : 0);
        inside += shape.value(box.min + cells.cwiseProduct(step)) < 0 ? 1 : 0;
      }
    }
  }
  return inside * step.head(dimension).prod();
}

class LiquidBuilder {
 public:
  LiquidBuilder(const Value& root, const std::vector<step::Obstacle>& obstacles, double duration)
      : root_(root), table_(root["liquid"]), dimension_(table_.integer_at("dimension")) {
    if (const Value* domain = table_.find("domain"))
      given_ = flattened({domain->vector_at("min"), domain->vector_at("max")}, dimension_);
    for (const step::Obstacle& obstacle : obstacles) {
      if (!obstacle.container || !has_end(obstacle.extent, dimension_)) continue;
      const geometry::Bounds box = flattened(obstacle.extent, dimension_);
      add(container_, box);
      add(whole_, swept(obstacle, box, duration));
    }
  }

  Expected<matter::LiquidBody> build() {
    made_.name = table_.text_at("name");
    settings();
    if (const auto done = emitters(); !done) return forward_error(done);
    // Mesh files need the size of a cell, which may depend on the other bodies: those come first.
    for (const bool meshes : {false, true}) {
      if (const auto done = sources(meshes); !done) return forward_error(done);
    }
    if (const auto done = place(); !done) return forward_error(done);
    if (const auto fits = check_size(); !fits) return forward_error(fits);
    return made_;
  }

 private:
  matter::liquid::Description& description() { return made_.description; }
  double extent(const geometry::Bounds& box) const { return box.extent().head(dimension_).maxCoeff(); }

  void settings() {
    matter::liquid::Description& made = description();
    made_.dimension = made.dimension = dimension_;
    made.density = table_.number_at("density");
    made.separating = table_.text_at("walls") == "separating";
    if (const auto* info = matter::find_pressure_method(table_.text_at("solver"))) made.solver = info->method;
    made.transfer = transfer_of(table_);
    made.particles_per_axis = table_.integer_at("particles");
    made.cfl = table_.number_at("cfl");
    made.tolerance = table_.number_at("tolerance");
    made.max_iterations = root_["solver"].integer_at("max_iterations");
    made.seed = static_cast<std::uint64_t>(table_.integer_at("seed"));
  }

  Expected<void> emitters() {
    for (const Value& value : root_.items_at("emitter")) {
      auto shape = formula_level_set(value, dimension_);
      if (!shape) return forward_error(shape);
      description().emitters.push_back({*shape, value.vector_at("velocity"), value.number_at("begin")});
      if (value.has("end")) description().emitters.back().end = value.number_at("end");
      add(whole_, flattened((*shape)->bounds(), dimension_));
    }
    return {};
  }

  Expected<void> sources(bool meshes) {
    for (const Value& body : root_.items_at("body")) {
      const bool is_mesh = body["shape"].members.front().key == "mesh";
      if (body.text_at("kind") != "liquid" || is_mesh != meshes) continue;
      if (meshes && !table_.has("cell") && !has_end(region(), dimension_)) {
        return input_error("{}: liquid.cell: is missing; a liquid that is a mesh in no container needs it",
                           to_string(table_.at));
      }
      auto shape = body_level_set(body, meshes ? cell() / voxels_per_cell : 0);
      if (!shape) return forward_error(shape);
      description().sources.push_back(
          {*shape, body.vector_at("velocity"), body.vector_at("angular_velocity")});
      const geometry::Bounds box = flattened((*shape)->bounds(), dimension_);
      add(full_, box);
      add(whole_, box);
    }
    return {};
  }

  // What the resolution counts the cells of.
  const geometry::Bounds& region() const {
    for (const geometry::Bounds* box : {&given_, &container_, &full_}) {
      if (has_end(*box, dimension_)) return *box;
    }
    return whole_;
  }
  double cell() const {
    return table_.has("cell") ? table_.number_at("cell") : extent(region()) / table_.integer_at("resolution");
  }

  Expected<void> place() {
    matter::liquid::Description& made = description();
    if (!has_end(region(), dimension_)) {
      return input_error(
          "{}: liquid: has no end; give it a container (an [[obstacle]] with inside = true) or a domain",
          to_string(table_.at));
    }
    made.dx = cell();
    made.origin = region().min;
    made.domain = given_;
    if (!has_end(given_, dimension_)) {
      const double margin = has_end(container_, dimension_) ? 8 * made.dx : extent(whole_);
      made.domain = {whole_.min - Vec3::Constant(margin), whole_.max + Vec3::Constant(margin)};
    }
    if (extent(made.domain) / made.dx > most_cells) {
      return input_error("{}: liquid: cells of {:.3g} m are too small for a domain of {:.3g} m",
                         to_string(table_.at), made.dx, extent(made.domain));
    }
    return {};
  }

  // Before any cell is filled.
  Expected<void> check_size() {
    const matter::liquid::Description& made = description();
    double full = 0;
    for (const auto& source : made.sources) full += measure(*source.shape, dimension_);
    for (const auto& emitter : made.emitters) full += measure(*emitter.shape, dimension_);
    const double cells = full / std::pow(made.dx, dimension_);
    const double most = most_liquid_cells(dimension_, made.particles_per_axis);
    if (cells <= most) return {};
    const char* key = table_.has("cell") ? "cell" : "resolution";
    return input_error(
        "{}: liquid.{}: cells of {:.3g} m give about {:.3g} cells of liquid, and {:.3g} are too many for "
        "this machine; give {}",
        to_string(table_[key].at), key, made.dx, cells, most,
        table_.has("cell") ? "larger ones" : "a smaller resolution");
  }

  const Value& root_;
  const Value& table_;
  int dimension_;
  geometry::Bounds given_;      // the domain of the scene
  geometry::Bounds container_;  // at time 0
  geometry::Bounds full_;       // what is full at the start
  geometry::Bounds whole_;      // of all that the liquid may be in
  matter::LiquidBody made_;
};

}  // namespace

Expected<matter::LiquidBody> build_liquid(const Value& root, const std::vector<step::Obstacle>& obstacles,
                                    double duration) {
  return LiquidBuilder(root, obstacles, duration).build();
}

}  // namespace lope::scene
