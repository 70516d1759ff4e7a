#include <lope/base/errors.h>
#include <lope/scene/suggest.h>
#include <lope/scene/units.h>

#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// Exponents of metre, kilogram, second and radian.
using Exponents = std::array<int, 4>;

struct DimensionRow {
  DimensionInfo info;
  Exponents exponents;
};

const std::array<DimensionRow, 15> dimensions{{
    {{"a number", "", R"("50 %")"}, {0, 0, 0, 0}},
    {{"a length", "m", R"("10 cm", "0.1 mm")"}, {1, 0, 0, 0}},
    {{"a time", "s", R"("25 ms", "1/24 s")"}, {0, 0, 1, 0}},
    {{"a mass", "kg", R"("2 kg", "50 g")"}, {0, 1, 0, 0}},
    {{"an angle", "rad", R"("90 deg", "2 turn")"}, {0, 0, 0, 1}},
    {{"a velocity", "m/s", R"("2 m/s", "10 cm/s")"}, {1, 0, -1, 0}},
    {{"an acceleration", "m/s^2", R"("9.81 m/s^2")"}, {1, 0, -2, 0}},
    {{"an angular velocity", "rad/s", R"("1 turn/s", "90 deg/s", "30 rpm")"}, {0, 0, -1, 1}},
    {{"a frequency", "1/s", R"("24 Hz", "0.5 1/s")"}, {0, 0, -1, 0}},
    {{"a density", "kg/m^3", R"("1000 kg/m^3", "1 g/cm^3")"}, {-3, 1, 0, 0}},
    {{"a pressure", "Pa", R"("0.5 MPa", "10 kPa")"}, {-1, 1, -2, 0}},
    {{"a force", "N", R"("2 N", "1 mN")"}, {1, 1, -2, 0}},
    {{"a torque", "N*m", R"("2 N*m", "5 mN*m")"}, {2, 1, -2, 0}},
    {{"a mass per area", "kg/m^2", R"("150 g/m^2")"}, {-2, 1, 0, 0}},
    {{"a force per length", "N/m", R"("2 kN/m")"}, {0, 1, -2, 0}},
}};

const DimensionRow& row(Dimension dimension) { return dimensions[static_cast<std::size_t>(dimension)]; }

struct Unit {
  std::string_view symbol;
  double factor;
  Exponents exponents;
  bool prefixes;
};

constexpr double pi = std::numbers::pi;
constexpr std::array<Unit, 25> units{{
    {"m", 1, {1, 0, 0, 0}, true},
    {"g", 1e-3, {0, 1, 0, 0}, true},
    {"s", 1, {0, 0, 1, 0}, true},
    {"N", 1, {1, 1, -2, 0}, true},
    {"Pa", 1, {-1, 1, -2, 0}, true},
    {"J", 1, {2, 1, -2, 0}, true},
    {"W", 1, {2, 1, -3, 0}, true},
    {"Hz", 1, {0, 0, -1, 0}, true},
    {"rad", 1, {0, 0, 0, 1}, true},
    {"bar", 1e5, {-1, 1, -2, 0}, true},
    {"min", 60, {0, 0, 1, 0}, false},
    {"h", 3600, {0, 0, 1, 0}, false},
    {"t", 1e3, {0, 1, 0, 0}, false},
    {"l", 1e-3, {3, 0, 0, 0}, true},
    {"in", 0.0254, {1, 0, 0, 0}, false},
    {"ft", 0.3048, {1, 0, 0, 0}, false},
    {"lb", 0.45359237, {0, 1, 0, 0}, false},
    {"psi", 6894.757293168361, {-1, 1, -2, 0}, false},
    {"deg", pi / 180, {0, 0, 0, 1}, false},
    {"°", pi / 180, {0, 0, 0, 1}, false},
    {"turn", 2 * pi, {0, 0, 0, 1}, false},
    {"rev", 2 * pi, {0, 0, 0, 1}, false},
    {"rpm", pi / 30, {0, 0, -1, 1}, false},
    {"fps", 1, {0, 0, -1, 0}, false},
    {"%", 0.01, {0, 0, 0, 0}, false},
}};

struct Prefix {
  std::string_view symbol;
  double factor;
};
constexpr std::array<Prefix, 9> prefixes{{{"G", 1e9},
                                          {"M", 1e6},
                                          {"k", 1e3},
                                          {"d", 1e-1},
                                          {"c", 1e-2},
                                          {"m", 1e-3},
                                          {"u", 1e-6},
                                          {"µ", 1e-6},
                                          {"n", 1e-9}}};

struct Measure {
  double factor = 1;
  Exponents exponents{};
};

std::optional<Measure> find_unit(std::string_view symbol) {
  for (const Unit& unit : units) {
    if (unit.symbol == symbol) return Measure{unit.factor, unit.exponents};
  }
  for (const Prefix& prefix : prefixes) {
    if (!symbol.starts_with(prefix.symbol)) continue;
    const std::string_view rest = symbol.substr(prefix.symbol.size());
    for (const Unit& unit : units) {
      if (unit.prefixes && unit.symbol == rest) return Measure{prefix.factor * unit.factor, unit.exponents};
    }
  }
  return std::nullopt;
}

std::vector<std::string> known_symbols() {
  std::vector<std::string> symbols;
  symbols.reserve(std::size(units) * (1 + std::size(prefixes)));
  for (const Unit& unit : units) symbols.emplace_back(unit.symbol);
  for (const Unit& unit : units) {
    for (const Prefix& prefix : prefixes) {
      if (unit.prefixes) symbols.push_back(std::string(prefix.symbol) + std::string(unit.symbol));
    }
  }
  return symbols;
}

// Walks over a text; every reader skips leading blanks and leaves the cursor after what it read.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) { skip_blanks(); }

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    skip_blanks();
    return true;
  }

  std::optional<double> number() {
    std::string_view digits = rest_;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    double value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc() || !std::isfinite(value)) return std::nullopt;
    rest_ = digits.substr(static_cast<std::size_t>(end - digits.data()));
    skip_blanks();
    return value;
  }

  std::optional<int> integer() {
    int value = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (code != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    skip_blanks();
    return value;
  }

  // Everything up to an operator or a blank.
  std::string_view symbol() {
    std::size_t length = 0;
    while (length < rest_.size() &&
           std::string_view("*/^ \t").find(rest_[length]) == std::string_view::npos &&
           !rest_.substr(length).starts_with("·")) {
      ++length;
    }
    const std::string_view result = rest_.substr(0, length);
    rest_.remove_prefix(length);
    skip_blanks();
    return result;
  }

  bool next_is_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

// number [/ number]: the slash of "1/24 s" belongs to the number, that of "1/s" to the unit.
std::optional<double> read_value(Reader& reader) {
  const std::optional<double> numerator = reader.number();
  if (!numerator) return std::nullopt;
  Reader ahead = reader;
  if (!ahead.take("/") || !ahead.next_is_digit()) return numerator;
  const std::optional<double> denominator = ahead.number();
  if (!denominator || *denominator == 0) return std::nullopt;
  reader = ahead;
  return *numerator / *denominator;
}

// The largest power of a unit that makes sense; more is a slip of the finger.
constexpr int largest_power = 9;

Expected<Measure> read_unit(Reader& reader, std::string_view whole, Dimension dimension) {
  Measure result;
  int sign = reader.take("/") ? -1 : 1;
  while (true) {
    Measure factor;
    if (sign > 0 && reader.rest().starts_with("1/")) {
      reader.take("1");
    } else {
      const std::string_view symbol = reader.symbol();
      const std::optional<Measure> unit = find_unit(symbol);
      if (!unit) {
        return input_error("unknown unit '{}' in \"{}\"{}; expected {}", symbol, whole,
                           did_you_mean(symbol, known_symbols()), expectation(dimension));
      }
      factor = *unit;
    }
    int power = 1;
    if (reader.take("^")) {
      const std::optional<int> exponent = reader.integer();
      if (!exponent || std::abs(*exponent) > largest_power) {
        return input_error("bad power in \"{}\"; expected {}", whole, expectation(dimension));
      }
      power = *exponent;
    }
    result.factor *= std::pow(factor.factor, sign * power);
    for (std::size_t k = 0; k < result.exponents.size(); ++k) {
      result.exponents[k] += sign * power * factor.exponents[k];
    }
    if (reader.done()) return result;
    if (reader.take("/")) {
      sign = -1;
    } else {
      sign = 1;
      if (!reader.take("*")) reader.take("·");
    }
  }
}

// "a length" for a known combination of exponents, else nothing.
std::string name_of(const Exponents& exponents) {
  for (const DimensionRow& candidate : dimensions) {
    if (candidate.exponents == exponents) return std::string(candidate.info.name);
  }
  return "something else";
}

}  // namespace

const DimensionInfo& info(Dimension dimension) { return row(dimension).info; }

std::string expectation(Dimension dimension) {
  const DimensionInfo& known = info(dimension);
  if (dimension == Dimension::Number) return "a number without unit such as 0.5 or \"50 %\"";
  return fmt::format("{}: a number in {} or a string such as {}", known.name, known.si, known.examples);
}

Expected<double> parse_quantity(std::string_view text, Dimension dimension) {
  Reader reader(text);
  const std::optional<double> value = read_value(reader);
  if (!value) return input_error("\"{}\" is not a finite number; expected {}", text, expectation(dimension));
  if (reader.done()) return *value;
  const Expected<Measure> unit = read_unit(reader, text, dimension);
  if (!unit) return forward_error(unit);
  if (unit->exponents != row(dimension).exponents) {
    return input_error("\"{}\" is {}; expected {}", text, name_of(unit->exponents), expectation(dimension));
  }
  const double result = *value * unit->factor;
  if (!std::isfinite(result)) return input_error("\"{}\" is too large", text);
  return result;
}

}  // namespace lope::scene
