#include "live_file.h"

#include <lope/io/json_lines.h>

#include <fstream>
#include <system_error>

#include <nlohmann/json.hpp>

namespace lope::program {
namespace {

using nlohmann::json;

constexpr double pause = 0.1;  // seconds between writes

std::string text_of(json line) {
  io::name_non_finite(line);
  return line.dump() + "\n";
}

}  // namespace

LiveFile::~LiveFile() {
  std::error_code none;
  std::filesystem::remove(path_, none);
}

void LiveFile::add(const scene::IterationProgress& progress) {
  if (progress.step != step_) {
    step_ = progress.step;
    lines_ = text_of({{"step", progress.step}, {"steps", progress.steps}});
  }
  const optimize::Iteration& it = progress.iteration;
  lines_ += text_of({{"island", progress.island},
                     {"iteration", it.number},
                     {"measure", it.measure},
                     {"tolerance", it.tolerance},
                     {"gradient_norm", it.gradient_norm},
                     {"seconds", it.seconds}});
  if (since_last_.seconds() >= pause) write();
}

// Renamed, so that nobody reads half of it; it need not outlive a failure of the machine.
void LiveFile::write() {
  since_last_ = {};
  std::ofstream(part_, std::ios::binary) << lines_;
  std::error_code none;
  std::filesystem::rename(part_, path_, none);
}

}  // namespace lope::program
