// The scenes of cloth, coarse and short: every step converges, the same bits for any number of threads and every instruction set
// with fused operations, and what each is about.
#include <lope/base/cpu.h>
#include <lope/base/parallel.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/scene/run.h>
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <numbers>
#include <string>

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

// The hand has pulled the middle down into the funnel, whose rim holds the corners up.
void is_in_the_funnel(const Trace& trace) {
  double lowest = 1, highest = -1;
  for (const Vec3& p : trace.positions) {
    lowest = std::min(lowest, p[1]);
    highest = std::max(highest, p[1]);
  }
  EXPECT_LT(lowest, 0.32);
  EXPECT_GT(highest, 0.35);
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

// The shadow from above of what hangs over the support, as a part of its area when flat (Cusick 1968), sampled 300 times across.
double drape_coefficient(const Trace& trace, double radius, double support) {
  const auto& body = dynamic_cast<const matter::ClothBody&>(*trace.model.bodies.front());
  constexpr int samples = 300;
  const double cell = 2.1 * radius / samples;
  std::vector<bool> dark(std::size_t{samples} * samples, false);
  const auto place = [&](int node) {
    const Vec3& p = trace.positions[static_cast<std::size_t>(node)];
    return Vec2(p[0], p[2]);
  };
  const auto index = [&](double x) {
    return std::clamp(static_cast<int>(x / cell + 0.5 * samples), 0, samples - 1);
  };
  for (const geometry::Triangle& t : body.sheet.triangles) {
    const Vec2 a = place(t[0]), u = place(t[1]) - a, v = place(t[2]) - a;
    const double area = u[0] * v[1] - u[1] * v[0];
    const Vec2 low = a + u.cwiseMin(v).cwiseMin(0), high = a + u.cwiseMax(v).cwiseMax(0);
    for (int i = index(low[0]); i <= index(high[0]); ++i) {
      for (int j = index(low[1]); j <= index(high[1]); ++j) {
        const Vec2 w = cell * Vec2(i + 0.5 - 0.5 * samples, j + 0.5 - 0.5 * samples) - a;
        const double first = (w[0] * v[1] - w[1] * v[0]) / area, second = (u[0] * w[1] - u[1] * w[0]) / area;
        if (std::min({first, second, 1 - first - second}) >= 0)
          dark[static_cast<std::size_t>(i * samples + j)] = true;
      }
    }
  }
  const double shadow = cell * cell * static_cast<double>(std::count(dark.begin(), dark.end(), true));
  const double held = std::numbers::pi * support * support;
  return (shadow - held) / (std::numbers::pi * radius * radius - held);
}

void hangs_over_its_support(const Trace& trace) {
  const double coefficient = drape_coefficient(trace, 0.15, 0.09);
  EXPECT_GT(coefficient, 0.3);
  EXPECT_LT(coefficient, 0.8);
}

double drape_coefficient_of(const std::string& material) {
  const Trace trace =
      simulate({"drape", {"body.cloth.material=" + material}, nullptr}, 1, supported_isas().back());
  EXPECT_TRUE(trace.reports.back().converged()) << material;
  const double coefficient = drape_coefficient(trace, 0.15, 0.09);
  testing::Test::RecordProperty(material, std::to_string(coefficient));
  return coefficient;
}

// How much stiffness there is to carry the weight: B/(w g L³). Silk, cotton and wool have about the same; how many folds there are
// differs from mesh to mesh.
TEST(Drape, PresetsHangInTheOrderOfTheirStiffness) {
  const double jersey = drape_coefficient_of("jersey"), silk = drape_coefficient_of("silk"),
               cotton = drape_coefficient_of("cotton"), wool = drape_coefficient_of("wool"),
               denim = drape_coefficient_of("denim"), leather = drape_coefficient_of("leather");
  EXPECT_GT(jersey, 0.1);
  EXPECT_LT(jersey, std::min({silk, cotton, wool}) - 0.1);
  EXPECT_LT(std::max({silk, cotton, wool}), denim - 0.03);
  EXPECT_LT(denim, leather - 0.05);
  EXPECT_LT(leather, 1);
}

// Twice as large, with twice the forces per width and eight times the bending stiffness: the same shape.
TEST(Drape, HasNoScaleOfItsOwn) {
  const Isa isa = supported_isas().back();
  const std::vector<std::string> twice = {"body.cloth.shape.disc.radius=0.3",
                                          "body.cloth.edge=20 mm",
                                          "body.cloth.handle.support.where.sphere.radius=18.02 cm",
                                          "body.cloth.material.warp=12000",
                                          "body.cloth.material.weft=8000",
                                          "body.cloth.material.shear=120",
                                          "body.cloth.material.bend_warp=6.4e-5",
                                          "body.cloth.material.bend_weft=4e-5"};
  const Trace small = simulate({"drape", {}, nullptr}, 1, isa),
              large = simulate({"drape", twice, nullptr}, 1, isa);
  ASSERT_EQ(small.positions.size(), large.positions.size());
  for (std::size_t i = 0; i < small.positions.size(); ++i)
    EXPECT_LT((large.positions[i] - 2 * small.positions[i]).norm(), 1e-4);
}

class ClothScenes : public testing::TestWithParam<ClothCase> {};
INSTANTIATE_TEST_SUITE_P(
    All, ClothScenes,
    testing::Values(
        ClothCase{"cloth_sphere", {"body.cloth.edge=12 cm", "time.duration=0.3 s"}, lies_on_its_obstacle},
        ClothCase{"curtain", {"body.curtain.edge=10 cm", "time.duration=0.25 s"}, hangs_from_its_rings},
        ClothCase{"flag", {"body.flag.edge=6 cm", "time.duration=0.25 s"}, is_blown_about},
        ClothCase{"funnel", {"body.cloth.edge=11 cm", "time.step=1/60 s", "time.duration=0.6 s"}, is_in_the_funnel},
        ClothCase{"drape", {"body.cloth.edge=15 mm"}, hangs_over_its_support},
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
