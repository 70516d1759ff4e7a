// "Did you mean …?": the nearest of a few words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

// Fewest insertions, deletions, substitutions and swaps of neighbouring characters that turn a into b
// (optimal string alignment), in bytes.
int edit_distance(std::string_view a, std::string_view b);

// The nearest candidate (ASCII case ignored; the first of equals) if it is near enough to be a typo: at most
// a third of the word's length, and at least one edit is always allowed.
std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'x'?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lope::scene
