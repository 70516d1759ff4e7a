// The material points of a scene as matter: all of them, of whatever material, share one grid and one solve. Obstacles act
// on the grid (boundary.h); other bodies do not feel them, nor they those.
#pragma once

#include <lope/geometry/drawable.h>
#include <lope/matter/mpm/mpm.h>
#include <lope/matter/particles/particle_matter.h>

namespace lope::matter {

class MpmBody final : public Body {
 public:
  mpm::Description description;

  std::string_view kind() const override { return "mpm"; }
  std::string called() const override { return "material points '" + name + "'"; }
  std::unique_ptr<Matter> make(const World& world) const override;
  geometry::Bounds region() const override;
};

struct MpmState final : BodyState {
  AnyParticles<mpm::Particles> particles;

  std::vector<ArrayView> arrays() const override;
  void read(ArrayReader& reader) override;
};

class MpmMatter final : public ParticleMatter<MpmState, &MpmState::particles> {
 public:
  MpmMatter(const MpmBody& body, const World& world);

  Polymorphic<BodyState> start() override;
  std::vector<std::string> remarks() const override { return remarks_; }
  Expected<void> fits(const BodyState& saved) const override;
  optimize::MinimizerSummary solve(const BodyState& now, const StepTimes& step,
                                   const optimize::MinimizerOptions& options) override;
  std::string measures() const override { return "stopping test of the grid's motion, last substep"; }
  void forget() override { last_ = {}; }
  BodyReport report(const BodyState& state, const StepTimes& last) override;
  void draw_once(const FieldFilter& wanted, geometry::Drawable& drawable) const override;
  // Particles in the order of their ids. Parts with a skin also as one surface, whose triangles know their part.
  void draw(const BodyState& state, double time, const FieldFilter& wanted, geometry::Drawable& drawable) override;

  // Of the last solve().
  const mpm::Report& last() const { return last_; }

 private:
  void draw_skins(const mpm::Particles<3>& particles, geometry::DrawnSurface& surface) const;

  const MpmBody& body_;
  std::unique_ptr<mpm::Mpm> mpm_;
  mpm::Report last_;
  std::vector<std::string> remarks_;
};

}  // namespace lope::matter
