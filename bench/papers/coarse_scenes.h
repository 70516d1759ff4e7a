// The scenes that come with Lope, coarsened to a size that allows them to be run many times.
#pragma once

#include <filesystem>
#include <vector>

#include <papers/scene_runs.h>

namespace lope::bench {

// Those that --only names, or all of them, in the order of their names.
std::vector<std::filesystem::path> chosen_scenes(const BenchOptions& options);

// The scene with at most about `vertices` vertices in all its solids, solved to a displacement accuracy (the default one where the
// scene stops by a characteristic norm).
Expected<LoadedScene> load_coarse(const std::filesystem::path& file, int vertices);

// Whether all that the scene simulates are bodies of nodes, whose steps are minimisations.
bool has_nodes_only(const step::Model& model);

}  // namespace lope::bench
