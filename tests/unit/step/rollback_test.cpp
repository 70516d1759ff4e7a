// A step is a function of the state: whatever a simulation did before, tried and took back, or broke off, the
// step from a restored state has the same bits; for every method, with everything that bodies may touch.
#include <lope/optimize/automatic.h>
#include <lope/optimize/lbfgs.h>
#include <lope/optimize/methods.h>
#include <support/sanitized.h>

#include "step_models.h"

namespace lope::step {
namespace {

constexpr int steps = sanitized ? 5 : 9;

struct Case {
  std::string name;
  Model (*make)();
  bool constrained = false;  // for methods that follow the projection only
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"handles", held_bar},
      {"handles_trapezoid",
       [] {
         Model model = held_bar();
         model.scheme = Scheme::Trapezoid;
         return model;
       }},
      {"handles_bdf2",
       [] {
         Model model = held_bar();
         model.scheme = Scheme::Bdf2;
         return model;
       }},
      {"constraints", [] { return thrown_block(ContactKind::Constraint); }, true},
      {"penalties", [] { return thrown_block(ContactKind::Penalty); }},
      // Steps in which the scheme would gain energy are taken again with other weights.
      {"trapezoid",
       [] {
         Model model = thrown_block(ContactKind::Constraint);
         model.scheme = Scheme::Trapezoid;
         for (Obstacle& obstacle : model.obstacles) obstacle.friction = 0;
         return model;
       },
       true},
      {"bodies", stacked_blocks, true},
      {"liquid", water_and_bar},
  };
  return all;
}

struct Record {
  std::vector<State> states;  // at the beginning, and after every step
  std::vector<StepReport> reports;
};

// Goes on where a step is not accepted: the state stays.
Record run_straight(Simulation& simulation) {
  Record record;
  record.states.push_back(simulation.state());
  for (int i = 0; i < steps; ++i) {
    record.reports.push_back(simulation.advance());
    record.states.push_back(simulation.state());
  }
  return record;
}

void expect_same_step(Simulation& simulation, const Record& straight, std::size_t i) {
  const StepReport report = simulation.advance();
  EXPECT_EQ(report.accepted, straight.reports[i].accepted);
  ASSERT_EQ(report.islands.size(), straight.reports[i].islands.size());
  for (std::size_t k = 0; k < report.islands.size(); ++k) {
    const optimize::MinimizerSummary &a = report.islands[k].solve, &b = straight.reports[i].islands[k].solve;
    EXPECT_EQ(a.outcome, b.outcome);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.linear_iterations, b.linear_iterations);
  }
  expect_same(simulation.state(), straight.states[i + 1]);
}

void restore(Simulation& simulation, const State& state) {
  const auto restored = simulation.restore(state);
  ASSERT_TRUE(restored) << restored.error().message;
}

// Broken off after some iterations, if it takes that many.
void try_and_break_off(Simulation& simulation, int iterations) {
  const State before = simulation.state();
  int asked = 0;
  simulation.set_stop_request([&] { return ++asked > iterations; });
  const StepReport report = simulation.advance();
  simulation.set_stop_request({});
  if (report.interrupted) {
    EXPECT_FALSE(report.accepted);
    expect_same(simulation.state(), before);
  } else {
    restore(simulation, before);
  }
}

using MakeSimulation = std::function<std::unique_ptr<Simulation>()>;

void expect_function_of_state(const MakeSimulation& make) {
  const auto first = make();
  const Record straight = run_straight(*first);
  const auto restless = make(), wanderer = make();
  for (std::size_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "step " << i + 1);
    // Fresh: nothing but the state.
    const auto fresh = make();
    restore(*fresh, straight.states[i]);
    expect_same_step(*fresh, straight, i);
    // Goes on by itself, after steps that were broken off.
    for (const int iterations : {0, 1, 3}) try_and_break_off(*restless, iterations);
    expect_same_step(*restless, straight, i);
    // Restored from elsewhere: from a step of another length and from the end.
    wanderer->advance(0.6 * wanderer->model().step);
    restore(*wanderer, straight.states[i]);
    wanderer->advance();
    restore(*wanderer, straight.states.back());
    wanderer->advance();
    restore(*wanderer, straight.states[i]);
    expect_same_step(*wanderer, straight, i);
  }
}

class Rollback : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  const Case& scene() const { return cases()[std::get<0>(GetParam())]; }
  const optimize::MethodInfo& method() const { return optimize::methods()[std::get<1>(GetParam())]; }
};

std::string test_name(const testing::TestParamInfo<std::tuple<std::size_t, std::size_t>>& info) {
  std::string name = cases()[std::get<0>(info.param)].name + "_" +
                     std::string(optimize::methods()[std::get<1>(info.param)].name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Every scene with every method; where a sanitizer watches, every scene with a quarter of the methods, and every method with two scenes.
std::vector<std::tuple<std::size_t, std::size_t>> scenes_and_methods() {
  std::vector<std::tuple<std::size_t, std::size_t>> pairs;
  for (std::size_t scene = 0; scene < cases().size(); ++scene) {
    for (std::size_t method = 0; method < optimize::methods().size(); ++method) {
      if (!sanitized || (scene + method) % 4 == 0) pairs.emplace_back(scene, method);
    }
  }
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(All, Rollback, testing::ValuesIn(scenes_and_methods()), test_name);

TEST_P(Rollback, TheSameStateGivesTheSameStep) {
  Model model = scene().make();
  model.solver.method = method().method;
  model.solver.max_iterations = 60;
  // A method that ignores constraints is not allowed to meet them: penalties take their place.
  if (scene().constrained && !method().honours_projection) {
    for (Obstacle& o : model.obstacles) o.contact = ContactKind::Penalty;
  }
  expect_function_of_state([&] { return std::make_unique<Simulation>(model); });
}

// That a method remembers something, in contact too, which the test above is about. (Not with friction, whose normal
// forces change from step to step.)
TEST(Rollback, WhatIsRememberedBelongsToTheState) {
  for (const auto method : {optimize::Method::Newton, optimize::Method::Dot}) {
    Model model = thrown_block(ContactKind::Constraint);
    for (Obstacle& o : model.obstacles) o.friction = 0;
    model.solver.method = method;
    Simulation simulation(model);
    int with_model = 0, with_active_constraints = 0;
    for (int i = 0; i < steps; ++i) {
      ASSERT_TRUE(simulation.advance().accepted);
      const optimize::KeptModelPtr& kept = simulation.state().kept.at(0);
      with_model += kept != nullptr;
      with_active_constraints += kept && !kept->choices.empty();
    }
    EXPECT_GT(with_model, 3) << optimize::name_of(method);
    EXPECT_GT(with_active_constraints, 0) << optimize::name_of(method);
  }
}

// `auto` keeps account of two methods and changes between them; here at every comparison.
TEST(Rollback, AutomaticChoiceBelongsToTheState) {
  for (const Case& scene : cases()) {
    SCOPED_TRACE(scene.name);
    const Model model = scene.make();
    const auto make_simulation = [&] {
      auto simulation = std::make_unique<Simulation>(model);
      simulation->use_minimizer([](const optimize::Objective&) { return std::make_unique<optimize::Automatic>(1e6); });
      return simulation;
    };
    expect_function_of_state(make_simulation);
    const auto simulation = make_simulation();
    int with_newton = 0;
    for (int i = 0; i < steps; ++i) {
      ASSERT_TRUE(simulation->advance().accepted);
      with_newton += simulation->state().kept.at(0)->account.at(0) != 0;
    }
    EXPECT_GT(with_newton, 0);
    EXPECT_LT(with_newton, steps);
  }
}

// An option for comparisons that no method of the table uses.
TEST(Rollback, LbfgsThatKeepsItsModel) {
  for (const auto make : {+[] { return held_bar(); }, +[] { return thrown_block(ContactKind::Penalty); }}) {
    const Model model = make();
    int kept = 0;
    const auto make_simulation = [&] {
      auto simulation = std::make_unique<Simulation>(model);
      simulation->use_minimizer([](const optimize::Objective&) {
        optimize::LbfgsOptions options;
        options.inverse.kind = optimize::InverseKind::Cholesky;
        options.keep_between = true;
        return std::make_unique<optimize::Lbfgs>(options);
      });
      return simulation;
    };
    expect_function_of_state(make_simulation);
    const auto simulation = make_simulation();
    for (int i = 0; i < steps; ++i) {
      simulation->advance();
      kept += simulation->state().kept[0] != nullptr;
    }
    if (model.obstacles.empty()) {
      EXPECT_GT(kept, 0);
    } else {
      EXPECT_EQ(kept, 0) << "the Hessian of penalties is not the same in every step";
    }
  }
}

// The state says which model is kept, whoever made it.
TEST(Rollback, AnotherMethodGoesOnFromTheStateAlone) {
  Model model = thrown_block(ContactKind::Constraint);
  model.solver.method = optimize::Method::Dot;
  Simulation changed(model);
  for (int i = 0; i < 5; ++i) changed.advance();
  const State before = changed.state();
  changed.use_method(optimize::Method::Newton);
  changed.advance();
  Model other = model;
  other.solver.method = optimize::Method::Newton;
  Simulation fresh(other);
  restore(fresh, before);
  fresh.advance();
  expect_same(changed.state(), fresh.state());
}

// Looking at a state, or at the problem of its next step, has no effect on the steps to come.
TEST(Rollback, LookingChangesNothing) {
  for (const Case& scene : cases()) {
    SCOPED_TRACE(scene.name);
    const Model model = scene.make();
    Simulation plain(model), watched(model);
    const Record straight = run_straight(plain);
    for (std::size_t i = 0; i < steps; ++i) {
      for (std::size_t b = 0; b < model.bodies.size(); ++b) {
        watched.fields(b);
        watched.energies(b);
      }
      for (std::size_t k = 0; k < watched.island_count(); ++k) watched.step_problem(k, 0.3 * model.step);
      if (kinds::has_liquid(model)) kinds::liquid_grid(watched);
      expect_same_step(watched, straight, i);
    }
  }
}

}  // namespace
}  // namespace lope::step
