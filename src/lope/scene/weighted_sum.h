// Fingerprints of what a run was made from.
#pragma once

#include <lope/base/random.h>

#include <cstdint>

namespace lope::scene {

// Sums of numbers with weights that belong to their places.
class WeightedSum {
 public:
  void add(double number) { sum_ += (0.5 + random_unit(seed, count_++)) * number; }
  double value() const { return sum_; }

 private:
  static constexpr std::uint64_t seed = 20150;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace lope::scene
