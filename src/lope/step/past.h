// What the last step replaced in the state, so that it can be undone.
#pragma once

#include <lope/step/simulation.h>

namespace lope::step {

struct Simulation::Past {
  double time = 0;
  std::int64_t step = 0;
  double previous_h = 0;
  std::vector<optimize::KeptModelPtr> kept;
  std::vector<std::vector<matter::Contact>> contacts;
  // Empty: matter itself knows what it was (Matter::take_back).
  std::vector<Polymorphic<matter::BodyState>> bodies;
  std::vector<matter::BarrierMemory> barriers;
};

}  // namespace lope::step
