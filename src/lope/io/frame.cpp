#include <lope/base/errors.h>
#include <lope/io/file.h>
#include <lope/io/frame.h>
#include <lope/io/print.h>
#include <lope/io/scanner.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace lope::io {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view magic("LOPEFRM\x01", 8);
constexpr std::size_t alignment = 8;
constexpr int version = 1;

std::size_t aligned(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

std::size_t value_size(const ArrayData& data) {
  return std::visit([](const auto& values) { return sizeof(values[0]); }, data);
}

json make_header(const Frame& frame) {
  json arrays = json::array();
  std::size_t offset = 0;
  for (const NamedArray& array : frame.data.arrays) {
    arrays.push_back(
        {{"name", array.name}, {"type", type_name(array.data)}, {"shape", array.shape}, {"offset", offset}});
    offset = aligned(offset + array.size() * value_size(array.data));
  }
  return {{"version", version},
          {"frame", frame.number},
          {"time", frame.time},
          {"metadata", frame.data.metadata},
          {"arrays", std::move(arrays)}};
}

// Everything of one array that the header tells, checked against the bytes of the file; what is wrong
// otherwise.
Expected<NamedArray> read_array(const json& entry, std::string_view data) {
  NamedArray array;
  array.name = entry.at("name").get<std::string>();
  const std::string type = entry.at("type").get<std::string>();
  if (!make_array(type, array.data))
    return input_error("array '{}' has the unknown type '{}'", array.name, type);
  for (const json& extent : entry.at("shape")) {
    if (!extent.is_number_unsigned()) return input_error("array '{}' has a damaged shape", array.name);
    array.shape.push_back(extent.get<std::size_t>());
  }
  const json& place = entry.at("offset");
  if (!place.is_number_unsigned()) return input_error("array '{}' has a damaged offset", array.name);
  const auto offset = place.get<std::size_t>();
  std::size_t count = 0;
  const bool inside = offset <= data.size() && offset % alignment == 0;
  if (!inside || !shape_product(array.shape, (data.size() - offset) / value_size(array.data), count)) {
    return input_error("array '{}' reaches beyond the end of the file; it is truncated or damaged",
                       array.name);
  }
  std::visit(
      [&](auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        values.resize(count);
        if constexpr (std::endian::native == std::endian::little) {
          if (count > 0) std::memcpy(values.data(), data.data() + offset, count * sizeof(T));
        } else {
          Scanner in("", data);
          in.seek(offset);
          in.begin_binary(std::endian::little);
          for (T& value : values) value = in.get<T>("");
        }
      },
      array.data);
  return array;
}

Expected<Frame> read_header(const json& header, std::string_view data) {
  if (header.at("version") != version) {
    return input_error("has version {} of the format; this program reads version {}",
                       header.at("version").dump(), version);
  }
  Frame frame;
  if (!header.at("frame").is_number_integer())
    return input_error("the number of the frame must be an integer");
  frame.number = header.at("frame").get<std::int64_t>();
  frame.time = header.at("time").get<double>();
  if (header.contains("metadata")) {
    frame.data.metadata = header.at("metadata").get<std::map<std::string, std::string>>();
  }
  std::set<std::string> names;
  for (const json& entry : header.at("arrays")) {
    Expected<NamedArray> array = read_array(entry, data);
    if (!array) return forward_error(array);
    if (!names.insert(array->name).second) return input_error("has two arrays named '{}'", array->name);
    frame.data.arrays.push_back(std::move(*array));
  }
  return frame;
}

}  // namespace

Expected<void> write_frame(const Frame& frame, const fs::path& path) {
  if (const Expected<void> sound = check_arrays(frame.data); !sound) {
    return input_error("{}: {}", path.string(), sound.error().message);
  }
  if (!std::isfinite(frame.time)) return input_error("{}: the time of a frame must be finite", path.string());
  std::string header;
  try {
    header = make_header(frame).dump();
  } catch (const json::exception& trouble) {
    return input_error("{}: names and metadata must be UTF-8 text ({})", path.string(), trouble.what());
  }
  header.resize(aligned(header.size()), ' ');
  AtomicFile file(path);
  std::string head(magic);
  put(head, static_cast<std::uint64_t>(header.size()));
  file.write(head);
  file.write(header);
  for (const NamedArray& array : frame.data.arrays) {
    std::string bytes;
    std::visit(
        [&](const auto& values) {
          bytes.reserve(aligned(values.size() * sizeof(values[0])));
          if constexpr (std::endian::native == std::endian::little) {
            bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
          } else {
            for (const auto value : values) put(bytes, value);
          }
        },
        array.data);
    bytes.resize(aligned(bytes.size()), '\0');
    file.write(bytes);
  }
  return file.commit();
}

Expected<Frame> read_frame(const fs::path& path) {
  const Expected<std::string> bytes = read_file(path);
  if (!bytes) return forward_error(bytes);
  if (bytes->substr(0, magic.size()) != magic) {
    return input_error("{}: is not a frame of Lope (its first 8 bytes are not LOPEFRM)", path.string());
  }
  Scanner in(path.string(), *bytes);
  in.begin_binary(std::endian::little);
  in.seek(magic.size());
  const auto header_size = in.get<std::uint64_t>("the length of the header");
  if (in.failed()) return in.error();
  if (header_size % alignment != 0 || header_size > in.remaining()) {
    return input_error("{}: byte 8: the header should have {} bytes; the file is truncated or damaged",
                       path.string(), header_size);
  }
  const std::string_view text = std::string_view(*bytes).substr(in.position(), header_size);
  const std::string_view data = std::string_view(*bytes).substr(in.position() + header_size);
  try {
    Expected<Frame> frame = read_header(json::parse(text), data);
    if (!frame) return input_error("{}: {}", path.string(), frame.error().message);
    return frame;
  } catch (const json::exception& trouble) {
    return input_error("{}: byte 16: the header is damaged: {}", path.string(), trouble.what());
  }
}

fs::path topology_path(const fs::path& folder) { return folder / "topology.lope"; }

fs::path frame_path(const fs::path& folder, std::int64_t number) {
  return folder / fmt::format("frame_{:06}.lope", number);
}

std::vector<std::int64_t> frame_numbers(const fs::path& folder) {
  std::vector<std::int64_t> numbers;
  std::error_code none;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none)) {
    const std::string name = entry->path().filename().string();
    std::int64_t number = 0;
    const std::size_t prefix = std::string_view("frame_").size();
    if (name.size() <= prefix) continue;
    std::from_chars(name.data() + prefix, name.data() + name.size(), number);
    if (frame_path(folder, number).filename() == name) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<double> shown_values(int components, std::span<const double> values) {
  if (components == 1) return {values.begin(), values.end()};
  const auto stride = static_cast<std::size_t>(components);
  std::vector<double> result(values.size() / stride);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::span<const double> v = values.subspan(i * stride, stride);
    double square = 0;
    if (components == 6) {
      const double a = v[0] - v[1], b = v[1] - v[2], c = v[2] - v[0];
      square = 0.5 * (a * a + b * b + c * c) + 3 * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
    } else {
      for (const double component : v) square += component * component;
    }
    result[i] = std::sqrt(square);
  }
  return result;
}

}  // namespace lope::io
