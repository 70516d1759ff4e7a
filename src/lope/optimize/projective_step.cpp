#include <lope/optimize/projective_step.h>

#include <algorithm>
#include <cmath>

namespace lope::optimize {
namespace {

// Plain iterations before ρ is believed: what is rough has gone by then.
constexpr int plain_at_first = 5;
constexpr int weighted_with_one_radius = 16;
constexpr double largest_radius = 0.9995;
// Of plain steps; what needs shorter ones has not got anything to do with the matrix.
constexpr double shortest = 1e-6;
constexpr int good_in_a_row = 8;
// How many times larger than estimated the rounding errors of energies may be.
constexpr double rounding_slack = 1e3;
// Of the way to where the function is no longer defined.
constexpr double safe_part = 0.9;

double bound(Objective& objective, linalg::ConstVector way) {
  return safe_part * objective.largest_step(way);
}

double value_at(Objective& objective, linalg::Vector point) {
  objective.project(point);
  objective.move_to(point);
  return objective.value();
}

}  // namespace

ProjectiveStep::ProjectiveStep(bool accelerates, linalg::ConstVector x)
    : accelerates_(accelerates), begin_(x.begin(), x.end()), before_(begin_), way_(begin_.size()) {}

void ProjectiveStep::restart() {
  weights_.reset();
  plain_ = 0;
  last_slope_ = 0;
}

// Of the iteration that ends now; 1: plain.
double ProjectiveStep::next_weight(double slope) {
  if (weights_ && ++weighted_ < weighted_with_one_radius) return weights_->next();
  if (weights_) return next_with(1 - 0.5 * (1 - radius_));
  const double ratio = std::sqrt(slope / last_slope_);
  last_slope_ = slope;
  if (++plain_ < plain_at_first || !std::isfinite(ratio)) return 1;
  return next_with(ratio);
}

double ProjectiveStep::next_with(double radius) {
  radius_ = std::min(radius, largest_radius);
  weighted_ = 0;
  weights_.emplace(radius_);
  return weights_->next();
}

LineSearchResult ProjectiveStep::take(Objective& objective, const LineSearchStart& from, bool last,
                                      linalg::Vector trial) {
  LineSearchResult result;
  // Near a minimum energies differ by their rounding errors, and noise is an estimate of these.
  const double noise = objective.value_noise();
  const double highest = from.value + (-from.slope <= rounding_slack * noise ? rounding_slack : 1) * noise;
  if (!(last && accelerates_ && accelerate(objective, from, highest, result, trial)))
    go_plainly(objective, from, highest, result, trial);
  if (!last || !result.success) return result;
  before_.swap(begin_);
  linalg::copy(trial, begin_);
  return result;
}

// False: the step is to be a plain one.
bool ProjectiveStep::accelerate(Objective& objective, const LineSearchStart& from, double highest,
                                LineSearchResult& result, linalg::Vector trial) {
  const double weight = next_weight(from.slope);
  if (!(weight > 1)) return false;
  linalg::add_scaled(from.x, length_, from.direction, trial);
  linalg::combine(1 - weight, before_, weight, trial);
  linalg::add_scaled(trial, -1, from.x, way_);
  if (bound(objective, way_) >= 1) {
    ++result.evaluations;
    result.value = value_at(objective, trial);
    result.step = weight;
    result.success = result.value <= highest;
  }
  if (!result.success) {
    ++restarts_;
    restart();
    objective.move_to(from.x);
  }
  return result.success;
}

void ProjectiveStep::go_plainly(Objective& objective, const LineSearchStart& from, double highest,
                                LineSearchResult& result, linalg::Vector trial) {
  const double farthest = bound(objective, from.direction);
  for (; length_ >= shortest; length_ /= 2) {
    result.step = std::min(length_, farthest);
    linalg::add_scaled(from.x, result.step, from.direction, trial);
    ++result.evaluations;
    result.value = value_at(objective, trial);
    result.success = result.value <= highest;
    if (result.success) break;
    ++halvings_;
    good_ = 0;
    restart();
  }
  if (!result.success) {
    length_ = 1;  // another direction may be better
  } else if (++good_ == good_in_a_row) {
    length_ = std::min(1.0, 2 * length_);
    good_ = 0;
  }
}

}  // namespace lope::optimize
