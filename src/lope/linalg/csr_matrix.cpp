#include <lope/base/parallel.h>
#include <lope/linalg/csr_matrix.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/core.h>

namespace lope::linalg {
namespace {

constexpr std::size_t row_grain = 4096;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Turns counts per row, stored one place late, into row starts.
void accumulate(std::vector<std::int64_t>& start) {
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
}

// One row of a product, gathered over the rows of `b`: the columns met so far and, by column, where they
// stand.
class RowGatherer {
 public:
  explicit RowGatherer(int columns) : place_(index(columns), -1) {}

  void add(int column, double value) {
    std::int64_t& place = place_[index(column)];
    if (place < 0) {
      place = static_cast<std::int64_t>(met_.size());
      met_.push_back(column);
      sum_.push_back(0);
    }
    sum_[index(place)] += value;
  }
  void count(int column) {
    if (place_[index(column)] >= 0) return;
    place_[index(column)] = 0;
    met_.push_back(column);
  }
  std::size_t size() const { return met_.size(); }
  // Columns in ascending order to the given places; then empty again.
  void store(int* columns, double* values) {
    std::copy(met_.begin(), met_.end(), columns);
    std::sort(columns, columns + met_.size());
    for (std::size_t k = 0; k < met_.size(); ++k) values[k] = sum_[index(place_[index(columns[k])])];
    clear();
  }
  void clear() {
    for (const int column : met_) place_[index(column)] = -1;
    met_.clear();
    sum_.clear();
  }

 private:
  std::vector<std::int64_t> place_;
  std::vector<int> met_;
  std::vector<double> sum_;
};

template <class Visit>
void for_product_row(const CsrMatrix& a, const CsrMatrix& b, std::size_t row, const Visit& visit) {
  for (std::int64_t k = a.row_start[row]; k < a.row_start[row + 1]; ++k) {
    const auto middle = index(a.column[index(k)]);
    for (std::int64_t l = b.row_start[middle]; l < b.row_start[middle + 1]; ++l) {
      visit(b.column[index(l)], a.value[index(k)] * b.value[index(l)]);
    }
  }
}

// body(row, gatherer) for every row; a worker keeps its gatherer.
template <class Body>
void for_gathered_rows(int rows, int columns, const Body& body) {
  std::vector<std::vector<RowGatherer>> gatherers(worker_count());
  const std::size_t tasks = (index(rows) + row_grain - 1) / row_grain;
  parallel_tasks(tasks, [&](std::size_t task, std::size_t worker) {
    auto& own = gatherers[worker];
    if (own.empty()) own.emplace_back(columns);
    const std::size_t end = std::min(index(rows), (task + 1) * row_grain);
    for (std::size_t row = task * row_grain; row < end; ++row) body(row, own.front());
  });
}

}  // namespace

double CsrMatrix::at(int row, int wanted) const {
  const auto first = column.begin() + row_start[index(row)];
  const auto last = column.begin() + row_start[index(row) + 1];
  const auto found = std::lower_bound(first, last, wanted);
  return found != last && *found == wanted ? value[index(found - column.begin())] : 0.0;
}

CsrMatrix csr_from_entries(int rows, int columns, std::span<const CsrEntry> entries) {
  CsrMatrix a{rows, columns, std::vector<std::int64_t>(index(rows) + 1, 0), {}, {}};
  for (const CsrEntry& entry : entries) {
    assert(entry.row >= 0 && entry.row < rows && entry.column >= 0 && entry.column < columns);
    ++a.row_start[index(entry.row) + 1];
  }
  accumulate(a.row_start);
  std::vector<std::int64_t> next(a.row_start.begin(), a.row_start.end() - 1);
  std::vector<std::int64_t> order(entries.size());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    order[index(next[index(entries[k].row)]++)] = static_cast<std::int64_t>(k);
  }
  // Within a row by column, equal ones in the order given (so that their sum is that of the input).
  const auto before = [&](std::int64_t left, std::int64_t right) {
    return std::pair(entries[index(left)].column, left) < std::pair(entries[index(right)].column, right);
  };
  a.column.reserve(entries.size());
  a.value.reserve(entries.size());
  std::int64_t begin = 0;
  for (std::size_t row = 0; row < index(rows); ++row) {
    const std::int64_t end = a.row_start[row + 1];
    std::sort(order.begin() + begin, order.begin() + end, before);
    a.row_start[row] = a.entries();
    for (std::int64_t k = begin; k < end; ++k) {
      const CsrEntry& entry = entries[index(order[index(k)])];
      if (a.entries() > a.row_start[row] && a.column.back() == entry.column) {
        a.value.back() += entry.value;
      } else {
        a.column.push_back(entry.column);
        a.value.push_back(entry.value);
      }
    }
    begin = end;
  }
  a.row_start.back() = a.entries();
  return a;
}

CsrMatrix csr_identity(int rows) {
  CsrMatrix a{rows, rows, std::vector<std::int64_t>(index(rows) + 1), std::vector<int>(index(rows)),
              std::vector<double>(index(rows), 1.0)};
  for (int i = 0; i < rows; ++i) {
    a.column[index(i)] = i;
    a.row_start[index(i) + 1] = i + 1;
  }
  return a;
}

void multiply(const CsrMatrix& a, ConstVector x, Vector y) {
  parallel_for(index(a.rows), row_grain, [&](std::size_t i) {
    double sum = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      sum += a.value[index(k)] * x[index(a.column[index(k)])];
    }
    y[i] = sum;
  });
}

void residual(const CsrMatrix& a, ConstVector x, ConstVector f, Vector r) {
  parallel_for(index(a.rows), row_grain, [&](std::size_t i) {
    double sum = f[i];
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      sum -= a.value[index(k)] * x[index(a.column[index(k)])];
    }
    r[i] = sum;
  });
}

std::vector<double> diagonal(const CsrMatrix& a) {
  std::vector<double> result(index(a.rows));
  parallel_for(index(a.rows), row_grain,
               [&](std::size_t i) { result[i] = a.at(static_cast<int>(i), static_cast<int>(i)); });
  return result;
}

CsrMatrix transpose(const CsrMatrix& a) {
  CsrMatrix t{a.columns, a.rows, std::vector<std::int64_t>(index(a.columns) + 1, 0),
              std::vector<int>(a.column.size()), std::vector<double>(a.value.size())};
  for (const int column : a.column) ++t.row_start[index(column) + 1];
  accumulate(t.row_start);
  std::vector<std::int64_t> next(t.row_start.begin(), t.row_start.end() - 1);
  for (int row = 0; row < a.rows; ++row) {
    for (std::int64_t k = a.row_start[index(row)]; k < a.row_start[index(row) + 1]; ++k) {
      const auto place = index(next[index(a.column[index(k)])]++);
      t.column[place] = row;
      t.value[place] = a.value[index(k)];
    }
  }
  return t;
}

CsrMatrix multiply(const CsrMatrix& a, const CsrMatrix& b) {
  assert(a.columns == b.rows);
  CsrMatrix c{a.rows, b.columns, std::vector<std::int64_t>(index(a.rows) + 1, 0), {}, {}};
  for_gathered_rows(a.rows, b.columns, [&](std::size_t row, RowGatherer& gatherer) {
    for_product_row(a, b, row, [&](int column, double) { gatherer.count(column); });
    c.row_start[row + 1] = static_cast<std::int64_t>(gatherer.size());
    gatherer.clear();
  });
  accumulate(c.row_start);
  c.column.resize(index(c.row_start.back()));
  c.value.resize(c.column.size());
  for_gathered_rows(a.rows, b.columns, [&](std::size_t row, RowGatherer& gatherer) {
    for_product_row(a, b, row, [&](int column, double value) { gatherer.add(column, value); });
    gatherer.store(c.column.data() + c.row_start[row], c.value.data() + c.row_start[row]);
  });
  return c;
}

double asymmetry(const CsrMatrix& a) {
  if (a.rows != a.columns) return -1;
  return parallel_max(index(a.rows), row_grain, [&](std::size_t begin, std::size_t end) {
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
        const double other = a.at(a.column[index(k)], static_cast<int>(i));
        largest = std::max(largest, std::abs(a.value[index(k)] - other));
      }
    }
    return largest;
  });
}

std::string structural_fault(const CsrMatrix& a) {
  if (a.rows < 0 || a.columns < 0 || a.row_start.size() != index(a.rows) + 1 || a.row_start.front() != 0 ||
      a.row_start.back() != a.entries() || a.value.size() != a.column.size()) {
    return "the arrays of the matrix do not fit together";
  }
  for (std::size_t i = 0; i < index(a.rows); ++i) {
    if (a.row_start[i] > a.row_start[i + 1])
      return fmt::format("row {} of the matrix has a negative length", i + 1);
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const int column = a.column[index(k)];
      if (column < 0 || column >= a.columns)
        return fmt::format("row {} of the matrix has column {}", i + 1, column + 1);
      if (k > a.row_start[i] && column <= a.column[index(k - 1)]) {
        return fmt::format("the columns of row {} of the matrix do not ascend", i + 1);
      }
      if (!std::isfinite(a.value[index(k)])) {
        return fmt::format("the entry ({}, {}) of the matrix is not a finite number", i + 1, column + 1);
      }
    }
  }
  return {};
}

}  // namespace lope::linalg
