// What is said of a step after it.
#pragma once

#include <lope/matter/report.h>
#include <lope/optimize/minimizer.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace lope::step {

// What touches at the end of a step.
struct ContactReport {
  int obstacle_pairs = 0;            // nodes against obstacles: active constraints and penalties
  int body_pairs = 0;                // nodes inside a body
  double deepest = 0;                // penetration by any node, metres
  double smallest_gap = std::numeric_limits<double>::infinity();  // between surfaces that barriers keep apart, metres
  double friction_loss = 0;          // what implicit friction took in the step, joules
  int rounds = 1;                    // minimisations until normal forces and following loads had settled
  std::vector<Vec3> obstacle_force;  // per obstacle of the model: on the bodies of this island, newtons
};

// Bodies that were solved for together; what solves its steps by itself is one of its own.
struct IslandReport {
  std::vector<std::size_t> bodies;
  std::string measures;  // what the solve's stopping test measures, with its unit
  optimize::MinimizerSummary solve;
  ContactReport contact;
  bool fell_back = false;  // to backward Euler: in this step the scheme would have gained energy in contact
  bool impact = false;     // contact took energy that a shorter step would keep (asked for with Model::impact_step)
};

struct StepReport {
  std::int64_t step = 0;  // 1 for the first
  double time = 0;        // at the end of the step
  double h = 0;
  int parts = 1;          // it was taken in so many (Model::impact_step); reports of bodies are those of the last one
  double seconds = 0;     // wall clock
  bool accepted = false;  // false: some solve failed outright or was interrupted, and State is as before
  bool interrupted = false;  // by Simulation::set_stop_request
  // A solve that fails or is interrupted ends the step: its island is the last one here.
  std::vector<IslandReport> islands;
  std::vector<matter::BodyReport> bodies;
  bool converged() const;
  // The island to blame for a step that is not accepted, or else the first one that did not converge. Null:
  // none.
  const IslandReport* culprit() const;
};

}  // namespace lope::step
