// What a Cholesky factor of the Hessian would cost, from where the nodes are: what `auto` decides by (mpm.cpp).
//
// Nested dissection by boxes: nodes are cut in halves along the longest axis of their box, by two layers of nodes (splines couple nodes
// up to two steps apart), and the halves again. A separator of s nodes whose part borders on b nodes of those before is a dense front of
// that many rows. No graph is looked at: a function of the nodes alone, some milliseconds.
#pragma once

#include <lope/matter/mpm/grid.h>

namespace lope::matter::mpm {

// Multiplications and additions of one factorisation.
template <int Dim>
double factor_work(std::span<const typename Grid<Dim>::Index> nodes);

}  // namespace lope::matter::mpm
