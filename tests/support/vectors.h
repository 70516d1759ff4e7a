// Dot products and norms of vectors in one memory, by short names.
#pragma once

#include <lope/linalg/space.h>

namespace lope::linalg {

inline double dot(ConstVector a, ConstVector b) { return local_space().dot(a, b); }
inline double norm(ConstVector a) { return local_space().norm(a); }
inline double max_block_norm(ConstVector a, int block_size) { return local_space().max_block_norm(a, block_size); }

}  // namespace lope::linalg
