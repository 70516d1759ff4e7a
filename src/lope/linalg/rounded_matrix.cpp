#include <lope/base/parallel.h>
#include <lope/linalg/rounded_matrix.h>
#include <lope/math/decompositions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lope::linalg {
namespace {

constexpr std::size_t row_grain = 512;
constexpr std::size_t value_grain = 16384;
constexpr std::size_t stride = BlockKernels::stride;

constexpr double lost_part = 0.05;

// Of a row, for the direction in which it does least.
template <int b>
bool keeps_translations(const BlockMatrix& matrix, std::size_t row) {
  using Block = Eigen::Matrix<double, b, b, b == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
  constexpr double rounding = 0.5 * std::numeric_limits<float>::epsilon();
  const auto start = matrix.pattern().row_start();
  Mat<b> all = Mat<b>::Zero();
  double magnitude = 0;
  for (std::int64_t slot = start[row]; slot < start[row + 1]; ++slot) {
    const Eigen::Map<const Block> block(matrix.block(slot));
    all += block;
    magnitude += block.norm();
  }
  const double least =
      std::sqrt(std::max(0.0, math::symmetric_eigen<b>(Mat<b>(all.transpose() * all)).values[0]));
  return rounding * magnitude <= lost_part * least;
}

template <int b>
std::size_t rows_that_keep_translations(const BlockMatrix& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.pattern().rows());
  std::vector<std::size_t> kept((rows + row_grain - 1) / row_grain, 0);
  parallel_chunks(rows, row_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      kept[begin / row_grain] += keeps_translations<b>(matrix, row) ? 1 : 0;
  });
  return std::accumulate(kept.begin(), kept.end(), std::size_t{0});
}

}  // namespace

bool survives_rounding(const BlockMatrix& matrix) {
  const std::size_t kept = matrix.block_size() == 3   ? rows_that_keep_translations<3>(matrix)
                           : matrix.block_size() == 2 ? rows_that_keep_translations<2>(matrix)
                                                      : rows_that_keep_translations<1>(matrix);
  return 2 * kept >= static_cast<std::size_t>(matrix.pattern().rows());
}

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
