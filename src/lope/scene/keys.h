// What the tables of the schema are written with: keys that read as sentences.
#pragma once

#include <lope/scene/schema.h>

#include <string>
#include <utility>
#include <vector>

namespace lope::scene::key_words {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();
inline constexpr Range positive{0, unlimited, true, true};
inline constexpr Range at_least_zero{0, unlimited, false, true};
inline constexpr Range fraction{0, 1, true, false};
inline constexpr Range unit_interval{0, 1, false, false};
inline constexpr Range at_least_one{1, 1e9, false, false};

// A key under construction.
struct Entry : Key {
  Entry& says(std::string text) {
    description = std::move(text);
    return *this;
  }
  Entry& required() {
    presence = Presence::Required;
    return *this;
  }
  Entry& alternative() {
    presence = Presence::Alternative;
    return *this;
  }
  Entry& by_default(std::string toml) {
    presence = Presence::Filled;
    fallback = std::move(toml);
    return *this;
  }
  Entry& within(Range limits) {
    range = limits;
    return *this;
  }
  Entry& short_for(std::string key) {
    shorthand = std::move(key);
    return *this;
  }
  // Nothing that has been simulated depends on it: another value is fine when a run goes on.
  Entry& free_to_change() {
    may_change = true;
    return *this;
  }
};

inline Entry entry(std::string path, Type type, Dimension dimension = Dimension::Number) {
  Entry made;
  made.path = std::move(path);
  made.type = type;
  made.dimension = dimension;
  return made;
}
inline Entry table(std::string path) { return entry(std::move(path), Type::Table); }
inline Entry text(std::string path) { return entry(std::move(path), Type::Text); }
inline Entry boolean(std::string path) { return entry(std::move(path), Type::Boolean); }
inline Entry integer(std::string path) { return entry(std::move(path), Type::Integer); }
inline Entry number(std::string path) { return entry(std::move(path), Type::Quantity); }
inline Entry quantity(std::string path, Dimension dimension) {
  return entry(std::move(path), Type::Quantity, dimension);
}
inline Entry vector(std::string path, Dimension dimension) {
  return entry(std::move(path), Type::Vector, dimension);
}
inline Entry choice(std::string path, std::vector<std::string> words) {
  Entry made = entry(std::move(path), Type::Choice);
  made.choices = std::move(words);
  return made;
}
// Tables, each written [[path]].
inline Entry tables(std::string path) { return entry(std::move(path), Type::TableList); }

}  // namespace lope::scene::key_words
