// The schemes on their own: exact on the motions they are built for, linear in h where they must be.
#include <lope/matter/time_scheme.h>

#include <gtest/gtest.h>

namespace lope::matter {
namespace {

constexpr double h = 0.1;
constexpr std::array<double, 2> gravity = {0.0, -10.0};

// One node in the plane with x(t), x′(t) and x″ at times 0 and −h.
NodalMotion body_on(const auto& x, const auto& v, const auto& a) {
  NodalMotion body;
  for (int c = 0; c < 2; ++c) {
    body.x.push_back(x(0.0, c));
    body.v.push_back(v(0.0, c));
    body.previous_x.push_back(x(-h, c));
    body.previous_v.push_back(v(-h, c));
    body.a.push_back(a(c));
  }
  return body;
}

class Schemes : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(All, Schemes,
                         testing::Values(Scheme::BackwardEuler, Scheme::Bdf2, Scheme::Trapezoid));

// Without forces a node goes on straight, and its velocity stays.
TEST_P(Schemes, FreeMotionIsStraight) {
  const NodalMotion body = body_on([](double t, int c) { return 1 + c + (3 - c) * t; },
                                 [](double, int c) { return 3.0 - c; }, [](int) { return 0.0; });
  SchemeTerms terms;
  scheme_terms(GetParam(), h, body, body.a, std::array{0.0, 0.0}, terms);
  StepEnd end;
  finish_step(GetParam(), h, terms.target, std::array<std::uint8_t, 1>{0}, terms, body, body.a, end);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(end.x[c], body.x[c] + h * body.v[c], 1e-15);
    EXPECT_NEAR(end.v[c], body.v[c], 1e-14);
    EXPECT_NEAR(end.a[c], 0, 1e-13);
  }
}

// Inertia alone leads to x̂, with f_ext in it; the second-order schemes fall exactly.
TEST_P(Schemes, FallsUnderGravity) {
  const auto x = [](double t, int c) { return 0.5 * gravity[static_cast<std::size_t>(c)] * t * t + 2 * t; };
  const auto v = [](double t, int c) { return gravity[static_cast<std::size_t>(c)] * t + 2; };
  const NodalMotion body = body_on(x, v, [](int c) { return gravity[static_cast<std::size_t>(c)]; });
  SchemeTerms terms;
  scheme_terms(GetParam(), h, body, body.a, gravity, terms);
  StepEnd end;
  finish_step(GetParam(), h, terms.target, std::array<std::uint8_t, 1>{0}, terms, body, body.a, end);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(end.v[c], v(h, static_cast<int>(c)), 1e-14);
    EXPECT_NEAR(end.a[c], gravity[c], 1e-12);
    // Backward Euler moves with the velocity at the end: half of g h² too far.
    const double too_far = GetParam() == Scheme::BackwardEuler ? 0.5 * gravity[c] * h * h : 0;
    EXPECT_NEAR(end.x[c], x(h, static_cast<int>(c)) + too_far, 1e-15);
  }
}

// The weight of inertia is 1/(c h²), that of damping the factor of x in the new velocity.
TEST_P(Schemes, WeightsFollowTheTable) {
  const NodalMotion body =
      body_on([](double t, int) { return t; }, [](double, int) { return 1.0; }, [](int) { return 0.0; });
  SchemeTerms terms;
  scheme_terms(GetParam(), h, body, body.a, gravity, terms);
  const double c = GetParam() == Scheme::BackwardEuler ? 1 : GetParam() == Scheme::Bdf2 ? 4.0 / 9 : 0.25;
  EXPECT_DOUBLE_EQ(terms.inertia, 1 / (c * h * h));
  EXPECT_DOUBLE_EQ(terms.damping * terms.damping * c, 1 / (h * h));
  StepEnd one, other;
  std::vector<double> moved = terms.target;
  moved[0] += 0.25;
  const std::array<std::uint8_t, 1> free = {0};
  finish_step(GetParam(), h, terms.target, free, terms, body, body.a, one);
  finish_step(GetParam(), h, moved, free, terms, body, body.a, other);
  EXPECT_NEAR(other.v[0] - one.v[0], 0.25 * terms.damping, 1e-14);
  EXPECT_EQ(other.v[1], one.v[1]);
}

TEST_P(Schemes, ScriptedNodesGetTheirMeanVelocity) {
  const NodalMotion body = body_on([](double, int c) { return 1.0 + c; }, [](double, int) { return 7.0; },
                                 [](int) { return 5.0; });
  SchemeTerms terms;
  scheme_terms(GetParam(), h, body, body.a, gravity, terms);
  StepEnd end;
  finish_step(GetParam(), h, std::array{1.5, 2.0}, std::array<std::uint8_t, 1>{1}, terms, body, body.a, end);
  EXPECT_NEAR(end.v[0], 5, 1e-14);
  EXPECT_EQ(end.v[1], 0);
  EXPECT_NEAR(end.a[0], -20, 1e-12);
  EXPECT_NEAR(end.a[1], -70, 1e-12);
}

// A released node begins with other accelerations than the state's.
TEST(SchemeTerms, OnlyTheTrapezoidReadsAccelerations) {
  const NodalMotion body =
      body_on([](double t, int) { return t; }, [](double, int) { return 1.0; }, [](int) { return 4.0; });
  const std::array released = {8.0, 4.0};
  for (const Scheme scheme : {Scheme::BackwardEuler, Scheme::Bdf2, Scheme::Trapezoid}) {
    SchemeTerms as_in_state, as_released;
    scheme_terms(scheme, h, body, body.a, gravity, as_in_state);
    scheme_terms(scheme, h, body, released, gravity, as_released);
    const double change = as_released.target[0] - as_in_state.target[0];
    EXPECT_NEAR(change, scheme == Scheme::Trapezoid ? h * h : 0, 1e-15);
    EXPECT_EQ(as_released.target[1], as_in_state.target[1]);
  }
}

TEST(EffectiveScheme, Bdf2NeedsTheStepBefore) {
  EXPECT_EQ(effective_scheme(Scheme::Bdf2, false), Scheme::BackwardEuler);
  EXPECT_EQ(effective_scheme(Scheme::Bdf2, true), Scheme::Bdf2);
  EXPECT_EQ(effective_scheme(Scheme::Trapezoid, false), Scheme::Trapezoid);
  EXPECT_EQ(effective_scheme(Scheme::BackwardEuler, true), Scheme::BackwardEuler);
}

TEST(Commit, ShiftsTheStateAndTakesItBack) {
  NodalMotion body;
  body.x = {1};
  body.v = {2};
  body.previous_x = {3};
  body.previous_v = {4};
  body.a = {5};
  StepEnd end{{6}, {7}, {8}};
  commit(body, end);
  EXPECT_EQ(body.x, std::vector<double>{6});
  EXPECT_EQ(body.v, std::vector<double>{7});
  EXPECT_EQ(body.a, std::vector<double>{8});
  EXPECT_EQ(body.previous_x, std::vector<double>{1});
  EXPECT_EQ(body.previous_v, std::vector<double>{2});
  take_back(body, end);
  EXPECT_EQ(body.x, std::vector<double>{1});
  EXPECT_EQ(body.v, std::vector<double>{2});
  EXPECT_EQ(body.a, std::vector<double>{5});
  EXPECT_EQ(body.previous_x, std::vector<double>{3});
  EXPECT_EQ(body.previous_v, std::vector<double>{4});
  EXPECT_EQ(end.x, std::vector<double>{6});
}

}  // namespace
}  // namespace lope::matter
