// Levels for the multigrid of material points (HOT §4.2): the nodes of a grid as points of the grid of twice the spacing.
//
// Linear embedding: a fine node lies on a coarse one or in the middle of an edge, a face or a cell of them. Quadratic: the
// weights are those of quadratic B-splines, for comparison (HOT §7.3). Coarse nodes exist where a fine one has a weight, so
// none is without children. What is fixed or slips is left to the multigrid (linalg/block_multigrid.h).
#pragma once

#include <lope/geometry/bricks.h>
#include <lope/linalg/hierarchy.h>

#include <span>

namespace lope::matter::mpm {

enum class Embedding { Linear, Quadratic };

// `nodes` ascend. At least three levels, the finest counted, and more until one has no more nodes than a direct solver likes.
template <int Dim>
linalg::HierarchyPtr node_embedding(std::span<const geometry::GridIndex<Dim>> nodes, Embedding kind = Embedding::Linear);

}  // namespace lope::matter::mpm
