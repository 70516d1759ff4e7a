#include <lope/render/ticks.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace lope::render {
namespace {

std::string superscript(int number) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (const char c : fmt::format("{}", number)) result += c == '-' ? "⁻" : digits[c - '0'];
  return result;
}

std::string power_of_ten(int exponent) {
  if (exponent == 0) return "1";
  if (exponent == 1) return "10";
  return "10" + superscript(exponent);
}

std::string true_minus(std::string text) { return text[0] == '-' ? "−" + text.substr(1) : text; }

// Decimals that a multiple of `step` needs.
int decimals(double step) { return std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9))); }

double nice_step(double range, int wanted) {
  const double raw = range / std::max(wanted, 1);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> multiples(double low, double high, double step) {
  std::vector<double> values;
  const double slack = 1e-9 * (high - low);
  const double first = std::ceil((low - slack) / step), last = std::floor((high + slack) / step);
  if (std::max(std::abs(first), std::abs(last)) > 1e15) return values;  // beyond what doubles tell apart
  for (double i = first; i <= last; ++i) values.push_back(i * step);
  return values;
}

}  // namespace

Ticks linear_ticks(double low, double high, int wanted) {
  Ticks result;
  if (!(high > low) || !std::isfinite(high - low)) return result;
  double step = nice_step(high - low, wanted);
  std::vector<double> values = multiples(low, high, step);
  for (int finer = 0; finer < 8 && values.size() < 2; ++finer) {
    step = nice_step(step, 3);
    values = multiples(low, high, step);
  }
  const double largest = std::max(std::abs(low), std::abs(high));
  const int magnitude = static_cast<int>(std::floor(std::log10(largest) + 1e-9));
  if (magnitude >= 5 || magnitude <= -3) result.exponent = magnitude;
  const double unit = std::pow(10.0, result.exponent);
  const int digits = std::min(decimals(step / unit), 12);
  for (const double value : values) {
    const double shown = std::abs(value) < 1e-9 * step ? 0.0 : value / unit;
    result.ticks.push_back({value, true_minus(fmt::format("{:.{}f}", shown, digits))});
  }
  return result;
}

Ticks log_ticks(double low, double high, int wanted) {
  Ticks result;
  if (!(low > 0) || !(high > low) || !std::isfinite(high)) return result;
  const double decades = std::log10(high / low);
  const int first = static_cast<int>(std::floor(std::log10(low))),
            last = static_cast<int>(std::ceil(std::log10(high)));
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / std::max(wanted, 1) - 1e-9)));
  const bool narrow = decades < 1.5;
  for (int power = first; power <= last; ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * std::pow(10.0, power);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      const bool named =
          digit == 1 ? ((power % stride) + stride) % stride == 0 : narrow && (digit == 2 || digit == 5);
      if (named) {
        result.ticks.push_back({value, narrow ? format_number(value, 2) : power_of_ten(power)});
      } else if (stride == 1) {
        result.ticks.push_back({value, ""});
      }
    }
  }
  return result;
}

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "—";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (value == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-12));
  if (magnitude < -3 || magnitude > 5) {
    const double mantissa = value / std::pow(10.0, magnitude);
    const std::string text = fmt::format("{:.{}g}", mantissa, digits);
    if (text == "1") return power_of_ten(magnitude);
    if (text == "10") return power_of_ten(magnitude + 1);
    return true_minus(text) + "×" + power_of_ten(magnitude);
  }
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - 1 - magnitude));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return true_minus(text);
}

std::string times_power(int exponent) { return exponent == 0 ? "" : "×" + power_of_ten(exponent); }

}  // namespace lope::render
