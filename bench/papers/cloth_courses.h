// How the energy of one step falls, method by method: the tables and figures of CLOTH's comparisons.
//
// Times are those of the processor, all threads together: what else the machine does counts little.
// The error is (E − E*)/(E₀ − E*). Wrinkles make many minima, and which one a method finds is not the question here: E* is that of the
// minimum that Newton's method finds from where the row ended, to a thousandth of the accuracy, which is not timed.
#pragma once

#include <lope/optimize/methods.h>
#include <lope/step/simulation.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <papers/benchmarks.h>

namespace lope::bench {

class Courses {
 public:
  using Make = std::function<std::unique_ptr<optimize::Minimizer>(std::size_t unknowns)>;
  using Note = std::function<std::string()>;  // added to a row when it is printed

  // Of the next step of the simulation, which must not go on meanwhile; rows end after `time_limit` processor seconds. Prints the table's head.
  Courses(const BenchOptions& options, step::Simulation& simulation, const std::string& title,
          double time_limit);
  // Runs and prints a row.
  void add(const std::string& name, const Make& make, const Note& note = {});
  void add(optimize::Method method);
  // The errors against time, as `stem`.png and .svg in the folder of the benchmark.
  Expected<void> draw(const std::string& stem) const;

 private:
  struct Course {
    std::string name;
    std::vector<std::pair<double, double>> errors;  // seconds, relative
  };
  double minimum_from(optimize::Objective& objective, std::vector<double> x) const;

  const BenchOptions& options_;
  step::Simulation& simulation_;
  std::string title_;
  double time_limit_;
  std::vector<Course> courses_;
};

}  // namespace lope::bench
