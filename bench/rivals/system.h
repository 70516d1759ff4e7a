// The file in which a rival receives a mixed complementarity problem: rows, entries (int64), row starts
// (int64), columns (int32), values, b (double), flags of the bounded rows (uint8), little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <vector>

namespace lope::rivals {

struct System {
  std::int64_t rows = 0, entries = 0;
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> column;
  std::vector<double> value, b;
  std::vector<std::uint8_t> bounded;
};

template <class T>
void read(std::ifstream& in, T* data, std::size_t count) {
  in.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(count * sizeof(T)));
}

inline bool load(const char* path, System& s) {
  std::ifstream in(path, std::ios::binary);
  read(in, &s.rows, 1);
  read(in, &s.entries, 1);
  if (!in) return false;
  s.start.resize(static_cast<std::size_t>(s.rows) + 1);
  s.column.resize(static_cast<std::size_t>(s.entries));
  s.value.resize(s.column.size());
  s.b.resize(static_cast<std::size_t>(s.rows));
  s.bounded.resize(s.b.size());
  read(in, s.start.data(), s.start.size());
  read(in, s.column.data(), s.column.size());
  read(in, s.value.data(), s.value.size());
  read(in, s.b.data(), s.b.size());
  read(in, s.bounded.data(), s.bounded.size());
  return static_cast<bool>(in);
}

// What a rival answers.
inline void write_answer(const char* path, double setup_seconds, double solve_seconds, int iterations,
                         double residual) {
  std::ofstream out(path);
  out << setup_seconds << ' ' << solve_seconds << ' ' << iterations << ' ' << residual << '\n';
}

}  // namespace lope::rivals
