// A state in an HDF5 file, bit for bit (io/checkpoint.h): what --resume goes on from.
#pragma once

#include <lope/base/expected.h>
#include <lope/base/named_arrays.h>
#include <lope/step/simulation.h>

#include <filesystem>

namespace lope::scene {

NamedArrays to_arrays(const step::State& state);
// A state of the simulation's kind; whether its sizes fit is for Simulation::restore to say. `path` stands in messages.
Expected<step::State> state_from(const NamedArrays& arrays, const step::Simulation& simulation,
                                 const std::filesystem::path& path);

Expected<void> write_state(const step::State& state, const std::filesystem::path& path);
Expected<step::State> read_state(const std::filesystem::path& path, const step::Simulation& simulation);

}  // namespace lope::scene
