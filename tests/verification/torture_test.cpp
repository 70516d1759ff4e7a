// OPT Figs. 6 and 8: a cube whose nodes start at random positions, or all in one point, recovers at h = 1/24
// s.
#include <lope/base/random.h>

#include <support/sanitized.h>
#include <verification/models.h>

namespace lope::verification {
namespace {

enum class Start { Random, Point, JitteredPoint };

struct Case {
  const char* name;
  Start start;
  double young;
};

class Torture : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    OptFigures, Torture,
    testing::Values(Case{"random_low", Start::Random, 1e4}, Case{"random_medium", Start::Random, 1e6},
                    Case{"random_high", Start::Random, 1e9}, Case{"point_low", Start::Point, 1e4},
                    Case{"point_medium", Start::Point, 1e6}, Case{"point_high", Start::Point, 1e9},
                    Case{"jittered_point_medium", Start::JitteredPoint, 1e6}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

step::Model torn_cube(const Case& chosen) {
  step::Model model;
  model.gravity = Vec3::Zero();
  model.step = 1.0 / 24;
  model.solver.method = optimize::Method::Gast15;
  const int nodes = sanitized ? 7 : 17;
  model.bodies = {solid(box({1, 1, 1}, {nodes, nodes, nodes}), 3, chosen.young)};
  for (std::size_t i = 0; i < kinds::solid(model).mesh.vertices.size(); ++i) {
    const Vec3 random(random_unit(1, 3 * i) - 0.5, random_unit(1, 3 * i + 1) - 0.5,
                      random_unit(1, 3 * i + 2) - 0.5);
    const double size = chosen.start == Start::Random ? 1 : chosen.start == Start::JitteredPoint ? 1e-9 : 0;
    kinds::solid(model).initial_positions.push_back(size * random);
  }
  model.solver.max_iterations = 3000;
  return model;
}

void expect_recovery(const step::Model& model, double young) {
  step::Simulation simulation(model);
  // At rest: no inverted element, and less elastic energy than a uniform strain of 0.5% would hold.
  const double small = 0.5 * young * 2.5e-5;
  bool recovered = false;
  for (int i = 0; i < 200 && !recovered; ++i) {
    const step::StepReport report = simulation.advance();
    ASSERT_TRUE(report.converged()) << "step " << i << ": " << report.islands[0].solve.reason;
    recovered = report.bodies[0].count("inverted_elements") == 0 && report.bodies[0].energy.elastic < small;
  }
  EXPECT_TRUE(recovered);
}

TEST_P(Torture, RecoversWithoutInvertedElements) { expect_recovery(torn_cube(GetParam()), GetParam().young); }

// A step that is broken off leaves no trace: going on gives the same bits as never having stopped.
TEST(Interruption, LeavesTheStateBeforeTheStep) {
  const step::Model model = torn_cube({"", Start::Random, 1e4});
  step::Simulation straight(model), stopped(model);
  straight.advance();
  stopped.advance();
  int asked = 0;
  stopped.set_stop_request([&] { return ++asked > 5; });
  const step::StepReport broken_off = stopped.advance();
  EXPECT_TRUE(broken_off.interrupted);
  EXPECT_FALSE(broken_off.accepted);
  EXPECT_FALSE(broken_off.converged());
  EXPECT_EQ(stopped.state().step, 1);
  EXPECT_EQ(stopped.state().nodes(0).x, straight.state().nodes(0).x);
  EXPECT_EQ(stopped.state().nodes(0).v, straight.state().nodes(0).v);
  stopped.set_stop_request({});
  EXPECT_FALSE(stopped.advance().interrupted);
  straight.advance();
  EXPECT_EQ(stopped.state().nodes(0).x, straight.state().nodes(0).x);
}

// From the rest shape a stiff cube needs few iterations, whatever tore it. (A soft one moves little in a
// step: its own positions remain the better guess.)
class Rescue : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(OptFigures, Rescue,
                         testing::Values(Case{"random_medium", Start::Random, 1e6},
                                         Case{"random_high", Start::Random, 1e9},
                                         Case{"point_medium", Start::Point, 1e6},
                                         Case{"point_high", Start::Point, 1e9}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_P(Rescue, TakesFewIterations) {
  step::Model model = torn_cube(GetParam());
  model.solver.initial_guess = step::InitialGuess::Rescue;
  model.solver.max_iterations = 50;
  expect_recovery(model, GetParam().young);
}

}  // namespace
}  // namespace lope::verification
