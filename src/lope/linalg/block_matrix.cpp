#include <lope/base/parallel.h>
#include <lope/linalg/block_matrix.h>
#include <lope/linalg/with_block_size.h>

#include <algorithm>
#include <cassert>

namespace lope::linalg {
namespace {

constexpr std::size_t row_grain = 512;
constexpr std::size_t value_grain = 16384;

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
                      with_block_size(block_size_, [&]<int b>() {
                        add_coupling_products<b>(here, x.data(), y.data() + static_cast<std::size_t>(b) * row);
                      });
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
