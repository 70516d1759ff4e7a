// Obstacles as constraints and as penalties: derivatives against finite differences, projections, corners,
// release.
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/shapes.h>
#include <lope/linalg/block_multigrid.h>
#include <lope/matter/contact/obstacle_penalty.h>
#include <lope/matter/island_objective.h>

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <support/vectors.h>

namespace lope::matter {
namespace {

using optimize::HessianKind;

PlacedObstacle at_rest(Expected<geometry::LevelSetPtr> shape) {
  return {.shape = shape.value()};
}

// A soft block whose step problem is set up by hand: masses pull towards a target.
struct Block {
  geometry::Mesh mesh;
  std::unique_ptr<StepObjective> objective;
  std::vector<double> target, start;
  std::vector<std::uint8_t> fixed;

  explicit Block(const Vec3& pull) {
    geometry::MeshingOptions options;
    options.lattice = std::array<int, 3>{4, 4, 4};
    mesh = geometry::tetrahedralize(geometry::Box{Vec3::Zero(), Vec3(1, 1, 1)}, 1, options).value();
    SolidDescription description;
    description.mesh = &mesh;
    description.materials = {material::from_young_poisson(material::Density::FixedCorotated, 1e4, 0.4)};
    description.density_of_material = {1000};
    objective = make_solid_objective(description);
    for (const Vec3& p : mesh.vertices) {
      start.insert(start.end(), p.data(), p.data() + 3);
      const Vec3 there = p + pull;
      target.insert(target.end(), there.data(), there.data() + 3);
    }
    fixed.assign(mesh.vertices.size(), 0);
    objective->begin_step({400, target, 0, start, start, fixed});
  }
};

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

struct Case {
  const char* name;
  PlacedObstacle obstacle;
};

// Obstacles that the block, pulled down and sideways, is pressed against.
std::vector<Case> obstacles() {
  std::vector<Case> cases;
  cases.push_back(
      {"ground", at_rest(geometry::level_set(geometry::HalfSpace{Vec3(0, -0.45, 0), Vec3(0.1, 1, 0)}))});
  cases.push_back({"sphere", at_rest(geometry::level_set(geometry::Sphere{Vec3(0.1, -1.4, 0), 1}))});
  cases.push_back({"bowl", {}});
  cases.back().obstacle.shape =
      geometry::complement_of(geometry::level_set(geometry::Sphere{Vec3(0, 0, 0), 0.84}).value());
  cases.push_back({"container", {}});
  cases.back().obstacle.shape = geometry::complement_of(
      geometry::level_set(geometry::Box{Vec3(0.1, 0.1, 0.1), Vec3(1.1, 1.1, 1.1)}).value());
  cases.push_back(
      {"pillar", at_rest(geometry::level_set(geometry::Box{Vec3(0, -1, 0), Vec3(0.4, 1.2, 0.4)}))});
  return cases;
}

class Constraints : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, Constraints, testing::ValuesIn(obstacles()),
                         [](const auto& chosen) { return chosen.param.name; });

// The block after the projection of a shaken position, with the active set registered.
struct Pressed {
  Block block{Vec3(0.02, -0.3, -0.05)};
  std::vector<PlacedObstacle> obstacles;
  IslandObjective island{{block.objective.get()}};
  std::vector<double> x;

  explicit Pressed(const PlacedObstacle& obstacle) : obstacles{obstacle} {
    island.begin_step(obstacles);
    std::mt19937 random(5);
    std::uniform_real_distribution<double> shake(-0.02, 0.02);
    x = block.start;
    for (double& value : x) value += shake(random);
    island.project(x);
    island.move_to(x);
    island.begin_iteration();
  }
};

TEST_P(Constraints, ProjectionIsFeasibleAndIdempotent) {
  Pressed pressed(GetParam().obstacle);
  EXPECT_GT(pressed.island.constraints().active().size(), 0u);
  EXPECT_LE(pressed.island.constraints().deepest(pressed.x).depth, 1e-15);
  std::vector<double> again = pressed.x;
  pressed.island.project(again);
  EXPECT_LE(difference(again, pressed.x), 1e-14);
}

// The gradient is the derivative of E′(P(x + εd)) for every tangential d, and the Hessian its second
// derivative.
TEST_P(Constraints, DerivativesAgreeWithFiniteDifferencesAlongTheSurface) {
  Pressed pressed(GetParam().obstacle);
  IslandObjective& island = pressed.island;
  const std::size_t n = pressed.x.size();
  std::vector<double> g(n), d(n), hd(n), free(n), point(n);
  island.gradient(g);
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (double& value : d) value = normal(random);
  // Nodes that are not active stay where they are if they touch: they may be projected for one sign of ε
  // only.
  island.hessian(HessianKind::Raw).multiply(d, hd);
  std::vector<double> tangential = d;
  std::vector<bool> active(n / 3, false);
  for (const ActivePair& pair : island.constraints().active())
    active[static_cast<std::size_t>(pair.node)] = true;
  island.constraints().project_gradient(tangential);
  for (std::size_t i = 0; i < n / 3; ++i) {
    const Vec3 p(pressed.x[3 * i], pressed.x[3 * i + 1], pressed.x[3 * i + 2]);
    const bool near = pressed.obstacles[0].shape->value(p) < 0.01;
    if (near && !active[i]) std::fill_n(tangential.data() + 3 * i, 3, 0.0);
  }
  island.hessian(HessianKind::Raw).multiply(tangential, hd);
  const auto value = [&](double epsilon) {
    linalg::add_scaled(pressed.x, epsilon, tangential, point);
    island.project(point);
    island.move_to(point);
    return island.value(std::numeric_limits<double>::infinity());
  };
  const double e = 2e-4;
  const double minus = value(-e), zero = value(0), plus = value(e);
  const double slope = linalg::dot(g, tangential), curvature = linalg::dot(tangential, hd);
  EXPECT_NEAR((plus - minus) / (2 * e), slope, 1e-4 * (std::abs(slope) + std::abs(curvature) * e));
  EXPECT_NEAR((plus - 2 * zero + minus) / (e * e), curvature, 2e-3 * std::abs(curvature));
}

// The slope that a Wolfe search uses, at a point well inside the obstacle.
TEST_P(Constraints, SlopeAlongTheCurvedPath) {
  Pressed pressed(GetParam().obstacle);
  IslandObjective& island = pressed.island;
  const std::size_t n = pressed.x.size();
  std::vector<double> direction(n), y(n), tangent(n), g(n);
  for (std::size_t k = 0; k < n; ++k)
    direction[k] = (k % 3 == 1 ? -1.0 : 0.2) * (1 + 0.1 * std::sin(static_cast<double>(k)));
  const auto value = [&](double alpha) {
    linalg::add_scaled(pressed.x, alpha, direction, y);
    island.project(y);
    island.move_to(y);
    return island.value(std::numeric_limits<double>::infinity());
  };
  const double alpha = 0.03, e = 1e-6;
  const double numeric = (value(alpha + e) - value(alpha - e)) / (2 * e);
  value(alpha);
  island.gradient(g);
  linalg::add_scaled(pressed.x, alpha, direction, y);
  tangent = direction;
  island.project_direction(y, tangent);
  EXPECT_NEAR(linalg::dot(g, tangent), numeric, 1e-3 * std::abs(numeric));
}

TEST_P(Constraints, AssembledAndMatrixFreeProductsAgreeAndTheProjectedOneIsPositive) {
  Pressed pressed(GetParam().obstacle);
  IslandObjective& island = pressed.island;
  const std::size_t n = pressed.x.size();
  std::vector<double> d(n), y(n), z(n);
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 5; ++trial) {
    for (double& value : d) value = normal(random);
    std::vector<double> tangential = d;
    island.constraints().project_gradient(tangential);
    for (const auto kind : {HessianKind::Raw, HessianKind::Projected}) {
      island.hessian(kind).multiply(tangential, y);
      island.hessian_times(kind, tangential, z);
      EXPECT_LT(difference(y, z), 1e-11 * linalg::norm(y));
    }
    island.hessian(HessianKind::Projected).multiply(d, y);
    EXPECT_GT(linalg::dot(d, y), 0);
  }
  std::vector<double> blocks(3 * n), assembled(3 * n);
  for (const auto kind : {HessianKind::Raw, HessianKind::Projected}) {
    island.hessian(kind).diagonal_blocks(assembled);
    island.hessian_diagonal(kind, blocks);
    EXPECT_LT(difference(blocks, assembled), 1e-12 * linalg::norm(assembled));
  }
}

// With the tangent spaces as projectors of the prolongations, what is held stays out of the coarse levels: one that has all
// nodes solves the rest.
TEST_P(Constraints, MultigridKeepsToTheTangentSpaces) {
  Pressed pressed(GetParam().obstacle);
  IslandObjective& island = pressed.island;
  EXPECT_FALSE(island.projectors().empty());
  ASSERT_TRUE(island.hierarchy());
  EXPECT_EQ(island.hierarchy()->id(), island.hierarchy()->id());
  const linalg::BlockMatrix& hessian = island.hessian(HessianKind::Projected);
  linalg::BlockMultigrid multigrid;
  multigrid.set_hierarchy(island.hierarchy());
  multigrid.set_projectors(island.projectors());
  ASSERT_TRUE(multigrid.update(hessian));
  std::vector<double> g(pressed.x.size()), d(g.size()), rest(g.size());
  island.gradient(g);
  multigrid.apply(g, d);
  hessian.multiply(d, rest);
  EXPECT_LT(difference(rest, g), 1e-6 * linalg::norm(g));
  std::vector<double> tangential = d;
  island.constraints().project_gradient(tangential);
  EXPECT_LT(difference(tangential, d), 1e-12 * linalg::norm(d));
}

class Wall final : public ContactTerm {
 public:
  void move_to(std::span<const double>) override {}
  double value() override { return 0; }
  double value_noise() override { return 0; }
  double largest_step(std::span<const double> d) override { return 0.5 / std::abs(d[0]); }
  void add_gradient(std::span<double>) override {}
  void add_hessian(HessianKind, linalg::BlockAssembler&) override {}
  void add_hessian_times(HessianKind, std::span<const double>, std::span<double>) override {}
};

TEST(Island, ContactBoundsItsSteps) {
  Block block(Vec3(0, 0, 0));
  IslandObjective island({block.objective.get()});
  Wall wall;
  island.begin_step({});
  island.move_to(block.start);
  const std::vector<double> direction(block.start.size(), 2.0);
  const double free = island.largest_step(direction);
  EXPECT_GT(free, 1);
  island.add(wall);
  EXPECT_EQ(island.largest_step(direction), 0.25);
}

// What is pressed stays, what is pulled away is let go.
TEST(ConstraintSet, ReleasesNodesThatPullAway) {
  const PlacedObstacle ground = at_rest(geometry::level_set(geometry::HalfSpace{Vec3(0, -0.5, 0), Vec3::UnitY()}));
  for (const double pull : {-0.2, 0.2}) {
    Block block(Vec3(0, pull, 0));
    IslandObjective island({block.objective.get()});
    const std::vector<PlacedObstacle> obstacles{ground};
    island.begin_step(obstacles);
    island.move_to(block.start);
    island.begin_iteration();
    EXPECT_EQ(island.constraints().active().size(), pull < 0 ? 16u : 0u);
    for (const ActivePair& pair : island.constraints().active()) EXPECT_GT(pair.force, 0);
  }
}

// What a direction leads into an obstacle is led onto its surface, though it does not touch yet; the rest of the direction stays.
TEST(ConstraintSet, CatchesNodesOnTheirWay) {
  Block block(Vec3(0, -0.2, 0));
  IslandObjective island({block.objective.get()});
  const std::vector<PlacedObstacle> obstacles{at_rest(geometry::level_set(geometry::HalfSpace{Vec3(0, -0.6, 0), Vec3::UnitY()}))};
  island.begin_step(obstacles);
  island.move_to(block.start);
  island.begin_iteration();
  ASSERT_TRUE(island.constraints().active().empty());
  std::vector<double> d(block.start.size(), 0.0), g(d.size());
  for (std::size_t k = 0; k < d.size(); k += 3) {
    d[k] = 0.01;
    d[k + 1] = 0.05;
  }
  EXPECT_EQ(island.revise(optimize::HessianKind::Projected, d, g), optimize::Revision::None);
  for (std::size_t k = 0; k < d.size(); k += 3) d[k + 1] = -0.3;
  EXPECT_EQ(island.revise(optimize::HessianKind::Projected, d, g), optimize::Revision::Changed);
  EXPECT_EQ(island.constraints().active().size(), 16u);
  std::vector<std::uint8_t> caught(d.size() / 3, 0);
  for (const ActivePair& pair : island.constraints().active()) {
    caught[static_cast<std::size_t>(pair.node)] = 1;
    EXPECT_NEAR(g[3 * static_cast<std::size_t>(pair.node) + 1], 0, 1e-9);  // what holds it is not left
  }
  for (std::size_t i = 0; i < caught.size(); ++i) {
    EXPECT_NEAR(d[3 * i], 0.01, 1e-12);
    EXPECT_NEAR(d[3 * i + 1], caught[i] ? -0.1 : -0.3, 1e-12);
  }
  island.forget();
  island.begin_iteration();
  EXPECT_TRUE(island.constraints().active().empty());
}

// An inverse that knew the ground under a block knows nothing of how it moves in the air.
TEST(ConstraintSet, SaysWhetherMoreIsFreeThanBefore) {
  Block block(Vec3(0, -0.2, 0));
  IslandObjective island({block.objective.get()});
  const std::vector<PlacedObstacle> obstacles{
      at_rest(geometry::level_set(geometry::HalfSpace{Vec3(0, -0.5, 0), Vec3::UnitY()}))};
  std::vector<double> above = block.start;
  for (std::size_t k = 0; k < above.size(); k += 3) above[k + 1] += 0.1;
  island.begin_step(obstacles);
  island.move_to(above);
  island.begin_iteration();
  const std::vector<double> in_the_air = island.choices();
  EXPECT_FALSE(island.frees_more_than(in_the_air));
  island.move_to(block.start);
  island.begin_iteration();
  const std::vector<double> on_the_ground = island.choices();
  EXPECT_FALSE(island.frees_more_than(in_the_air));
  EXPECT_FALSE(island.frees_more_than(on_the_ground));
  island.move_to(above);
  island.begin_iteration();
  EXPECT_TRUE(island.frees_more_than(on_the_ground));
}

// A micrometre above the ground that pressed it, a block has lost what carried it, though nothing presses it now. One that was in the air has not.
TEST(ConstraintSet, ABlockThatHoversIsNotInBalance) {
  Block block(Vec3(0, -0.2, 0));
  IslandObjective island({block.objective.get()});
  const std::vector<PlacedObstacle> obstacles{
      at_rest(geometry::level_set(geometry::HalfSpace{Vec3(0, -0.5, 0), Vec3::UnitY()}))};
  std::vector<double> above = block.start;
  for (std::size_t k = 0; k < above.size(); k += 3) above[k + 1] += 1e-6;
  island.begin_step(obstacles);
  island.move_to(above);
  island.begin_iteration();
  EXPECT_TRUE(island.is_balanced());
  island.move_to(block.start);
  island.begin_iteration();
  ASSERT_EQ(island.constraints().active().size(), 16u);
  island.move_to(above);
  island.begin_iteration();
  ASSERT_TRUE(island.constraints().active().empty());
  EXPECT_FALSE(island.is_balanced());
}

// In the corner of a container a node is held by three faces and cannot move.
TEST(ConstraintSet, HoldsANodeInACorner) {
  Block block(Vec3(-0.3, -0.3, -0.3));
  IslandObjective island({block.objective.get()});
  std::vector<PlacedObstacle> obstacles(1);
  obstacles[0].shape =
      geometry::complement_of(geometry::level_set(geometry::Box{Vec3(0.5, 0.5, 0.5), Vec3(2, 2, 2)}).value());
  island.begin_step(obstacles);
  island.move_to(block.start);
  island.begin_iteration();
  std::size_t corner = 0;
  while ((block.mesh.vertices[corner] - Vec3(-0.5, -0.5, -0.5)).norm() > 1e-12) ++corner;
  int held = 0;
  for (const ActivePair& pair : island.constraints().active())
    held += pair.node == static_cast<int>(corner) ? 1 : 0;
  EXPECT_EQ(held, 3);
  std::vector<double> g(block.start.size());
  island.gradient(g);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(g[3 * corner + c], 0, 1e-9);
}

// A node that slides over the edge of a box is free beyond it.
TEST(ConstraintSet, LetsNodesSlideOffAnEdge) {
  Block block(Vec3(0, -0.2, 0));
  IslandObjective island({block.objective.get()});
  const std::vector<PlacedObstacle> obstacles{
      at_rest(geometry::level_set(geometry::Box{Vec3(0, -1, 0), Vec3(1.2, 1, 1.2)}))};
  island.begin_step(obstacles);
  island.move_to(block.start);
  island.begin_iteration();
  ASSERT_EQ(island.constraints().active().size(), 16u);
  std::vector<double> x = block.start;
  for (std::size_t k = 0; k < x.size(); k += 3) x[k] += 0.3;
  const std::vector<double> wanted = x;
  island.project(x);
  EXPECT_LE(difference(x, wanted), 1e-14);
}

TEST(Penalty, DerivativesAgreeWithFiniteDifferences) {
  Block block(Vec3::Zero());
  const std::size_t n = block.start.size();
  ObstaclePenalty penalty(3, std::vector<double>(n / 3, 5e4));
  std::vector<PlacedObstacle> obstacles{
      at_rest(geometry::level_set(geometry::Sphere{Vec3(0.2, -0.9, 0.1), 0.7})),
      at_rest(geometry::level_set(geometry::HalfSpace{Vec3(0, 0, -0.4), Vec3(0, 0.3, 1)}))};
  obstacles[1].stiffness = 2e4;
  penalty.begin_step(obstacles, block.fixed);
  IslandObjective island({block.objective.get()});
  island.add(penalty);
  island.begin_step({});
  std::vector<double> d(n), hd(n), y(n), g(n), plus(n), minus(n);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (double& value : d) value = normal(random);
  island.move_to(block.start);
  ASSERT_GT(penalty.pairs().size(), 10u);
  EXPECT_GT(penalty.value(), 0);
  island.gradient(g);
  island.hessian(HessianKind::Raw).multiply(d, hd);
  island.hessian_times(HessianKind::Raw, d, y);
  EXPECT_LT(difference(hd, y), 1e-11 * linalg::norm(hd));
  const double e = 1e-6;
  linalg::add_scaled(block.start, e, d, y);
  island.move_to(y);
  const double above = island.value(1e300);
  island.gradient(plus);
  linalg::add_scaled(block.start, -e, d, y);
  island.move_to(y);
  const double below = island.value(1e300);
  island.gradient(minus);
  EXPECT_NEAR((above - below) / (2 * e), linalg::dot(g, d), 1e-6 * std::abs(linalg::dot(g, d)));
  for (std::size_t k = 0; k < n; ++k) y[k] = (plus[k] - minus[k]) / (2 * e);
  EXPECT_LT(difference(y, hd), 1e-5 * linalg::norm(hd));
  island.move_to(block.start);
  for (int trial = 0; trial < 5; ++trial) {
    for (double& value : d) value = normal(random);
    island.hessian(HessianKind::Projected).multiply(d, hd);
    EXPECT_GT(linalg::dot(d, hd), 0);
  }
}

}  // namespace
}  // namespace lope::matter
