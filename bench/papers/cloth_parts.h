// Parts of `lope bench cloth` in files of their own.
#pragma once

#include <lope/step/model.h>

#include <papers/benchmarks.h>

namespace lope::bench {

// A cotton tablecloth of 2 m × 2 m above a sphere of 0.5 m.
step::Model sphere_model(int vertices);

void cloth_drop(const BenchOptions& options, bool to_rms_step);  // cloth_drop.cpp
void cloth_cycle(const BenchOptions& options);      // cloth_hierarchy.cpp
void cloth_criterion(const BenchOptions& options);  // cloth_hierarchy.cpp

}  // namespace lope::bench
