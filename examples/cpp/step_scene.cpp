// A scene stepped by hand: the loop is ours, and with it what happens between two steps.
//
// Sample run: step_scene              the scene below, 20 steps
//             step_scene flag.toml 5  a file, 5 steps
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>

#include <cstdlib>

#include <fmt/core.h>

namespace {

constexpr const char* beam = R"(
[time]
step = "25 ms"

[[body]]
name = "beam"
shape = { box = { size = [1, 0.1, 0.1] } }
material = "rubber"

[[body.handle]]
where = { side = "x-min" }
pin = true
)";

int give_up(const lope::Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto scene =
      argc > 1 ? lope::scene::load_scene(argv[1]) : lope::scene::load_scene_text(beam, "beam.toml");
  if (!scene) return give_up(scene.error());
  auto model = lope::scene::build_model(*scene);
  if (!model) return give_up(model.error());
  const int steps = argc > 2 ? std::atoi(argv[2]) : 20;

  lope::step::Simulation simulation(*model);
  int iterations = 0;
  simulation.set_observer(
      [&](std::size_t, const lope::optimize::Iteration&, std::span<const double>) { ++iterations; });
  for (int k = 0; k < steps; ++k) {
    const lope::step::StepReport report = simulation.advance();
    if (!report.accepted) {
      fmt::print(stderr, "step {} cannot be taken: {}\n", report.step, report.culprit()->solve.reason);
      return 2;
    }
    for (const lope::matter::BodyReport& body : report.bodies) {
      fmt::print("t = {:.3f} s  {}: kinetic {:.4g} J, elastic {:.4g} J{}\n", report.time, body.name,
                 body.energy.kinetic, body.energy.elastic, report.converged() ? "" : ", NOT CONVERGED");
    }
  }
  fmt::print("{} iterations in {} steps\n", iterations, steps);

  // The state: of solids and cloth interleaved positions and velocities; of any kind named arrays, and fields by name.
  const lope::step::State& state = simulation.state();
  for (std::size_t b = 0; b < model->bodies.size(); ++b) {
    for (const lope::ArrayView& array : state.bodies[b]->arrays())
      fmt::print("{}/{}\n", model->bodies[b]->name, array.name);
    for (const lope::matter::Field& field : simulation.fields(b))
      fmt::print("  field {} ({} values)\n", field.name, field.values.size());
  }
  return simulation.take_back() && simulation.state().step == steps - 1 ? 0 : 1;
}
