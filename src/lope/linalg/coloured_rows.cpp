#include <lope/base/parallel.h>
#include <lope/linalg/coloured_rows.h>
#include <lope/math/decompositions.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace lope::linalg {
namespace {

// Blocks that one task of a sweep reads, about.
constexpr std::size_t task_blocks = 2048;
constexpr std::size_t row_grain = 1024;
// Eigenvalues of a diagonal block below this part of its trace count as zero, where that is allowed.
constexpr double smallest_part = 1e-12;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class T>
using Four [[gnu::vector_size(4 * sizeof(T))]] = T;

template <class T, class V>
inline void load(const T* from, V& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class T, class V>
inline void store(const V& value, T* to) {
  std::memcpy(to, &value, sizeof value);
}

// Numbers of a block.
template <int b>
constexpr std::ptrdiff_t entries = b == 0 ? 1 : b * b;

// Σ A_k x_k, the columns of the blocks apart until the end.
template <class T, int b>
struct Sum {
  Four<T> part[b == 0 ? 1 : b] = {};

  void add(const T* block, const T* x) {
    if constexpr (b == 0) {
      Four<T> all;
      load(x, all);
      part[0] += all * block[0];
    }
    for (std::ptrdiff_t j = 0; j < b; ++j) {
      Four<T> column;
      load(block + b * j, column);
      part[j] += column * x[j];
    }
  }
  // value −= the sum.
  void subtract_from(Four<T>& value) const {
    Four<T> total = part[0];
    for (int j = 1; j < b; ++j) total += part[j];
    value -= total;
  }
};

// to = A x.
template <class T, int b>
inline void product(const T* block, const Four<T>& x, T* to) {
  Four<T> total = {};
  if constexpr (b == 0) total = x * block[0];
  for (std::ptrdiff_t j = 0; j < b; ++j) {
    Four<T> column;
    load(block + b * j, column);
    total += column * x[j];
  }
  store(total, to);
}

template <class T, int b>
inline void sum_of(const int* column, const T* values, std::int64_t begin, std::int64_t end, const T* x, Sum<T, b>& sum) {
  for (std::int64_t k = begin; k < end; ++k) {
    sum.add(values + k * entries<b>, x + static_cast<std::ptrdiff_t>(packed) * column[k]);
  }
}

// f − A x of a row.
template <class T, int b>
inline Four<T> residual_of(std::ptrdiff_t row, const T* diagonal, const int* column, const T* values,
                           std::int64_t begin, std::int64_t end, const T* f, const T* x) {
  Sum<T, b> sum;
  sum.add(diagonal + row * entries<b>, x + 4 * row);
  sum_of<T, b>(column, values, begin, end, x, sum);
  Four<T> rest;
  load(f + 4 * row, rest);
  sum.subtract_from(rest);
  return rest;
}

template <int b>
using Block = Eigen::Matrix<double, b, b, Eigen::RowMajor>;

// The inverse of a definite block, of its range if a semi-definite one will do.
template <int b>
bool invert(const Mat<b>& a, bool semidefinite, Mat<b>& inverse) {
  const double trace = a.trace();
  if (!std::isfinite(a.sum())) return false;
  double smallest_pivot = 0;
  if (math::invert_definite<b>(a, inverse, smallest_pivot) && smallest_pivot > std::sqrt(smallest_part * trace)) return true;
  inverse.setZero();
  if (!(trace > 0)) return semidefinite;
  const math::SymmetricEigen<b> eigen = math::symmetric_eigen<b>(a);
  for (int k = 0; k < b; ++k) {
    const double value = eigen.values[k];
    if (value > smallest_part * trace) {
      inverse += eigen.vectors.col(k) * eigen.vectors.col(k).transpose() / value;
    } else if (!semidefinite && !(value > 0)) {
      return false;
    }
  }
  return true;
}

}  // namespace

template <class T, int b>
bool ColouredRows<T, b>::update(const BlockMatrix& matrix, bool semidefinite) {
  const bool other_pattern = pattern_id_ != matrix.pattern().id();
  if (other_pattern) {
    of_pattern_ = greedy_colouring(matrix.pattern().row_start(), matrix.pattern().column());
    pattern_id_ = matrix.pattern().id();
    pattern_rows_ = index(matrix.pattern().rows());
  }
  if (other_pattern || has_couplings_ || !matrix.couplings().empty()) {
    has_couplings_ = !matrix.couplings().empty();
    colour(matrix);
    lay_out(matrix);
  }
  return take_numbers(matrix, semidefinite);
}

// Rows with couplings are coloured among themselves, with colours after those of the pattern.
template <class T, int b>
void ColouredRows<T, b>::colour(const BlockMatrix& matrix) {
  const BlockPattern& pattern = matrix.pattern();
  colour_ = of_pattern_.colour;
  colours_ = of_pattern_.colours;
  std::vector<int> taken_by;  // by colour after those of the pattern: the last row that found it taken
  const auto first = colours_;
  for (const Coupling& c : matrix.couplings()) colour_[index(c.row)] = -1;
  if (has_couplings_) {
    for (int row = 0; row < pattern.rows(); ++row) {
      if (colour_[index(row)] >= 0) continue;
      const auto take = [&](int neighbour) {
        const int own = colour_[index(neighbour)] - first;
        if (neighbour < row && own >= 0) taken_by[index(own)] = row;
      };
      for (std::int64_t k = pattern.row_start()[index(row)]; k < pattern.row_start()[index(row) + 1]; ++k) {
        take(pattern.column()[index(k)]);
      }
      for (const Coupling& c : matrix.couplings(row)) take(c.column);
      int own = 0;
      while (own < colours_ - first && taken_by[index(own)] == row) ++own;
      if (own == colours_ - first) {
        ++colours_;
        taken_by.push_back(-1);
      }
      colour_[index(row)] = first + own;
    }
  }
  sort_by_colour(colour_, colours_, order_);
}

template <class T, int b>
void ColouredRows<T, b>::lay_out(const BlockMatrix& matrix) {
  const BlockPattern& pattern = matrix.pattern();
  place_.resize(pattern_rows_);
  for (std::size_t place = 0; place < pattern_rows_; ++place)
    place_[index(order_.rows[place])] = static_cast<int>(place);
  start_.assign(pattern_rows_ + 1, 0);
  middle_.assign(pattern_rows_, 0);
  parallel_for(pattern_rows_, row_grain, [&](std::size_t place) {
    const int row = order_.rows[place];
    const int own = colour_[index(row)];
    std::int64_t earlier = 0, all = 0;
    const auto count = [&](int column) {
      if (column == row) return;
      ++all;
      if (colour_[index(column)] < own) ++earlier;
    };
    for (std::int64_t k = pattern.row_start()[index(row)]; k < pattern.row_start()[index(row) + 1]; ++k) {
      count(pattern.column()[index(k)]);
    }
    for (const Coupling& c : matrix.couplings(row)) count(c.column);
    middle_[place] = earlier;
    start_[place + 1] = all;
  });
  for (std::size_t place = 0; place < pattern_rows_; ++place) {
    start_[place + 1] += start_[place];
    middle_[place] += start_[place];
  }
  const auto blocks = index(start_[pattern_rows_]);
  grain_ = std::max<std::size_t>(1, task_blocks * pattern_rows_ / std::max<std::size_t>(1, blocks));
  column_.resize(blocks);
  values_.resize(blocks * width * width + packed);
  diagonal_.resize(pattern_rows_ * width * width + packed);
  inverse_.resize(diagonal_.size());
}

template <class T, int b>
bool ColouredRows<T, b>::take_numbers(const BlockMatrix& matrix, bool semidefinite) {
  const BlockPattern& pattern = matrix.pattern();
  const auto copy_block = [](const double* from, T* to) {
    for (std::ptrdiff_t i = 0; i < width; ++i) {
      for (std::ptrdiff_t j = 0; j < width; ++j) to[j * width + i] = static_cast<T>(from[i * width + j]);
    }
  };
  std::atomic<bool> definite = true;
  parallel_for(pattern_rows_, row_grain, [&](std::size_t place) {
    const int row = order_.rows[place];
    const int own = colour_[index(row)];
    std::int64_t next[2] = {start_[place], middle_[place]};
    const auto take = [&](int column, const double* block) {
      const std::int64_t at = next[colour_[index(column)] < own ? 0 : 1]++;
      column_[index(at)] = column;
      copy_block(block, values_.data() + at * entries<b>);
    };
    for (std::int64_t k = pattern.row_start()[index(row)]; k < pattern.row_start()[index(row) + 1]; ++k) {
      const int column = pattern.column()[index(k)];
      if (column != row) take(column, matrix.block(k));
    }
    for (const Coupling& c : matrix.couplings(row)) take(c.column, c.block.data());
    const double* diagonal = matrix.block(pattern.diagonal(row));
    copy_block(diagonal, diagonal_.data() + static_cast<std::ptrdiff_t>(row) * entries<b>);
    Mat<width> inverse;
    if (!invert<width>(Eigen::Map<const Block<width>>(diagonal), semidefinite, inverse)) definite = false;
    copy_block(Block<width>(inverse).data(), inverse_.data() + static_cast<std::ptrdiff_t>(row) * entries<b>);
  });
  return definite;
}

template <class T, int b>
template <class Body>
void ColouredRows<T, b>::for_rows(std::size_t colour, const Body& body) const {
  const std::size_t first = order_.start[colour];
  parallel_for(order_.start[colour + 1] - first, grain_, [&](std::size_t k) { body(first + k); });
}

template <class T, int b>
template <class Body>
void ColouredRows<T, b>::for_all_rows(const Body& body) const {
  parallel_for(pattern_rows_, grain_, body);
}

template <class T, int b>
void ColouredRows<T, b>::sweep(const T* f, T* t, T* x, bool from_zero, const std::uint8_t* skipped) const {
  const auto count = static_cast<std::size_t>(colours_);
  const int* column = column_.data();
  const T* values = values_.data();
  for (std::size_t c = 0; c < count; ++c) {
    for_rows(c, [&](std::size_t place) {
      const auto row = static_cast<std::ptrdiff_t>(order_.rows[place]);
      if (skipped != nullptr && skipped[row] != 0) {
        if (from_zero) store(Four<T>{}, x + 4 * row);
        return;
      }
      Sum<T, b> earlier;
      sum_of<T, b>(column, values, start_[place], middle_[place], x, earlier);
      Four<T> rest;
      load(f + 4 * row, rest);
      earlier.subtract_from(rest);
      store(rest, t + 4 * row);
      if (!from_zero) {
        Sum<T, b> later;
        sum_of<T, b>(column, values, middle_[place], start_[place + 1], x, later);
        later.subtract_from(rest);
      }
      product<T, b>(inverse_.data() + row * entries<b>, rest, x + 4 * row);
    });
  }
  for (std::size_t c = count; c-- > 0;) {
    for_rows(c, [&](std::size_t place) {
      const auto row = static_cast<std::ptrdiff_t>(order_.rows[place]);
      if (skipped != nullptr && skipped[row] != 0) return;
      Sum<T, b> later;
      sum_of<T, b>(column, values, middle_[place], start_[place + 1], x, later);
      Four<T> rest;
      load(t + 4 * row, rest);
      later.subtract_from(rest);
      product<T, b>(inverse_.data() + row * entries<b>, rest, x + 4 * row);
    });
  }
}

template <class T, int b>
void ColouredRows<T, b>::residual_after_sweep(const T* f, const T* t, const T* x, T* r) const {
  for_all_rows([&](std::size_t place) {
    const auto row = static_cast<std::ptrdiff_t>(order_.rows[place]);
    Sum<T, b> earlier;
    sum_of<T, b>(column_.data(), values_.data(), start_[place], middle_[place], x, earlier);
    Four<T> rest, left;
    load(f + 4 * row, rest);
    load(t + 4 * row, left);
    rest -= left;
    earlier.subtract_from(rest);
    store(rest, r + 4 * row);
  });
}

template <class T, int b>
void ColouredRows<T, b>::residual(const T* f, const T* x, T* r) const {
  for_all_rows([&](std::size_t place) {
    const auto row = static_cast<std::ptrdiff_t>(order_.rows[place]);
    const auto rest = residual_of<T, b>(row, diagonal_.data(), column_.data(), values_.data(), start_[place],
                                        start_[place + 1], f, x);
    store(rest, r + 4 * row);
  });
}

template <class T, int b>
void ColouredRows<T, b>::row_residual(int row, const T* f, const T* x, T* r) const {
  const std::size_t place = index(place_[index(row)]);
  const auto rest = residual_of<T, b>(row, diagonal_.data(), column_.data(), values_.data(), start_[place],
                                      start_[place + 1], f, x);
  for (std::ptrdiff_t k = 0; k < b; ++k) r[k] = rest[k];
}

template class ColouredRows<double, 3>;
template class ColouredRows<double, 2>;
template class ColouredRows<double, 1>;
template class ColouredRows<double, 0>;
template class ColouredRows<float, 3>;
template class ColouredRows<float, 2>;
template class ColouredRows<float, 1>;
template class ColouredRows<float, 0>;

}  // namespace lope::linalg
