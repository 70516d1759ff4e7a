// Seams that close. Where panels are placed apart, nodes that they share lie between them, and the triangles beside a seam start
// stretched (geometry/panels.h). Such a triangle takes the stretch U that it has at the start for its rest shape, which then
// shrinks to the flat one within a given time: its rest edges are those of ((1 − s) U + s I) at the part s of the time.
// Nothing pulls at the start, the speed at which a seam closes is given, and nothing of it is left at the end.
//
// The energy per area is that of the flat area throughout, and bending is that of the flat shape.
#pragma once

#include <lope/matter/cloth/membrane.h>

#include <vector>

namespace lope::matter {

class Sewing {
 public:
  // The membrane's current point is the start. duration: seconds, positive.
  Sewing(const Membrane& start, double duration);

  // Gives the membrane the rest shape that belongs to a time, seconds. False where it had it already.
  bool set_rest(double time, Membrane& membrane);
  // Whether the rest shape that it gave is yet to change.
  bool is_open() const { return part_ < 1 && !triangles_.empty(); }

 private:
  struct Stretched {
    int triangle;
    Mat2 stretch;  // U, along warp and weft
    Mat2 inverse;  // of the flat rest edges
  };
  std::vector<Stretched> triangles_;
  double duration_;
  double part_ = 1;  // the one that the membrane has
};

}  // namespace lope::matter
