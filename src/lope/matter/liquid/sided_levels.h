// Levels of a pressure system whose coarse cells have an unknown for each side of a wall that runs through them.
//
// A brick hierarchy (pressure_multigrid.h) has one unknown per coarse cell, so that coarse levels cannot tell the sides of a wall thinner than
// a cell apart (docs/pressure_multigrid.md). Here an unknown of a coarse cell is a set of fine unknowns in it that open faces connect within the
// cell, on every level anew. Weights are those of the brick hierarchy, 0.2 for what lies behind each of the Dim faces on the side of the
// fine cell within its parent, and the rest for the parent; an open face leads to whatever unknown lies behind it, of whichever side.
// As compressed rows for linalg::AlgebraicMultigrid: for problems in the plane, whose size allows it.
#pragma once

#include <lope/linalg/csr_matrix.h>
#include <lope/matter/liquid/pressure_system.h>

#include <vector>

namespace lope::matter {

struct SidedLevels {
  std::vector<linalg::CsrMatrix> prolongations;  // finest first
  int doubled = 0;                               // unknowns beyond one per coarse cell, all levels together
};

template <int Dim>
SidedLevels sided_levels(const PressureSystem<Dim>& system, int coarsest_unknowns = 120);

extern template SidedLevels sided_levels(const PressureSystem<2>&, int);
extern template SidedLevels sided_levels(const PressureSystem<3>&, int);

}  // namespace lope::matter
