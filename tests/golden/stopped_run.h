// A run of a scene through its files that stops after some steps, as if the user had interrupted it.
#pragma once

#include <lope/scene/run.h>
#include <lope/scene/scene.h>

#include <filesystem>

#include <gtest/gtest.h>

namespace lope::golden {

// Runs, or goes on from the checkpoint, at most this many steps. Every step must converge.
inline scene::RunSummary run_some(const scene::Scene& scene, const step::Model& model,
                                  const std::filesystem::path& directory, bool resume, std::int64_t at_most) {
  scene::RunOptions options;
  options.directory = directory;
  options.resume = resume;
  std::int64_t done = 0;
  options.on_step = [&](const scene::RunProgress&) { ++done; };
  options.stop_requested = [&] { return done >= at_most; };
  const auto summary = scene::run_scene(scene, model, options);
  EXPECT_TRUE(summary) << summary.error().message;
  if (!summary) return {};
  EXPECT_TRUE(summary->unconverged_steps.empty()) << summary->first_reason;
  return *summary;
}

}  // namespace lope::golden
