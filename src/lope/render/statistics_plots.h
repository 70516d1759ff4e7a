// The standard plots of a run, from its statistics.
#pragma once

#include <lope/base/expected.h>

#include <filesystem>
#include <vector>

namespace lope::render {

// From a stats.jsonl (docs/formats.md); the files as write_run_plots (run_plots.h) returns them.
Expected<std::vector<std::filesystem::path>> write_statistics_plots(const std::filesystem::path& statistics,
                                                                    const std::filesystem::path& folder);

}  // namespace lope::render
