#include <lope/base/parallel.h>
#include <lope/linalg/coupled_cholesky.h>
#include <lope/linalg/nested_dissection.h>

#include <algorithm>
#include <iterator>

namespace lope::linalg {
namespace {

constexpr std::size_t row_grain = 512;

// Places that are not needed any more are kept while there are at most so many times those that are.
constexpr std::size_t most_places = 2;

// More flops than this many times those of a new order are a reason to look for one.
constexpr double tolerable_growth = 1.25;

}  // namespace

template <class T>
bool CoupledCholesky<T>::update(const BlockMatrix& matrix) {
  in_use_ = matrix.has_couplings() ? &joined_ : &alone_;
  return matrix.has_couplings() ? update_joined(matrix) : alone_.update(matrix);
}

template <class T>
bool CoupledCholesky<T>::update_joined(const BlockMatrix& matrix) {
  if (pattern_id_ != matrix.pattern().id()) joined_matrix_.reset();
  pattern_id_ = matrix.pattern().id();
  needed_.clear();
  for (const Coupling& coupling : matrix.couplings()) needed_.emplace_back(coupling.row, coupling.column);
  std::sort(needed_.begin(), needed_.end());
  needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
  const bool fits = joined_matrix_ && std::includes(places_.begin(), places_.end(), needed_.begin(), needed_.end());
  if (!fits && !join(matrix)) return false;
  take_numbers(matrix);
  return joined_.update(*joined_matrix_);
}

// Makes room for what is needed.
template <class T>
bool CoupledCholesky<T>::join(const BlockMatrix& matrix) {
  const bool ordered = joined_matrix_.has_value();
  std::vector<Place> all;
  if (ordered) std::set_union(places_.begin(), places_.end(), needed_.begin(), needed_.end(), std::back_inserter(all));
  places_ = ordered && all.size() <= most_places * needed_.size() ? std::move(all) : needed_;

  const BlockPattern& pattern = matrix.pattern();
  std::vector<std::int64_t> row_start(1, 0);
  std::vector<int> column;
  column.reserve(pattern.column().size() + places_.size());
  own_.clear();
  auto place = places_.begin();
  const auto add_couplings = [&](int row, int end) {
    for (; place != places_.end() && place->first == row && place->second < end; ++place) {
      column.push_back(place->second);
      own_.push_back(-1);
    }
  };
  for (int row = 0; row < pattern.rows(); ++row) {
    for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
      const int at = pattern.column()[slot];
      add_couplings(row, at);
      if (place != places_.end() && *place == Place(row, at)) ++place;
      column.push_back(at);
      own_.push_back(slot);
    }
    add_couplings(row, pattern.rows());
    row_start.push_back(static_cast<std::int64_t>(column.size()));
  }
  joined_matrix_.emplace(BlockPattern::from_compressed(std::move(row_start), std::move(column)), matrix.block_size());
  if (!ordered) return order_anew();
  return joined_.prepare(*joined_matrix_) &&
         (joined_.factor_flops() <= tolerable_growth * flops_when_ordered_ || order_anew());
}

template <class T>
bool CoupledCholesky<T>::order_anew() {
  joined_.eliminate_in(nested_dissection(joined_matrix_->pattern()));
  const bool prepared = joined_.prepare(*joined_matrix_);
  flops_when_ordered_ = joined_.factor_flops();
  return prepared;
}

template <class T>
void CoupledCholesky<T>::take_numbers(const BlockMatrix& matrix) {
  const BlockPattern& pattern = joined_matrix_->pattern();
  const int size = matrix.block_size() * matrix.block_size();
  parallel_for(static_cast<std::size_t>(pattern.rows()), row_grain, [&](std::size_t row) {
    for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
      const std::int64_t own = own_[static_cast<std::size_t>(slot)];
      if (own >= 0) std::copy_n(matrix.block(own), size, joined_matrix_->block(slot));
      else std::fill_n(joined_matrix_->block(slot), size, 0.0);
    }
    for (const Coupling& coupling : matrix.couplings(static_cast<int>(row))) {
      double* block = joined_matrix_->block(pattern.slot(coupling.row, coupling.column));
      for (int k = 0; k < size; ++k) block[k] += coupling.block[static_cast<std::size_t>(k)];
    }
  });
}

template class CoupledCholesky<double>;
template class CoupledCholesky<float>;

}  // namespace lope::linalg
