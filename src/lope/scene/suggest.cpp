#include <lope/scene/suggest.h>

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

namespace lope::scene {

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> previous(width), current(width), before_previous(width);
  for (std::size_t j = 0; j < width; ++j) current[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_previous, previous);
    std::swap(previous, current);
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < width; ++j) {
      const int substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_previous[j - 2] + 1);
    }
  }
  return current.back();
}

std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  const auto lower = [](std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
  };
  const std::string sought = lower(word);
  const std::string* best = nullptr;
  int best_distance = std::max<int>(1, static_cast<int>(word.size()) / 3) + 1;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(sought, lower(candidate));
    // A one-letter candidate is always one edit from a one-letter word: that is no resemblance.
    if (distance >= static_cast<int>(std::max(sought.size(), candidate.size()))) continue;
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best ? std::optional<std::string>(*best) : std::nullopt;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto nearest = nearest_word(word, candidates);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : std::string();
}

}  // namespace lope::scene
