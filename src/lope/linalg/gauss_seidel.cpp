#include <lope/base/parallel.h>
#include <lope/linalg/gauss_seidel.h>

#include <algorithm>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 4096;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void GaussSeidel::set_matrix(const CsrMatrix& a) {
  a_ = &a;
  const Colouring colouring = greedy_colouring(a.row_start, a.column);
  sort_by_colour(colouring.colour, colouring.colours, rows_);
  update_numbers({});
}

void GaussSeidel::update_numbers(RowFlags fixed) {
  inverse_diagonal_ = diagonal(*a_);
  for (std::size_t i = 0; i < inverse_diagonal_.size(); ++i) {
    const bool usable = inverse_diagonal_[i] > 0 && (fixed.empty() || fixed[i] == 0);
    inverse_diagonal_[i] = usable ? 1 / inverse_diagonal_[i] : 0;
  }
}

template <class Update>
void GaussSeidel::for_rows(Direction direction, const Update& update) const {
  const std::size_t count = rows_.start.size() - 1;
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t c = direction == Direction::Forward ? step : count - 1 - step;
    const int* rows = rows_.rows.data() + rows_.start[c];
    parallel_for(rows_.start[c + 1] - rows_.start[c], grain,
                 [&](std::size_t k) { update(index(rows[k])); });
  }
}

// (f − A x)_i / a_ii.
inline double GaussSeidel::change(ConstVector f, ConstVector x, std::size_t row) const {
  double sum = f[row];
  for (std::int64_t k = a_->row_start[row]; k < a_->row_start[row + 1]; ++k) {
    sum -= a_->value[index(k)] * x[index(a_->column[index(k)])];
  }
  return sum * inverse_diagonal_[row];
}

void GaussSeidel::sweep(ConstVector f, Vector x, Direction direction, double omega) const {
  for_rows(direction, [&](std::size_t i) { x[i] += omega * change(f, x, i); });
}

void GaussSeidel::projected_sweep(ConstVector f, RowFlags bounded, Vector x, Direction direction,
                                  double omega) const {
  for_rows(direction, [&](std::size_t i) {
    const double next = x[i] + omega * change(f, x, i);
    x[i] = bounded[i] != 0 ? std::max(next, 0.0) : next;
  });
}

}  // namespace lope::linalg
