#include <lope/base/parallel.h>
#include <lope/linalg/coarse_space.h>
#include <lope/linalg/with_block_size.h>

namespace lope::linalg {
namespace {

constexpr std::size_t coarse_grain = 8;
constexpr std::size_t row_grain = 1024;
constexpr std::size_t weight_grain = 16384;
constexpr double relative_shift = 1e-8;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void CoarseSpace::set(Prolongation prolongation) {
  prolongation_ = std::move(prolongation);
  product_.set(prolongation_);
}

void CoarseSpace::regularise() {
  BlockMatrix& coarse = product_.coarse();
  const int b = coarse.block_size();
  for (int a = 0; a < coarse.pattern().rows(); ++a) {
    double* block = coarse.block(coarse.pattern().diagonal(a));
    for (std::ptrdiff_t k = 0; k < b; ++k) {
      double& entry = block[k * (b + 1)];
      entry = entry > 0 ? entry * (1 + relative_shift) : 1.0;  // no coupled child: the function is not used
    }
  }
}

bool CoarseSpace::update(const BlockMatrix& matrix) {
  find_coupled_rows(matrix, coupled_);
  product_.compute(matrix, coupled_, {}, GalerkinProduct::Couplings::Left);
  regularise();
  child_weight_.assign(product_.child_weight().begin(), product_.child_weight().end());
  parallel_for(child_weight_.size(), weight_grain, [&](std::size_t c) {
    if (!coupled_[index(product_.child()[c])]) child_weight_[c] = 0;
  });
  right_.resize(product_.coarse().size());
  solution_.resize(right_.size());
  return factor_.update(product_.coarse());
}

// right = Pᵀ r.
template <std::size_t b>
void CoarseSpace::restrict_residual(const double* r) {
  const auto start = product_.child_start(), child = product_.child();
  parallel_for(index(prolongation_.columns), coarse_grain, [&](std::size_t a) {
    double sum[b] = {};
    for (int c = start[a]; c < start[a + 1]; ++c) {
      const double* from = r + index(child[index(c)]) * b;
      for (std::size_t k = 0; k < b; ++k) sum[k] += child_weight_[index(c)] * from[k];
    }
    for (std::size_t k = 0; k < b; ++k) right_[a * b + k] = sum[k];
  });
}

// z += P solution.
template <std::size_t b>
void CoarseSpace::add_prolonged(double* z) const {
  const Prolongation& p = prolongation_;
  parallel_for(coupled_.size(), row_grain, [&](std::size_t i) {
    if (!coupled_[i]) return;
    double sum[b] = {};
    for (int k = p.start[i]; k < p.start[i + 1]; ++k) {
      const double* from = solution_.data() + index(p.column[index(k)]) * b;
      for (std::size_t c = 0; c < b; ++c) sum[c] += p.weight[index(k)] * from[c];
    }
    for (std::size_t c = 0; c < b; ++c) z[i * b + c] += sum[c];
  });
}

void CoarseSpace::add_correction(ConstVector r, Vector z) {
  const int block_size = product_.coarse().block_size();
  with_block_size(block_size, [&]<int b>() { restrict_residual<b>(r.data()); });
  factor_.apply(right_, solution_);
  with_block_size(block_size, [&]<int b>() { add_prolonged<b>(z.data()); });
}

}  // namespace lope::linalg
