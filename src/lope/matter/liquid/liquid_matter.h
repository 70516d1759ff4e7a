// The liquid of a scene as matter. Every obstacle, whatever its kind of contact, is a wall; bodies do not feel the liquid,
// nor it them.
#pragma once

#include <lope/matter/liquid/liquid.h>
#include <lope/matter/particles/particle_matter.h>

namespace lope::matter {

class LiquidBody final : public Body {
 public:
  liquid::Description description;  // but for gravity and walls, which are the world's

  std::string_view kind() const override { return "liquid"; }
  std::string called() const override { return "liquid '" + name + "'"; }
  std::unique_ptr<Matter> make(const World& world) const override;
  geometry::Bounds region() const override { return description.domain; }
  std::optional<geometry::Bounds> domain() const override { return description.domain; }
};

struct LiquidState final : BodyState {
  liquid::State liquid;

  std::vector<ArrayView> arrays() const override;
  void read(ArrayReader& reader) override;
};

class LiquidMatter final : public ParticleMatter<LiquidState, &LiquidState::liquid> {
 public:
  LiquidMatter(const LiquidBody& body, const World& world);

  Polymorphic<BodyState> start() override;
  std::vector<std::string> remarks() const override;
  Expected<void> fits(const BodyState& saved) const override;
  optimize::MinimizerSummary solve(const BodyState& now, const StepTimes& step,
                                   const optimize::MinimizerOptions& options) override;
  std::string measures() const override { return "residual of the pressure (m/s), slowest substep"; }
  void forget() override {
    liquid_->forget();
    last_ = {};
  }
  BodyReport report(const BodyState& state, const StepTimes& last) override;
  void draw_once(const FieldFilter& wanted, geometry::Drawable& drawable) const override;
  // Particles with their velocities; in 3D the surface around them, with theirs; in 2D, and with "cells" in 3D, the grid.
  void draw(const BodyState& state, double time, const FieldFilter& wanted, geometry::Drawable& drawable) override;

  // The grid in the last substep that led to the state; where that has been forgotten, at the state itself.
  liquid::GridFields grid(const LiquidState& state, double time) { return liquid_->fields(state.liquid, time); }
  // Of the last solve().
  const liquid::Report& last() const { return last_; }

 private:
  void draw_surface(double time, geometry::Drawable& drawable) const;
  void draw_cells(const LiquidState& now, double time, geometry::Drawable& drawable);

  const LiquidBody& body_;
  const World& world_;
  std::unique_ptr<liquid::Liquid> liquid_;
  liquid::Report last_;
  std::size_t covered_ = 0;  // particles that its sources would have had where obstacles are
};

}  // namespace lope::matter
