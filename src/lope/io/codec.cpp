#include <lope/io/codec.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <vector>

#include <zlib.h>

namespace lope::io {
namespace {

constexpr std::size_t portion_size = std::size_t(1) << 20;
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_values() {
  std::array<std::int8_t, 256> values{};
  for (auto& value : values) value = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}
constexpr std::array<std::int8_t, 256> values_of = make_values();

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? alphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::optional<std::string> take_base64(std::string_view& text, std::size_t bytes) {
  std::string out;
  if (bytes / 3 > text.size() / 4) return std::nullopt;
  out.reserve(bytes + 2);
  std::size_t at = 0;
  while (out.size() < bytes) {
    std::uint32_t group = 0;
    std::size_t digits = 0, padding = 0;
    while (digits + padding < 4) {
      while (at < text.size() && is_space(text[at])) ++at;
      if (at == text.size()) return std::nullopt;
      const char c = text[at++];
      if (c == '=' && digits >= 2) {
        ++padding;
        continue;
      }
      const int value = values_of[static_cast<unsigned char>(c)];
      if (value < 0 || padding > 0) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(value);
      ++digits;
    }
    group <<= 6 * padding;
    for (std::size_t k = 0; k < 3 - padding; ++k) out += static_cast<char>(group >> (16 - 8 * k) & 255);
    if (padding > 0 && out.size() < bytes) return std::nullopt;
  }
  // Encoders pad each value, so that nothing but padding may be decoded beyond its end.
  text.remove_prefix(at);
  out.resize(bytes);
  return out;
}

std::string deflated(std::string_view bytes, int level) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
            bytes.size(), level);
  out.resize(size);
  return out;
}

std::optional<std::string> inflated(std::string_view bytes, std::size_t size) {
  if (size / 1032 > bytes.size()) return std::nullopt;
  std::string out(size, '\0');
  uLongf written = size;
  // zlib wants somewhere to write even for nothing.
  Bytef nowhere = 0;
  Bytef* target = size == 0 ? &nowhere : reinterpret_cast<Bytef*>(out.data());
  const int code = uncompress(target, &written, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (code != Z_OK || written != size) return std::nullopt;
  return out;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string gzipped(std::string_view bytes, int level) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16, memory_level = 8;
  if (deflateInit2(&stream, level, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out;
  std::vector<char> portion(portion_size);
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    // zlib counts in 32 bits: give it the input in portions too.
    const std::size_t given = std::min(bytes.size(), portion_size);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(portion.data());
    stream.avail_out = static_cast<uInt>(portion.size());
    code = deflate(&stream, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    out.append(portion.data(), portion.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

std::optional<std::string> gunzipped(std::string_view bytes, std::size_t largest) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  if (inflateInit2(&stream, gzip_window) != Z_OK) throw std::bad_alloc();
  std::string out;
  std::vector<char> portion(portion_size);
  int code = Z_OK;
  while (code == Z_OK || (code == Z_STREAM_END && is_gzip(bytes))) {
    if (code == Z_STREAM_END) inflateReset(&stream);
    const std::size_t given = std::min(bytes.size(), portion_size);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(portion.data());
    stream.avail_out = static_cast<uInt>(portion.size());
    code = inflate(&stream, Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    out.append(portion.data(), portion.size() - stream.avail_out);
    if (out.size() > largest) code = Z_BUF_ERROR;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END) return std::nullopt;
  return out;
}

}  // namespace lope::io
