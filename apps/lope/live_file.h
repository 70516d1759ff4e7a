// live.jsonl in the directory of a run: the iterations of the step that goes on, for whoever watches (docs/formats.md). Begun anew
// with every step, and gone when the run is not.
#pragma once

#include <lope/base/timer.h>
#include <lope/scene/run.h>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace lope::program {

class LiveFile {
 public:
  explicit LiveFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~LiveFile();
  LiveFile(const LiveFile&) = delete;
  LiveFile& operator=(const LiveFile&) = delete;

  // What cannot be written is left out: nobody's run shall end for it.
  void add(const scene::IterationProgress& progress);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::int64_t step_ = -1;
  Stopwatch since_last_;
};

}  // namespace lope::program
