// From the motion words of a validated [[body.handle]] or [[obstacle]] to one Motion.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/geometry/motion.h>
#include <lope/scene/document.h>

namespace lope::scene {

// The words (pin, move, rotate, script) add up. `body` and `handle` are the bounding boxes whose centres the
// words center = "body" and "handle" (or "obstacle") mean.
geometry::Motion handle_motion(const Value& handle, const geometry::Bounds& body,
                               const geometry::Bounds& handle_bounds);

// "hold", "extend", "loop" or "mirror".
geometry::AfterLastKey after_last_key(const std::string& word);

// The sum of two curves without jumps that do not repeat (Hold or Extend), as one curve.
template <class T>
geometry::Curve<T> sum(const geometry::Curve<T>& a, const geometry::Curve<T>& b);

}  // namespace lope::scene
