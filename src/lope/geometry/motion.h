// Scripted motions of points: a translation and a rotation about a fixed axis, both given over time.
// Pure functions of time, so that a step may be cut into pieces at will.
#pragma once

#include <lope/math/types.h>

#include <vector>

namespace lope::geometry {

// What happens after the last key.
enum class AfterLastKey {
  Hold,    // stays there
  Extend,  // goes on with the last slope
  Loop,    // starts again at the first key
  Mirror,  // runs back and forth
};

// A piecewise linear function of time through its keys (times ascend, two equal times make a jump; no keys:
// zero). Before the first key it has the first value. At the last key it always has the last value; Loop and
// Mirror count from there. Instantiated for double and Vec3.
template <class Value>
struct Curve {
  std::vector<double> times;  // seconds, as many as values
  std::vector<Value> values;
  AfterLastKey after = AfterLastKey::Hold;

  Value at(double t) const;
};

// x → rotation·x + translation.
struct RigidPose {
  Mat3 rotation = Mat3::Identity();  // orthogonal, determinant 1
  Vec3 translation = Vec3::Zero();

  Vec3 place(const Vec3& x) const { return rotation * x + translation; }
  Vec3 unplace(const Vec3& x) const { return rotation.transpose() * (x - translation); }
};

// The mean velocity [m/s] over a step of length h of the material point that ends it at x: what a node that
// sticks to it gets from (x − xₙ)/h. It tends to the velocity of the motion as h → 0.
Vec3 carried_velocity(const RigidPose& before, const RigidPose& after, double h, const Vec3& x);

struct Motion {
  Curve<Vec3> displacement;  // metres
  Curve<double> angle;       // radians, right-handed about `axis` through `pivot`
  Vec3 axis = Vec3::UnitX();
  Vec3 pivot = Vec3::Zero();

  // Where a point that starts (t = 0) at `start` is at time t: first rotated, then displaced, both relative
  // to their values at t = 0.
  Vec3 position(const Vec3& start, double t) const;
  // The same for all points at once.
  RigidPose pose(double t) const;
};

}  // namespace lope::geometry
