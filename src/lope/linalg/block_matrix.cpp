#include <lope/base/identity.h>
#include <lope/base/parallel.h>
#include <lope/linalg/block_matrix.h>

#include <algorithm>
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

Incidence incidence(int rows, const BlockPattern::Groups& list) {
  Incidence result;
  result.start.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const int row : list.members) ++result.start[static_cast<std::size_t>(row) + 1];
  for (std::size_t i = 0; i + 1 < result.start.size(); ++i) result.start[i + 1] += result.start[i];
  result.group.resize(list.members.size());
  std::vector<std::int64_t> next(result.start.begin(), result.start.end() - 1);
  for (std::size_t i = 0; i < list.members.size(); ++i) {
    result.group[static_cast<std::size_t>(next[static_cast<std::size_t>(list.members[i])]++)] =
        static_cast<std::int64_t>(i) / list.group_size;
  }
  return result;
}

template <int b>
void add_product(const double* block, const double* x, double (&sum)[b]) {
  for (int i = 0; i < b; ++i) {
    for (int j = 0; j < b; ++j) sum[i] += block[i * b + j] * x[j];
  }
}

// y += the couplings of one row times x.
template <int b>
void add_coupling_products(std::span<const Coupling> couplings, const double* x, double* y) {
  double sum[b] = {};
  for (const Coupling& c : couplings) {
    add_product<b>(c.block.data(), x + static_cast<std::ptrdiff_t>(c.column) * b, sum);
  }
  for (int i = 0; i < b; ++i) y[i] += sum[i];
}

Coupling transposed(const Coupling& c, int block_size) {
  Coupling result{c.column, c.row, {}};
  const auto b = static_cast<std::size_t>(block_size);
  for (std::size_t i = 0; i < b; ++i) {
    for (std::size_t j = 0; j < b; ++j) result.block[j * b + i] = c.block[i * b + j];
  }
  return result;
}

}  // namespace

BlockPattern::BlockPattern() : id_(new_identity()) {}

std::shared_ptr<const BlockPattern> BlockPattern::from_groups(int rows, std::span<const int> groups,
                                                              int group_size) {
  const Groups list{groups, group_size};
  return from_groups(rows, std::span(&list, 1));
}

std::shared_ptr<const BlockPattern> BlockPattern::diagonal_only(int rows) {
  return from_groups(rows, std::span<const Groups>());
}

std::shared_ptr<const BlockPattern> BlockPattern::from_groups(int rows, std::span<const Groups> lists) {
  std::vector<Incidence> touching;
  for (const Groups& list : lists) touching.push_back(incidence(rows, list));
  const auto n = static_cast<std::size_t>(rows);

  // The columns of one row, sorted and unique, in `columns`.
  const auto collect = [&](std::size_t row, std::vector<int>& columns) {
    columns.assign(1, static_cast<int>(row));
    for (std::size_t l = 0; l < lists.size(); ++l) {
      for (std::int64_t k = touching[l].start[row]; k < touching[l].start[row + 1]; ++k) {
        const int* member =
            lists[l].members.data() + touching[l].group[static_cast<std::size_t>(k)] * lists[l].group_size;
        columns.insert(columns.end(), member, member + lists[l].group_size);
      }
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

std::shared_ptr<const BlockPattern> BlockPattern::from_compressed(std::vector<std::int64_t> row_start,
                                                                  std::vector<int> column) {
  auto pattern = std::shared_ptr<BlockPattern>(new BlockPattern);
  pattern->row_start_ = std::move(row_start);
  pattern->column_ = std::move(column);
  pattern->diagonal_.resize(pattern->row_start_.size() - 1);
  parallel_for(pattern->diagonal_.size(), row_grain, [&](std::size_t row) {
    const auto first = pattern->column_.begin() + pattern->row_start_[row];
    const auto last = pattern->column_.begin() + pattern->row_start_[row + 1];
    const auto at = std::lower_bound(first, last, static_cast<int>(row));
    assert(at != last && *at == static_cast<int>(row));
    pattern->diagonal_[row] = at - pattern->column_.begin();
  });
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

BlockMatrix::BlockMatrix(std::shared_ptr<const BlockPattern> pattern, int block_size, Isa isa)
    : pattern_(std::move(pattern)), block_size_(block_size), kernels_(&block_kernels(isa, block_size)) {
  values_.assign(static_cast<std::size_t>(pattern_->blocks() * block_size * block_size), 0.0);
}

void BlockMatrix::set_zero() {
  clear_couplings();
  parallel_chunks(values_.size(), value_grain, [this](std::size_t begin, std::size_t end) {
    std::fill(values_.data() + begin, values_.data() + end, 0.0);
  });
}

void BlockMatrix::add(double scale, const BlockMatrix& other) {
  assert(other.values_.size() == values_.size() && other.couplings_.empty());
  parallel_for(values_.size(), value_grain, [&](std::size_t i) { values_[i] += scale * other.values_[i]; });
}

void BlockMatrix::diagonal_blocks(Vector blocks) const {
  const auto b2 = static_cast<std::size_t>(block_size_ * block_size_);
  assert(blocks.size() == static_cast<std::size_t>(pattern_->rows()) * b2);
  parallel_for(static_cast<std::size_t>(pattern_->rows()), 8 * row_grain, [&](std::size_t row) {
    std::copy_n(block(pattern_->diagonal(static_cast<int>(row))), b2, blocks.data() + row * b2);
  });
}

void BlockMatrix::multiply(ConstVector x, Vector y) const {
  assert(x.size() == size() && y.size() == size());
  const BlockRows<double> rows = {pattern_->row_start().data(), pattern_->column().data(), values_.data()};
  parallel_chunks(static_cast<std::size_t>(pattern_->rows()), row_grain,
                  [&](std::size_t begin, std::size_t end) {
                    kernels_->multiply(rows, x.data(), y.data(), begin, end);
                    if (couplings_.empty()) return;
                    for (std::size_t row = begin; row < end; ++row) {
                      const auto first = static_cast<std::size_t>(coupling_start_[row]);
                      const auto count = static_cast<std::size_t>(coupling_start_[row + 1]) - first;
                      if (count == 0) continue;
                      const std::span<const Coupling> here{couplings_.data() + first, count};
                      if (block_size_ == 3) {
                        add_coupling_products<3>(here, x.data(), y.data() + 3 * row);
                      } else {
                        add_coupling_products<2>(here, x.data(), y.data() + 2 * row);
                      }
                    }
                  });
}

void BlockMatrix::set_couplings(std::span<const Coupling> couplings) {
  clear_couplings();
  if (couplings.empty()) return;
  const auto rows = static_cast<std::size_t>(pattern_->rows());
  coupling_start_.assign(rows + 1, 0);
  for (const Coupling& c : couplings) {
    assert(c.row != c.column && c.row >= 0 && c.column >= 0 && c.row < pattern_->rows() &&
           c.column < pattern_->rows());
    ++coupling_start_[static_cast<std::size_t>(c.row)];
    ++coupling_start_[static_cast<std::size_t>(c.column)];
  }
  // Sums before each row; filling backwards leaves every start where its row begins.
  for (std::size_t row = 0; row < rows; ++row) coupling_start_[row + 1] += coupling_start_[row];
  couplings_.resize(2 * couplings.size());
  for (auto c = couplings.rbegin(); c != couplings.rend(); ++c) {
    couplings_[static_cast<std::size_t>(--coupling_start_[static_cast<std::size_t>(c->column)])] =
        transposed(*c, block_size_);
    couplings_[static_cast<std::size_t>(--coupling_start_[static_cast<std::size_t>(c->row)])] = *c;
  }
}

void BlockMatrix::add_couplings(std::span<const Coupling> couplings) {
  if (couplings_.empty()) return set_couplings(couplings);
  std::vector<Coupling> all;
  all.reserve(couplings_.size() / 2 + couplings.size());
  for (const Coupling& c : couplings_) {
    if (c.row < c.column) all.push_back(c);
  }
  all.insert(all.end(), couplings.begin(), couplings.end());
  set_couplings(all);
}

void BlockMatrix::clear_couplings() {
  couplings_.clear();
  coupling_start_.clear();
}

std::span<const Coupling> BlockMatrix::couplings(int row) const {
  if (couplings_.empty()) return {};
  const auto i = static_cast<std::size_t>(row);
  const auto first = static_cast<std::size_t>(coupling_start_[i]);
  return std::span(couplings_).subspan(first, static_cast<std::size_t>(coupling_start_[i + 1]) - first);
}

void BlockMatrix::make_identity(std::span<const std::uint8_t> marked_rows, double diagonal) {
  const std::ptrdiff_t b = block_size_;
  const auto start = pattern_->row_start();
  const auto column = pattern_->column();
  parallel_for(static_cast<std::size_t>(pattern_->rows()), row_grain, [&](std::size_t row) {
    for (std::int64_t slot = start[row]; slot < start[row + 1]; ++slot) {
      const auto col = static_cast<std::size_t>(column[static_cast<std::size_t>(slot)]);
      if (!marked_rows[row] && !marked_rows[col]) continue;
      std::fill(block(slot), block(slot) + b * b, 0.0);
      if (row == col) {
        for (std::ptrdiff_t i = 0; i < b; ++i) block(slot)[i * (b + 1)] = diagonal;
      }
    }
  });
  for (Coupling& c : couplings_) {
    if (marked_rows[static_cast<std::size_t>(c.row)] || marked_rows[static_cast<std::size_t>(c.column)]) {
      c.block.fill(0);
    }
  }
}

}  // namespace lope::linalg
