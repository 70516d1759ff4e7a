// Parts of `lope bench cloth` in files of their own.
#pragma once

#include <lope/step/simulation.h>

#include <memory>

#include <papers/benchmarks.h>

namespace lope::bench {

// A cotton tablecloth of 2 m × 2 m above a sphere of 0.5 m.
step::Model sphere_model(int vertices);

// The model after --steps steps by Newton's method (nine by default): the cloth lies on its obstacle and folds.
std::unique_ptr<step::Simulation> after_steps(const BenchOptions& options, step::Model model, int vertices);

Expected<void> cloth_projective(const BenchOptions& options, int size);  // cloth_projective.cpp
Expected<void> cloth_table(const BenchOptions& options);                 // cloth_table.cpp
void cloth_drop(const BenchOptions& options, bool to_rms_step);  // cloth_drop.cpp
void cloth_cycle(const BenchOptions& options);      // cloth_hierarchy.cpp
void cloth_criterion(const BenchOptions& options);  // cloth_hierarchy.cpp

}  // namespace lope::bench
