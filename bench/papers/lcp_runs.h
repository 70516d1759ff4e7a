// LCP's runs: pressure systems of simulations, solved by everybody, and those of single frames.
#pragma once

#include <papers/lcp_tables.h>

namespace lope::bench {

// Similar problems one after the other, each solver started from its own last answer.
template <int Dim>
Expected<void> sequence(const BenchOptions& options, NumberFile& numbers);
// LCP Tables 1 to 6 and Fig. 5.5: a round container.
template <int Dim>
Expected<void> simulated(const BenchOptions& options, NumberFile& numbers);
// LCP Tables 7 and 8.
Expected<void> simulated_maze(const BenchOptions& options, NumberFile& numbers);
// LCP Tables 9 to 11: one system of frame 10, 70, 10 of the scenarios in space.
Expected<void> simulated_frames(const BenchOptions& options, NumberFile& numbers);

// The first pressure system of a frame (counted from 1) of a scenario whose liquid falls from where lcp_problem has it, and the run's own
// pressure of the substep before as a start, in the order of the unknowns.
struct FrameSystem {
  LcpCase<3> problem;
  std::vector<double> start;
  std::size_t particles = 0;
};
Expected<FrameSystem> system_of_frame(LcpScenario scenario, int n, int frame);
// Which frame LCP shows of a scenario in space.
int shown_frame(LcpScenario scenario);

extern template Expected<void> sequence<2>(const BenchOptions&, NumberFile&);
extern template Expected<void> sequence<3>(const BenchOptions&, NumberFile&);
extern template Expected<void> simulated<2>(const BenchOptions&, NumberFile&);
extern template Expected<void> simulated<3>(const BenchOptions&, NumberFile&);

}  // namespace lope::bench
