// Dividing the block rows of a sparse matrix into parts of about equal size with few entries between them: METIS, k-way
// (Karypis & Kumar 1998). The same pattern always gives the same parts.
#pragma once

#include <lope/linalg/block_pattern.h>

#include <vector>

namespace lope::linalg {

// The part (0 … parts − 1) of every row; parts may be empty. All in one where METIS fails. METIS seeds the C library's
// random numbers: not to be called from two threads at once.
std::vector<int> partition_rows(const BlockPattern& pattern, int parts);

}  // namespace lope::linalg
