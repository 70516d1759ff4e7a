// OPT Figs. 6 and 8: a cube whose nodes start at random positions, or all in one point, recovers at h = 1/24 s.
#include <verification/models.h>

#include <lope/base/random.h>

namespace lope::verification {
namespace {

struct Case {
  const char* name;
  bool random;
  double young;
};

class Torture : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(OptFigures, Torture,
                         testing::Values(Case{"random_soft", true, 1e4}, Case{"random_medium", true, 1e6},
                                         Case{"random_stiff", true, 1e9}, Case{"point_soft", false, 1e4},
                                         Case{"point_medium", false, 1e6}, Case{"point_stiff", false, 1e9}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_P(Torture, RecoversWithoutInvertedElements) {
  step::Model model;
  model.gravity = Vec3::Zero();
  model.step = 1.0 / 24;
  model.solver.method = optimize::Method::Gast15;
  model.solids = {solid(box({1, 1, 1}, {9, 9, 9}), 3, GetParam().young)};
  for (std::size_t i = 0; i < model.solids[0].mesh.vertices.size(); ++i) {
    const Vec3 random(random_unit(1, 3 * i) - 0.5, random_unit(1, 3 * i + 1) - 0.5, random_unit(1, 3 * i + 2) - 0.5);
    model.solids[0].initial_positions.push_back(GetParam().random ? random : Vec3(1e-9 * random));
  }
  step::Simulation simulation(model);
  step::StepReport report;
  for (int i = 0; i < 120; ++i) {
    report = simulation.advance();
    ASSERT_TRUE(report.converged()) << "step " << i << ": " << report.bodies[0].solve.reason;
  }
  EXPECT_EQ(report.bodies[0].inverted_elements, 0);
  // At rest up to a small fraction of the energy of a stretch by 10%.
  EXPECT_LT(report.bodies[0].energy.elastic, 0.5 * GetParam().young * 1e-2 * 0.05);
}

}  // namespace
}  // namespace lope::verification
