#include <lope/base/errors.h>
#include <lope/matter/mpm/mpm_matter.h>
#include <lope/matter/particles/skin.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace lope::matter {
namespace {

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

std::unique_ptr<Matter> MpmBody::make(const World& world) const { return std::make_unique<MpmMatter>(*this, world); }

geometry::Bounds MpmBody::region() const {
  geometry::Bounds all{Vec3::Constant(std::numeric_limits<double>::infinity()),
                       Vec3::Constant(-std::numeric_limits<double>::infinity())};
  for (const mpm::Part& part : description.parts) {
    const geometry::Bounds bounds = part.shape->bounds();
    all.min = all.min.cwiseMin(bounds.min);
    all.max = all.max.cwiseMax(bounds.max);
  }
  return all;
}

std::vector<ArrayView> MpmState::arrays() const { return particle_views(particles); }

void MpmState::read(ArrayReader& reader) { read_particles(reader, particles); }

MpmMatter::MpmMatter(const MpmBody& body, const World& world) : body_(body), mpm_(mpm::make_mpm(body.description, world)) {}

Polymorphic<BodyState> MpmMatter::start() {
  MpmState state;
  state.particles = mpm_->start();
  remarks_ = mpm_->complaints();
  return state;
}

Expected<void> MpmMatter::fits(const BodyState& saved) const {
  const auto* state = dynamic_cast<const MpmState*>(&saved);
  if (!state || dimension_of(state->particles) != body_.description.dimension)
    return input_error("the saved state of '{}' is not one of material points of this scene's dimension", body_.name);
  return std::visit(
      [&](const auto& p) -> Expected<void> {
        const auto parts = static_cast<std::int32_t>(body_.description.parts.size());
        for (std::size_t i = 0; i < p.size(); ++i) {
          if (p.part[i] < 0 || p.part[i] >= parts)
            return input_error("the saved state of '{}' has material points of a body that the scene does not have", body_.name);
          if (p.id[i] < 0 || p.id[i] >= static_cast<std::int32_t>(p.size()))
            return input_error("the saved state of '{}' has a material point with the number {}, of {}", body_.name, p.id[i], p.size());
          if (!is_positive(p.mass[i]) || !is_positive(p.volume[i]) || !p.x[i].allFinite() || !p.v[i].allFinite() || !p.F[i].allFinite())
            return input_error("the saved state of '{}' has a material point (number {}) without mass or volume, or nowhere",
                               body_.name, p.id[i]);
        }
        return {};
      },
      state->particles);
}

optimize::MinimizerSummary MpmMatter::solve(const BodyState& now, const StepTimes& step,
                                            const optimize::MinimizerOptions& options) {
  last_ = mpm_->advance(begin_trial(now), step.time, step.h, options);
  return last_.solve;
}

BodyReport MpmMatter::report(const BodyState& /*state*/, const StepTimes& /*last*/) {
  const mpm::Report& r = last_;
  BodyReport made;
  made.name = body_.name;
  made.kind = body_.kind();
  made.energy = {r.kinetic, r.elastic, r.potential};
  made.momentum = r.momentum;
  made.angular_momentum = r.angular_momentum;
  made.add("substeps", "", r.substeps);
  made.add("repeated_substeps", "", r.repeated);
  made.add("shortest_substep", "s", r.shortest);
  made.add("particles", "", r.particles);
  made.add("nodes", "", r.nodes);
  made.add("matrix_blocks", "", r.blocks);
  made.add("separation_rounds", "", r.rounds);
  made.add("unsolved_positions", "", r.positions.unsolved);
  made.add("stopped_positions", "", r.positions.stopped);
  made.add("largest_speed", "m/s", r.largest_speed);
  const mpm::PartSeconds& parts = r.seconds;
  add_seconds(made, {{"sorting", parts.sorting}, {"to_grid", parts.to_grid}, {"conditions", parts.conditions},
                     {"assembly", parts.assembly}, {"preconditioner", parts.preconditioner}, {"linear", parts.linear},
                     {"evaluation", parts.evaluation}, {"to_particles", parts.to_particles}});
  return made;
}

void MpmMatter::draw_once(const FieldFilter& /*wanted*/, geometry::Drawable& drawable) const {
  drawable.points.radius = 0.3 * body_.description.dx;
}

// In the order in which the particles were made, so that each keeps its place from frame to frame.
void MpmMatter::draw(const BodyState& state, double /*time*/, const FieldFilter& /*wanted*/, geometry::Drawable& drawable) {
  std::visit(
      [&](const auto& p) {
        std::vector<float> plastic(p.size()), part(p.size());
        for (std::size_t i = 0; i < p.size(); ++i) {
          plastic[static_cast<std::size_t>(p.id[i])] = static_cast<float>(p.plastic[i]);
          part[static_cast<std::size_t>(p.id[i])] = static_cast<float>(p.part[i]);
        }
        drawable.points.positions = drawn(p.x, p.id);
        drawable.points.fields = {{"velocity", "m/s", 3, drawn(p.v, p.id)},
                                  {"plastic", "", 1, std::move(plastic)},
                                  {"part", "", 1, std::move(part)}};
      },
      dynamic_cast<const MpmState&>(state).particles);
  if (const auto* particles = std::get_if<mpm::Particles<3>>(&dynamic_cast<const MpmState&>(state).particles))
    draw_skins(*particles, drawable.surface);
}

void MpmMatter::draw_skins(const mpm::Particles<3>& particles, geometry::DrawnSurface& surface) const {
  geometry::DrawnField part_of{"part", "", 1, {}};
  std::vector<std::vector<std::size_t>> members(body_.description.parts.size());
  for (std::size_t p = 0; p < particles.size(); ++p)
    members[static_cast<std::size_t>(particles.part[p])].push_back(p);
  for (std::size_t k = 0; k < body_.description.parts.size(); ++k) {
    const mpm::Part& part = body_.description.parts[k];
    if (!part.has_skin || members[k].empty()) continue;
    std::vector<Vec3> x, v;
    double volume = 0;
    for (const std::size_t p : members[k]) {
      x.push_back(particles.x[p]);
      v.push_back(particles.v[p]);
      volume += particles.volume[p];
    }
    geometry::ParticleSurfaceOptions options;
    options.spacing = std::cbrt(8 * volume / static_cast<double>(x.size()));
    add_skin("body '" + part.name + "'", x, v, options, surface);
    part_of.values.resize(surface.triangles.size() / 3, static_cast<float>(k));
  }
  if (!part_of.values.empty()) surface.element_fields.push_back(std::move(part_of));
}

}  // namespace lope::matter
