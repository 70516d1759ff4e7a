// build_model: from a resolved scene to the Model of the integrator.
#include <lope/optimize/methods.h>
#include <lope/optimize/stopping.h>
#include <lope/scene/kind.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/scene.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lope::scene {
namespace {

// Of the bodies whose steps are minimised.
double smallest_size(const step::Model& model) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& body : model.bodies) {
    if (find_kind(body->kind())->concerns().minimizer)
      smallest = std::min(smallest, body->region().extent().maxCoeff());
  }
  return smallest;
}

optimize::StoppingOptions stopping(const Value& solver, const step::Model& model) {
  using optimize::StoppingTest;
  struct Row {
    const char* word;
    StoppingTest test;
  };
  static constexpr std::array<Row, 3> rows{
      {{"characteristic", StoppingTest::CharacteristicGlobal},
       {"characteristic-nodewise", StoppingTest::CharacteristicNodewise},
       {"gradient", StoppingTest::GradientNorm}}};
  const std::string& word = solver.text_at("tolerance");
  for (const Row& row : rows) {
    if (word == row.word)
      return {row.test, solver.has("epsilon") ? solver.number_at("epsilon") : optimize::default_epsilon(row.test)};
  }
  return {StoppingTest::Displacement, solver.has("accuracy")
                                          ? solver.number_at("accuracy")
                                          : solver.number_at("relative_accuracy") * smallest_size(model)};
}

// How steps are minimised.
void set_solver(const Value& solver, step::Model& model) {
  model.solver.method = *optimize::find_method(solver.text_at("method"));
  model.solver.stopping = stopping(solver, model);
  const std::string& start = solver.text_at("start");
  model.solver.initial_guess = start == "inertia"  ? step::InitialGuess::Inertia
                               : start == "rescue" ? step::InitialGuess::Rescue
                                                   : step::InitialGuess::Best;
}

step::Scheme scheme(const std::string& word) {
  if (word == "bdf-2") return step::Scheme::Bdf2;
  if (word == "static") return step::Scheme::Static;
  return word == "trapezoid" ? step::Scheme::Trapezoid : step::Scheme::BackwardEuler;
}

}  // namespace

Expected<step::Model> build_model(const Scene& scene) {
  const Value& root = scene.resolved;
  step::Model model;
  model.gravity = root.vector_at("gravity");
  model.step = root["time"].number_at("step");
  model.solver.max_iterations = root["solver"].integer_at("max_iterations");
  for (const Value& value : root.items_at("obstacle")) {
    Expected<step::Obstacle> obstacle = build_obstacle(value, scene.dimension);
    if (!obstacle) return forward_error(obstacle);
    model.obstacles.push_back(std::move(*obstacle));
  }
  const Value &contact = root["contact"], &time = root["time"];
  if (contact.has("friction")) model.body_contact.friction = contact.number_at("friction");
  if (contact.has("stiffness")) model.body_contact.stiffness = contact.number_at("stiffness");
  if (contact.has("model") && contact.text_at("model") == "barrier")
    model.body_contact.model = step::BodyContactModel::Barrier;
  if (contact.has("reach")) model.body_contact.reach = contact.number_at("reach");
  if (contact.has("thickness")) model.body_contact.thickness = contact.number_at("thickness");
  if (contact.has("friction_model") && contact.text_at("friction_model") == "gast15")
    model.friction_model = step::FrictionModel::Gast15;
  if (time.has("scheme")) model.scheme = scheme(time.text_at("scheme"));
  if (time.has("impact_step")) model.impact_step = time.number_at("impact_step");
  if (time.has("dissipation")) model.dissipation = time.number_at("dissipation");
  std::vector<Polymorphic<matter::Body>> bodies;
  for (const Kind* kind : kinds()) {
    if (!kind->is_in(root)) continue;
    auto built = kind->build(scene, model);
    if (!built) return forward_error(built);
    std::move(built->begin(), built->end(), std::back_inserter(bodies));
  }
  model.bodies = std::move(bodies);
  if (root["solver"].has("method")) set_solver(root["solver"], model);
  return model;
}

}  // namespace lope::scene
