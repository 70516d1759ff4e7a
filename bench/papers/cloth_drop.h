// A part of `lope bench cloth` with a scene of its own (cloth_drop.cpp).
#pragma once

#include <papers/benchmarks.h>

namespace lope::bench {

void cloth_drop(const BenchOptions& options);

}  // namespace lope::bench
