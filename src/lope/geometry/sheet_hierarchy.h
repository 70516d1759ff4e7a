// Ever coarser subsets of the vertices of a sheet, and how functions on one are interpolated from the next: the mesh hierarchy
// of CLOTH (Appendix B). Nested: every coarse vertex is a finer one.
//
// Corners of the boundaries and ends of seams are kept, chains of boundary vertices between them lose every other vertex
// (vertices that patches share are one, so that both sides of a seam coarsen together), inner vertices are sampled, and each
// patch is triangulated anew with its boundaries as constraints. A finer vertex takes the barycentric mean of the coarse
// triangle that it lies in or next to, in the material: affine functions of the material coordinates of a patch are exact.
//
// Deviation: the paper samples uniformly and names meshes of uneven density as its limitation; here an inner vertex is
// taken if no vertex taken before is nearer than 1.75 mean edges *there*, in the order of their distance from the boundary.
#pragma once

#include <lope/geometry/sheet.h>

#include <array>
#include <vector>

namespace lope::geometry {

struct SheetLevel {
  std::vector<int> kept;  // per vertex of this level: which one of the finer level it is; ascending
  // Per vertex of the finer level: the mean of vertices of this level that it is. Weights add up to 1; unused ones are 0.
  std::vector<std::array<int, 3>> parents;
  std::vector<std::array<double, 3>> weights;
};

// From fine to coarse, each with about a quarter of the vertices, until there are at most `coarsest` or coarsening does not
// get on (patches that consist of corners). Empty where the sheet is as small already. The sheet is valid.
std::vector<SheetLevel> coarsen_sheet(const Sheet& sheet, int coarsest = 400);

}  // namespace lope::geometry
