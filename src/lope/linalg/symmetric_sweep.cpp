#include <lope/base/parallel.h>
#include <lope/linalg/symmetric_sweep.h>
#include <lope/linalg/with_block_size.h>

namespace lope::linalg {
namespace {
constexpr std::size_t grain = 4096;
}

bool SymmetricSweep::update(const BlockMatrix& matrix) {
  block_size_ = matrix.block_size();
  return with_block_size(block_size_, [&]<int b>() { return std::get<b - 1>(rows_).update(matrix, false); });
}

void SymmetricSweep::apply(ConstVector r, Vector z) {
  with_block_size(block_size_, [&]<int b>() { sweep(std::get<b - 1>(rows_), r, z); });
}

template <int b>
void SymmetricSweep::sweep(const ColouredRows<double, b>& rows, ConstVector r, Vector z) {
  for (auto* work : {&right_, &left_, &solution_}) work->resize(packed * rows.rows());
  parallel_for(rows.rows(), grain, [&](std::size_t i) {
    for (std::size_t k = 0; k < b; ++k) right_[packed * i + k] = r[b * i + k];
  });
  rows.sweep(right_.data(), left_.data(), solution_.data(), true);
  parallel_for(rows.rows(), grain, [&](std::size_t i) {
    for (std::size_t k = 0; k < b; ++k) z[b * i + k] = solution_[packed * i + k];
  });
}

}  // namespace lope::linalg
