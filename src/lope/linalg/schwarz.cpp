#include <lope/base/parallel.h>
#include <lope/linalg/schwarz.h>

#include <cassert>
#include <cmath>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 4096;

}  // namespace

template <class T>
void Schwarz<T>::set_cover(std::vector<std::vector<int>> sets) {
  sets_ = std::move(sets);
  pattern_id_ = 0;
}

template <class T>
void Schwarz<T>::prepare(const BlockMatrix& matrix) {
  BlockPattern::DirectSum sum = matrix.pattern().direct_sum(sets_);
  row_of_copy_.clear();
  for (const std::vector<int>& set : sets_) row_of_copy_.insert(row_of_copy_.end(), set.begin(), set.end());

  const auto rows = static_cast<std::size_t>(matrix.pattern().rows());
  copies_start_.assign(rows + 1, 0);
  for (const int row : row_of_copy_) ++copies_start_[static_cast<std::size_t>(row) + 1];
  for (std::size_t i = 0; i < rows; ++i) copies_start_[i + 1] += copies_start_[i];
  copies_.resize(row_of_copy_.size());
  std::vector<int> next(copies_start_.begin(), copies_start_.end() - 1);
  for (std::size_t k = 0; k < row_of_copy_.size(); ++k) {
    copies_[static_cast<std::size_t>(next[static_cast<std::size_t>(row_of_copy_[k])]++)] =
        static_cast<int>(k);
  }
  before_.resize(rows);
  after_.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    assert(copies_start_[i + 1] > copies_start_[i]);
    const double weight = 1.0 / (copies_start_[i + 1] - copies_start_[i]);
    before_[i] = weighting_ == Weighting::Symmetric ? std::sqrt(weight) : 1;
    after_[i] = weighting_ == Weighting::Symmetric ? std::sqrt(weight) : weight;
  }
  block_size_ = matrix.block_size();
  right_.resize(row_of_copy_.size() * static_cast<std::size_t>(block_size_));
  solution_.resize(right_.size());
  factor_.factorize_instead(std::move(sum.pattern), std::move(sum.slot));
  pattern_id_ = matrix.pattern().id();
}

template <class T>
bool Schwarz<T>::update(const BlockMatrix& matrix) {
  if (pattern_id_ != matrix.pattern().id() || block_size_ != matrix.block_size()) prepare(matrix);
  return factor_.update(matrix);
}

template <class T>
void Schwarz<T>::apply(ConstVector r, Vector z) {
  const auto b = static_cast<std::size_t>(block_size_);
  parallel_for(row_of_copy_.size(), grain, [&](std::size_t k) {
    const auto row = static_cast<std::size_t>(row_of_copy_[k]);
    for (std::size_t c = 0; c < b; ++c) right_[k * b + c] = before_[row] * r[row * b + c];
  });
  factor_.apply(right_, solution_);
  parallel_for(before_.size(), grain, [&](std::size_t row) {
    for (std::size_t c = 0; c < b; ++c) {
      double sum = 0;
      for (int k = copies_start_[row]; k < copies_start_[row + 1]; ++k) {
        sum += solution_[static_cast<std::size_t>(copies_[static_cast<std::size_t>(k)]) * b + c];
      }
      z[row * b + c] = after_[row] * sum;
    }
  });
}

template class Schwarz<double>;
template class Schwarz<float>;

}  // namespace lope::linalg
