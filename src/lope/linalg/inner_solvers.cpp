#include <lope/base/parallel.h>
#include <lope/linalg/inner_solvers.h>

#include <cassert>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 8192;

}  // namespace

template <class T>
bool ComponentwiseCholesky<T>::update(const BlockMatrix& scalar_matrix) {
  assert(scalar_matrix.block_size() == 1);
  rows_ = scalar_matrix.size();
  right_.resize(rows_);
  solution_.resize(rows_);
  return factor_.update(scalar_matrix);
}

template <class T>
void ComponentwiseCholesky<T>::apply(ConstVector r, Vector z) {
  const std::size_t components = r.size() / rows_;
  for (std::size_t c = 0; c < components; ++c) {
    parallel_for(rows_, grain, [&](std::size_t i) { right_[i] = r[i * components + c]; });
    factor_.apply(right_, solution_);
    parallel_for(rows_, grain, [&](std::size_t i) { z[i * components + c] = solution_[i]; });
  }
}

template class ComponentwiseCholesky<double>;
template class ComponentwiseCholesky<float>;

bool InexactInverse::update(const BlockMatrix& matrix) {
  matrix_ = matrix;
  return jacobi_.update(matrix);
}

void InexactInverse::apply(ConstVector r, Vector z) {
  cg_.solve([this](ConstVector p, Vector ap) { matrix_->multiply(p, ap); }, jacobi_, r, z, options_);
}

}  // namespace lope::linalg
