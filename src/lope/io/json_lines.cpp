#include <lope/base/errors.h>
#include <lope/base/log.h>
#include <lope/io/file.h>
#include <lope/io/json_lines.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <string_view>

#include <nlohmann/json.hpp>

namespace lope::io {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Takes the next complete line off the front. False if there is none.
bool take_line(std::string_view& text, std::string_view& line) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return true;
}

// The number of bytes of the lines up to step `last_step`.
std::size_t kept_size(std::string_view text, std::int64_t last_step) {
  const std::size_t all = text.size();
  std::size_t kept = 0;
  for (std::string_view line; take_line(text, line); kept = all - text.size()) {
    const json value = json::parse(line, nullptr, false);
    if (value.is_discarded()) break;
    if (!value.is_object() || !value.contains("step") || !value["step"].is_number()) continue;
    if (value["step"].get<double>() > static_cast<double>(last_step)) break;
  }
  return kept;
}

}  // namespace

Expected<JsonLines> JsonLines::open(const fs::path& path, const char* mode) {
  std::FILE* file = std::fopen(path.string().c_str(), mode);
  if (!file) return writing_error(path, errno);
  return JsonLines(path, file);
}

Expected<JsonLines> JsonLines::create(const fs::path& path) { return open(path, "wb"); }

Expected<JsonLines> JsonLines::resume(const fs::path& path, std::int64_t last_step) {
  std::error_code none;
  if (!fs::exists(path, none)) return create(path);
  const Expected<std::string> bytes = read_file(path);
  if (!bytes) return forward_error(bytes);
  const std::size_t kept = kept_size(*bytes, last_step);
  if (kept < bytes->size()) {
    if (const auto cut = write_file(path, std::string_view(*bytes).substr(0, kept)); !cut)
      return forward_error(cut);
  }
  return open(path, "ab");
}

Expected<void> JsonLines::append(json line) {
  name_non_finite(line);
  std::string text;
  try {
    text = line.dump() + '\n';
  } catch (const json::exception& trouble) {
    return input_error("{}: a line cannot be written: {}", path_.string(), trouble.what());
  }
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (std::fflush(file_.get()) != 0 || !written) return writing_error(path_, errno != 0 ? errno : EIO);
  return {};
}

Expected<std::vector<json>> read_json_lines(const fs::path& path) {
  const Expected<std::string> bytes = read_file(path);
  if (!bytes) return forward_error(bytes);
  std::vector<json> lines;
  std::string_view text = *bytes;
  int number = 0;
  for (std::string_view line; take_line(text, line);) {
    ++number;
    json value = json::parse(line, nullptr, false);
    if (value.is_discarded()) return input_error("{}:{}: this line is not JSON", path.string(), number);
    lines.push_back(std::move(value));
  }
  if (!text.empty()) log_warning("{}:{}: left out an incomplete last line", path.string(), number + 1);
  return lines;
}

void name_non_finite(json& tree) {
  if (tree.is_structured()) {
    for (json& part : tree) name_non_finite(part);
  } else if (tree.is_number_float() && !std::isfinite(tree.get<double>())) {
    const double value = tree.get<double>();
    tree = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
}

double number_from(const json& value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value == "inf") return infinity;
  if (value == "-inf") return -infinity;
  if (value == "nan" || value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  return value.get<double>();
}

}  // namespace lope::io
