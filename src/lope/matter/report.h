// What is said of a body after a step: energies and momenta, and further quantities by name, so that statistics and plots
// need not know the kinds of matter.
#pragma once

#include <lope/math/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lope::matter {

struct Energies {
  double kinetic = 0, elastic = 0, gravity = 0;  // joules
  double total() const { return kinetic + elastic + gravity; }
};

// Names may have parts, "handles/left/force": files keep them together.
struct Quantity {
  std::string name;
  std::string unit;  // SI; empty: a count, a word, or a part of something
  std::variant<bool, std::int64_t, double, Vec3, std::string> value;
};

struct BodyReport {
  std::string name;
  std::string kind;        // "solid", "liquid", …
  std::size_t island = 0;  // whose minimisation it was a part of
  Energies energy;
  Vec3 momentum = Vec3::Zero();            // kg m/s
  std::optional<Vec3> angular_momentum;    // kg m²/s about the origin
  std::vector<Quantity> quantities = {};
  std::vector<std::string> remarks = {};  // what a user should know of the step: one line each

  void add(std::string quantity, std::string unit, decltype(Quantity::value) value) {
    quantities.push_back({std::move(quantity), std::move(unit), std::move(value)});
  }
  // Null: there is none of that name and type.
  template <class T>
  const T* find(std::string_view quantity) const {
    for (const Quantity& q : quantities) {
      if (q.name == quantity) return std::get_if<T>(&q.value);
    }
    return nullptr;
  }
  // A count that the body's kind reports; 0 where it does not.
  std::int64_t count(std::string_view quantity) const {
    const auto* found = find<std::int64_t>(quantity);
    return found ? *found : 0;
  }
};

}  // namespace lope::matter
