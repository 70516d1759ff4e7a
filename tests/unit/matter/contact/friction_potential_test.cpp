// Friction as a potential: derivatives, Coulomb's limit, a projected Hessian that lies above the energy; and the list of
// contacts it is made of.
#include <lope/matter/contact/contact.h>
#include <lope/matter/contact/friction_potential.h>

#include <gtest/gtest.h>

namespace lope::matter {
namespace {

// A point of node 0 against the middle of nodes 1 and 2, sliding by `way` along x and z.
FrictionContact pair(const Vec3& rest) {
  return {{0, 1, 2, 0}, {1, -0.5, -0.5, 0}, Vec3::UnitY(), 3.0, rest, 1e-2};
}

class AtSlide : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(StickingAndSliding, AtSlide, testing::Values(1e-4, 5e-3, 9e-3, 1.5e-2, 0.3));

TEST_P(AtSlide, DerivativesAgreeWithDifferences) {
  FrictionPotential friction(3);
  friction.set({pair(Vec3::Zero())});
  std::vector<double> x = {0.6 * GetParam(), 0.02, 0.8 * GetParam(), 0, 0, 0, 0, 0, 0};
  const auto gradient = [&](const std::vector<double>& at) {
    std::vector<double> g(9, 0.0);
    friction.move_to(at);
    friction.add_gradient(g);
    return g;
  };
  const auto moved = [&](std::size_t k, double by) {
    std::vector<double> y = x;
    y[k] += by;
    return y;
  };
  const double step = 1e-4 * GetParam();
  const std::vector<double> g = gradient(x);
  for (std::size_t k = 0; k < 9; ++k) {
    friction.move_to(moved(k, step));
    const double above = friction.value();
    friction.move_to(moved(k, -step));
    EXPECT_NEAR((above - friction.value()) / (2 * step), g[k], 1e-5) << k;
    const std::vector<double> ahead = gradient(moved(k, step)), behind = gradient(moved(k, -step));
    std::vector<double> direction(9, 0.0), product(9, 0.0);
    direction[k] = 1;
    friction.move_to(x);
    friction.add_hessian_times(optimize::HessianKind::Raw, direction, product);
    for (std::size_t i = 0; i < 9; ++i)
      EXPECT_NEAR((ahead[i] - behind[i]) / (2 * step), product[i], 1e-4 * 3 / GetParam()) << i << " " << k;
  }
  // Equal and opposite, tangential, never more than μλ.
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(g[c] + g[3 + c] + g[6 + c], 0, 1e-12);
  EXPECT_EQ(g[1], 0);
  EXPECT_LE(std::hypot(g[0], g[2]), 3.0 * (1 + 1e-12));
}

TEST_P(AtSlide, TheProjectedModelLiesAboveTheEnergy) {
  FrictionPotential friction(3);
  friction.set({pair(Vec3::Zero())});
  const std::vector<double> x = {GetParam(), 0, 0, 0, 0, 0, 0, 0, 0};
  friction.move_to(x);
  const double value = friction.value();
  std::vector<double> g(9, 0.0);
  friction.add_gradient(g);
  for (const double way : {-2.0, -1.0, -0.5, 0.3, 1.0, 5.0}) {
    std::vector<double> direction(9, 0.0), product(9, 0.0);
    direction[0] = way * GetParam();
    friction.move_to(x);
    friction.add_hessian_times(optimize::HessianKind::Projected, direction, product);
    const double model = value + g[0] * direction[0] + 0.5 * direction[0] * product[0];
    friction.move_to(std::vector<double>{x[0] + direction[0], 0, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_GE(model, friction.value() - 1e-12) << way;
  }
}

TEST(Contacts, SurviveAsNumbers) {
  const std::vector<Contact> contacts = {{{3, 0, 0, 0}, {1, 0, 0, 0}, 2, Vec3(0, 1, 0), 5},
                                         {{1, 4, 5, 6}, {1, -0.2, -0.3, -0.5}, -1, Vec3(1, 0, 0), 7}};
  const std::vector<Contact> read = contacts_from(to_numbers(contacts)).value();
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].node, contacts[1].node);
  EXPECT_EQ(read[1].weight, contacts[1].weight);
  EXPECT_EQ(read[0].obstacle, 2);
  EXPECT_EQ(read[1].normal, contacts[1].normal);
  EXPECT_EQ(read[1].force, 7);
  EXPECT_TRUE(fits(contacts, 7, 3));
  EXPECT_FALSE(fits(contacts, 6, 3));
  EXPECT_FALSE(fits(contacts, 7, 2));
  // What is damaged is no contact.
  std::vector<double> numbers = to_numbers(contacts);
  for (const double wrong : {std::nan(""), 1e300}) {
    numbers[0] = wrong;
    EXPECT_FALSE(contacts_from(numbers)) << wrong;
  }
  numbers.pop_back();
  EXPECT_FALSE(contacts_from(numbers));
}

TEST(Contacts, ChangesOfForcesTellWhetherTheyComeAndGo) {
  const auto contact = [](int node, double force, const Vec3& normal) {
    return Contact{{node, 0, 0, 0}, {1, 0, 0, 0}, 0, normal, force};
  };
  const std::vector<Contact> none, up = {contact(1, 4, Vec3::UnitY()), contact(2, 6, Vec3::UnitY())},
                                   aside = {contact(1, 4, Vec3::UnitX()), contact(3, 5, Vec3::UnitY())};
  EXPECT_DOUBLE_EQ(ContactChange(none, up).dot(ContactChange(none, up)), 16 + 36);
  EXPECT_DOUBLE_EQ(ContactChange(none, up).dot(ContactChange(up, none)), -16 - 36);
  EXPECT_DOUBLE_EQ(ContactChange(none, up).dot(ContactChange(none, aside)), 0);
  EXPECT_DOUBLE_EQ(ContactChange(up, aside).dot(ContactChange(none, aside)), 16 + 25);
  EXPECT_EQ(ContactChange().dot(ContactChange(none, up)), 0);
}

TEST(Contacts, BetweenTwoListsForcesGoAPartOfTheWay) {
  const auto contact = [](int node, double force) {
    return Contact{{node, 0, 0, 0}, {1, 0, 0, 0}, 0, Vec3::UnitY(), force};
  };
  const std::vector<Contact> from = {contact(1, 4), contact(2, 6)}, to = {contact(2, 2), contact(3, 8)};
  const std::vector<Contact> made = between(from, to, 0.25);
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[0].force, 5);  // node 2
  EXPECT_EQ(made[1].force, 2);  // node 3
  EXPECT_EQ(made[2].node[0], 1);
  EXPECT_EQ(made[2].force, 3);
  // A node in a corner touches an obstacle twice.
  const std::vector<Contact> corner = {contact(5, 2), contact(5, 7)};
  const std::vector<Contact> same = between(corner, corner, 0.25);
  ASSERT_EQ(same.size(), 2U);
  EXPECT_EQ(same[0].force, 2);
  EXPECT_EQ(same[1].force, 7);
  // Forces are vectors: one that turns does so by a part of the angle.
  Contact turned = contact(2, 6);
  turned.normal = Vec3::UnitX();
  const std::vector<Contact> turning = between(std::vector{contact(2, 6)}, std::vector{turned}, 0.5);
  ASSERT_EQ(turning.size(), 1U);
  EXPECT_NEAR(turning[0].force, 3 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR((turning[0].normal - Vec3(1, 1, 0).normalized()).norm(), 0, 1e-12);
}

}  // namespace
}  // namespace lope::matter
