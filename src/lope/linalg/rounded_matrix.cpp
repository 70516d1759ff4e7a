#include <lope/base/parallel.h>
#include <lope/linalg/rounded_matrix.h>

namespace lope::linalg {
namespace {

constexpr std::size_t row_grain = 512;
constexpr std::size_t value_grain = 16384;
constexpr std::size_t stride = BlockKernels::stride;

}  // namespace

void RoundedMatrix::update(const BlockMatrix& matrix) {
  pattern_ = &matrix.pattern();
  block_size_ = matrix.block_size();
  couplings_.assign(matrix.couplings().begin(), matrix.couplings().end());
  const auto values = matrix.values();
  values_.resize(values.size() + BlockKernels::padding);
  x_.resize(stride * static_cast<std::size_t>(pattern_->rows()));
  parallel_for(values.size(), value_grain,
               [&](std::size_t k) { values_[k] = static_cast<float>(values[k]); });
}

void RoundedMatrix::multiply(ConstVector x, Vector y) {
  const auto b = static_cast<std::size_t>(block_size_);
  const auto rows = static_cast<std::size_t>(pattern_->rows());
  const BlockKernels& kernels = block_kernels(isa_, block_size_);
  const BlockRows<float> blocks = {pattern_->row_start().data(), pattern_->column().data(), values_.data()};
  parallel_for(rows, 8 * row_grain, [&](std::size_t i) {
    for (std::size_t k = 0; k < b; ++k) x_[stride * i + k] = static_cast<float>(x[i * b + k]);
  });
  parallel_chunks(rows, row_grain, [&](std::size_t begin, std::size_t end) {
    kernels.multiply_rounded(blocks, x_.data(), y.data(), begin, end);
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
