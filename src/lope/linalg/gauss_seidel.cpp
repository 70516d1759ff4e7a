#include <lope/base/parallel.h>
#include <lope/linalg/gauss_seidel.h>

#include <algorithm>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 4096;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// The smallest colour that no coupled row before it has.
std::vector<int> greedy_colours(const CsrMatrix& a, int& colours) {
  std::vector<int> colour(index(a.rows), -1);
  std::vector<int> taken_by;  // by colour: the last row that found it taken
  colours = 0;
  for (int row = 0; row < a.rows; ++row) {
    for (std::int64_t k = a.row_start[index(row)]; k < a.row_start[index(row) + 1]; ++k) {
      const int neighbour = a.column[index(k)];
      if (neighbour < row) taken_by[index(colour[index(neighbour)])] = row;
    }
    int own = 0;
    while (own < colours && taken_by[index(own)] == row) ++own;
    if (own == colours) {
      ++colours;
      taken_by.push_back(-1);
    }
    colour[index(row)] = own;
  }
  return colour;
}

}  // namespace

void GaussSeidel::set_matrix(const CsrMatrix& a) {
  a_ = &a;
  int colours = 0;
  const std::vector<int> colour = greedy_colours(a, colours);
  colour_start_.assign(index(colours) + 1, 0);
  for (const int own : colour) ++colour_start_[index(own) + 1];
  for (std::size_t c = 0; c < index(colours); ++c) colour_start_[c + 1] += colour_start_[c];
  std::vector<std::size_t> next(colour_start_.begin(), colour_start_.end() - 1);
  rows_.resize(colour.size());
  for (int row = 0; row < a.rows; ++row) rows_[next[index(colour[index(row)])]++] = row;
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
  const std::size_t count = colour_start_.size() - 1;
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t c = direction == Direction::Forward ? step : count - 1 - step;
    const int* rows = rows_.data() + colour_start_[c];
    parallel_for(colour_start_[c + 1] - colour_start_[c], grain,
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
