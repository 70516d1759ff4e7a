// Appending text and raw bytes to a string: what the writers of this room are made of.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstring>
#include <string>
#include <string_view>

namespace lope::io {

inline void print(std::string& out, std::string_view text) { out += text; }
inline void print(std::string& out, const char* text) { out += text; }
inline void print(std::string& out, char c) { out += c; }

// The shortest digits that read back as the same number.
template <class T>
requires(std::floating_point<T> || std::integral<T>) void print(std::string& out, T value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

// Appends all of them, one after the other.
template <class First, class Second, class... Rest>
void print(std::string& out, const First& first, const Second& second, const Rest&... rest) {
  print(out, first);
  print(out, second);
  (print(out, rest), ...);
}

// The little-endian bytes of a number.
template <class T>
void put(std::string& out, T value) {
  auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
  out.append(raw.data(), raw.size());
}
// The big-endian ones.
template <class T>
void put_big_endian(std::string& out, T value) {
  const std::size_t begin = out.size();
  put(out, value);
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
}

}  // namespace lope::io
