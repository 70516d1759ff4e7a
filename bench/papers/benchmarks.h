// `lope bench NAME`: one function per table or figure. Each prints its table and writes the table, figures and numbers
// into a folder; it returns an error only when it could not run, never because a number is disappointing.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lope/base/expected.h>

namespace lope::bench {

struct BenchOptions {
  std::filesystem::path folder;  // where results go; exists
  std::filesystem::path scenes;  // the scenes that come with Lope
  std::filesystem::path program;  // `lope`, which replays methods in processes of their own
  std::string mesh;              // --mesh FILE: use this mesh where the benchmark takes one
  int size = 0;                  // --size N: resolution; 0: the benchmark's default
  int steps = 0;                 // --steps N; 0: the benchmark's default
  int perturbations = 0;  // --perturbations N: every case N times, with data changed by about 10⁻⁷; 0: once
  std::vector<std::string> only;     // --only NAME,…: some tables of a benchmark that has several; empty: all
  std::vector<std::string> methods;  // --methods NAME,…: the columns where a benchmark compares methods; empty: its own choice
  std::function<void(std::string_view)> print;
  std::function<void(std::string_view)> progress;  // a line that the next one takes the place of; may be called very often
};

struct Benchmark {
  std::string_view name;
  std::string_view shows;  // one line
  Expected<void> (*run)(const BenchOptions&);
};

std::span<const Benchmark> benchmarks();

Expected<void> newton_map(const BenchOptions& options);         // OPT Fig. 1
Expected<void> cubes(const BenchOptions& options);              // OPT Figs. 2 and 3
Expected<void> torture(const BenchOptions& options);            // OPT Figs. 6 and 8
Expected<void> barrier(const BenchOptions& options);            // barriers against penalties
Expected<void> contact(const BenchOptions& options);            // OPT Figs. 10 and 15
Expected<void> cantilever(const BenchOptions& options);         // refinement against a reference
Expected<void> time_order(const BenchOptions& options);         // orders and energies of the schemes
Expected<void> agreement(const BenchOptions& options);          // newton and newton-pcg on a twisted bar
Expected<void> accuracy(const BenchOptions& options);           // the displacement accuracy against true errors
Expected<void> accuracy_runs(const BenchOptions& options);      // the same, over whole runs
Expected<void> reference_scenes(const BenchOptions& options);   // the two scenes of the DOT program
Expected<void> self_contact(const BenchOptions& options);       // cost against the number of surface primitives
Expected<void> dot(const BenchOptions& options);                // the tables and figures of DOT
Expected<void> hot(const BenchOptions& options);                // HOT's scenes and its Fig. 19
Expected<void> pressure_solvers(const BenchOptions& options);   // the tables and figures of LCP
Expected<void> validation(const BenchOptions& options);         // whole runs against theory
Expected<void> automatic_choice(const BenchOptions& options);   // what `auto` chooses, against the other methods
Expected<void> cloth(const BenchOptions& options);              // the tables and figures of CLOTH
Expected<void> solver_options(const BenchOptions& options);     // subdomains, coarse space and other options, one by one

}  // namespace lope::bench
