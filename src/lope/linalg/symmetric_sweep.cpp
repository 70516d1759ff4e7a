#include <lope/base/parallel.h>
#include <lope/linalg/symmetric_sweep.h>
#include <lope/linalg/with_block_size.h>

#include <cassert>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 4096;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}

bool SymmetricSweep::update(const BlockMatrix& matrix) {
  block_size_ = matrix.block_size();
  assert(options_.components == 0 || block_size_ == 1);
  if (options_.components > 0) return numbers_.update(matrix, false);
  return with_block_size(block_size_, [&]<int b>() { return std::get<b - 1>(rows_).update(matrix, false); });
}

void SymmetricSweep::apply(ConstVector r, Vector z) {
  if (options_.components > 0) return sweep(numbers_, index(options_.components), r, z);
  with_block_size(block_size_, [&]<int b>() { sweep(std::get<b - 1>(rows_), index(b), r, z); });
}

template <int b>
void SymmetricSweep::sweep(const ColouredRows<double, b>& rows, std::size_t components, ConstVector r, Vector z) {
  for (auto* work : {&right_, &left_, &solution_}) work->resize(packed * rows.rows());
  parallel_for(rows.rows(), grain, [&](std::size_t i) {
    for (std::size_t k = 0; k < components; ++k) right_[packed * i + k] = r[components * i + k];
  });
  smooth_rows(rows, options_.sweeps, options_.radius, right_.data(), left_.data(), solution_, true, nullptr, work_);
  parallel_for(rows.rows(), grain, [&](std::size_t i) {
    for (std::size_t k = 0; k < components; ++k) z[components * i + k] = solution_[packed * i + k];
  });
}

}  // namespace lope::linalg
