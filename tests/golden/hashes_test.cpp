// One answer on every processor: the bits of a few short runs are kept in hashes.txt. Every instruction set with fused
// instructions must reach them, on this machine and on any other. The scenes are those that no mesh generator takes
// part in (another version of one may make another mesh) and that use every kernel: both dimensions, every kind of
// solver, contact, liquids, material points.
//
// Whoever changes what is computed, on purpose, renews the file and says why in the commit:
//     LOPE_RENEW_HASHES=1 build/release/bin/test_golden --gtest_filter='GoldenHashes.*'
#include <lope/base/cpu.h>
#include <lope/base/parallel.h>
#include <lope/scene/run.h>
#include <lope/scene/scene.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "hash.h"
#include <fmt/ostream.h>
#include <gtest/gtest.h>
#include <support/sanitized.h>

namespace lope::golden {
namespace {

constexpr const char* hash_file = LOPE_SOURCE_DIR "/tests/golden/hashes.txt";

struct KeptRun {
  std::string name, scene;
  std::vector<std::string> overrides;
};

const std::vector<KeptRun>& runs() {
  static const std::vector<KeptRun> all = [] {
    const std::vector<std::string> bar = {"body.bar.edge=6 cm", "time.duration=0.2 s"};
    std::vector<KeptRun> list = {
        {"box_stack", "box_stack", {"time.duration=0.5 s"}},
        {"cantilever_2d", "cantilever_2d", {"body.beam.edge=5 cm", "time.duration=1 s"}},
        {"compressive_pulse",
         "compressive_pulse",
         {"body.cube.shape.box.lattice=[6, 6, 6]", "time.duration=0.5 s"}},
        {"twisted_bar", "twisted_bar", {"body.bar.shape.box.lattice=[21, 4, 4]", "time.duration=0.5 s"}},
        {"torture_random",
         "torture_random",
         {"body.cube.shape.box.lattice=[5, 5, 5]", "time.duration=0.2 s"}},
        {"dam_break", "dam_break", {"liquid.cell=8 cm", "time.duration=0.2 s"}},
        {"liquid_circle_2d", "liquid_circle_2d", {"liquid.resolution=32", "time.duration=0.2 s"}},
        {"mpm_twist", "mpm_twist", {"mpm.cell=4 cm", "time.duration=0.1 s"}},
        {"sand_column", "sand_column", {"mpm.cell=4 cm", "mpm.scheme=implicit", "time.duration=0.1 s"}},
    };
    for (const std::string method :
         {"newton", "newton-pcg", "gast15", "lbfgs-h", "lbfgs-pd", "dot", "admm-pd"}) {
      list.push_back({"flagship:" + method, "flagship", bar});
      list.back().overrides.push_back("solver.method=" + method);
    }
    return list;
  }();
  return all;
}

std::uint64_t hash_of(const KeptRun& run, Isa isa, int threads) {
  const ThreadLimit limit(threads);
  const SelectedIsa selected(isa);
  const auto scene =
      scene::load_scene(fmt::format("{}/scenes/{}.toml", LOPE_SOURCE_DIR, run.scene), run.overrides);
  EXPECT_TRUE(scene) << scene.error().message;
  const auto model = scene::build_model(*scene);
  EXPECT_TRUE(model) << model.error().message;
  step::Simulation simulation(*model);
  Hash hash;
  hash.add(simulation.state());
  const auto steps = scene::step_count(*scene, *model);
  EXPECT_GT(steps, 3);
  for (std::int64_t i = 0; i < steps; ++i) {
    const step::StepReport report = simulation.advance();
    EXPECT_TRUE(report.accepted) << run.name << ", step " << report.step;
    hash.add(simulation.state());
  }
  return hash.value();
}

std::map<std::string, std::string> kept_hashes() {
  std::map<std::string, std::string> kept;
  std::ifstream file(hash_file);
  std::string name, hash;
  while (file >> name >> hash) kept[name] = hash;
  return kept;
}

TEST(GoldenHashes, EveryFusedInstructionSetReachesTheBitsThatAreKept) {
  const bool renew = std::getenv("LOPE_RENEW_HASHES") != nullptr;
  auto kept = kept_hashes();
  if (renew) kept.clear();
  int threads = 1;
  for (const Isa isa : supported_isas()) {
    if (!is_fused(isa) || (sanitized && isa != supported_isas().back())) continue;
    for (const KeptRun& run : runs()) {
      const std::string hash = fmt::format("{:016x}", hash_of(run, isa, threads));
      if (renew && !kept.contains(run.name)) kept[run.name] = hash;
      EXPECT_EQ(hash, kept[run.name])
          << run.name << " with " << name(isa) << " kernels and " << threads << " threads";
    }
    threads = threads % 2 + 1;
  }
  if (!renew) return;
  std::ofstream file(hash_file);
  for (const auto& [name, hash] : kept) fmt::print(file, "{} {}\n", name, hash);
}

// On processors without fused instructions the hashes cannot be reached; the list is looked after there too.
TEST(GoldenHashes, HoldOneHashForEveryRun) {
  const auto kept = kept_hashes();
  EXPECT_EQ(kept.size(), runs().size());
  for (const KeptRun& run : runs()) EXPECT_TRUE(kept.contains(run.name)) << run.name;
}

}  // namespace
}  // namespace lope::golden
