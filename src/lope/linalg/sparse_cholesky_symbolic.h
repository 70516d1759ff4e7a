// Everything about a sparse Cholesky factorisation that depends on the pattern alone, in units of blocks.
//
// Nested dissection, elimination tree and postorder (Liu 1990), supernodes of columns with the same
// structure, and their amalgamation: a supernode is merged into its parent when a model of the time says that
// the larger front, with the zeros it stores, is faster than the two (fewer, wider fronts: less to assemble,
// better multiplication). Unlike the usual rule that looks at the last child only, any child can be merged,
// since the columns are renumbered afterwards.
#pragma once

#include <lope/linalg/block_pattern.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lope::linalg {

struct SymbolicCholesky {
  // Consecutive rows of a supernode's structure that are consecutive in its parent's front, too.
  struct Run {
    int child;   // first of them, counted among the rows below the supernode's columns
    int parent;  // the same row in the parent's front: its columns first, then its rows below
    int length;
  };
  // Block `slot` of the matrix, stored transposed, belongs at (row, column) of a supernode's front.
  struct Entry {
    std::int64_t slot;
    int row;
    int column;
  };

  int supernodes() const { return static_cast<int>(parent.size()); }
  int columns(int s) const { return first_column[s + 1] - first_column[s]; }
  // The rows below the columns of supernode s, ascending, in the new numbering.
  std::span<const int> rows(int s) const {
    return {row.data() + row_start[s], static_cast<std::size_t>(row_start[s + 1] - row_start[s])};
  }
  std::span<const int> children(int s) const {
    return {child.data() + child_start[s], static_cast<std::size_t>(child_start[s + 1] - child_start[s])};
  }
  // Runs into the parent's columns are in [run_start[s], run_below[s]), those into its rows below after them.
  std::span<const Run> runs(int s) const {
    return {run.data() + run_start[s], static_cast<std::size_t>(run_start[s + 1] - run_start[s])};
  }
  std::span<const Entry> entries(int s) const {
    return {entry.data() + entry_start[s], static_cast<std::size_t>(entry_start[s + 1] - entry_start[s])};
  }

  std::vector<int> order;         // order[k]: the block row eliminated k-th
  std::vector<int> first_column;  // supernode s has the columns [first_column[s], first_column[s + 1])
  std::vector<int> parent;        // −1 for a root; always after its children (postorder)
  std::vector<std::int64_t> row_start;
  std::vector<int> row;
  std::vector<int> child_start;
  std::vector<int> child;
  std::vector<std::int64_t> run_start;
  std::vector<std::int64_t> run_below;
  std::vector<Run> run;
  std::vector<std::int64_t> entry_start;
  std::vector<Entry> entry;
};

// `block_size` only enters the model of the time. `order`: as nested_dissection() gives it, in which the rows are eliminated; without
// one it is found.
SymbolicCholesky analyze(const BlockPattern& pattern, int block_size, std::vector<int> order = {});

// What a factor takes: scalars that are stored (with the zeros of supernodes), and the time to make it by the model of
// the amalgamation, in about nanoseconds of one core. Does the symbolic work.
struct CholeskySize {
  double entries = 0;
  double time = 0;
};
CholeskySize cholesky_size(const BlockPattern& pattern, int block_size);

// Multiplications and additions of one front with w columns and m rows below (scalars, not blocks).
double front_flops(double w, double m);

}  // namespace lope::linalg
