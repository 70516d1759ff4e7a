#include <lope/scene/statistics.h>

#include <cmath>

#include <nlohmann/json.hpp>

namespace lope::scene {
namespace {

using nlohmann::json;

const char* outcome_name(optimize::Outcome outcome) {
  switch (outcome) {
    case optimize::Outcome::Failed: return "failed";
    case optimize::Outcome::Converged: return "converged";
    case optimize::Outcome::IterationLimit: return "iteration-limit";
    case optimize::Outcome::Interrupted: return "interrupted";
    case optimize::Outcome::LineSearchStalled: return "line-search-stalled";
    case optimize::Outcome::Unsolvable: return "unsolvable";
  }
  return "failed";
}

json to_json(const Vec3& v) { return {v[0], v[1], v[2]}; }

json to_json(const optimize::MinimizerSummary& solve) {
  json history = json::array();
  for (const optimize::Iteration& it : solve.history) {
    history.push_back({{"iteration", it.number},
                       {"value", it.value},
                       {"gradient_norm", it.gradient_norm},
                       {"measure", it.measure},
                       {"tolerance", it.tolerance},
                       {"step_length", it.step_length},
                       {"line_search_steps", it.line_search_steps},
                       {"linear_iterations", it.linear_iterations},
                       {"seconds", it.seconds}});
  }
  return {{"outcome", outcome_name(solve.outcome)},
          {"reason", solve.reason},
          {"iterations", solve.iterations},
          {"linear_solves", solve.linear_solves},
          {"linear_iterations", solve.linear_iterations},
          {"settled_at", solve.settled_at},
          {"measure", solve.measure},
          {"tolerance", solve.tolerance},
          {"gradient_norm", solve.gradient_norm},
          {"value", solve.value},
          {"seconds",
           {{"evaluate", solve.timings.evaluate},
            {"hessian", solve.timings.hessian},
            {"factorize", solve.timings.factorize},
            {"solve", solve.timings.solve},
            {"total", solve.timings.total}}},
          {"history", history}};
}

json to_json(const step::ContactReport& contact, const step::Model& model) {
  json forces = json::object();
  for (std::size_t k = 0; k < contact.obstacle_force.size(); ++k) {
    forces[model.obstacles[k].name] = to_json(contact.obstacle_force[k]);
  }
  json result = {{"obstacle_pairs", contact.obstacle_pairs},
                 {"body_pairs", contact.body_pairs},
                 {"deepest", contact.deepest},
                 {"friction_loss", contact.friction_loss},
                 {"rounds", contact.rounds},
                 {"obstacle_force", std::move(forces)}};
  if (std::isfinite(contact.smallest_gap)) result["smallest_gap"] = contact.smallest_gap;
  return result;
}

// Names with parts become objects in objects.
void add(const matter::Quantity& quantity, json& to) {
  json* place = &to;
  std::size_t begin = 0;
  for (std::size_t end = quantity.name.find('/'); end != std::string::npos; end = quantity.name.find('/', begin)) {
    place = &(*place)[quantity.name.substr(begin, end - begin)];
    begin = end + 1;
  }
  json& value = (*place)[quantity.name.substr(begin)];
  std::visit(
      [&value]<class T>(const T& held) {
        if constexpr (std::is_same_v<T, Vec3>) value = to_json(held);
        else value = held;
      },
      quantity.value);
}

json to_json(const matter::BodyReport& body) {
  json made = {{"name", body.name},
               {"kind", body.kind},
               {"island", body.island},
               {"energy",
                {{"kinetic", body.energy.kinetic},
                 {"elastic", body.energy.elastic},
                 {"gravity", body.energy.gravity}}},
               {"momentum", to_json(body.momentum)}};
  if (body.angular_momentum) made["angular_momentum"] = to_json(*body.angular_momentum);
  for (const matter::Quantity& quantity : body.quantities) add(quantity, made);
  return made;
}

}  // namespace

json to_json(const step::StepReport& report, const step::Model& model) {
  json islands = json::array(), bodies = json::array();
  for (const step::IslandReport& island : report.islands) {
    json names = json::array();
    for (const std::size_t body : island.bodies) names.push_back(model.bodies[body]->name);
    islands.push_back(
        {{"bodies", std::move(names)}, {"fell_back", island.fell_back}, {"impact", island.impact}, {"measures", island.measures}, {"solve", to_json(island.solve)}});
    if (!island.contact.obstacle_force.empty() || island.contact.body_pairs > 0 || island.contact.rounds > 1) {
      islands.back()["contact"] = to_json(island.contact, model);
    }
  }
  for (const matter::BodyReport& body : report.bodies) bodies.push_back(to_json(body));
  return {{"step", report.step},           {"time", report.time},         {"h", report.h}, {"parts", report.parts},
          {"seconds", report.seconds},     {"accepted", report.accepted}, {"converged", report.converged()},
          {"islands", std::move(islands)}, {"bodies", std::move(bodies)}};
}

}  // namespace lope::scene
