#include <lope/base/array_reader.h>
#include <lope/base/errors.h>
#include <lope/io/checkpoint.h>
#include <lope/scene/state_file.h>

#include <cmath>

#include <fmt/core.h>

namespace lope::scene {
namespace {

namespace fs = std::filesystem;

optimize::KeptModelPtr read_kept(ArrayReader& reader) {
  optimize::KeptModel kept;
  kept.point = reader.numbers("model_point");
  kept.choices = reader.numbers("model_choices");
  kept.iterations = static_cast<int>(reader.single<std::int64_t>("model_iterations"));
  kept.account = reader.numbers("model_account");
  if (kept.point.empty() && kept.account.empty()) return nullptr;
  return std::make_shared<const optimize::KeptModel>(std::move(kept));
}

}  // namespace

NamedArrays to_arrays(const step::State& state) {
  NamedArrays arrays;
  arrays.add("time", std::vector<double>{state.time});
  arrays.add("previous_h", std::vector<double>{state.previous_h});
  arrays.add("step", std::vector<std::int64_t>{state.step});
  arrays.add("bodies", std::vector<std::int64_t>{static_cast<std::int64_t>(state.bodies.size())});
  for (std::size_t i = 0; i < state.bodies.size(); ++i) arrays.add(fmt::format("body{}/", i), state.bodies[i]->arrays());
  for (std::size_t k = 0; k < state.kept.size(); ++k) {
    const optimize::KeptModel kept = state.kept[k] ? *state.kept[k] : optimize::KeptModel();
    const std::string name = fmt::format("island{}/", k);
    arrays.add(name + "model_point", kept.point);
    arrays.add(name + "model_choices", kept.choices);
    arrays.add(name + "model_iterations", std::vector<std::int64_t>{kept.iterations});
    arrays.add(name + "model_account", kept.account);
    arrays.add(name + "contacts", matter::to_numbers(state.contacts[k]));
    if (const matter::BarrierMemory& barrier = state.barriers[k]; barrier != matter::BarrierMemory())
      arrays.add(name + "barrier", std::vector<double>{barrier.stiffening, barrier.least_part});
  }
  return arrays;
}

Expected<step::State> state_from(const NamedArrays& arrays, const step::Simulation& simulation, const fs::path& path) {
  std::string missing;
  const auto look = [&](const ArrayReader& reader) {
    if (missing.empty()) missing = reader.missing();
  };
  ArrayReader whole(arrays);
  step::State state;
  state.time = whole.single<double>("time");
  state.previous_h = whole.single<double>("previous_h");
  state.step = whole.single<std::int64_t>("step");
  const auto bodies = whole.single<std::int64_t>("bodies");
  look(whole);
  if (missing.empty() && bodies != std::ssize(simulation.state().bodies)) {
    return input_error("{}: the saved state has {} bodies, the scene {}", path.string(), bodies,
                       simulation.state().bodies.size());
  }
  state.bodies = simulation.state().bodies;
  for (std::size_t i = 0; i < state.bodies.size() && missing.empty(); ++i) {
    ArrayReader reader(arrays, fmt::format("body{}/", i));
    state.bodies[i]->read(reader);
    look(reader);
  }
  for (std::size_t k = 0; missing.empty(); ++k) {
    ArrayReader reader(arrays, fmt::format("island{}/", k));
    if (!reader.has("model_point")) break;
    state.kept.push_back(read_kept(reader));
    const auto contacts = matter::contacts_from(reader.numbers("contacts"));
    if (!contacts) reader.miss("contacts");
    state.contacts.push_back(contacts.value_or(std::vector<matter::Contact>()));
    matter::BarrierMemory& barrier = state.barriers.emplace_back();
    if (reader.has("barrier")) {
      const std::vector<double> numbers = reader.numbers("barrier");
      if (numbers.size() == 2 && numbers[0] >= 1 && std::isfinite(numbers[0])) {
        barrier = {numbers[0], numbers[1]};
      } else {
        reader.miss("barrier");
      }
    }
    look(reader);
  }
  if (missing.empty()) return state;
  return input_error("{}: not a checkpoint of Lope: array '{}' is missing or of the wrong type", path.string(), missing);
}

Expected<void> write_state(const step::State& state, const fs::path& path) {
  return io::write_checkpoint(to_arrays(state), path);
}

Expected<step::State> read_state(const fs::path& path, const step::Simulation& simulation) {
  const auto arrays = io::read_checkpoint(path);
  if (!arrays) return forward_error(arrays);
  return state_from(*arrays, simulation, path);
}

}  // namespace lope::scene
