// `lope bench papers`: every table and figure of the five papers that reports a result, with the command that makes ours, what it needs, and
// whether its numbers are in the docs. The list is bench/papers/papers.toml, and that file alone.
#pragma once

#include <lope/base/expected.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lope::bench {

enum class PaperState {
  Recorded,  // at the paper's size, or the paper's size is not known
  Smaller,   // with fewer unknowns, steps or cases than the paper's
  Missing,   // not recorded
};

struct PaperEntry {
  std::string paper;    // opt, dot, hot, cloth, lcp
  std::string figure;   // "Fig. 7", "Table 3"
  std::string shows;    // what the paper shows there
  std::string command;  // empty: there is none
  // What the command needs on two cores, roughly.
  double minutes = 0;
  double gigabytes = 0;
  PaperState state = PaperState::Missing;
  std::string when;  // day of the record; empty if there is none
  std::string page;  // of docs/benchmarks (or ../page); empty if it is not recorded
  std::string ours;  // ours beside the paper's, and what explains the difference; or why it is missing
};

// Where the list is: in share/lope beside the program, installed or not.
std::filesystem::path paper_list_file();
// Every entry complete and in order, or what is wrong with which.
Expected<std::vector<PaperEntry>> read_paper_list(const std::filesystem::path& file);

std::span<const std::string_view> paper_names();
std::string_view name(PaperState state);

// Of all papers, or of the one that is named.
std::string paper_text(std::span<const PaperEntry> entries, std::string_view paper);
std::string paper_markdown(std::span<const PaperEntry> entries, std::string_view paper);

}  // namespace lope::bench
