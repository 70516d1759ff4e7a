#include <lope/matter/particles/binning.h>

#include <numeric>

namespace lope::matter {

bool Binning::sort(std::size_t places) {
  first.assign(places + 1, 0);
  for (const std::uint32_t p : place) ++first[p + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  next_ = first;
  order.resize(place.size());
  for (std::size_t i = 0; i < place.size(); ++i) order[next_[place[i]]++] = static_cast<std::uint32_t>(i);
  return !std::is_sorted(place.begin(), place.end());
}

}  // namespace lope::matter
