// Coarse spaces as they are handed to solvers: scalar prolongations, which act on every component of a block
// alike, from ever coarser sets of rows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lope::linalg {

// A scalar matrix in compressed rows: row i has the entries [start[i], start[i + 1]). A row without entries takes
// no part in the coarser level.
struct Prolongation {
  int columns = 0;
  std::vector<int> start;
  std::vector<int> column;
  std::vector<double> weight;
  bool empty() const { return columns == 0; }
  int rows() const { return start.empty() ? 0 : static_cast<int>(start.size()) - 1; }
};

// The identity on `rows` rows.
Prolongation identity_prolongation(int rows);
// `rows` rows without entries.
Prolongation empty_prolongation(int rows);
// diag(P_1, P_2, …).
Prolongation block_diagonal(std::span<const Prolongation> parts);

// The directions in which a row may move: N_i P_i takes the place of P_i (slip: N = I − nnᵀ, HOT §5). The first
// b·b numbers, row-major, count; NN = N = Nᵀ.
struct RowProjector {
  int row = 0;
  std::array<double, 9> block = {};
};

// Prolongations, finest first: the columns of one are the rows of the next. Never changes; two of them never have the
// same id, so that symbolic work can be keyed by it.
class Hierarchy {
 public:
  explicit Hierarchy(std::vector<Prolongation> prolongations);
  std::span<const Prolongation> prolongations() const { return prolongations_; }
  std::uint64_t id() const { return id_; }

 private:
  std::vector<Prolongation> prolongations_;
  std::uint64_t id_;
};
using HierarchyPtr = std::shared_ptr<const Hierarchy>;

// Side by side, for a problem of several parts: `rows[k]` rows have the hierarchy parts[k] (null: they take no part in
// coarser levels). Parts with fewer levels than others carry their coarsest one down unchanged. Null if no part has a
// hierarchy.
HierarchyPtr side_by_side(std::span<const HierarchyPtr> parts, std::span<const int> rows);

}  // namespace lope::linalg
