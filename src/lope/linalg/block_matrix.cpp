#include <lope/base/parallel.h>
#include <lope/linalg/block_matrix.h>

#include <algorithm>
#include <atomic>
#include <cassert>

namespace lope::linalg {
namespace {

constexpr std::size_t row_grain = 512;
constexpr std::size_t value_grain = 16384;

// For every row, the groups that contain it (compressed rows).
struct Incidence {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> group;
};

Incidence incidence(int rows, std::span<const int> groups, int group_size) {
  Incidence result;
  result.start.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const int row : groups) ++result.start[static_cast<std::size_t>(row) + 1];
  for (std::size_t i = 0; i + 1 < result.start.size(); ++i) result.start[i + 1] += result.start[i];
  result.group.resize(groups.size());
  std::vector<std::int64_t> next(result.start.begin(), result.start.end() - 1);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    result.group[static_cast<std::size_t>(next[static_cast<std::size_t>(groups[i])]++)] =
        static_cast<std::int64_t>(i) / group_size;
  }
  return result;
}

std::uint64_t new_id() {
  static std::atomic<std::uint64_t> next{1};
  return next++;
}

// y = A x for the rows [begin, end).
template <int b>
void multiply_rows(const BlockMatrix& a, const double* x, double* y, std::size_t begin, std::size_t end) {
  const std::int64_t* start = a.pattern().row_start().data();
  const int* column = a.pattern().column().data();
  for (std::size_t row = begin; row < end; ++row) {
    double sum[b] = {};
    for (std::int64_t slot = start[row]; slot < start[row + 1]; ++slot) {
      const double* block = a.block(slot);
      const double* xj = x + static_cast<std::ptrdiff_t>(column[slot]) * b;
      for (int i = 0; i < b; ++i) {
        for (int j = 0; j < b; ++j) sum[i] += block[i * b + j] * xj[j];
      }
    }
    for (int i = 0; i < b; ++i) y[row * b + static_cast<std::size_t>(i)] = sum[i];
  }
}

}  // namespace

BlockPattern::BlockPattern() : id_(new_id()) {}

std::shared_ptr<const BlockPattern> BlockPattern::from_groups(int rows, std::span<const int> groups,
                                                              int group_size) {
  const Incidence touching = incidence(rows, groups, group_size);
  const auto n = static_cast<std::size_t>(rows);

  // The columns of one row, sorted and unique, in `columns`.
  const auto collect = [&](std::size_t row, std::vector<int>& columns) {
    columns.assign(1, static_cast<int>(row));
    for (std::int64_t k = touching.start[row]; k < touching.start[row + 1]; ++k) {
      const int* member = groups.data() + touching.group[static_cast<std::size_t>(k)] * group_size;
      columns.insert(columns.end(), member, member + group_size);
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  };

  auto pattern = std::shared_ptr<BlockPattern>(new BlockPattern);
  pattern->row_start_.assign(n + 1, 0);
  parallel_chunks(n, row_grain, [&](std::size_t begin, std::size_t end) {
    std::vector<int> columns;
    for (std::size_t row = begin; row < end; ++row) {
      collect(row, columns);
      pattern->row_start_[row + 1] = static_cast<std::int64_t>(columns.size());
    }
  });
  for (std::size_t row = 0; row < n; ++row) pattern->row_start_[row + 1] += pattern->row_start_[row];
  pattern->column_.resize(static_cast<std::size_t>(pattern->row_start_[n]));
  pattern->diagonal_.resize(n);
  parallel_chunks(n, row_grain, [&](std::size_t begin, std::size_t end) {
    std::vector<int> columns;
    for (std::size_t row = begin; row < end; ++row) {
      collect(row, columns);
      std::copy(columns.begin(), columns.end(), pattern->column_.begin() + pattern->row_start_[row]);
      const auto at = std::lower_bound(columns.begin(), columns.end(), static_cast<int>(row));
      pattern->diagonal_[row] = pattern->row_start_[row] + (at - columns.begin());
    }
  });
  return pattern;
}

std::shared_ptr<const BlockPattern> BlockPattern::from_rows(std::span<const std::vector<int>> rows) {
  auto pattern = std::shared_ptr<BlockPattern>(new BlockPattern);
  pattern->row_start_.push_back(0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto at = std::lower_bound(rows[row].begin(), rows[row].end(), static_cast<int>(row));
    assert(at != rows[row].end() && *at == static_cast<int>(row));
    pattern->diagonal_.push_back(pattern->row_start_.back() + (at - rows[row].begin()));
    pattern->column_.insert(pattern->column_.end(), rows[row].begin(), rows[row].end());
    pattern->row_start_.push_back(static_cast<std::int64_t>(pattern->column_.size()));
  }
  return pattern;
}

BlockPattern::DirectSum BlockPattern::direct_sum(std::span<const std::vector<int>> sets) const {
  auto pattern = std::shared_ptr<BlockPattern>(new BlockPattern);
  DirectSum sum{pattern, {}};
  pattern->row_start_.push_back(0);
  std::vector<int> place(static_cast<std::size_t>(rows()), -1);  // of a row in the set at hand
  int first = 0;
  for (const std::vector<int>& set : sets) {
    assert(std::is_sorted(set.begin(), set.end()));
    for (std::size_t k = 0; k < set.size(); ++k) {
      place[static_cast<std::size_t>(set[k])] = first + static_cast<int>(k);
    }
    for (const int row : set) {
      for (std::int64_t slot = row_start_[static_cast<std::size_t>(row)];
           slot < row_start_[static_cast<std::size_t>(row) + 1]; ++slot) {
        const int column = column_[static_cast<std::size_t>(slot)];
        if (place[static_cast<std::size_t>(column)] < 0) continue;
        if (column == row) pattern->diagonal_.push_back(static_cast<std::int64_t>(sum.slot.size()));
        pattern->column_.push_back(place[static_cast<std::size_t>(column)]);
        sum.slot.push_back(slot);
      }
      pattern->row_start_.push_back(static_cast<std::int64_t>(sum.slot.size()));
    }
    for (const int row : set) place[static_cast<std::size_t>(row)] = -1;
    first += static_cast<int>(set.size());
  }
  return sum;
}

std::shared_ptr<const BlockPattern> BlockPattern::concatenate(
    std::span<const std::shared_ptr<const BlockPattern>> parts) {
  auto whole = std::shared_ptr<BlockPattern>(new BlockPattern);
  whole->row_start_.assign(1, 0);
  for (const auto& part : parts) {
    const int first_row = whole->rows();
    const std::int64_t first_slot = whole->blocks();
    for (int row = 0; row < part->rows(); ++row) {
      whole->row_start_.push_back(first_slot + part->row_start_[static_cast<std::size_t>(row) + 1]);
      whole->diagonal_.push_back(first_slot + part->diagonal(row));
    }
    for (const int column : part->column_) whole->column_.push_back(first_row + column);
  }
  return whole;
}

std::int64_t BlockPattern::slot(int row, int column) const {
  const auto begin = column_.begin() + row_start_[static_cast<std::size_t>(row)];
  const auto end = column_.begin() + row_start_[static_cast<std::size_t>(row) + 1];
  const auto at = std::lower_bound(begin, end, column);
  return at != end && *at == column ? at - column_.begin() : -1;
}

BlockMatrix::BlockMatrix(std::shared_ptr<const BlockPattern> pattern, int block_size)
    : pattern_(std::move(pattern)), block_size_(block_size) {
  assert(block_size >= 1 && block_size <= 3);
  values_.assign(static_cast<std::size_t>(pattern_->blocks() * block_size * block_size), 0.0);
}

void BlockMatrix::set_zero() {
  parallel_chunks(values_.size(), value_grain, [this](std::size_t begin, std::size_t end) {
    std::fill(values_.data() + begin, values_.data() + end, 0.0);
  });
}

void BlockMatrix::add(double scale, const BlockMatrix& other) {
  assert(other.values_.size() == values_.size());
  parallel_for(values_.size(), value_grain, [&](std::size_t i) { values_[i] += scale * other.values_[i]; });
}

void BlockMatrix::multiply(std::span<const double> x, std::span<double> y) const {
  assert(x.size() == size() && y.size() == size());
  parallel_chunks(static_cast<std::size_t>(pattern_->rows()), row_grain,
                  [&](std::size_t begin, std::size_t end) {
                    if (block_size_ == 3) {
                      multiply_rows<3>(*this, x.data(), y.data(), begin, end);
                    } else if (block_size_ == 2) {
                      multiply_rows<2>(*this, x.data(), y.data(), begin, end);
                    } else {
                      multiply_rows<1>(*this, x.data(), y.data(), begin, end);
                    }
                  });
}

void BlockMatrix::make_identity(std::span<const std::uint8_t> marked_rows, double diagonal) {
  const int b = block_size_;
  const auto start = pattern_->row_start();
  const auto column = pattern_->column();
  parallel_for(static_cast<std::size_t>(pattern_->rows()), row_grain, [&](std::size_t row) {
    for (std::int64_t slot = start[row]; slot < start[row + 1]; ++slot) {
      const auto col = static_cast<std::size_t>(column[static_cast<std::size_t>(slot)]);
      if (!marked_rows[row] && !marked_rows[col]) continue;
      std::fill(block(slot), block(slot) + b * b, 0.0);
      if (row == col) {
        for (int i = 0; i < b; ++i) block(slot)[i * (b + 1)] = diagonal;
      }
    }
  });
}

}  // namespace lope::linalg
