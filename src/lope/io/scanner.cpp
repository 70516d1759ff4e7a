#include <lope/io/scanner.h>

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace lope::io {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_space(char c) { return is_blank(c) || c == '\n'; }

// Long or unprintable tokens of hostile files are not repeated in messages.
std::string quoted(std::string_view token) {
  std::string text;
  for (const char c : token.substr(0, 24)) text += c >= ' ' && c <= '~' ? c : '?';
  if (token.size() > 24) text += "...";
  return "'" + text + "'";
}

}  // namespace

std::string Scanner::where(std::size_t place) const {
  if (binary_) return fmt::format("{}: byte {}", path_, place);
  const std::string_view before = bytes_.substr(0, place);
  return fmt::format("{}:{}", path_, 1 + std::count(before.begin(), before.end(), '\n'));
}

void Scanner::fail_at(std::size_t place, std::string_view message) {
  if (!failed()) failure_ = Error{fmt::format("{}: {}", where(place), message), Trouble::Input};
  position_ = bytes_.size();
}

void Scanner::fail_truncated(std::string_view what) {
  fail(fmt::format("the file ends where {} should be; it is truncated, so export or copy it again", what));
}

void Scanner::skip_space() {
  const char* data = bytes_.data();
  const std::size_t size = bytes_.size();
  while (position_ < size) {
    const char c = data[position_];
    if (is_space(c)) {
      ++position_;
    } else if (c == comment_mark_ && c != '\0') {
      const std::size_t line_end = bytes_.find('\n', position_);
      position_ = line_end == std::string_view::npos ? size : line_end;
    } else {
      return;
    }
  }
}

bool Scanner::at_end() {
  skip_space();
  return position_ == bytes_.size();
}

bool Scanner::at_end_of_line() {
  while (position_ < bytes_.size() && is_blank(bytes_[position_])) ++position_;
  return position_ == bytes_.size() || bytes_[position_] == '\n' ||
         (comment_mark_ != '\0' && bytes_[position_] == comment_mark_);
}

std::string_view Scanner::token() {
  skip_space();
  last_ = position_;
  const std::size_t size = bytes_.size();
  while (position_ < size && !is_space(bytes_[position_])) ++position_;
  return bytes_.substr(last_, position_ - last_);
}

std::string_view Scanner::peek() {
  const std::size_t position = position_;
  const std::string_view next = token();
  position_ = position;
  return next;
}

std::string_view Scanner::line() {
  last_ = position_;
  const std::size_t line_end = std::min(bytes_.find('\n', position_), bytes_.size());
  std::string_view text = bytes_.substr(position_, line_end - position_);
  position_ = std::min(line_end + 1, bytes_.size());
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

double Scanner::real(std::string_view what) {
  skip_space();
  last_ = position_;
  if (failed()) return 0;
  const char* begin = bytes_.data() + position_;
  const char* end = bytes_.data() + bytes_.size();
  if (begin != end && *begin == '+') ++begin;
  double value = 0;
  const auto [stop, code] = std::from_chars(begin, end, value);
  if (stop != end && !is_space(*stop)) {
    fail(fmt::format("expected {} but found {}", what, quoted(token())));
    return 0;
  }
  if (code == std::errc::result_out_of_range) {
    // Too small to represent is zero; too large is the caller's infinity.
    const std::string_view text(begin, static_cast<std::size_t>(stop - begin));
    const std::size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos && text.substr(exponent + 1, 1) == "-";
    value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  } else if (code != std::errc()) {
    if (begin == end) {
      fail_truncated(what);
    } else {
      fail(fmt::format("expected {} but found {}", what, quoted(token())));
    }
    return 0;
  }
  position_ = static_cast<std::size_t>(stop - bytes_.data());
  return value;
}

double Scanner::coordinate(std::string_view what) { return check_coordinate(real(what), what); }

double Scanner::check_coordinate(double value, std::string_view what) {
  if (std::isfinite(value)) return value;
  fail(fmt::format("{} is {}; coordinates must be finite numbers", what, value));
  return 0;
}

std::int64_t Scanner::integer(std::string_view what) {
  skip_space();
  last_ = position_;
  if (failed()) return 0;
  const char* begin = bytes_.data() + position_;
  const char* end = bytes_.data() + bytes_.size();
  if (begin == end) {
    fail_truncated(what);
    return 0;
  }
  if (*begin == '+') ++begin;
  std::int64_t value = 0;
  const auto [stop, code] = std::from_chars(begin, end, value);
  if (code != std::errc() || (stop != end && !is_space(*stop))) {
    fail(fmt::format("expected {} (an integer) but found {}", what, quoted(token())));
    return 0;
  }
  position_ = static_cast<std::size_t>(stop - bytes_.data());
  return value;
}

std::size_t Scanner::count(std::string_view what, std::size_t bytes_each) {
  return check_count(integer(what), what, bytes_each);
}

std::size_t Scanner::check_count(std::int64_t value, std::string_view what, std::size_t bytes_each) {
  if (failed()) return 0;
  if (value < 0) {
    fail(fmt::format("{} is {}; it cannot be negative", what, value));
    return 0;
  }
  // One item more than fits: the last one of a text file may lack its separator.
  const std::size_t most = remaining() / std::max<std::size_t>(bytes_each, 1) + 1;
  const auto count = static_cast<std::size_t>(value);
  if (count > most || count > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail(fmt::format(
        "{} is {}, but the {} bytes that follow cannot hold so many; the file is truncated or damaged", what,
        value, remaining()));
    return 0;
  }
  return count;
}

int Scanner::index(std::string_view what, std::size_t size, std::int64_t base) {
  return check_index(integer(what), what, size, base);
}

int Scanner::check_index(std::int64_t value, std::string_view what, std::size_t size, std::int64_t base) {
  if (failed()) return 0;
  if (value >= base && static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(base) < size) {
    return static_cast<int>(value - base);
  }
  if (size == 0) {
    fail(fmt::format("{} is {}, but there are no vertices", what, value));
  } else {
    fail(fmt::format("{} is {}; it must be from {} to {}", what, value, base,
                     base + static_cast<std::int64_t>(size) - 1));
  }
  return 0;
}

void Scanner::expect(std::string_view word) {
  const std::string_view found = token();
  if (failed() || found == word) return;
  if (found.empty()) {
    fail_truncated(fmt::format("'{}'", word));
  } else {
    fail(fmt::format("expected '{}' but found {}", word, quoted(found)));
  }
}

void Scanner::skip(std::size_t size, std::string_view what) {
  last_ = position_;
  if (failed()) return;
  if (size > remaining()) {
    fail_truncated(what);
  } else {
    position_ += size;
  }
}

}  // namespace lope::io
