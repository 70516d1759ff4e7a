#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/geometry/drawable.h>
#include <lope/matter/liquid/liquid_matter.h>
#include <lope/matter/particles/skin.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace lope::matter {
namespace {

optimize::Outcome outcome(const liquid::Report& report) {
  if (report.interrupted) return optimize::Outcome::Interrupted;
  if (!report.accepted) return optimize::Outcome::Failed;
  if (report.converged) return optimize::Outcome::Converged;
  return report.squeeze.flux > 0 ? optimize::Outcome::Unsolvable : optimize::Outcome::IterationLimit;
}

optimize::MinimizerSummary summary_of(const liquid::Report& report) {
  optimize::MinimizerSummary result;
  result.outcome = outcome(report);
  result.reason = report.reason;
  result.iterations = static_cast<int>(report.iterations);
  result.linear_iterations = report.inner_iterations;
  result.measure = report.residual;
  result.tolerance = report.tolerance;
  for (const auto& it : report.history) {
    optimize::Iteration& made = result.history.emplace_back();
    made.number = it.number;
    made.measure = it.residual;
    made.tolerance = report.tolerance;
    made.linear_iterations = it.inner_iterations;
    made.seconds = it.seconds;
  }
  if (!result.history.empty()) result.initial_measure = result.history.front().measure;
  result.timings.solve = report.part_seconds.pressure;
  result.timings.total = report.seconds;
  return result;
}

// How far the surface is drawn inside walls, in cells: pictures should show no air between them.
constexpr double overlap = 0.25;

}  // namespace

std::unique_ptr<Matter> LiquidBody::make(const World& world) const {
  return std::make_unique<LiquidMatter>(*this, world);
}

std::vector<ArrayView> LiquidState::arrays() const {
  std::vector<ArrayView> result = particle_views(liquid.particles);
  result.push_back({"round", {1}, std::span<const std::int64_t>(&liquid.round, 1)});
  result.push_back(view("pressure_bricks", liquid.pressure_bricks));
  result.push_back(view("pressure", liquid.pressure));
  return result;
}

void LiquidState::read(ArrayReader& reader) {
  const int dimension = dimension_of(liquid.particles);
  read_particles(reader, liquid.particles);
  liquid.round = reader.single<std::int64_t>("round");
  liquid.pressure_bricks = reader.integers("pressure_bricks");
  liquid.pressure = reader.numbers("pressure");
  const std::size_t cells = dimension == 2 ? geometry::BrickSet<2>::cells : geometry::BrickSet<3>::cells;
  if (liquid.pressure_bricks.size() * cells != liquid.pressure.size() * static_cast<std::size_t>(dimension))
    reader.miss("pressure");
}

LiquidMatter::LiquidMatter(const LiquidBody& body, const World& world) : body_(body), world_(world) {
  liquid::Description description = body.description;
  description.gravity = world.gravity;
  for (const Obstacle& obstacle : world.obstacles) {
    description.walls.push_back({obstacle.shape, [&obstacle](double time) { return obstacle.pose(time); }});
  }
  liquid_ = liquid::make_liquid(description);
}

Polymorphic<BodyState> LiquidMatter::start() {
  LiquidState state;
  state.liquid = liquid_->start(&covered_);
  return state;
}

std::vector<std::string> LiquidMatter::remarks() const {
  if (covered_ == 0) return {};
  return {fmt::format("liquid '{}': {} particles of its sources were left out because obstacles are there", body_.name,
                      covered_)};
}

Expected<void> LiquidMatter::fits(const BodyState& saved) const {
  const auto* state = dynamic_cast<const LiquidState*>(&saved);
  if (state && dimension_of(state->liquid.particles) == body_.description.dimension) return {};
  return input_error("the saved state of '{}' is not a liquid of this scene's dimension", body_.name);
}

optimize::MinimizerSummary LiquidMatter::solve(const BodyState& now, const StepTimes& step,
                                               const optimize::MinimizerOptions& options) {
  last_ = liquid_->advance(begin_trial(now), step.time, step.h, options.stop_requested);
  return summary_of(last_);
}

BodyReport LiquidMatter::report(const BodyState& /*state*/, const StepTimes& /*last*/) {
  const liquid::Report& r = last_;
  BodyReport made;
  made.name = body_.name;
  made.kind = body_.kind();
  made.energy = {r.kinetic, 0, r.potential};
  made.momentum = r.momentum;
  const auto whole = [](auto number) { return static_cast<std::int64_t>(number); };
  const bool flat = body_.description.dimension == 2;
  const char* volume = flat ? "m^2" : "m^3";
  const char* flux = flat ? "m^2/s" : "m^3/s";
  made.add("substeps", "", whole(r.substeps));
  made.add("particles", "", whole(r.particles));
  made.add("emitted", "", whole(r.emitted));
  made.add("removed", "", whole(r.removed));
  made.add("moved", "", whole(r.moved));
  made.add("volume", volume, r.volume);
  made.add("covered_volume", volume, r.covered_volume);
  made.add("largest_speed", "m/s", r.largest_speed);
  made.add("pressure/unknowns", "", whole(r.unknowns));
  made.add("pressure/wall_unknowns", "", whole(r.wall_unknowns));
  made.add("pressure/separated", "", whole(r.separated));
  made.add("pressure/enclosed_regions", "", whole(r.enclosed_regions));
  made.add("pressure/removed_flux", flux, r.removed_flux);
  made.add("pressure/squeezed_volume", volume, r.squeezed_volume);
  made.add("pressure/squeeze/flux", flux, r.squeeze.flux);
  made.add("pressure/squeeze/volume", volume, r.squeeze.volume);
  made.add("pressure/squeeze/middle", "m", r.squeeze.middle);
  const liquid::PartSeconds& parts = r.part_seconds;
  add_seconds(made, {{"sorting", parts.sorting}, {"walls", parts.walls}, {"to_grid", parts.to_grid},
                     {"pressure", parts.pressure}, {"extension", parts.extension},
                     {"to_particles", parts.to_particles}, {"movement", parts.movement}});
  if (r.removed > 0) made.remarks.push_back(fmt::format(
      "liquid '{}': {} particles left the domain or were crushed, and are removed", body_.name, r.removed));
  return made;
}

void LiquidMatter::draw_once(const FieldFilter& /*wanted*/, geometry::Drawable& drawable) const {
  const liquid::Description& liquid = body_.description;
  drawable.look.material = "water";
  drawable.points.radius = 0.25 * liquid.dx;
  drawable.volume.spacing = liquid.dx;
  drawable.volume.origin = liquid.origin;
  drawable.volume.staggered = {"velocity", "open"};
  drawable.volume.kinds = {"air", "liquid", "wall"};
}

void LiquidMatter::draw(const BodyState& state, double time, const FieldFilter& wanted, geometry::Drawable& drawable) {
  const auto& now = dynamic_cast<const LiquidState&>(state);
  std::visit(
      [&](const auto& particles) {
        drawable.points.positions = drawn(particles.x);
        drawable.points.fields.push_back({"velocity", "m/s", 3, drawn(particles.v)});
      },
      now.liquid.particles);
  if (body_.description.dimension == 3) draw_surface(time, drawable);
  if (body_.description.dimension == 2 || wanted("cells")) draw_cells(now, time, drawable);
}

void LiquidMatter::draw_surface(double time, geometry::Drawable& drawable) const {
  const auto vectors = [](const std::vector<float>& numbers) {
    std::vector<Vec3> result;
    result.reserve(numbers.size() / 3);
    for (std::size_t i = 0; i < numbers.size(); i += 3) result.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
    return result;
  };
  const std::vector<Vec3> particles = vectors(drawable.points.positions);
  geometry::ParticleSurfaceOptions options;
  options.spacing = body_.description.dx;
  options.overlap = overlap * options.spacing;
  for (const Obstacle& obstacle : world_.obstacles)
    options.walls.push_back({obstacle.shape, obstacle.pose(time)});
  geometry::DrawnSurface& surface = drawable.surface;
  const auto skin = add_skin("liquid '" + body_.name + "'", particles,
                             vectors(drawable.points.fields.front().values), options, surface);
  if (!skin) return;
  if (options.walls.empty()) return;
  std::vector<Vec3> shift(skin->vertices.size(), Vec3::Zero());
  parallel_for(shift.size(), 256, [&](std::size_t i) {
    Vec3 x = skin->vertices[i];
    for (int k = 0; k < 3; ++k) {  // in corners of several walls more than once
      const geometry::LevelSetSample wall = geometry::nearest_wall(options.walls, x);
      if (wall.value >= 0) break;
      x -= wall.value * wall.gradient;
    }
    shift[i] = x - skin->vertices[i];
  });
  surface.out_of_walls = drawn<3>(shift);
}

void LiquidMatter::draw_cells(const LiquidState& now, double time, geometry::Drawable& drawable) {
  const liquid::GridFields grid_now = grid(now, time);
  geometry::DrawnVolume& volume = drawable.volume;
  volume.cells = grid_now.index;
  const auto add = [&](const char* name, const char* unit, int components, const auto& values) {
    geometry::DrawnField& field = volume.fields.emplace_back(geometry::DrawnField{name, unit, components, {}});
    field.values.reserve(values.size());
    for (const auto value : values) field.values.push_back(static_cast<float>(value));
  };
  add("kind", "", 1, grid_now.kind);
  if (body_.description.separating) add("separating", "", 1, grid_now.separating);
  add("pressure", "Pa", 1, grid_now.pressure);
  add("level_set", "m", 1, grid_now.level_set);
  add("velocity", "m/s", 3, grid_now.velocity);
  add("open", "", 3, grid_now.open);
}

}  // namespace lope::matter
