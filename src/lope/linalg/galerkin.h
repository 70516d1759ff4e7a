// The Galerkin product Pᵀ A P of a block matrix and a scalar prolongation, and the way of vectors between the two
// levels.
//
// A P is formed by fine rows and then Pᵀ (A P) by coarse rows, both in a fixed order: the same bits for any number of
// threads. Symbolic work is done once per pattern, later products allocate nothing.
#pragma once

#include <lope/linalg/block_matrix.h>
#include <lope/linalg/hierarchy.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lope::linalg {

// marks[i] = 1 where row i has an entry off the diagonal that is not zero. Rows of fixed nodes have none: they take no part
// in coarse levels (HOT §5), so that their diagonals do not get there.
void find_coupled_rows(const BlockMatrix& matrix, std::vector<std::uint8_t>& marks);

class GalerkinProduct {
 public:
  // The prolongation outlives the product. Symbolic work is redone in the next compute().
  void set(const Prolongation& prolongation);
  const Prolongation& prolongation() const { return *prolongation_; }

  enum class Couplings { Left, Taken };
  // Pᵀ A P; valid until the next call. Rows of P that are not `active` (empty: all are) count as zero, those with a
  // projector N_i as N_i P_i. Couplings, if taken, are added where the coarse pattern has a place for them and are
  // couplings of the coarse matrix otherwise.
  BlockMatrix& compute(const BlockMatrix& fine, std::span<const std::uint8_t> active,
                       std::span<const RowProjector> projectors, Couplings couplings);
  BlockMatrix& coarse() { return *coarse_; }
  const BlockMatrix& coarse() const { return *coarse_; }

  // The fine rows of coarse row a and their weights are [child_start()[a], child_start()[a + 1]), ascending.
  std::span<const int> child_start() const { return child_start_; }
  std::span<const int> child() const { return child_; }
  std::span<const double> child_weight() const { return child_weight_; }

 private:
  void prepare(const BlockMatrix& fine);
  void transpose();
  template <class Collect>
  void compress(std::size_t rows, std::size_t grain, std::vector<std::int64_t>& start, std::vector<int>& column,
                const Collect& collect);
  template <int b>
  void multiply_rows(const BlockMatrix& fine, std::span<const std::uint8_t> active,
                     std::span<const RowProjector> projectors);
  template <int b>
  void assemble(std::span<const std::uint8_t> active);
  template <int b>
  void take_couplings(const BlockMatrix& fine, std::span<const std::uint8_t> active,
                      std::span<const RowProjector> projectors);
  void make_scratch();

  const Prolongation* prolongation_ = nullptr;
  std::uint64_t pattern_id_ = 0;
  int block_size_ = 0;
  std::vector<int> child_start_, child_;
  std::vector<double> child_weight_;
  std::vector<std::int64_t> product_start_;  // A P by rows: columns and blocks
  std::vector<int> product_column_;
  std::vector<double> product_;
  std::optional<BlockMatrix> coarse_;
  std::vector<std::vector<int>> scratch_;  // per worker, one number per coarse row
  std::vector<int> projector_of_;          // per fine row, −1: none; empty without projectors
  std::vector<Coupling> couplings_;
};

}  // namespace lope::linalg
