#include <lope/base/parallel.h>
#include <lope/linalg/row_groups.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <Eigen/Cholesky>

namespace lope::linalg {
namespace {

constexpr double light = 1e-3;   // of a neighbour's diagonal
constexpr double strong = 0.25;  // coupling of scaled rows
constexpr std::size_t most = 8;  // rows of a group
constexpr std::size_t row_grain = 256, group_grain = 16, chunk = 256;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

template <int b>
constexpr int largest = static_cast<int>(most) * b;
template <int b>
using GroupMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, largest<b>, largest<b>>;

std::vector<double> traces(const BlockMatrix& matrix) {
  std::vector<double> result(index(matrix.pattern().rows()));
  parallel_for(result.size(), row_grain, [&](std::size_t i) {
    const double* block = matrix.block(matrix.pattern().diagonal(static_cast<int>(i)));
    for (int k = 0; k < matrix.block_size(); ++k) result[i] += block[k * (matrix.block_size() + 1)];
  });
  return result;
}

// Row i with its strongest neighbours, ascending; empty if it needs none.
std::vector<int> group_of(const BlockMatrix& matrix, std::span<const double> trace, std::size_t i) {
  const BlockPattern& pattern = matrix.pattern();
  const int b = matrix.block_size(), row = static_cast<int>(i);
  const auto columns =
      std::span(pattern.column())
          .subspan(index(pattern.row_start()[i]), index(pattern.row_start()[i + 1] - pattern.row_start()[i]));
  const auto is_heavy = [&](int column) { return trace[i] < light * trace[index(column)]; };
  if (std::none_of(columns.begin(), columns.end(), is_heavy) || !matrix.couplings(row).empty()) return {};
  std::vector<std::pair<double, int>> neighbours;  // strength, negative, so that the strongest come first
  bool is_light = false;
  for (std::int64_t k = pattern.row_start()[i]; k < pattern.row_start()[i + 1]; ++k) {
    const int column = pattern.column()[index(k)];
    if (column == row) continue;
    double square = 0;
    for (int e = 0; e < b * b; ++e) square += matrix.block(k)[e] * matrix.block(k)[e];
    if (square == 0) continue;
    const double other = trace[index(column)];
    is_light = is_light || is_heavy(column);
    const double strength = b * b * square / (trace[i] * other);
    if (strength > strong * strong && matrix.couplings(column).empty())
      neighbours.emplace_back(-strength, column);
  }
  if (!is_light || neighbours.empty()) return {};
  std::sort(neighbours.begin(), neighbours.end());
  std::vector<int> rows = {row};
  for (std::size_t k = 0; k < std::min(most - 1, neighbours.size()); ++k)
    rows.push_back(neighbours[k].second);
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::vector<int>> find_groups(const BlockMatrix& matrix) {
  const std::vector<double> trace = traces(matrix);
  std::vector<std::vector<int>> groups(trace.size());
  parallel_for(trace.size(), row_grain, [&](std::size_t i) { groups[i] = group_of(matrix, trace, i); });
  std::erase_if(groups, [](const auto& rows) { return rows.empty(); });
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

// Groups of one colour have no row that is coupled to a row of another one.
Colouring colours_of(const std::vector<std::vector<int>>& groups, const BlockPattern& pattern) {
  std::vector<std::vector<int>> holds(index(pattern.rows()));  // groups of a row
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const int row : groups[g]) holds[index(row)].push_back(static_cast<int>(g));
  }
  std::vector<std::vector<int>> meets(groups.size());
  parallel_chunks(groups.size(), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      for (const int row : groups[g]) {
        for (std::int64_t k = pattern.row_start()[index(row)]; k < pattern.row_start()[index(row) + 1]; ++k) {
          const std::vector<int>& others = holds[index(pattern.column()[index(k)])];
          meets[g].insert(meets[g].end(), others.begin(), others.end());
        }
      }
      std::sort(meets[g].begin(), meets[g].end());
      meets[g].erase(std::unique(meets[g].begin(), meets[g].end()), meets[g].end());
    }
  });
  std::vector<std::int64_t> start = {0};
  std::vector<int> all;
  for (const auto& others : meets) {
    all.insert(all.end(), others.begin(), others.end());
    start.push_back(static_cast<std::int64_t>(all.size()));
  }
  return greedy_colouring(start, all);
}

// W with WᵀW = A⁻¹ on these rows, factorised with unit diagonal; empty if that is not definite.
template <int b>
GroupMatrix<b> inverse_factor(const BlockMatrix& matrix, const std::vector<int>& rows) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  GroupMatrix<b> a = GroupMatrix<b>::Zero(b * n, b * n);
  const BlockPattern& pattern = matrix.pattern();
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto begin = pattern.column().begin() + pattern.row_start()[index(rows[index(i)])];
    const auto end = pattern.column().begin() + pattern.row_start()[index(rows[index(i)]) + 1];
    for (Eigen::Index j = 0; j <= i; ++j) {
      const auto at = std::lower_bound(begin, end, rows[index(j)]);
      if (at == end || *at != rows[index(j)]) continue;
      const double* block = matrix.block(at - pattern.column().begin());
      for (int r = 0; r < b; ++r) {
        for (int c = 0; c < b; ++c) a(b * i + r, b * j + c) = block[r * b + c];
      }
    }
  }
  const Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, largest<b>, 1> scale =
      a.diagonal().cwiseSqrt().cwiseInverse();
  a = scale.asDiagonal() * a * scale.asDiagonal();
  const Eigen::LLT<GroupMatrix<b>> factor(a);
  if (factor.info() != Eigen::Success || !a.allFinite()) return {};
  GroupMatrix<b> w = GroupMatrix<b>::Identity(b * n, b * n);
  factor.matrixL().solveInPlace(w);
  return w * scale.asDiagonal();
}

}  // namespace

template <class T, int b>
void RowGroups<T, b>::update(const BlockMatrix& matrix) {
  const std::vector<std::vector<int>> groups = find_groups(matrix);
  factors_.clear();
  colour_ = {0};
  if (groups.empty()) return;
  const Colouring colouring = colours_of(groups, matrix.pattern());
  RowsByColour order;
  sort_by_colour(colouring.colour, colouring.colours, order);
  factors_.resize(groups.size());
  colour_ = order.start;
  parallel_for(groups.size(), group_grain, [&](std::size_t place) {
    Factor& made = factors_[place];
    made.rows = groups[index(order.rows[place])];
    const GroupMatrix<b> w = inverse_factor<b>(matrix, made.rows);
    for (Eigen::Index j = 0; j < w.cols(); ++j) {
      for (Eigen::Index i = 0; i < w.rows(); ++i) {
        made.w.push_back(static_cast<T>(w(i, j)));
        made.wt.push_back(static_cast<T>(w(j, i)));
      }
    }
  });
}

template <class T, int b>
void RowGroups<T, b>::relax(const Factor& group, const ColouredRows<T, b>& rows, const T* f, T* x) const {
  if (group.w.empty()) return;
  const std::size_t n = group.rows.size() * b;
  T r[largest<b>], y[largest<b>] = {}, z[largest<b>] = {};
  for (std::size_t i = 0; i < group.rows.size(); ++i) rows.row_residual(group.rows[i], f, x, r + b * i);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) y[i] += group.w[n * j + i] * r[j];
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i <= j; ++i) z[i] += group.wt[n * j + i] * y[j];
  }
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    T* to = x + packed * index(group.rows[i]);
    for (std::size_t k = 0; k < b; ++k) to[k] += z[b * i + k];
  }
}

template <class T, int b>
void RowGroups<T, b>::sweep(const ColouredRows<T, b>& rows, const T* f, T* x, Order order) const {
  const std::size_t colours = colour_.size() - 1;
  for (std::size_t step = 0; step < colours; ++step) {
    const std::size_t c = order == Order::Forward ? step : colours - 1 - step;
    parallel_for(colour_[c + 1] - colour_[c], group_grain,
                 [&](std::size_t k) { relax(factors_[colour_[c] + k], rows, f, x); });
  }
}

template class RowGroups<double, 3>;
template class RowGroups<double, 2>;
template class RowGroups<double, 1>;
template class RowGroups<float, 3>;
template class RowGroups<float, 2>;
template class RowGroups<float, 1>;

}  // namespace lope::linalg
