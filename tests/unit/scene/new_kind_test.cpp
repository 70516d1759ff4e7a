// A kind of matter from outside the library goes through steps, states, statistics, files and frames like the others.
#include <lope/optimize/check_derivatives.h>
#include <lope/scene/frame_writer.h>
#include <lope/scene/state_file.h>
#include <lope/scene/statistics.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <support/chain.h>
#include <verification/models.h>

namespace lope::scene {
namespace {

using chain::ChainBody;
using chain::ChainState;

// A chain of five nodes that hangs from its first.
ChainBody hanging_chain(int plastic_link = -1) {
  ChainBody body;
  body.name = "chain";
  for (int i = 0; i < 5; ++i) body.nodes.emplace_back(0, -i, 0);
  body.plastic_link = plastic_link;
  matter::Handle top;
  top.vertices = {0};
  top.name = "top";
  body.handles = {top};
  return body;
}

step::Model model_of(ChainBody body) {
  step::Model model;
  model.gravity = Vec3(0, -10, 0);
  model.step = 0.02;
  model.add(std::move(body));
  verification::solve_tightly(model);
  return model;
}

TEST(NewKind, ItsDerivativesAreThoseOfItsEnergy) {
  step::Simulation simulation(model_of(hanging_chain()));
  auto problem = simulation.step_problem(0, 0.02);
  for (std::size_t k = 0; k < problem.start.size(); ++k)
    problem.start[k] += 0.1 * std::sin(static_cast<double>(7 * k));
  EXPECT_LT(optimize::check_derivatives(problem.objective, problem.start).largest(), 1e-6);
}

TEST(NewKind, ComesToRestUnderItsWeight) {
  step::Model model = model_of(hanging_chain());
  model.scheme = matter::Scheme::Static;
  step::Simulation simulation(model);
  const step::StepReport report = simulation.advance();
  ASSERT_TRUE(report.converged()) << report.islands[0].solve.reason;
  // Link i carries the nodes below it.
  double y = 0;
  for (int i = 0; i < 4; ++i) {
    y -= 1 + (4 - i) * 10 / 1e3;
    EXPECT_NEAR(simulation.state().nodes(0).x[3 * static_cast<std::size_t>(i + 1) + 1], y, 1e-6);
  }
  const Vec3* held = report.bodies[0].find<Vec3>("handles/top/force");
  ASSERT_TRUE(held);
  EXPECT_NEAR((*held)[1], 5 * 10, 1e-3);
}

TEST(NewKind, WhatFlowsIsAPartOfTheState) {
  ChainBody body = hanging_chain(0);
  body.yield = 0.03;  // its weight alone would strain the link by 0.04
  step::Simulation simulation(model_of(body));
  const auto length = [&] { return as<ChainState>(simulation.state().bodies[0]).lengths[0]; };
  double before = length();
  step::State saved;
  for (int i = 0; i < 100; ++i) {
    before = length();
    saved = simulation.state();
    ASSERT_TRUE(simulation.advance().converged());
    if (length() != before) break;
  }
  const double flowed = length();
  ASSERT_GT(flowed, before) << "nothing flowed";
  const std::vector<double> x = simulation.state().nodes(0).x;
  ASSERT_TRUE(simulation.take_back());
  EXPECT_EQ(length(), before);
  simulation.advance();
  EXPECT_EQ(length(), flowed);
  ASSERT_TRUE(simulation.restore(saved));
  simulation.advance();
  EXPECT_EQ(length(), flowed);
  EXPECT_EQ(simulation.state().nodes(0).x, x);
}

TEST(NewKind, StatesGoThroughFilesBitForBit) {
  step::Simulation simulation(model_of(hanging_chain(1)));
  for (int i = 0; i < 3; ++i) simulation.advance();
  const NamedArrays arrays = to_arrays(simulation.state());
  auto read = state_from(arrays, simulation, "memory");
  ASSERT_TRUE(read) << read.error().message;
  step::Simulation other(model_of(hanging_chain(1)));
  ASSERT_TRUE(other.restore(std::move(*read)));
  simulation.advance();
  other.advance();
  EXPECT_EQ(simulation.state().nodes(0).x, other.state().nodes(0).x);
  // A chain of another length is refused.
  ChainBody longer = hanging_chain(1);
  longer.nodes.emplace_back(0, -5, 0);
  step::Simulation refuses(model_of(longer));
  EXPECT_FALSE(refuses.restore(simulation.state()));
}

TEST(NewKind, StandsInStatisticsAndFramesBesideASolid) {
  step::Model model = model_of(hanging_chain());
  matter::SolidBody& block = model.add(verification::solid(verification::box({1, 1, 1}, {2, 2, 2}), 3, 1e5));
  block.name = "block";
  block.touches_others = false;
  as<ChainBody>(model.bodies[0]).touches_others = false;
  step::Simulation simulation(model);
  const step::StepReport report = simulation.advance();
  ASSERT_TRUE(report.converged());
  const nlohmann::json line = to_json(report, model);
  EXPECT_EQ(line["bodies"][0]["kind"], "chain");
  EXPECT_EQ(line["bodies"][0]["longest_link"], 1.0);
  EXPECT_TRUE(line["bodies"][0]["handles"]["top"].contains("force"));
  EXPECT_EQ(line["bodies"][1]["kind"], "solid");
  EXPECT_EQ(line["islands"].size(), 2U);

  Scene scene;
  scene.name = "mixed";
  scene.output.fields = {"strain"};
  scene.render.color_by = "body";
  scene.bodies = {{"chain", 3, Vec3::Zero()}, {"block", 3, Vec3::Zero()}};
  const FrameWriter writer(scene, simulation);
  const io::Frame frame = writer.snapshot(1);
  ASSERT_TRUE(frame.data.find("chain/points/position"));
  EXPECT_EQ(frame.data.find("chain/points/position")->shape, (std::vector<std::size_t>{5, 3}));
  ASSERT_TRUE(frame.data.find("chain/points/field/strain"));
  EXPECT_EQ(frame.data.find("chain/points/field/strain")->size(), 5U);
  EXPECT_TRUE(frame.data.find("block/position"));
}

}  // namespace
}  // namespace lope::scene
