// The measurements behind `lope bench accuracy` (see accuracy.cpp), also used by the tests.
#pragma once

#include <lope/optimize/methods.h>
#include <lope/step/model.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lope::bench {

// Ratios true error / estimate of the judged steps.
struct EstimateRecord {
  std::vector<double> ratios;
  double bounded_fraction() const;  // share of ratios ≤ 3
  double median_ratio() const;
  double largest_ratio() const;
};

// What one method did in one scene, or in several.
struct Calibration {
  int steps = 0;
  int unconverged = 0;   // the method said that it had not converged: no promise, not judged
  int unjudged = 0;      // no reference within reach: the refinement failed to converge
  int at_round_off = 0;  // converged so far that the error cannot be measured
  EstimateRecord own, common;
  std::vector<double> error_over_accuracy;

  void add(const Calibration& other);
  double accurate_fraction() const;  // error ≤ 3 × accuracy
  double largest_error_over_accuracy() const;
  // Which requirements of NUMERICS §6 do not hold, in words; empty: calibrated.
  std::string trouble() const;
};

// The methods whose accuracy is calibrated: all but those that promise none.
std::vector<optimize::Method> calibrated_methods();

// One Calibration per method: along the first `steps` steps of the model's own trajectory, every `stride`th
// is judged.
std::vector<Calibration> calibrate(const step::Model& model, const std::vector<optimize::Method>& methods,
                                   std::int64_t steps, std::int64_t stride = 1);

}  // namespace lope::bench
