#include <lope/step/report.h>

#include <algorithm>

namespace lope::step {

bool StepReport::converged() const {
  return accepted && std::all_of(islands.begin(), islands.end(),
                                 [](const IslandReport& island) { return island.solve.converged(); });
}

const IslandReport* StepReport::culprit() const {
  const auto did_not = [this](const IslandReport& island) {
    return accepted ? !island.solve.converged() : !island.solve.has_result();
  };
  const auto found = std::find_if(islands.begin(), islands.end(), did_not);
  return found == islands.end() ? nullptr : &*found;
}

}  // namespace lope::step
