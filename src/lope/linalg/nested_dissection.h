// A fill-reducing order of the block rows of a sparse matrix: nested dissection of its graph by METIS
// (Karypis & Kumar 1998), one connected part after another. The same pattern always gives the same order.
#pragma once

#include <lope/linalg/block_pattern.h>

#include <vector>

namespace lope::linalg {

// order[k] is the block row to be eliminated k-th.
std::vector<int> nested_dissection(const BlockPattern& pattern);

}  // namespace lope::linalg
