#include <lope/scene/handle_motion.h>

#include <set>

namespace lope::scene {
namespace {

// A rate for ever, a rate for a while, or a total reached after a while.
template <class T>
geometry::Curve<T> steady(const Value& word, const T* rate, const T* total, const T& zero) {
  const double duration = word.has("duration") ? word.number_at("duration") : 1;
  const bool for_ever = rate && !word.has("duration");
  const T end = rate ? T(duration * *rate) : *total;
  return {
      {0, duration}, {zero, end}, for_ever ? geometry::AfterLastKey::Extend : geometry::AfterLastKey::Hold};
}

geometry::Curve<Vec3> move_curve(const Value& move) {
  const bool by_rate = move.has("velocity");
  const Vec3 value = move.vector_at(by_rate ? "velocity" : "displacement");
  return steady<Vec3>(move, by_rate ? &value : nullptr, by_rate ? nullptr : &value, Vec3::Zero());
}

geometry::Curve<double> rotate_curve(const Value& rotate) {
  const bool by_rate = rotate.has("rate");
  const double value = rotate.number_at(by_rate ? "rate" : "angle");
  return steady<double>(rotate, by_rate ? &value : nullptr, by_rate ? nullptr : &value, 0);
}

void set_axis(const Value& word, const geometry::Bounds& body, const geometry::Bounds& handle,
              geometry::Motion& motion) {
  motion.axis = word.vector_at("axis").normalized();
  const Value& center = word["center"];
  if (center.kind == ValueKind::Array) {
    motion.pivot = center.as_vector();
  } else {
    motion.pivot = center.text == "body" ? body.center() : handle.center();
  }
}

}  // namespace

geometry::AfterLastKey after_last_key(const std::string& word) {
  if (word == "extend") return geometry::AfterLastKey::Extend;
  if (word == "loop") return geometry::AfterLastKey::Loop;
  return word == "mirror" ? geometry::AfterLastKey::Mirror : geometry::AfterLastKey::Hold;
}

template <class T>
geometry::Curve<T> sum(const geometry::Curve<T>& a, const geometry::Curve<T>& b) {
  if (a.times.empty()) return b;
  if (b.times.empty()) return a;
  std::set<double> times(a.times.begin(), a.times.end());
  times.insert(b.times.begin(), b.times.end());
  // One key beyond the last fixes the slope with which both go on.
  times.insert(*times.rbegin() + 1);
  geometry::Curve<T> result;
  result.after = geometry::AfterLastKey::Extend;
  for (const double time : times) {
    result.times.push_back(time);
    result.values.push_back(a.at(time) + b.at(time));
  }
  return result;
}
template geometry::Curve<double> sum(const geometry::Curve<double>&, const geometry::Curve<double>&);
template geometry::Curve<Vec3> sum(const geometry::Curve<Vec3>&, const geometry::Curve<Vec3>&);

geometry::Motion handle_motion(const Value& handle, const geometry::Bounds& body,
                               const geometry::Bounds& handle_bounds) {
  geometry::Motion motion;
  if (const Value* move = handle.find("move")) motion.displacement = move_curve(*move);
  if (const Value* rotate = handle.find("rotate")) {
    motion.angle = rotate_curve(*rotate);
    set_axis(*rotate, body, handle_bounds, motion);
  }
  if (const Value* script = handle.find("script")) {
    const std::vector<double> times = (*script)["times"].as_numbers();
    const geometry::AfterLastKey then = after_last_key(script->text_at("after"));
    if (const Value* keys = script->find("displacement")) {
      geometry::Curve<Vec3> curve{times, {}, then};
      for (const Value& key : keys->items) curve.values.push_back(key.as_vector());
      motion.displacement = sum(motion.displacement, curve);
    }
    if (const Value* keys = script->find("angle")) {
      motion.angle = sum(motion.angle, geometry::Curve<double>{times, keys->as_numbers(), then});
      set_axis(*script, body, handle_bounds, motion);
    }
  }
  return motion;
}

}  // namespace lope::scene
