#include <lope/optimize/line_search.h>

#include <algorithm>
#include <cmath>

namespace lope::optimize {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Minimiser of the cubic through two values and slopes (the parabola where the far slope is unknown), kept
// away from the ends of the bracket; the middle where the cubic has none, a tenth of the way where the far
// value is infinite.
double interpolate(double a, double value_a, double slope_a, double b, double value_b, double slope_b) {
  const double middle = 0.5 * (a + b);
  if (!std::isfinite(value_b) || a == b) return a + 0.1 * (b - a);
  const double margin = 0.1 * std::abs(b - a);
  const auto inside = [&](double step) {
    return std::isfinite(step) ? std::clamp(step, std::min(a, b) + margin, std::max(a, b) - margin) : middle;
  };
  if (std::isnan(slope_b)) {
    const double rise = value_b - value_a - slope_a * (b - a);
    return inside(a - slope_a * (b - a) * (b - a) / (2 * rise));
  }
  const double d1 = slope_a + slope_b - 3 * (value_a - value_b) / (a - b);
  const double discriminant = d1 * d1 - slope_a * slope_b;
  if (!(discriminant >= 0)) return middle;
  const double d2 = std::copysign(std::sqrt(discriminant), b - a);
  return inside(b - (b - a) * (slope_b + d2 - d1) / (slope_b - slope_a + 2 * d2));
}

}  // namespace

double LineSearch::evaluate(Objective& objective, const LineSearchStart& start, double step, double noise,
                            linalg::Vector trial) {
  linalg::add_scaled(start.x, step, start.direction, trial);
  objective.project(trial);
  objective.move_to(trial);
  const double value = objective.value(start.value + noise);
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

// d/dα E(P(x + αd)) at the current point.
double LineSearch::slope(Objective& objective, const LineSearchStart& start, double step) {
  for (auto* work : {&gradient_, &path_, &tangent_}) work->resize(start.x.size());
  linalg::add_scaled(start.x, step, start.direction, path_);
  linalg::copy(start.direction, tangent_);
  objective.project_direction(path_, tangent_);
  objective.gradient(gradient_);
  return objective.space().dot(gradient_, tangent_);
}

LineSearchResult LineSearch::backtrack(Objective& objective, const LineSearchStart& start,
                                       const BacktrackingOptions& options, linalg::Vector trial) {
  const double noise = objective.value_noise();
  LineSearchResult result;
  const double bound = objective.largest_step(start.direction);
  result.step = std::min(options.first_step, bound);
  while (result.step >= options.smallest_step) {
    result.value = evaluate(objective, start, result.step, noise, trial);
    ++result.evaluations;
    if (result.value <= start.value + options.sufficient_decrease * result.step * start.slope + noise) {
      result.success = true;
      if (result.evaluations == 1 && options.lengthens) {
        extend(objective, start, options, std::min(options.largest_step, bound), trial, result);
      }
      return result;
    }
    result.step *= options.shrink;
  }
  return result;
}

void LineSearch::extend(Objective& objective, const LineSearchStart& start,
                        const BacktrackingOptions& options, double bound, linalg::Vector trial,
                        LineSearchResult& result) {
  const double noise = objective.value_noise();
  while (2 * result.step <= bound &&
         result.value + noise < start.value + options.too_short * result.step * start.slope) {
    const double longer = evaluate(objective, start, 2 * result.step, noise, trial);
    ++result.evaluations;
    if (!(longer < result.value)) {
      result.value = evaluate(objective, start, result.step, noise, trial);
      ++result.evaluations;
      return;
    }
    result.step *= 2;
    result.value = longer;
  }
}

LineSearchResult LineSearch::strong_wolfe(Objective& objective, const LineSearchStart& start,
                                          const WolfeOptions& options, linalg::Vector trial) {
  const double noise = objective.value_noise();
  const double bound = std::min(options.largest_step, objective.largest_step(start.direction));
  Point previous{0, start.value, start.slope};
  double step = std::min(1.0, bound);
  for (int evaluations = 1; evaluations <= options.max_evaluations; ++evaluations) {
    Point point{step, evaluate(objective, start, step, noise, trial), unknown};
    const bool enough = point.value <= start.value + options.sufficient_decrease * step * start.slope + noise;
    if (!enough || (evaluations > 1 && point.value > previous.value + noise)) {
      if (point.value <= start.value + noise) point.slope = slope(objective, start, step);
      return zoom(objective, start, options, trial, previous, point, noise, evaluations);
    }
    point.slope = slope(objective, start, step);
    if (std::abs(point.slope) <= -options.curvature * start.slope || step >= bound) {
      return {true, step, point.value, evaluations};
    }
    if (point.slope >= 0) return zoom(objective, start, options, trial, point, previous, noise, evaluations);
    previous = point;
    step = std::min(4 * step, bound);
  }
  return {};
}

// Invariant: `low` satisfies the sufficient decrease and has the smallest value so far; an acceptable step
// lies between `low` and `high`.
LineSearchResult LineSearch::zoom(Objective& objective, const LineSearchStart& start,
                                  const WolfeOptions& options, linalg::Vector trial, Point low, Point high,
                                  double noise, int evaluations) {
  while (evaluations < options.max_evaluations &&
         std::abs(high.step - low.step) > 1e-14 * std::abs(high.step)) {
    Point point{interpolate(low.step, low.value, low.slope, high.step, high.value, high.slope), 0, unknown};
    point.value = evaluate(objective, start, point.step, noise, trial);
    ++evaluations;
    const bool enough =
        point.value <= start.value + options.sufficient_decrease * point.step * start.slope + noise;
    if (point.value <= start.value + noise) point.slope = slope(objective, start, point.step);
    if (!enough || point.value > low.value + noise) {
      high = point;
      continue;
    }
    if (std::abs(point.slope) <= -options.curvature * start.slope) {
      return {true, point.step, point.value, evaluations};
    }
    if (point.slope * (high.step - low.step) >= 0) high = low;
    low = point;
  }
  // The bracket collapsed (a kink, or rounding): the best point with sufficient decrease is still progress.
  if (low.step <= 0) return {false, 0, start.value, evaluations};
  low.value = evaluate(objective, start, low.step, noise, trial);
  return {true, low.step, low.value, evaluations + 1};
}

}  // namespace lope::optimize
