#include <lope/base/parallel.h>
#include <lope/linalg/preconditioner.h>
#include <lope/linalg/with_block_size.h>
#include <lope/math/decompositions.h>

#include <algorithm>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 2048;

template <int b>
using Block = Eigen::Matrix<double, b, b, Eigen::RowMajor>;

template <int b>
void invert_definite(const double* block, double* inverse) {
  const Mat<b> a = Eigen::Map<const Block<b>>(block);
  Mat<b> inverted;
  double smallest_pivot = 0;
  if (math::invert_definite<b>(a, inverted, smallest_pivot)) {
    Eigen::Map<Block<b>>{inverse} = inverted;
    return;
  }
  const math::SymmetricEigen<b> eigen = math::symmetric_eigen<b>(a);
  Vec<b> values = eigen.values.cwiseAbs();
  const double floor = std::max(1e-10 * values.maxCoeff(), 1e-300);
  values = values.cwiseMax(floor).cwiseInverse();
  Eigen::Map<Block<b>>{inverse} = eigen.vectors * values.asDiagonal() * eigen.vectors.transpose();
}

template <int b>
void multiply_blocks(const double* inverse, ConstVector r, Vector z) {
  parallel_for(r.size() / b, grain, [&](std::size_t i) {
    Eigen::Map<Eigen::Matrix<double, b, 1>>{z.data() + i* b} =
        Eigen::Map<const Block<b>>(inverse + i * b * b) *
        Eigen::Map<const Eigen::Matrix<double, b, 1>>(r.data() + i * b);
  });
}

}  // namespace

bool BlockJacobi::update_from(const Operator& a) {
  block_size_ = a.block_size();
  const auto b = static_cast<std::size_t>(block_size_);
  inverse_.resize(a.size() * b);
  a.diagonal_blocks(inverse_);
  parallel_for(a.size() / b, grain, [&](std::size_t row) {
    double* block = inverse_.data() + row * b * b;
    with_block_size(block_size_, [&]<int size>() { invert_definite<size>(block, block); });
  });
  return true;
}

void BlockJacobi::apply(ConstVector r, Vector z) {
  with_block_size(block_size_, [&]<int b>() { multiply_blocks<b>(inverse_.data(), r, z); });
}

}  // namespace lope::linalg
