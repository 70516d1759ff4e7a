#include <lope/linalg/inner_solvers.h>

#include <cassert>

namespace lope::linalg {
template <class T>
bool ComponentwiseCholesky<T>::update(const BlockMatrix& scalar_matrix) {
  assert(scalar_matrix.block_size() == 1);
  rows_ = scalar_matrix.size();
  return factor_.update(scalar_matrix);
}

template <class T>
void ComponentwiseCholesky<T>::apply(ConstVector r, Vector z) {
  factor_.apply(r, z, static_cast<int>(r.size() / rows_));
}

template class ComponentwiseCholesky<double>;
template class ComponentwiseCholesky<float>;

bool InexactInverse::update(const BlockMatrix& matrix) {
  matrix_ = matrix;
  return jacobi_.update(matrix);
}

void InexactInverse::apply(ConstVector r, Vector z) {
  const auto product = [this](ConstVector p, Vector ap) { matrix_->multiply(p, ap); };
  cg_.solve(local_space(), product, jacobi_, r, z, options_);
}

}  // namespace lope::linalg
