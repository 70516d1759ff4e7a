#include <lope/linalg/coarsest_solve.h>

#include <algorithm>

namespace lope::linalg {
namespace {

constexpr double relative_shift = 1e-10;
// HOT: enough for a preconditioner.
const CgOptions half = {.relative_tolerance = 0.5, .max_iterations = 1000, .monitor = {}};

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void shift_diagonal(BlockMatrix& matrix) {
  const std::ptrdiff_t b = matrix.block_size();
  for (int row = 0; row < matrix.pattern().rows(); ++row) {
    double* block = matrix.block(matrix.pattern().diagonal(row));
    double trace = 0;
    for (std::ptrdiff_t k = 0; k < b; ++k) trace += block[k * (b + 1)];
    const double shift = trace == 0 ? 1.0 : relative_shift * trace / static_cast<double>(b);
    for (std::ptrdiff_t k = 0; k < b; ++k) block[k * (b + 1)] += shift;
  }
}

// Symbolic work for a factor with couplings is redone when they are at other places.
const BlockMatrix& CoarsestSolve::joined(const BlockMatrix& matrix) {
  if (matrix.couplings().empty()) return matrix;
  const BlockPattern& pattern = matrix.pattern();
  std::vector<std::pair<int, int>> places;
  for (const Coupling& c : matrix.couplings()) places.emplace_back(c.row, c.column);
  if (!joined_ || joined_pattern_ != pattern.id() || places != joined_places_) {
    std::vector<std::vector<int>> rows(index(pattern.rows()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].assign(pattern.column().begin() + pattern.row_start()[i],
                     pattern.column().begin() + pattern.row_start()[i + 1]);
      for (const Coupling& c : matrix.couplings(static_cast<int>(i))) rows[i].push_back(c.column);
      std::sort(rows[i].begin(), rows[i].end());
      rows[i].erase(std::unique(rows[i].begin(), rows[i].end()), rows[i].end());
    }
    joined_.emplace(BlockPattern::from_rows(rows), matrix.block_size());
    joined_pattern_ = pattern.id();
    joined_places_ = std::move(places);
  }
  joined_->set_zero();
  const std::ptrdiff_t b2 = matrix.block_size() * matrix.block_size();
  const auto add = [&](int row, int column, const double* block) {
    double* target = joined_->block(joined_->pattern().slot(row, column));
    for (std::ptrdiff_t e = 0; e < b2; ++e) target[e] += block[e];
  };
  for (int row = 0; row < pattern.rows(); ++row) {
    for (std::int64_t slot = pattern.row_start()[index(row)]; slot < pattern.row_start()[index(row) + 1]; ++slot) {
      add(row, pattern.column()[index(slot)], matrix.block(slot));
    }
    for (const Coupling& c : matrix.couplings(row)) add(row, c.column, c.block.data());
  }
  return *joined_;
}

bool CoarsestSolve::update(const BlockMatrix& matrix, bool factorize) {
  matrix_ = &matrix;
  factorize_ = factorize;
  if (factorize_) return factor_.update(joined(matrix));
  return local_space().all_finite(matrix.values()) && jacobi_.update(matrix);
}

void CoarsestSolve::solve(ConstVector f, Vector x) {
  if (factorize_) {
    const std::size_t components = f.size() / matrix_->size();
    if (components > 1) {
      factor_.apply(f, x, static_cast<int>(components));
    } else {
      factor_.apply(f, x);
    }
    return;
  }
  const auto product = [this](ConstVector p, Vector ap) { matrix_->multiply(p, ap); };
  cg_.solve(local_space(), product, jacobi_, f, x, half);
}

}  // namespace lope::linalg
