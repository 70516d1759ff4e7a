// Panels that are sewn together, as a tailor's: flat pieces, each placed in space by a rigid motion, joined along named edges into
// one sheet of several patches. Both sides of a seam get the same vertices, which become one node each.
//
// Where panels are placed apart, a node of a seam starts in the middle of its flat vertices, so that the triangles beside it
// are stretched: who simulates it lets them shrink (matter/cloth: sewing). Springs between the sides would leave gaps, and
// barriers would keep the sides apart; shared nodes do neither.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/motion.h>
#include <lope/geometry/sheet.h>

#include <array>
#include <string>
#include <vector>

namespace lope::geometry {

// From one corner of a panel's border to another, in the order of its corners, over all in between.
struct PanelEdge {
  std::string name;
  int from = 0, to = 0;
};

// Either an outline, which is meshed, or a patch, which is taken as it is.
struct Panel {
  std::string name;
  std::vector<Vec2> outline;  // corners of a simple polygon, in any orientation; metres
  Sheet patch;  // valid; corners of its edges are nodes of its border, in the order counter-clockwise
  std::vector<PanelEdge> edges;
  RigidPose pose;
};

struct PanelSeam {
  std::array<std::string, 2> panel, edge;
  double ease = 0;  // how much longer one side may be than the other: 0.05 is 5 %
};

// edge_length: of the triangles of outlines. Of an edge of one panel the end meets the beginning of that of the other, so that the
// outer sides of both panels are one. Fails, naming panel, edge and seam, for outlines that are not simple, edges and panels that do
// not exist or are sewn twice, sides of unequal length (or of patches, of unequal numbers of vertices), sides that lie
// crosswise in space, and triangles that sewing closes.
Expected<Sheet> sew(std::vector<Panel> panels, const std::vector<PanelSeam>& seams, double edge_length);

}  // namespace lope::geometry
