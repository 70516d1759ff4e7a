// The step loop: what is committed, what a step that fails or is broken off leaves alone, what reports say.
#include <lope/geometry/topology.h>
#include <lope/matter/loads.h>

#include <numeric>

#include <fmt/core.h>

#include "step_models.h"

namespace lope::step {
namespace {

using optimize::Outcome;

// Does as it is told instead of minimising.
class Scripted final : public optimize::Minimizer {
 public:
  explicit Scripted(Outcome outcome, double shift = 0) : outcome_(outcome), shift_(shift) {}
  optimize::MinimizerSummary minimize(optimize::Objective&, std::span<double> x,
                                      const optimize::MinimizerOptions&) override {
    for (double& value : x) value += shift_;
    optimize::MinimizerSummary summary;
    summary.outcome = outcome_;
    summary.reason = "as it was told";
    return summary;
  }

 private:
  Outcome outcome_;
  double shift_;
};

// Blocks apart from each other, each an island of its own.
Model blocks(int count) {
  Model model;
  model.step = 0.02;
  for (int b = 0; b < count; ++b) {
    auto& block = model.add(solid(box({0.4, 0.4, 0.4}, {3, 3, 3}), 3, 1e5, 0.3));
    block.name = fmt::format("block {}", b);
    block.touches_others = false;
    for (Vec3& p : block.mesh.vertices) p += Vec3(2.0 * b, 0, 0);
  }
  return model;
}

// The k-th island gets the k-th outcome.
void script(Simulation& simulation, std::vector<Outcome> outcomes, double shift = 0) {
  simulation.use_minimizer([&, k = std::size_t{0}](const optimize::Objective&) mutable {
    return std::make_unique<Scripted>(outcomes[k++], shift);
  });
}

TEST(Advance, CommitsPositionsVelocitiesAndTime) {
  const Model model = held_bar();
  Simulation simulation(model);
  const State before = simulation.state();
  const StepReport report = simulation.advance();
  const State& after = simulation.state();
  EXPECT_TRUE(report.accepted && report.converged() && !report.interrupted);
  EXPECT_EQ(report.step, 1);
  EXPECT_EQ(report.h, model.step);
  EXPECT_EQ(after.step, 1);
  EXPECT_EQ(after.time, report.time);
  EXPECT_EQ(after.time, model.step);
  EXPECT_EQ(after.previous_h, model.step);
  EXPECT_EQ(after.nodes(0).previous_x, before.nodes(0).x);
  EXPECT_EQ(after.nodes(0).previous_v, before.nodes(0).v);
  EXPECT_GT(verification::distance(after.nodes(0).x, before.nodes(0).x), 1e-4);
  for (std::size_t k = 0; k < after.nodes(0).x.size(); ++k) {
    ASSERT_NEAR(after.nodes(0).v[k], (after.nodes(0).x[k] - before.nodes(0).x[k]) / model.step, 1e-12);
  }
  EXPECT_EQ(after.kept.size(), simulation.island_count());
}

// A state may be large: its arrays are exchanged, not copied.
TEST(Advance, MovesArraysInsteadOfCopyingThem) {
  const Model model = held_bar();
  Simulation simulation(model);
  simulation.advance();
  const double *x = simulation.state().nodes(0).x.data(), *v = simulation.state().nodes(0).v.data();
  const double* anchor = simulation.state().nodes(0).anchors[0].data();
  simulation.advance();
  EXPECT_EQ(simulation.state().nodes(0).previous_x.data(), x);
  EXPECT_EQ(simulation.state().nodes(0).previous_v.data(), v);
  EXPECT_EQ(simulation.state().nodes(0).anchors[0].data(), anchor);
}

TEST(Advance, HandlesTakeHoldWhereTheirVerticesAre) {
  const Model model = held_bar();  // the second handle begins in the fourth step
  Simulation simulation(model);
  const auto& anchors = simulation.state().nodes(0).anchors;
  for (int i = 1; i <= 5; ++i) {
    const std::vector<double> x = simulation.state().nodes(0).x, held = anchors[1];
    ASSERT_TRUE(simulation.advance().accepted);
    EXPECT_EQ(anchors[0].size(), 3 * kinds::solid(model).handles[0].vertices.size());
    EXPECT_EQ(anchors[1].empty(), i < 4);
    if (i > 4) {
      EXPECT_EQ(anchors[1], held);
    }
    if (i != 4) continue;
    const auto first = static_cast<std::size_t>(kinds::solid(model).handles[1].vertices[0]);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(anchors[1][c], x[3 * first + c]);
  }
}

TEST(Advance, ChangingTheStepRestartsBdf2) {
  Model bdf2 = held_bar(), euler = held_bar();
  bdf2.scheme = Scheme::Bdf2;
  Simulation one(bdf2), other(euler);
  for (const double h : {0.02, 0.01}) {  // a first step, and one of another length
    State same = one.state();
    same.kept.clear();
    ASSERT_TRUE(other.restore(std::move(same)));
    one.advance(h);
    other.advance(h);
    expect_same(one.state().nodes(0), other.state().nodes(0));
  }
  State same = one.state();
  ASSERT_TRUE(other.restore(std::move(same)));
  one.advance(0.01);
  other.advance(0.01);
  EXPECT_GT(verification::distance(one.state().nodes(0).x, other.state().nodes(0).x), 1e-6);
}

TEST(Failure, EndsTheStepAtOnceAndNamesTheIsland) {
  Model model = blocks(4);
  model.add(liquid(water_and_bar()));
  Simulation simulation(model);
  ASSERT_EQ(simulation.island_count(), 4u);
  simulation.advance();
  const State before = simulation.state();
  // The first one only did not converge: it is not to blame.
  script(simulation, {Outcome::IterationLimit, Outcome::Converged, Outcome::Failed, Outcome::Converged}, 0.1);
  const StepReport report = simulation.advance();
  EXPECT_FALSE(report.accepted);
  EXPECT_FALSE(report.interrupted);
  EXPECT_FALSE(report.converged());
  ASSERT_EQ(report.islands.size(), 3u) << "islands after the one that failed, or the liquid, were solved";
  EXPECT_EQ(report.culprit(), &report.islands[2]);
  EXPECT_EQ(report.culprit()->bodies, std::vector<std::size_t>{2});
  EXPECT_TRUE(report.bodies.empty());
  expect_same(simulation.state(), before);
}

TEST(Failure, PositionsThatAreNotFiniteAreRejected) {
  const Model model = blocks(2);
  Simulation simulation(model);
  const State before = simulation.state();
  script(simulation, {Outcome::Converged, Outcome::Converged}, std::numeric_limits<double>::quiet_NaN());
  const StepReport report = simulation.advance();
  EXPECT_FALSE(report.accepted);
  ASSERT_EQ(report.islands.size(), 1u);
  ASSERT_EQ(report.culprit(), report.islands.data());
  EXPECT_EQ(report.culprit()->solve.outcome, Outcome::Failed);
  EXPECT_NE(report.culprit()->solve.reason.find("not finite"), std::string::npos);
  expect_same(simulation.state(), before);
}

TEST(Failure, IslandsThatDidNotConvergeAreAccepted) {
  const Model model = blocks(3);
  Simulation simulation(model);
  script(simulation, {Outcome::Converged, Outcome::LineSearchStalled, Outcome::IterationLimit});
  const StepReport report = simulation.advance();
  EXPECT_TRUE(report.accepted);
  EXPECT_FALSE(report.converged());
  EXPECT_EQ(report.culprit(), &report.islands[1]);
  EXPECT_EQ(simulation.state().step, 1);
  script(simulation, {Outcome::Converged, Outcome::Converged, Outcome::Converged});
  EXPECT_EQ(simulation.advance().culprit(), nullptr);
}

TEST(StopRequest, BreaksTheStepOffBetweenIterations) {
  Model model = blocks(3);
  for (SolidBody& body : each<SolidBody>(model.bodies)) {
    body.handles = {{.vertices = {0, 1, 2, 3}, .motion = sliding({2, 1, 0})}};
  }
  Simulation simulation(model);
  simulation.advance();
  const State before = simulation.state();
  int iterations = 0, islands = 0;
  simulation.set_observer([&](std::size_t, const optimize::Iteration& iteration, std::span<const double>) {
    ++iterations;
    islands += iteration.number == 0;
  });
  simulation.set_stop_request([&] { return islands == 2; });
  const StepReport report = simulation.advance();
  EXPECT_TRUE(report.interrupted);
  EXPECT_FALSE(report.accepted);
  ASSERT_EQ(report.islands.size(), 2u);
  EXPECT_TRUE(report.islands[0].solve.converged());
  EXPECT_EQ(report.islands[1].solve.outcome, Outcome::Interrupted);
  EXPECT_EQ(report.islands[1].solve.iterations, 0);
  EXPECT_EQ(report.culprit(), &report.islands[1]);
  expect_same(simulation.state(), before);

  iterations = islands = 0;
  simulation.set_stop_request([&] { return false; });
  const StepReport next = simulation.advance();
  EXPECT_TRUE(next.accepted);
  EXPECT_EQ(islands, 3);
  const int solved =
      std::accumulate(next.islands.begin(), next.islands.end(), 0,
                      [](int sum, const auto& island) { return sum + island.solve.iterations + 1; });
  EXPECT_EQ(iterations, solved) << "every iteration of every island, and every start, is observed";
}

TEST(TakeBack, ReturnsToTheStateBeforeTheStep) {
  for (const Model& model :
       {held_bar(), thrown_block(ContactKind::Constraint), stacked_blocks(), water_and_bar()}) {
    Simulation simulation(model);
    EXPECT_FALSE(simulation.take_back());
    for (int i = 0; i < 6; ++i) {
      const State before = simulation.state();
      ASSERT_TRUE(simulation.advance().accepted);
      const State after = simulation.state();
      ASSERT_TRUE(simulation.take_back());
      expect_same(simulation.state(), before);
      EXPECT_FALSE(simulation.take_back());
      ASSERT_TRUE(simulation.advance().accepted);
      expect_same(simulation.state(), after);
    }
  }
}

TEST(TakeBack, NeedsAStepThatLedToTheState) {
  const Model model = blocks(1);
  Simulation simulation(model);
  simulation.advance();
  ASSERT_TRUE(simulation.restore(simulation.state()));
  EXPECT_FALSE(simulation.take_back());
  simulation.advance();
  simulation.step_problem(0, model.step);
  EXPECT_FALSE(simulation.take_back());
  simulation.advance();
  script(simulation, {Outcome::Failed});
  simulation.advance();
  EXPECT_FALSE(simulation.take_back());
  EXPECT_EQ(simulation.state().step, 3);
}

TEST(Restore, RefusesWhatDoesNotFitAndKeepsTheState) {
  const Model model = held_bar();
  Simulation simulation(model);
  simulation.advance();
  simulation.advance();
  const State before = simulation.state();
  ASSERT_NE(before.kept[0], nullptr);
  const auto refusal = [&](const auto& change) {
    State state = before;
    state.step = 77;
    change(state);
    const auto restored = simulation.restore(std::move(state));
    expect_same(simulation.state(), before);
    return restored ? std::string("accepted") : restored.error().message;
  };
  EXPECT_EQ(refusal([](State& s) { s.bodies.pop_back(); }), "the saved state has 0 bodies, the scene 1");
  EXPECT_EQ(refusal([](State& s) { nodes(s).v.resize(6); }),
            "body 'body' has 2 vertices in the saved state, not the scene's 54");
  EXPECT_EQ(refusal([](State& s) { nodes(s).anchors.pop_back(); }),
            "body 'body' has 1 handles in the saved state, not the scene's 2");
  EXPECT_EQ(refusal([](State& s) { nodes(s).anchors[0].resize(3); }),
            "handle 0 of body 'body' holds 1 vertices in the saved state, not the scene's 9");
  EXPECT_EQ(refusal([](State& s) { s.bodies.emplace_back(matter::LiquidState()); }),
            "the saved state has 2 bodies, the scene 1");
  EXPECT_EQ(refusal([](State& s) { s.bodies[0] = matter::LiquidState(); }),
            "body 'body' is another kind of matter in the saved state");
  const std::string other_model =
      "the solver's model of the bodies from 'body' on has another size in the saved state";
  const auto with_kept = [](optimize::KeptModel kept) {
    return [kept](State& s) { s.kept[0] = std::make_shared<optimize::KeptModel>(kept); };
  };
  EXPECT_EQ(refusal(with_kept({{1, 2, 3}, {}, 0, {}})), other_model);
  EXPECT_EQ(refusal(with_kept({before.nodes(0).x, {1}, 0, {}})), other_model);
}

TEST(Restore, RefusesChoicesOfNodesThatAreNotThere) {
  const Model model = thrown_block(ContactKind::Constraint);
  Simulation simulation(model);
  State state = simulation.state();
  std::vector<double> choices(19, 0.0);
  for (const double node : {-1.0, 64.0, std::nan("")}) {
    choices[0] = node;
    state.kept[0] = std::make_shared<optimize::KeptModel>(optimize::KeptModel{state.nodes(0).x, choices, 0, {}});
    EXPECT_FALSE(simulation.restore(state)) << node;
  }
  choices[0] = 63;
  state.kept[0] = std::make_shared<optimize::KeptModel>(optimize::KeptModel{state.nodes(0).x, choices, 0, {}});
  EXPECT_TRUE(simulation.restore(state));
}

// As from a file that was written before there were islands, or with other contacts.
TEST(Restore, ForgetsWhatIsKeptForOtherIslands) {
  const Model model = held_bar();
  Simulation simulation(model);
  simulation.advance();
  State state = simulation.state();
  state.kept.resize(3);
  ASSERT_TRUE(simulation.restore(std::move(state)));
  ASSERT_EQ(simulation.state().kept.size(), 1u);
  EXPECT_EQ(simulation.state().kept[0], nullptr);
  EXPECT_TRUE(simulation.advance().accepted);
}

TEST(Reports, EnergyAndMomentumAreThoseOfTheState) {
  Model model = blocks(2);
  model.gravity = Vec3(0, -10, 0);
  model.step = 0.1;
  SolidBody& thrown = kinds::solid(model, 1);
  thrown.initial_velocities.assign(thrown.mesh.vertices.size(), Vec3(3, 0, 0));
  verification::solve_tightly(model);
  Simulation simulation(model);
  const StepReport report = simulation.advance();
  const double mass = 1000 * 0.4 * 0.4 * 0.4;
  ASSERT_EQ(report.bodies.size(), 2u);
  for (std::size_t b = 0; b < 2; ++b) {
    const double along = b == 0 ? 0 : 3;
    const matter::BodyReport& body = report.bodies[b];
    EXPECT_EQ(body.name, model.bodies[b]->name);
    EXPECT_EQ(body.island, b);
    EXPECT_EQ(report.islands[b].bodies, std::vector<std::size_t>{b});
    EXPECT_EQ(body.count("inverted_elements"), 0);
    // Backward Euler: v = g h, x = g h².
    EXPECT_NEAR((body.momentum - mass * Vec3(along, -1, 0)).norm(), 0, 1e-8);
    EXPECT_NEAR(body.energy.kinetic, 0.5 * mass * (along * along + 1), 1e-7);
    EXPECT_NEAR(body.energy.gravity, mass * 10 * -0.1, 1e-8);
    EXPECT_NEAR(body.energy.elastic, 0, 1e-9);
    EXPECT_NEAR(body.energy.total(), simulation.energies(b).total(), 1e-12);
    const double arm = 2.0 * static_cast<double>(b) + 0.1 * along;  // of the centre: x; it is at y = −0.1
    EXPECT_NEAR(body.angular_momentum.value()[2], mass * (arm * -1 - -0.1 * along), 1e-7);
  }
}

TEST(Reports, BodiesThatMayTouchShareAnIsland) {
  Model model = blocks(4);
  kinds::solid(model, 1).touches_others = kinds::solid(model, 3).touches_others = true;
  Simulation simulation(model);
  ASSERT_EQ(simulation.island_count(), 3u);
  EXPECT_EQ(simulation.bodies_of(0), std::vector<std::size_t>{0});
  EXPECT_EQ(simulation.bodies_of(1), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(simulation.bodies_of(2), std::vector<std::size_t>{2});
  const StepReport report = simulation.advance();
  ASSERT_EQ(report.bodies.size(), 4u);
  for (const std::size_t b : {0, 1, 2, 3})
    EXPECT_EQ(report.bodies[b].island, (std::array{0u, 1u, 2u, 1u}[b]));
}

// Nobody has to ask for it: a block that falls upon another one stays on it, and only those that say no pass through.
TEST(Contact, BodiesTouchEachOtherUnlessTheySayNo) {
  for (const bool touch : {true, false}) {
    Model model = blocks(2);
    model.step = 1.0 / 48;
    for (SolidBody& block : each<SolidBody>(model.bodies)) block.touches_others = touch;
    for (Vec3& p : kinds::solid(model, 1).mesh.vertices) p += Vec3(-1.95, 0.45, 0.03);
    SolidBody& lower = kinds::solid(model);
    lower.handles = {{.vertices = geometry::boundary_vertices(lower.mesh), .motion = {}}};
    Simulation simulation(model);
    ASSERT_EQ(simulation.island_count(), touch ? 1u : 2u);
    int pairs = 0;
    for (int i = 0; i < 24; ++i) {
      const StepReport report = simulation.advance();
      ASSERT_TRUE(report.converged());
      pairs += report.islands.front().contact.body_pairs;
    }
    double height = 0;
    const std::vector<double>& x = simulation.state().nodes(1).x;
    for (std::size_t k = 1; k < x.size(); k += 3) height += 3 * x[k] / static_cast<double>(x.size());
    if (touch) {
      EXPECT_NEAR(height, 0.4, 0.05);
      EXPECT_GT(pairs, 0);
    } else {
      EXPECT_LT(height, -0.5);
    }
  }
}

// What touches others need not touch itself.
TEST(Contact, ABodyAloneHasNoContactWithItselfByDefault) {
  Model model = blocks(1);
  kinds::solid(model).touches_others = true;
  Simulation simulation(model);
  EXPECT_TRUE(simulation.advance().islands.front().contact.obstacle_force.empty());
  EXPECT_EQ(simulation.island_count(), 1u);
}

TEST(Reports, ContactForcesAreThoseThatStopTheBody) {
  for (const ContactKind contact : {ContactKind::Constraint, ContactKind::Penalty}) {
    Model model = thrown_block(contact);
    model.obstacles[1].shape = ground(-100);  // out of reach
    for (Obstacle& o : model.obstacles) o.friction = 0;
    verification::solve_tightly(model);
    Simulation simulation(model);
    int touching = 0;
    const double mass = 1000 * 0.6 * 0.6 * 0.6;
    Vec3 before = mass * Vec3(0.5, -4, 0);
    for (int i = 0; i < 8; ++i) {
      const StepReport report = simulation.advance();
      const ContactReport& touch = report.islands[0].contact;
      ASSERT_EQ(touch.obstacle_force.size(), 2u);
      EXPECT_EQ(touch.obstacle_force[1], Vec3::Zero());
      EXPECT_EQ(touch.body_pairs, 0);
      EXPECT_EQ(touch.obstacle_pairs > 0, touch.obstacle_force[0].norm() > 0);
      const Vec3 force = (report.bodies[0].momentum - before) / model.step - mass * model.gravity;
      EXPECT_NEAR((force - touch.obstacle_force[0]).norm(), 0, 1e-3 * mass);
      touching += touch.obstacle_pairs;
      before = report.bodies[0].momentum;
    }
    EXPECT_GT(touching, 0);
  }
}

// The stopping test is made with the normal forces of the very point: no further minimisations are needed, and a step that
// is solved a hundred times as tightly ends within three accuracies of the same place (where it needs further ones, it
// keeps partners and constraints, and may end at another solution).
TEST(Friction, SettlesWhileTheStepIsSolved) {
  int compared = 0;
  for (const ContactKind contact : {ContactKind::Constraint, ContactKind::Penalty}) {
    Model model = thrown_block(contact);
    model.obstacles[1].shape = ground(-100);  // out of reach
    const double accuracy = 1e-4 * 0.6;
    Model tight = model;
    tight.solver.stopping = {optimize::StoppingTest::Displacement, 0.01 * accuracy};
    Simulation simulation(model), reference(tight);
    double rubbed = 0;
    for (int i = 0; i < 12; ++i) {
      ASSERT_TRUE(reference.restore(simulation.state()));
      const StepReport report = simulation.advance(), careful = reference.advance();
      ASSERT_TRUE(report.converged()) << i << ": " << report.islands[0].solve.reason;
      ASSERT_TRUE(careful.converged()) << i << ": " << careful.islands[0].solve.reason;
      EXPECT_EQ(report.islands[0].contact.rounds, 1) << i;
      rubbed += report.islands[0].contact.friction_loss;
      if (careful.islands[0].contact.rounds > 1) continue;
      ++compared;
      EXPECT_LE(verification::distance(simulation.state().nodes(0).x, reference.state().nodes(0).x), 3 * accuracy) << i;
    }
    EXPECT_GT(rubbed, 0);
  }
  EXPECT_GE(compared, 18);
}

// A bar that falls, with a handle at its left end.
Model held_hammer(const geometry::Motion& motion) {
  Model model;
  model.step = 1.0 / 24;
  model.scheme = Scheme::Trapezoid;
  model.bodies = {solid(box({1, 0.1, 0.1}, {11, 2, 2}), 3, 1e6)};
  SolidBody& bar = kinds::solid(model, 0);
  Handle end;
  end.vertices = vertices_left_of(bar.mesh, -0.49);
  end.motion = motion;
  bar.handles = {end};
  bar.initial_velocities.assign(bar.mesh.vertices.size(), Vec3(0, -6, 0));
  model.obstacles = {obstacle(ground(-0.4), ContactKind::Constraint, 0)};
  return model;
}

// A pin does no work: the bar has no more energy than at the start, whatever it hits.
TEST(FallsBack, WhereAHeldBodyWouldGainEnergy) {
  Model model = held_hammer({});
  Simulation simulation(model);
  const double start = simulation.energies(0).total(), scale = simulation.energies(0).kinetic;
  int fell_back = 0;
  for (int i = 0; i < 24; ++i) {
    const StepReport report = simulation.advance();
    fell_back += report.islands[0].fell_back ? 1 : 0;
    EXPECT_LE(report.bodies[0].energy.total(), start + 0.05 * scale) << i;
  }
  EXPECT_GT(fell_back, 0);
}

// A block that a handle presses against the floor, or that a load lifts, gains what they give it.
TEST(FallsBack, NotForTheWorkOfHandlesAndLoads) {
  for (const bool pressed : {true, false}) {
    Model model;
    model.step = 1.0 / 24;
    model.scheme = Scheme::Trapezoid;
    model.bodies = {solid(box({0.5, 0.5, 0.5}, {4, 4, 4}), 3, 1e6)};
    SolidBody& block = kinds::solid(model, 0);
    model.obstacles = {obstacle(ground(-0.3), ContactKind::Constraint, 0)};
    if (pressed) {
      Handle top;
      for (int i = 0; i < static_cast<int>(block.mesh.vertices.size()); ++i) {
        if (block.mesh.vertices[static_cast<std::size_t>(i)][1] > 0.24) top.vertices.push_back(i);
      }
      top.motion = sliding({0, -0.3, 0});
      block.handles = {top};
    } else {
      matter::Load lift;
      lift.vertices = geometry::boundary_vertices(block.mesh);
      lift.force = Vec3(0, 3 * 9.81 * 125, 0);
      matter::spread(block.mesh.vertices, matter::surface_faces(block), lift);
      block.loads = {lift};
    }
    Simulation simulation(model);
    const double start = simulation.energies(0).total();
    for (int i = 0; i < 12; ++i) EXPECT_FALSE(simulation.advance().islands[0].fell_back) << pressed << " " << i;
    EXPECT_GT(simulation.energies(0).total(), start + 100) << pressed;
  }
}

double sum(const std::vector<matter::Field>& fields, const std::string& name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
  return std::accumulate(found->values.begin(), found->values.end(), 0.0);
}

const matter::Field& named(const std::vector<matter::Field>& fields, const std::string& name) {
  return *std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
}

TEST(Fields, DisplacementsAreFromTheRestShapeAsPlaced) {
  for (const int d : {2, 3}) {
    Model model;
    model.gravity = Vec3::Zero();
    model.bodies = {solid(d == 3 ? box({1, 1, 1}, {3, 3, 3}) : verification::rectangle({1, 1}, {3, 3}), d, 1e5)};
    SolidBody& body = kinds::solid(model, 0);
    const Vec3 placed(3, 4, d == 3 ? 5 : 0), shift(0.1, 0.2, d == 3 ? 0.3 : 0), velocity(1, -2, d == 3 ? 3 : 0);
    for (Vec3& p : body.mesh.vertices) p += placed;
    for (const Vec3& p : body.mesh.vertices) body.initial_positions.push_back(p + shift);
    body.initial_velocities.assign(body.mesh.vertices.size(), velocity);
    Simulation simulation(model);
    for (int step = 0; step < 3; ++step) {
      const auto fields = simulation.fields(0);
      const matter::Field &u = named(fields, "displacement"), &v = named(fields, "velocity");
      EXPECT_EQ(u.components, 3);
      EXPECT_EQ(v.components, 3);
      EXPECT_EQ(u.unit, "m");
      EXPECT_EQ(v.unit, "m/s");
      ASSERT_EQ(u.values.size(), 3 * body.mesh.vertices.size());
      ASSERT_EQ(v.values.size(), 3 * body.mesh.vertices.size());
      for (std::size_t k = 0; k < u.values.size(); ++k) {
        const auto c = static_cast<Eigen::Index>(k % 3);
        EXPECT_NEAR(u.values[k], shift[c] + step * model.step * velocity[c], 1e-9);
        EXPECT_NEAR(v.values[k], velocity[c], 1e-7);
      }
      EXPECT_NEAR(named(fields, "speed").values[0], velocity.norm(), 1e-7);
      simulation.advance();
    }
  }
}

TEST(Fields, OnlyWhatIsWantedIsComputed) {
  const Model model = held_bar();
  Simulation simulation(model);
  simulation.advance();
  std::vector<std::string> asked;
  const auto fields = simulation.fields(0, [&](const std::string& name) {
    asked.push_back(name);
    return name == "stress" || name == "speed";
  });
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0].name, "stress");
  EXPECT_EQ(fields[0].components, 6);
  EXPECT_EQ(fields[0].values.size(), 6 * kinds::solid(model, 0).mesh.tetrahedra.size());
  EXPECT_EQ(fields[1].name, "speed");
  for (const matter::Field& field : simulation.fields(0))
    EXPECT_NE(std::find(asked.begin(), asked.end(), field.name), asked.end()) << field.name;
}

// A damped bar that hangs on one handle, which shakes it.
Model shaken_bar(Scheme scheme) {
  Model model = held_bar();
  model.scheme = scheme;
  SolidBody& bar = kinds::solid(model, 0);
  bar.handles.resize(1);
  bar.handles[0].end = std::numeric_limits<double>::infinity();
  bar.mass_damping = 3;
  bar.stiffness_damping = 0.01;
  verification::solve_tightly(model);
  return model;
}

// The objective need not be moved to where it is; whoever moved it elsewhere in between changes nothing.
TEST(Simulation, StepsDoNotDependOnWhereTheObjectiveWas) {
  const Model model = shaken_bar(Scheme::BackwardEuler);
  Simulation plain(model), disturbed(model);
  for (int step = 0; step < 5; ++step) {
    std::vector<double> elsewhere = disturbed.state().nodes(0).x;
    for (std::size_t k = 0; k < elsewhere.size(); ++k) elsewhere[k] += 1e-2 * static_cast<double>(k % 5);
    disturbed.step_problem(0, model.step).objective.move_to(elsewhere);
    EXPECT_TRUE(plain.advance().converged());
    EXPECT_TRUE(disturbed.advance().converged());
    EXPECT_EQ(plain.state().nodes(0).x, disturbed.state().nodes(0).x) << "step " << step;
    EXPECT_EQ(plain.state().nodes(0).v, disturbed.state().nodes(0).v) << "step " << step;
  }
}

constexpr double bar_mass = 1000 * 1 * 0.3 * 0.3;

TEST(HandleForces, WithDampingMakeTheRateOfChangeOfMomentum) {
  Model model = shaken_bar(Scheme::BackwardEuler);
  kinds::solid(model, 0).handles[0].motion.displacement = {
      {0, 0.1, 0.2, 0.3}, {Vec3::Zero(), Vec3(0.1, 0, 0), Vec3(0, 0.1, 0.1), Vec3::Zero()}, geometry::AfterLastKey::Hold};
  const SolidBody& bar = kinds::solid(model, 0);
  Simulation simulation(model);
  Vec3 before = Vec3::Zero();
  for (int step = 0; step < 20; ++step) {
    const StepReport report = simulation.advance();
    ASSERT_TRUE(report.converged());
    ASSERT_TRUE(report.bodies[0].find<Vec3>("handles/0/force"));
    EXPECT_FALSE(report.bodies[0].find<Vec3>("handles/1/force"));
    const Vec3 momentum = report.bodies[0].momentum;
    const Vec3 forces = *report.bodies[0].find<Vec3>("handles/0/force") + bar_mass * model.gravity - bar.mass_damping * momentum;
    EXPECT_LT((forces - (momentum - before) / model.step).norm(), 1e-6 * bar_mass) << "step " << step;
    before = momentum;
  }
}

TEST(HandleForces, PullADampedBodySteadilyInEveryScheme) {
  for (const Scheme scheme : {Scheme::BackwardEuler, Scheme::Bdf2, Scheme::Trapezoid}) {
    Model model = shaken_bar(scheme);
    model.gravity = Vec3::Zero();
    model.dissipation = 0.2;
    kinds::solid(model, 0).stiffness_damping = 0.05;
    kinds::solid(model, 0).handles[0].motion = sliding({2, 0, 0});
    const Vec3 expected = kinds::solid(model, 0).mass_damping * bar_mass * Vec3(2, 0, 0);
    Simulation simulation(model);
    StepReport report;
    for (int step = 0; step < 150; ++step) report = simulation.advance();
    EXPECT_LT((*report.bodies[0].find<Vec3>("handles/0/force") - expected).norm(), 1e-3 * expected.norm())
        << report.bodies[0].find<Vec3>("handles/0/force")->transpose() << ", not " << expected.transpose();
  }
}

TEST(Fields, ForcesBelongToTheStepThatLedToTheState) {
  const Model model = thrown_block(ContactKind::Constraint);
  Simulation simulation(model);
  EXPECT_EQ(sum(simulation.fields(0), "residual"), 0);
  for (int i = 0; i < 4; ++i) simulation.advance();
  EXPECT_GT(sum(simulation.fields(0), "residual"), 0);
  EXPECT_GT(sum(simulation.fields(0), "contact_force"), 0);
  EXPECT_GT(sum(simulation.fields(0), "von_mises"), 0);
  ASSERT_TRUE(simulation.restore(Simulation(model).state()));
  EXPECT_EQ(sum(simulation.fields(0), "residual"), 0);
  EXPECT_EQ(sum(simulation.fields(0), "contact_force"), 0);
  EXPECT_NEAR(sum(simulation.fields(0), "von_mises"), 0, 1e-6);
  for (int i = 0; i < 4; ++i) simulation.advance();
  simulation.set_stop_request([] { return true; });
  simulation.advance();
  EXPECT_EQ(sum(simulation.fields(0), "residual"), 0);
}

void expect_same(const matter::liquid::GridFields& a, const matter::liquid::GridFields& b) {
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.separating, b.separating);
  EXPECT_EQ(a.pressure, b.pressure);
  EXPECT_EQ(a.level_set, b.level_set);
  EXPECT_EQ(a.velocity, b.velocity);
  EXPECT_EQ(a.open, b.open);
}

TEST(Fields, TheLiquidsGridIsThatOfTheState) {
  const Model model = water_and_bar();
  Simulation simulation(model);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(simulation.advance().accepted);
  const State early = simulation.state();
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(simulation.advance().accepted);
  const matter::liquid::GridFields late = kinds::liquid_grid(simulation);
  Simulation fresh(model);
  ASSERT_TRUE(fresh.restore(early));
  ASSERT_TRUE(simulation.restore(early));
  const matter::liquid::GridFields now = kinds::liquid_grid(simulation);
  expect_same(now, kinds::liquid_grid(fresh));
  EXPECT_NE(now.velocity, late.velocity);
  EXPECT_GT(*std::max_element(now.pressure.begin(), now.pressure.end()), 1000)
      << "what the state remembers, in pascals";

  // A step that is not taken leaves no trace either.
  ASSERT_TRUE(simulation.advance().accepted);
  const State next = simulation.state();
  script(simulation, {Outcome::Failed});
  ASSERT_FALSE(simulation.advance().accepted);
  ASSERT_TRUE(fresh.restore(next));
  expect_same(kinds::liquid_grid(simulation), kinds::liquid_grid(fresh));
}

}  // namespace
}  // namespace lope::step
