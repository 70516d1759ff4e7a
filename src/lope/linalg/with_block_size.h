// From the block size of a matrix, which is known when the program runs, to code that is compiled for it.
#pragma once

#include <cassert>

namespace lope::linalg {

// run.operator()<b>(), b = 1, 2 or 3.
template <class Run>
decltype(auto) with_block_size(int b, const Run& run) {
  assert(b >= 1 && b <= 3);
  if (b == 3) return run.template operator()<3>();
  if (b == 2) return run.template operator()<2>();
  return run.template operator()<1>();
}

}  // namespace lope::linalg
