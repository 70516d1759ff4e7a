// The flat shape of a curved sheet: what a tailor would cut.
//
// Tutte's embedding on a disc (Floater 1997: no triangle is flipped), then descent of the symmetric Dirichlet energy
// Σ A (|J|² + |J⁻¹|²), J from space to the plane, by scalable locally injective mappings (Rabinovich, Poranne, Panozzo & Sorkine-Hornung
// 2017): reweighted local/global steps, each no longer than to where the first triangle would flip. So no triangle ever flips; flat
// patches may still lie over themselves, which does not matter to cloth.
//
// Deviation: sheets with several borders (tubes, bodices) are cut open along shortest ways from border to border.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/sheet.h>

namespace lope::geometry {

struct FlattenedSheet {
  Sheet sheet;
  int patches = 0;
  int cuts = 0;  // shortest ways along which it was opened
  // Lengths in space over flat ones: the smallest and largest anywhere, and how far they are from 1 in the mean over the area.
  double least_stretch = 1, largest_stretch = 1, mean_distortion = 0;
};

// The flat y axis of every patch follows the y axis in space where it can. Fails, naming a triangle or vertex, for triangles without
// area, edges with more than two triangles, and for pieces without a border or with a handle, which need seams.
Expected<FlattenedSheet> flatten(std::vector<Vec3> vertices, std::vector<Triangle> triangles);

}  // namespace lope::geometry
