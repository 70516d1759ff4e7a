// JSON lines: one JSON object per line, appended while a simulation runs (stats.jsonl). Every line reaches
// the operating system before append() returns, so that an interrupted run keeps all of them but possibly the
// last.
//
// JSON has no numbers that are not finite. Here they are the strings "nan", "inf" and "-inf".
#pragma once

#include <lope/base/expected.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace lope::io {

class JsonLines {
 public:
  // Starts an empty file, replacing an old one.
  static Expected<JsonLines> create(const std::filesystem::path& path);
  // Continues a file after step `last_step`: cuts it before the first line whose "step" is larger, and drops
  // a last line that is incomplete. Starts a new file if there is none.
  static Expected<JsonLines> resume(const std::filesystem::path& path, std::int64_t last_step);

  // Fails if the disk is full or the text in it is not UTF-8.
  Expected<void> append(nlohmann::json line);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  JsonLines(std::filesystem::path path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  static Expected<JsonLines> open(const std::filesystem::path& path, const char* mode);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

// All lines, parsed. A last line without its end (the run was interrupted while writing it) is left out with
// a warning; any other line that is not JSON is an Error with its number. Callers include
// <nlohmann/json.hpp>.
Expected<std::vector<nlohmann::json>> read_json_lines(const std::filesystem::path& path);

// Turns every number of a tree that is not finite into its string.
void name_non_finite(nlohmann::json& tree);

// The number that a value stands for: a number, one of the three strings, or null (NaN, as older files have
// it). Throws nlohmann::json::type_error for anything else.
double number_from(const nlohmann::json& value);

}  // namespace lope::io
