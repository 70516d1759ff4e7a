// The standard plots of a run.
#pragma once

#include <lope/base/expected.h>
#include <lope/math/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lope::render {

// One iterate of a step's minimisation: seconds since the step began, and the measure that is compared with
// the tolerance.
struct IterationRecord {
  int iteration = 0;
  double seconds = 0;
  double measure = 0;
};

// What the plots need of a step. Energies in joules, momenta in SI units, times in seconds; what a run does
// not know is NaN and leaves a gap.
struct StepRecord {
  int step = 0;
  double time = 0;  // simulated, at the end of the step
  std::vector<IterationRecord> iterations;
  long iteration_count = 0;  // in all; 0: those above
  double tolerance = 0;
  bool converged = true;
  double kinetic_energy = 0, elastic_energy = 0, gravity_energy = 0, total_energy = 0;
  Vec3 linear_momentum = Vec3::Zero(), angular_momentum = Vec3::Zero();
  double wall_seconds = 0;
};

// Writes convergence, energy, momentum and performance, each as .png and .svg, into an existing folder;
// returns the eight files. In the convergence plot every step is a faint line and the worst one (a failed
// step before a good one, then the most iterations, then the longest) is highlighted. `measure` names its
// vertical axis. Angular momentum is left out where no step knows it. No steps at all is an Input error.
Expected<std::vector<std::filesystem::path>> write_run_plots(std::span<const StepRecord> steps,
                                                             const std::filesystem::path& folder,
                                                             const std::string& measure = "residual");

}  // namespace lope::render
