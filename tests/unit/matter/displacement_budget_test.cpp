// The stopping test of a step (NUMERICS §6): what happens in the step decides, not a length alone.
#include <lope/matter/displacement_budget.h>

#include <gtest/gtest.h>

namespace lope::matter {
namespace {

constexpr double accuracy = 1e-4;

// Five nodes of a body of size 1, none in a plane of four.
struct Body {
  std::vector<double> masses = {1, 2, 1, 1, 3};
  std::vector<std::uint8_t> fixed = {0, 0, 0, 0, 0};
  std::vector<double> start = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 0.6, 0.7};
  std::vector<double> unforced = start;

  optimize::ErrorBudget at(const std::vector<double>& x, const std::vector<double>& d) const {
    return displacement_budget({3, 1, masses, fixed, start, unforced}, x, d, accuracy);
  }
};

std::vector<double> moved(std::vector<double> x, double by, int axis) {
  for (std::size_t k = static_cast<std::size_t>(axis); k < x.size(); k += 3) x[k] += by;
  return x;
}

TEST(DisplacementBudget, AStepThatIsAllErrorDoesNotPass) {
  const Body body;
  const std::vector<double> d = moved(std::vector<double>(15, 0.0), -1e-6, 1);  // all of a fall, far below the accuracy
  EXPECT_FALSE(body.at(body.start, d).holds());
  EXPECT_NEAR(body.at(body.start, d).error, 1e-6, 1e-18);
  EXPECT_TRUE(body.at(moved(body.start, -1e-6, 1), moved(std::vector<double>(15, 0.0), -5e-9, 1)).holds());
}

TEST(DisplacementBudget, AFallDoesNotExcuseErrorsOfShape) {
  const Body body;
  const std::vector<double> fallen = moved(body.start, -0.02, 1);
  std::vector<double> d(15, 0.0);
  d[3] = 1e-6;  // one node, beside a fall of 2 cm
  EXPECT_FALSE(body.at(fallen, d).holds());
  EXPECT_TRUE(body.at(fallen, moved(std::vector<double>(15, 0.0), 5e-5, 1)).holds());  // of the fall itself
}

TEST(DisplacementBudget, AQuarterTurnIsNoDeformation) {
  Body body;
  std::vector<double> turned(15);
  for (std::size_t i = 0; i < 5; ++i) {
    turned[3 * i] = -body.start[3 * i + 1];
    turned[3 * i + 1] = body.start[3 * i];
    turned[3 * i + 2] = body.start[3 * i + 2];
  }
  std::vector<double> d(15, 0.0);
  d[3] = 1e-6;
  EXPECT_FALSE(body.at(turned, d).holds());
}

TEST(DisplacementBudget, TheAccuracyIsACap) {
  const Body body;
  const std::vector<double> far = moved(body.start, 10, 0);
  EXPECT_FALSE(body.at(far, moved(std::vector<double>(15, 0.0), 1.1 * accuracy, 0)).holds());
  EXPECT_TRUE(body.at(far, moved(std::vector<double>(15, 0.0), 0.9 * accuracy, 0)).holds());
}

TEST(DisplacementBudget, ABodyAtRestHasAFloor) {
  const Body body;
  EXPECT_TRUE(body.at(body.start, moved(std::vector<double>(15, 0.0), 0.9e-8, 0)).holds());
  EXPECT_TRUE(body.at(body.start, std::vector<double>(15, 0.0)).holds());
}

}  // namespace
}  // namespace lope::matter
