// Reads text and binary values from the bytes of one file, for readers that must survive hostile input.
//
// The first failure is remembered, with its place, and everything after it yields zeros, so that a reader
// checks failed() once per loop instead of once per value. Counts read from a file are compared with the
// bytes that are left before anybody allocates by them. Places are lines in text and byte offsets in binary.
#pragma once

#include <lope/base/expected.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace lope::io {

class Scanner {
 public:
  Scanner(std::string path, std::string_view bytes) : path_(std::move(path)), bytes_(bytes) {}

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  void seek(std::size_t position) {
    position_ = failed() ? bytes_.size() : std::min(position, bytes_.size());
  }

  bool failed() const { return failure_.has_value(); }
  // Remembers a failure at the current value (or at `place`); the first one stays.
  void fail(std::string_view message) { fail_at(last_, message); }
  void fail_at(std::size_t place, std::string_view message);
  tl::unexpected<Error> error() const { return tl::unexpected<Error>(*failure_); }
  // "path:12" or "path: byte 345", for log messages and errors that are composed elsewhere.
  std::string where(std::size_t place) const;
  // Where the value that was read last begins.
  std::size_t last() const { return last_; }

  // Text. Tokens are separated by white space; from `comment_mark` to the end of the line is white space too.
  void set_comment_mark(char mark) { comment_mark_ = mark; }
  bool at_end();                             // nothing but white space is left
  bool at_end_of_line();                     // nothing but blanks is left in this line
  std::string_view token();                  // empty at the end
  std::string_view peek();                   // the next token, not consumed
  std::string_view line();                   // the rest of this line, without its end; moves to the next line
  double real(std::string_view what);        // any double, infinities and NaN included
  double coordinate(std::string_view what);  // a finite double
  std::int64_t integer(std::string_view what);
  // A number of items that follow, each of which takes at least `bytes_each` bytes of this file.
  std::size_t count(std::string_view what, std::size_t bytes_each);
  // An index in [base, base + size), returned from 0.
  int index(std::string_view what, std::size_t size, std::int64_t base);
  // The next token must be this word.
  void expect(std::string_view word);

  // Binary. From here on places are byte offsets.
  void begin_binary(std::endian order) {
    binary_ = true;
    swap_ = order != std::endian::native;
  }
  void end_binary() { binary_ = false; }
  template <class T>
  T get(std::string_view what) {
    std::array<unsigned char, sizeof(T)> raw{};
    last_ = position_;
    if (!failed() && remaining() < sizeof(T)) fail_truncated(what);
    if (failed()) return T{};
    std::memcpy(raw.data(), bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    if (swap_) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
  }
  // Checks a count that the caller has read as binary; 0 after a failure.
  std::size_t check_count(std::int64_t value, std::string_view what, std::size_t bytes_each);
  int check_index(std::int64_t value, std::string_view what, std::size_t size, std::int64_t base);
  double check_coordinate(double value, std::string_view what);
  void skip(std::size_t size, std::string_view what);

 private:
  void skip_space();
  void fail_truncated(std::string_view what);

  std::string path_;
  std::string_view bytes_;
  std::size_t position_ = 0;
  std::size_t last_ = 0;
  char comment_mark_ = '\0';
  bool binary_ = false;
  bool swap_ = false;
  std::optional<Error> failure_;
};

}  // namespace lope::io
