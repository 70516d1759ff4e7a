// What the step loop, files and pictures see of matter, of whatever kind.
//
// A Body says what something is: a constant part of the model. Its BodyState is all that changes, a value that is copied,
// saved as named arrays and restored. Its Matter does the steps: it is made from the body once, reads states, and writes
// one only in commit() and take_back(), which the step loop calls for all bodies or for none.
//
// A step is either solved in common with what may touch (NodalMatter: an Objective over nodes, step/island.h) or by the
// matter itself (LoneMatter). Either way its result is a trial until commit().
#pragma once

#include <lope/base/array_reader.h>
#include <lope/base/expected.h>
#include <lope/base/polymorphic.h>
#include <lope/geometry/mesh.h>
#include <lope/matter/field.h>
#include <lope/matter/report.h>
#include <lope/matter/world.h>
#include <lope/optimize/minimizer.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lope::geometry {
struct Drawable;
}

namespace lope::matter {

class NodalMatter;  // nodal_matter.h
class LoneMatter;

// The step from `time` to time + h.
struct StepTimes {
  double time = 0;
  double h = 0;
  std::int64_t steps = 0;  // taken before it
  double previous_h = 0;   // of the last of them (0: none)
  double end() const { return time + h; }
};

class BodyState {
 public:
  virtual ~BodyState() = default;
  // Views of everything; valid while the state is not changed.
  virtual std::vector<ArrayView> arrays() const = 0;
  // The same back from a file. What is missing is told to the reader; sizes are looked at by Matter::fits.
  virtual void read(ArrayReader& reader) = 0;
};

class Matter {
 public:
  virtual ~Matter() = default;

  // The state at time 0.
  virtual Polymorphic<BodyState> start() = 0;
  // What a user should know of the start: one line each.
  virtual std::vector<std::string> remarks() const { return {}; }
  // Whether a saved state is one of this body; the error says why not.
  virtual Expected<void> fits(const BodyState& saved) const = 0;

  // One of the two is not null.
  virtual NodalMatter* nodal() { return nullptr; }
  virtual LoneMatter* lone() { return nullptr; }

  // The trial becomes the state, and what it replaces is kept; take_back() brings that back.
  virtual void commit(BodyState& state) = 0;
  virtual void take_back(BodyState& state) = 0;
  // The state is not the end of the last step any more.
  virtual void forget() = 0;

  // At a state; `last` is the step that led there, if that has not been forgotten.
  virtual BodyReport report(const BodyState& state, const StepTimes& last) = 0;
  virtual std::vector<Field> fields(const BodyState& state, const FieldFilter& wanted) = 0;
  // What there is to see (geometry/drawable.h): what never changes, its look but for the colour among it; and what does.
  virtual void draw_once(const FieldFilter& wanted, geometry::Drawable& drawable) const = 0;
  virtual void draw(const BodyState& state, double time, const FieldFilter& wanted, geometry::Drawable& drawable) = 0;
  // What a user should know of the state that a run ends in: one line each.
  virtual std::vector<std::string> closing_remarks(const BodyState& /*state*/) { return {}; }
};

// Matter that solves its steps by itself.
class LoneMatter : public Matter {
 public:
  LoneMatter* lone() final { return this; }
  // Where a step leads: observed and interrupted as minimisations are. Failed or Interrupted: there is no trial.
  virtual optimize::MinimizerSummary solve(const BodyState& now, const StepTimes& step,
                                           const optimize::MinimizerOptions& options) = 0;
  // What its stopping test measures, with the unit.
  virtual std::string measures() const = 0;
};

class Body {
 public:
  std::string name;
  int dimension = 3;  // 2: in the plane z = 0, per metre of depth

  virtual ~Body() = default;
  // The word of scene files.
  virtual std::string_view kind() const = 0;
  // What messages call it: "body 'bar'".
  virtual std::string called() const { return "body '" + name + "'"; }
  // The body and the world outlive what is made.
  virtual std::unique_ptr<Matter> make(const World& world) const = 0;
  // Where it is at the start, and what it never leaves, where that is known.
  virtual geometry::Bounds region() const = 0;
  virtual std::optional<geometry::Bounds> domain() const { return {}; }
  // Unknowns of a step, coordinates that are scripted included; 0 where that is not known beforehand.
  virtual std::size_t unknowns() const { return 0; }

 protected:
  Body() = default;
  Body(const Body&) = default;
  Body(Body&&) = default;
  Body& operator=(const Body&) = default;
  Body& operator=(Body&&) = default;
};

}  // namespace lope::matter
