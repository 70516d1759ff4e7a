#include <lope/base/parallel.h>
#include <lope/linalg/float_blocks.h>
#include <lope/linalg/rounded_matrix.h>

namespace lope::linalg {
namespace {

constexpr std::size_t row_grain = 512;
constexpr std::size_t value_grain = 16384;

template <int b>
void multiply_rows(const BlockPattern& pattern, const float* values, const float* x, double* y,
                   std::size_t begin, std::size_t end) {
  const std::int64_t* start = pattern.row_start().data();
  const int* column = pattern.column().data();
  for (std::size_t row = begin; row < end; ++row) {
    float_blocks::RowSum<b> sum;
    for (std::int64_t slot = start[row]; slot < start[row + 1]; ++slot) {
      sum.add(values + slot * b * b, x + 4 * static_cast<std::ptrdiff_t>(column[slot]));
    }
    for (int i = 0; i < b; ++i) y[row * b + static_cast<std::size_t>(i)] = sum.entry(i);
  }
}

}  // namespace

void RoundedMatrix::update(const BlockMatrix& matrix) {
  pattern_ = &matrix.pattern();
  block_size_ = matrix.block_size();
  couplings_.assign(matrix.couplings().begin(), matrix.couplings().end());
  const auto values = matrix.values();
  values_.resize(values.size() + float_blocks::padding);
  x_.resize(4 * static_cast<std::size_t>(pattern_->rows()));
  parallel_for(values.size(), value_grain,
               [&](std::size_t k) { values_[k] = static_cast<float>(values[k]); });
}

void RoundedMatrix::multiply(ConstVector x, Vector y) {
  const auto b = static_cast<std::size_t>(block_size_);
  const auto rows = static_cast<std::size_t>(pattern_->rows());
  parallel_for(rows, 8 * row_grain, [&](std::size_t i) {
    for (std::size_t k = 0; k < b; ++k) x_[4 * i + k] = static_cast<float>(x[i * b + k]);
  });
  parallel_chunks(rows, row_grain, [&](std::size_t begin, std::size_t end) {
    if (block_size_ == 3) {
      multiply_rows<3>(*pattern_, values_.data(), x_.data(), y.data(), begin, end);
    } else {
      multiply_rows<2>(*pattern_, values_.data(), x_.data(), y.data(), begin, end);
    }
  });
  for (const Coupling& c : couplings_) {
    for (std::size_t i = 0; i < b; ++i) {
      for (std::size_t j = 0; j < b; ++j) {
        y[static_cast<std::size_t>(c.row) * b + i] +=
            c.block[i * b + j] * x[static_cast<std::size_t>(c.column) * b + j];
      }
    }
  }
}

}  // namespace lope::linalg
