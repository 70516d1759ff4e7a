// Runs of material points for the tables of HOT: a scene goes on from some frame by one method after another.
#pragma once

#include <lope/linalg/block_multigrid.h>
#include <lope/matter/mpm/mpm_matter.h>
#include <lope/optimize/approximate_inverse.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

namespace lope::bench {

using Change = std::function<void(matter::mpm::Description&)>;
using Settings = std::vector<std::string>;

struct Contender {
  std::string name;
  Settings settings;  // of the scene
  Change change = {};
};

// A scene for all contenders, from its start or from a later frame on.
struct Case {
  std::string file, name;
  Settings settings;
  int frames = 6;
  int before = 0;  // frames until then, by `auto` to the displacement accuracy
  std::shared_ptr<const step::State> start = nullptr;  // none: that of the scene
};

inline const Settings by_norm = {"solver.tolerance=characteristic-nodewise"},
                      by_displacement = {"solver.tolerance=displacement"};

bool wanted(const BenchOptions& options, const std::string& table);

struct MpmRun {
  RunTotals totals;
  double simulated = 0;  // s
  std::vector<Vec3> x;   // by id
  std::map<std::string, double> seconds;
  std::int64_t substeps = 0, nodes = 0;
  long linear = 0;
  double seconds_per_frame() const { return totals.per_step(totals.seconds); }
};

Expected<MpmRun> run_scene(const BenchOptions& options, const Case& scene, const Contender& contender);
// The scene at its frame `before`.
Expected<Case> brought_to_start(const BenchOptions& options, Case scene);
// Root of the mean square of the distances, metres; NaN if they are not equally many.
double distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b);

void print_head(const BenchOptions& options);
void print_row(const BenchOptions& options, const std::string& scene, const std::string& method,
               const MpmRun& run, const std::vector<Vec3>& truth);

// The scene solved tightly, then by all contenders, once for each of the tests; `visit` hears of the contenders' runs.
using Visit = std::function<void(const Settings& test, const Contender& contender, const MpmRun& run)>;
Expected<void> compare(const BenchOptions& options, const Case& scene,
                       const std::vector<Contender>& contenders, const std::vector<Settings>& tests,
                       const Visit& visit = {});

// Methods by their names; options.methods in place of `own` if there are any.
std::vector<Contender> named(const BenchOptions& options, const std::vector<std::string>& own);
Change newton_with(optimize::InverseOptions inverse);
Change hot_with(const linalg::BlockMultigridOptions& multigrid);

// hot_scenes.cpp: all scenes, with sizes for a minute or so.
Expected<void> all_scenes(const BenchOptions& options, const Settings& test);
Expected<void> all_smoothers(const BenchOptions& options);
Expected<void> snow(const BenchOptions& options);

}  // namespace lope::bench
