// The scenes of cloth, coarse and short: every step converges, the same bits for any number of threads and every instruction set
// with fused operations, and what each is about.
#include <lope/base/cpu.h>
#include <lope/base/parallel.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/scene/run.h>
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>

#include "hash.h"
#include <gtest/gtest.h>
#include <support/crossings.h>

namespace lope::golden {
namespace {

struct Trace {
  step::Model model;
  std::uint64_t hash = 0;
  std::vector<step::StepReport> reports;
  std::vector<Vec3> positions;  // of the first body at the end
  double stretch = 0;           // the largest
  std::size_t crossings = 0;    // of what has barriers, at the ends of all steps
};

struct ClothCase {
  std::string name;
  std::vector<std::string> overrides;
  void (*property)(const Trace&);
};
void PrintTo(const ClothCase& chosen, std::ostream* out) { *out << chosen.name; }

Trace simulate(const ClothCase& chosen, int threads, Isa isa) {
  const ThreadLimit limit(threads);
  const SelectedIsa selected(isa);
  Trace trace;
  const auto scene = scene::load_scene(LOPE_SOURCE_DIR "/scenes/" + chosen.name + ".toml", chosen.overrides);
  EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
  if (!scene) return trace;
  trace.model = scene::build_model(*scene).value();
  step::Simulation simulation(trace.model);
  Hash hash;
  for (std::int64_t i = 0; i < scene::step_count(*scene, trace.model); ++i) {
    trace.reports.push_back(simulation.advance());
    hash.add(simulation.state());
    trace.crossings += count_crossings(simulation);
  }
  trace.hash = hash.value();
  const std::vector<double>& x = simulation.state().nodes(0).x;
  for (std::size_t k = 0; k < x.size(); k += 3) trace.positions.emplace_back(x[k], x[k + 1], x[k + 2]);
  for (const matter::Field& field : simulation.fields(0)) {
    if (field.name == "stretch") trace.stretch = *std::max_element(field.values.begin(), field.values.end());
  }
  return trace;
}

// The middle is held up while the corners go down.
void lies_on_its_obstacle(const Trace& trace) {
  double lowest = 0, highest = -1;
  for (const Vec3& p : trace.positions) {
    lowest = std::min(lowest, p[1]);
    highest = std::max(highest, p[1]);
  }
  EXPECT_LT(lowest, -0.15);
  EXPECT_GT(highest, -0.01);
}

double height(const std::vector<Vec3>& points) { return geometry::bounds(points).extent()[1]; }

// On the floor, and not standing any more.
void has_fallen(const Trace& trace) {
  EXPECT_LT(height(trace.positions), 0.85);
  for (const Vec3& p : trace.positions) EXPECT_GT(p[1], -1e-9);
}

// It sags below its corners, since the ball is in it.
void holds_the_ball(const Trace& trace) {
  EXPECT_GT(height(trace.positions), 0.1);
  EXPECT_LT(trace.reports.back().islands.front().contact.smallest_gap, 0.01);
}

// What was as far from the body as its panels is now a closed dress: no triangle is longer than it should be.
void is_sewn(const Trace& trace) {
  const auto& body = dynamic_cast<const matter::ClothBody&>(*trace.model.bodies.front());
  double before = 0, after = 0;
  for (const geometry::Triangle& t : body.sheet.triangles) {
    const auto i = static_cast<std::size_t>(t[0]), j = static_cast<std::size_t>(t[1]);
    before = std::max(before, (body.sheet.vertices[i] - body.sheet.vertices[j]).norm());
    after = std::max(after, (trace.positions[i] - trace.positions[j]).norm());
  }
  EXPECT_GT(before, 0.19);
  EXPECT_LT(after, 0.19);
}

void hangs_from_its_rings(const Trace& trace) {
  double highest = -1e300, lowest = 1e300;
  for (const Vec3& p : trace.positions) {
    highest = std::max(highest, p[1]);
    lowest = std::min(lowest, p[1]);
  }
  EXPECT_NEAR(highest, 0.8, 0.02);
  EXPECT_LT(lowest, -0.78);
  EXPECT_GT(lowest, -0.95);
}

// The wind has a component across the flag.
void is_blown_about(const Trace& trace) {
  double mean = 0;
  for (const Vec3& p : trace.positions) mean += p[2] / static_cast<double>(trace.positions.size());
  EXPECT_GT(mean, 0.02);
}

class ClothScenes : public testing::TestWithParam<ClothCase> {};
INSTANTIATE_TEST_SUITE_P(
    All, ClothScenes,
    testing::Values(
        ClothCase{"cloth_sphere", {"body.cloth.edge=12 cm", "time.duration=0.3 s"}, lies_on_its_obstacle},
        ClothCase{"curtain", {"body.curtain.edge=10 cm", "time.duration=0.25 s"}, hangs_from_its_rings},
        ClothCase{"flag", {"body.flag.edge=6 cm", "time.duration=0.25 s"}, is_blown_about},
        ClothCase{
            "dress", {"body.dress.edge=12 cm", "body.dress.sewing=0.15 s", "time.duration=0.2 s"}, is_sewn},
        ClothCase{"hammock",
                  {"body.hammock.edge=8 cm", "body.ball.edge=8 cm", "time.duration=0.5 s"},
                  holds_the_ball},
        ClothCase{"towel", {"body.towel.edge=8 cm", "time.duration=0.45 s"}, has_fallen},
        ClothCase{"tablecloth", {"body.cloth.edge=10 cm", "time.duration=0.3 s"}, lies_on_its_obstacle}),
    [](const auto& chosen) { return chosen.param.name; });

TEST_P(ClothScenes, SameBitsForAnyNumberOfThreadsAndEveryStepConverges) {
  const Isa widest = supported_isas().back();
  const Trace trace = simulate(GetParam(), 1, widest);
  for (const step::StepReport& report : trace.reports) {
    for (const step::IslandReport& island : report.islands)
      EXPECT_TRUE(island.solve.converged()) << "step " << report.step << ": " << island.solve.reason;
  }
  EXPECT_LT(trace.stretch, 1.2);
  EXPECT_EQ(trace.crossings, 0U);
  GetParam().property(trace);
  for (const Isa isa : supported_isas()) {
    if (is_fused(isa) == is_fused(widest)) {
      EXPECT_EQ(simulate(GetParam(), 2, isa).hash, trace.hash) << name(isa);
    }
  }
}

}  // namespace
}  // namespace lope::golden
