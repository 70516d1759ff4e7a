// live.jsonl in the directory of a run: the iterations of the step that goes on, for whoever watches (docs/formats.md). Begun anew
// with every step, and gone when the run is not.
#pragma once

#include <lope/base/timer.h>
#include <lope/scene/run.h>

#include <filesystem>
#include <string>

namespace lope::program {

class LiveFile {
 public:
  explicit LiveFile(const std::filesystem::path& path) : path_(path), part_(path.string() + ".part") {}
  ~LiveFile();
  LiveFile(const LiveFile&) = delete;
  LiveFile& operator=(const LiveFile&) = delete;

  // What cannot be written is left out: nobody's run shall end for it.
  void add(const scene::IterationProgress& progress);

 private:
  void write();

  std::filesystem::path path_, part_;
  std::int64_t step_ = -1;
  std::string lines_;
  Stopwatch since_last_;
};

}  // namespace lope::program
