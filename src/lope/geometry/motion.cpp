#include <lope/geometry/motion.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include <Eigen/Geometry>

namespace lope::geometry {

namespace {

// The time between the first and the last key at which a curve that repeats has the value it has at t > last.
double folded_time(double t, double first, double last, AfterLastKey after) {
  const double period = last - first;
  if (!(period > 0)) return last;
  const double phase = t - first;
  if (after == AfterLastKey::Loop) return first + std::fmod(phase, period);
  const double there_and_back = std::fmod(phase, 2 * period);
  return first + std::min(there_and_back, 2 * period - there_and_back);
}

template <class Value>
Value zero() {
  if constexpr (std::is_same_v<Value, double>) {
    return 0;
  } else {
    return Value::Zero();
  }
}

}  // namespace

template <class Value>
Value Curve<Value>::at(double t) const {
  assert(times.size() == values.size());
  if (times.empty()) return zero<Value>();
  const double first = times.front(), last = times.back();
  if (t <= first) return t == last ? values.back() : values.front();
  if (t > last && (after == AfterLastKey::Loop || after == AfterLastKey::Mirror)) {
    t = folded_time(t, first, last, after);
  }
  if (t == last) return values.back();
  const bool extends = t > last;
  if (extends && (after == AfterLastKey::Hold || times.size() < 2)) return values.back();
  const std::size_t end =
      extends ? times.size() - 1
              : static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), t) - times.begin());
  const std::size_t begin = end - 1;
  const double span = times[end] - times[begin];
  if (!(span > 0)) return values[end];  // the curve ends with a jump: it has no last slope to go on with
  const double weight = (t - times[begin]) / span;
  return (1 - weight) * values[begin] + weight * values[end];
}

template struct Curve<double>;
template struct Curve<Vec3>;

Vec3 carried_velocity(const RigidPose& before, const RigidPose& after, double h, const Vec3& x) {
  return (x - before.place(after.unplace(x))) / h;
}

RigidPose Motion::pose(double t) const {
  const double turn = angle.at(t) - angle.at(0);
  const Vec3 shift = displacement.at(t) - displacement.at(0);
  if (turn == 0) return {Mat3::Identity(), shift};
  const Mat3 rotation = Eigen::AngleAxisd(turn, axis.normalized()).toRotationMatrix();
  return {rotation, pivot - rotation * pivot + shift};
}

Vec3 Motion::position(const Vec3& start, double t) const {
  const double turn = angle.at(t) - angle.at(0);
  const Vec3 shift = displacement.at(t) - displacement.at(0);
  const Vec3 arm = start - pivot;
  const Vec3 turned = turn == 0 ? start : Vec3(pivot + Eigen::AngleAxisd(turn, axis.normalized()) * arm);
  return turned + shift;
}

}  // namespace lope::geometry
