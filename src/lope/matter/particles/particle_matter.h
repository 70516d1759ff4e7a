// Matter of particles that solves its steps by itself: what the liquid and material points have in common as matter.
#pragma once

#include <lope/matter/matter.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lope::matter {

// Seconds of the parts of a step, by their names.
inline void add_seconds(BodyReport& report, std::initializer_list<std::pair<const char*, double>> parts) {
  for (const auto& [name, seconds] : parts) report.add(std::string("seconds/") + name, "s", seconds);
}

// State is a BodyState, all of which that changes is its member `content`.
template <class State, auto content>
class ParticleMatter : public LoneMatter {
 public:
  void commit(BodyState& state) final { std::swap(dynamic_cast<State&>(state).*content, other_); }
  void take_back(BodyState& state) final {
    commit(state);
    forget();
  }
  // Fields are the drawable's: particles have no mesh that they could belong to.
  std::vector<Field> fields(const BodyState& /*state*/, const FieldFilter& /*wanted*/) final { return {}; }

 protected:
  // The step being taken begins here: a copy to be changed.
  auto& begin_trial(const BodyState& now) { return other_ = dynamic_cast<const State&>(now).*content; }

 private:
  std::remove_cvref_t<decltype(std::declval<State&>().*content)> other_;  // of the step being taken, or of the one before
};

}  // namespace lope::matter
