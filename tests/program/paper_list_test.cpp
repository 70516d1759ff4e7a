// The list of the papers' tables and figures: complete, in the page, and of commands that exist.
#include <lope/scene/scene.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "bench_arguments.h"
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <papers/benchmarks.h>
#include <papers/paper_list.h>

namespace lope::bench {
namespace {

const std::filesystem::path source = LOPE_SOURCE_DIR;

std::vector<PaperEntry> list() {
  const auto entries = read_paper_list(source / "bench/papers/papers.toml");
  EXPECT_TRUE(entries) << (entries ? "" : entries.error().message);
  return entries ? *entries : std::vector<PaperEntry>();
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// As a shell would, with double quotes.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  for (const char c : command + " ") {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any || !word.empty()) words.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
    }
  }
  return words;
}

void expect_benchmark(const std::vector<std::string>& words) {
  program::CommandLine line("", "lope bench");
  program::BenchArguments given;
  given.add_to(line);
  std::vector<std::string> own(words.begin() + 1, words.end());
  std::vector<char*> arguments;
  for (std::string& word : own) arguments.push_back(word.data());
  int parsed = -1;
  const int status =
      line.parse_and_run(static_cast<int>(arguments.size()), arguments.data(), [&] { return parsed = 0; });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(parsed, 0);
  const auto all = benchmarks();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& benchmark) { return benchmark.name == given.name; });
  ASSERT_NE(found, all.end()) << given.name;
  // Tables by the benchmark's own list; scenes by their files.
  for (const std::string& wish : given.options.only) {
    EXPECT_TRUE(found->shows.find(wish) != std::string_view::npos ||
                std::filesystem::exists(source / "scenes" / (wish + ".toml")))
        << wish;
  }
}

void expect_scene(const std::vector<std::string>& words) {
  ASSERT_GE(words.size(), 3U);
  std::vector<std::string> overrides;
  for (std::size_t k = 3; k + 1 < words.size(); ++k)
    if (words[k] == "--set") overrides.push_back(words[++k]);
  const auto scene = scene::load_scene((source / "scenes" / (words[2] + ".toml")).string(), overrides);
  EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
}

TEST(PaperList, NamesCommandsThatExist) {
  for (const PaperEntry& entry : list()) {
    SCOPED_TRACE(entry.paper + " " + entry.figure + ": " + entry.command);
    if (entry.command.empty()) continue;
    const auto words = words_of(entry.command);
    ASSERT_GE(words.size(), 2U);
    ASSERT_EQ(words[0], "lope");
    if (words[1] == "bench") {
      expect_benchmark(words);
    } else {
      EXPECT_TRUE(words[1] == "run" || words[1] == "compare") << words[1];
      expect_scene(words);
    }
  }
}

TEST(PaperList, HasEveryNumberedTableAndFigureOfAResultOnce) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const PaperEntry& entry : list())
    EXPECT_TRUE(seen.insert({entry.paper, entry.figure}).second)
        << entry.paper << " " << entry.figure << " is there twice";
  const auto expect = [&](const std::string& paper, const std::string& word,
                          const std::vector<std::string>& numbers) {
    for (const std::string& number : numbers)
      EXPECT_TRUE(seen.count({paper, word + " " + number}))
          << paper << " " << word << " " << number << " is missing";
  };
  // Not here: figures that explain a method (OPT 5, DOT 3, HOT 6 and 7, CLOTH 2, 3 and 5, LCP 3.1 and 4.1 to 4.3).
  expect("opt", "Fig.",
         {"1", "2", "3", "4", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18"});
  expect("dot", "Fig.", {"1", "2", "4", "5", "6", "7", "8"});
  expect("dot", "Table", {"1", "2", "3", "4", "5"});
  expect("hot", "Fig.",
         {"1", "2", "3", "4", "5", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19"});
  expect("hot", "Table", {"1", "2", "3"});
  expect("hot", "Supplement", {"Table 1", "Table 2", "Fig. 1"});
  expect("cloth", "Fig.", {"1", "4", "6", "7", "8", "9", "10", "11", "12", "13", "14"});
  expect("cloth", "Table", {"1"});
  expect("lcp", "Fig.",
         {"3.2", "5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "5.7", "5.8", "5.9", "5.10", "5.11"});
  expect("lcp", "Table", {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"});
}

TEST(PaperList, RecordsAreOnPagesThatNameTheirCommand) {
  for (const PaperEntry& entry : list()) {
    if (entry.page.empty()) continue;
    SCOPED_TRACE(entry.paper + " " + entry.figure);
    const std::string file = entry.page.substr(0, entry.page.find('#'));
    ASSERT_TRUE(std::filesystem::exists(source / "docs/benchmarks" / file)) << file;
    const auto words = words_of(entry.command);
    if (entry.state == PaperState::Missing || words.size() < 3) continue;
    // "lope bench cubes", or the scene's name.
    const std::string named = words[1] == "bench" ? "lope bench " + words[2] : words[2];
    EXPECT_NE(content(source / "docs/benchmarks" / file).find(named), std::string::npos)
        << file << " does not name " << named;
  }
}

// To renew the page after a change of the list: LOPE_WRITE_PAPERS=1 test_paper_list
TEST(PaperList, IsWhatThePageShows) {
  const auto path = source / "docs/benchmarks/README.md";
  const std::string begin = "<!-- lope bench papers --markdown -->\n\n", end = "<!-- end of the list -->";
  std::string page = content(path);
  const auto first = page.find(begin), last = page.find(end);
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(last, std::string::npos);
  const std::string wanted =
      page.substr(0, first + begin.size()) + paper_markdown(list(), "") + page.substr(last);
  if (std::getenv("LOPE_WRITE_PAPERS")) std::ofstream(path) << wanted;
  EXPECT_EQ(content(path), wanted) << "renew it: LOPE_WRITE_PAPERS=1 test_paper_list";
}

TEST(PaperList, SaysWhatIsWrongWithAnEntry) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / fmt::format("lope_paper_list_{}", std::random_device()());
  std::filesystem::create_directories(folder);
  const std::string good =
      "[[result]]\npaper = 'dot'\nfigure = 'Fig. 1'\nshows = 'it'\nours = 'none'\nstate = 'not recorded'\n";
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "papers.toml") << text;
    const auto entries = read_paper_list(folder / "papers.toml");
    return entries ? std::string() : entries.error().message;
  };
  EXPECT_EQ(read(good), "");
  EXPECT_NE(read(good + "when = '2026-11-19'\n").find("has a day and no record"), std::string::npos);
  EXPECT_NE(read(good + "command = 'lope bench dot'\n").find("needs minutes"), std::string::npos);
  EXPECT_NE(read(good + "colour = 'red'\n").find("'colour'"), std::string::npos);
  EXPECT_NE(read("x = 1\n").find("no [[result]]"), std::string::npos);
  std::string recorded = good;
  recorded.replace(recorded.find("not recorded"), 12, "recorded");
  EXPECT_NE(read(recorded).find("needs its day"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lope::bench
