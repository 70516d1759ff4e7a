// Which vertices are inside which bodies, and the closest primitive of each (self_contact.h says how): the search of penalty
// self-collisions, without their energy.
#pragma once

#include <lope/matter/contact/self_contact.h>

#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

template <int d>
class SelfContactSearch {
 public:
  explicit SelfContactSearch(std::span<const SelfContactBody> bodies);
  ~SelfContactSearch();

  // The pairs at x but for their forces, in a fixed order.
  void find(std::span<const double> x, std::vector<SelfContactPair>& pairs);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

extern template class SelfContactSearch<2>;
extern template class SelfContactSearch<3>;

}  // namespace lope::matter
