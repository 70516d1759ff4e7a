#include <lope/matter/cloth/sewing.h>

#include <algorithm>

#include <Eigen/LU>

namespace lope::matter {
namespace {

// What is stretched by less is as good as flat.
constexpr double flatness = 1e-6;
// A triangle that starts without area takes a rest shape that has some.
constexpr double smallest_stretch = 0.1;

}  // namespace

Sewing::Sewing(const Membrane& start, double duration) : duration_(duration) {
  for (int t = 0; t < start.element_count(); ++t) {
    const Mat2 stretch = start.stretch(t, smallest_stretch);
    if ((stretch - Mat2::Identity()).norm() > flatness)
      triangles_.push_back({t, stretch, start.rest_inverse(t)});
  }
}

bool Sewing::set_rest(double time, Membrane& membrane) {
  const double part = std::clamp(time / duration_, 0.0, 1.0);
  if (part == part_) return false;
  part_ = part;
  for (const Stretched& t : triangles_) {
    const Mat2 stretch = (1 - part) * t.stretch + part * Mat2::Identity();
    membrane.set_rest_inverse(t.triangle, part == 1 ? t.inverse : Mat2(t.inverse * stretch.inverse()));
  }
  return true;
}

}  // namespace lope::matter
