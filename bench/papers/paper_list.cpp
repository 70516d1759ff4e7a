#include <lope/base/errors.h>
#include <lope/base/paths.h>
#include <lope/scene/document.h>

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/core.h>
#include <papers/paper_list.h>

namespace lope::bench {
namespace {

constexpr std::array<std::string_view, 5> papers = {"opt", "dot", "hot", "cloth", "lcp"};
constexpr std::array<std::string_view, 5> titles = {
    "OPT: Gast, Schroeder, Stomakhin, Jiang, Teran 2015", "DOT: Li, Gao, Langlois, Jiang, Kaufman 2019",
    "HOT: Wang, Li, Fang, Zhang, Gao, Tang, Kaufman, Jiang 2020",
    "CLOTH: Wang, Wu, Fratarcangeli, Tang, Wang 2018", "LCP: Lai, Chen, Gu, Batty, Wan 2020"};
constexpr std::array<std::string_view, 3> states = {"recorded", "recorded, smaller than the paper",
                                                    "not recorded"};

Expected<std::string> text_of(const scene::Value& entry, std::string_view key) {
  const scene::Value* value = entry.find(key);
  if (!value) return std::string();
  if (value->kind != scene::ValueKind::Text)
    return input_error("{}: {} must be text", to_string(value->at), key);
  return value->text;
}

Expected<double> number_of(const scene::Value& entry, std::string_view key) {
  const scene::Value* value = entry.find(key);
  if (!value) return 0.0;
  const bool whole = value->kind == scene::ValueKind::Integer;
  if (!whole && value->kind != scene::ValueKind::Number)
    return input_error("{}: {} must be a number", to_string(value->at), key);
  return whole ? static_cast<double>(value->integer) : value->number;
}

Expected<PaperEntry> read_entry(const scene::Value& from) {
  PaperEntry entry;
  std::string state;
  const std::pair<std::string_view, std::string*> texts[] = {
      {"paper", &entry.paper},     {"figure", &entry.figure}, {"shows", &entry.shows},
      {"command", &entry.command}, {"when", &entry.when},     {"page", &entry.page},
      {"ours", &entry.ours},       {"state", &state}};
  const std::pair<std::string_view, double*> numbers[] = {{"minutes", &entry.minutes},
                                                          {"gigabytes", &entry.gigabytes}};
  for (const scene::Member& member : from.members) {
    const auto named = [&](const auto& pair) { return pair.first == member.key; };
    if (std::none_of(std::begin(texts), std::end(texts), named) &&
        std::none_of(std::begin(numbers), std::end(numbers), named))
      return input_error("{}: there is no key '{}'", to_string(member.value.key_at), member.key);
  }
  for (const auto& [key, target] : texts) {
    auto text = text_of(from, key);
    if (!text) return forward_error(text);
    *target = std::move(*text);
  }
  for (const auto& [key, target] : numbers) {
    const auto number = number_of(from, key);
    if (!number) return forward_error(number);
    *target = *number;
  }
  const auto wrong = [&](std::string_view what) {
    return input_error("{}: {} {}: {}", to_string(from.at), entry.paper, entry.figure, what);
  };
  const auto found = std::find(states.begin(), states.end(), state);
  if (found == states.end()) return wrong("unknown state");
  entry.state = static_cast<PaperState>(found - states.begin());
  if (std::find(papers.begin(), papers.end(), entry.paper) == papers.end()) return wrong("unknown paper");
  if (entry.figure.empty() || entry.shows.empty() || entry.ours.empty())
    return wrong("figure, shows or ours is missing");
  const bool recorded = entry.state != PaperState::Missing;
  if (recorded && (entry.when.empty() || entry.page.empty()))
    return wrong("a record needs its day and its page");
  if (!recorded && !entry.when.empty()) return wrong("has a day and no record");
  if (!entry.command.empty() && (entry.minutes <= 0 || entry.gigabytes <= 0))
    return wrong("a command needs minutes and gigabytes");
  for (const std::string* text : {&entry.shows, &entry.ours, &entry.command})
    if (text->find_first_of("|\n") != std::string::npos) return wrong("has a | or a line break");
  return entry;
}

std::string duration(double minutes) {
  if (minutes < 1) return fmt::format("{:.0f} s", 60 * minutes);
  return minutes < 100 ? fmt::format("{:.0f} min", minutes) : fmt::format("{:.0f} h", minutes / 60);
}

std::string needs(const PaperEntry& entry) {
  return fmt::format("{}, {:.2g} GB", duration(entry.minutes), entry.gigabytes);
}

// Calls `show` with every paper that is wanted, its title and its entries.
template <class Show>
void each_paper(std::span<const PaperEntry> entries, std::string_view paper, const Show& show) {
  for (std::size_t k = 0; k < papers.size(); ++k) {
    if (!paper.empty() && paper != papers[k]) continue;
    std::vector<PaperEntry> own;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(own),
                 [&](const PaperEntry& entry) { return entry.paper == papers[k]; });
    show(titles[k], own);
  }
}

std::string count(const std::vector<PaperEntry>& entries) {
  std::array<int, states.size()> counts{};
  for (const PaperEntry& entry : entries) ++counts[static_cast<std::size_t>(entry.state)];
  return fmt::format("{} tables and figures: {} recorded, {} recorded smaller, {} not recorded",
                     entries.size(), counts[0], counts[1], counts[2]);
}

}  // namespace

std::filesystem::path paper_list_file() {
  return executable_path().parent_path() / "../share/lope/papers.toml";
}

Expected<std::vector<PaperEntry>> read_paper_list(const std::filesystem::path& file) {
  const auto root = scene::read_toml(file.string());
  if (!root) return forward_error(root);
  std::vector<PaperEntry> entries;
  for (const scene::Value& from : root->items_at("result")) {
    auto entry = read_entry(from);
    if (!entry) return forward_error(entry);
    entries.push_back(std::move(*entry));
  }
  if (entries.empty()) return input_error("{}: has no [[result]]", file.string());
  return entries;
}

std::span<const std::string_view> paper_names() { return papers; }

std::string_view name(PaperState state) { return states[static_cast<std::size_t>(state)]; }

std::string paper_text(std::span<const PaperEntry> entries, std::string_view paper) {
  std::string text;
  each_paper(entries, paper, [&](std::string_view title, const std::vector<PaperEntry>& own) {
    text += fmt::format("{}{}\n{}\n", text.empty() ? "" : "\n", title, count(own));
    for (const PaperEntry& entry : own) {
      text += fmt::format("\n  {:<12} {}\n", entry.figure, entry.shows);
      if (entry.command.empty()) {
        text += "    there is no command for it\n";
      } else {
        text += fmt::format("    {}\n    about {} on two cores\n", entry.command, needs(entry));
      }
      text += fmt::format("    {}", name(entry.state));
      if (!entry.when.empty()) text += fmt::format(", {}, docs/benchmarks/{}", entry.when, entry.page);
      text += fmt::format("\n    {}\n", entry.ours);
    }
  });
  return text;
}

std::string paper_markdown(std::span<const PaperEntry> entries, std::string_view paper) {
  std::string text;
  each_paper(entries, paper, [&](std::string_view title, const std::vector<PaperEntry>& own) {
    text += fmt::format("### {}\n\n{}.\n\n", title, count(own));
    text +=
        "| | what the paper shows | state | command, and about what it needs on two cores | ours beside the "
        "paper's |\n";
    text += "|---|---|---|---|---|\n";
    for (const PaperEntry& entry : own) {
      const std::string state = entry.page.empty()
                                    ? std::string(name(entry.state))
                                    : fmt::format("[{}]({}), {}", name(entry.state), entry.page, entry.when);
      const std::string command =
          entry.command.empty() ? "there is none" : fmt::format("`{}`: {}", entry.command, needs(entry));
      text +=
          fmt::format("| {} | {} | {} | {} | {} |\n", entry.figure, entry.shows, state, command, entry.ours);
    }
    text += '\n';
  });
  return text;
}

}  // namespace lope::bench
