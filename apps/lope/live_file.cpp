#include "live_file.h"

#include <lope/io/json_lines.h>

#include <system_error>

#include <nlohmann/json.hpp>

namespace lope::program {
namespace {

using nlohmann::json;

constexpr double pause = 0.1;  // seconds between writes

void put(json line, std::FILE* file) {
  io::name_non_finite(line);
  const std::string text = line.dump() + "\n";
  std::fwrite(text.data(), 1, text.size(), file);
}

}  // namespace

LiveFile::~LiveFile() {
  file_.reset();
  std::error_code none;
  std::filesystem::remove(path_, none);
}

void LiveFile::add(const scene::IterationProgress& progress) {
  if (progress.step != step_) {
    step_ = progress.step;
    file_.reset(std::fopen(path_.c_str(), "w"));
    if (file_) put({{"step", progress.step}, {"steps", progress.steps}}, file_.get());
  }
  if (!file_) return;
  const optimize::Iteration& it = progress.iteration;
  put({{"island", progress.island},
       {"iteration", it.number},
       {"measure", it.measure},
       {"tolerance", it.tolerance},
       {"gradient_norm", it.gradient_norm},
       {"seconds", it.seconds}},
      file_.get());
  if (since_last_.seconds() < pause) return;
  std::fflush(file_.get());
  since_last_ = {};
}

}  // namespace lope::program
