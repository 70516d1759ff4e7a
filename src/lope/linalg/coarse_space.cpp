#include <lope/base/parallel.h>
#include <lope/linalg/coarse_space.h>

namespace lope::linalg {
namespace {

constexpr std::size_t coarse_grain = 8;
constexpr std::size_t row_grain = 4096;
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
  right_.resize(product_.coarse().size());
  solution_.resize(right_.size());
  return factor_.update(product_.coarse());
}

void CoarseSpace::add_correction(ConstVector r, Vector z) {
  const auto b = index(product_.coarse().block_size());
  const Prolongation& p = prolongation_;
  const auto child_start = product_.child_start(), child = product_.child();
  const auto child_weight = product_.child_weight();
  parallel_for(index(p.columns), coarse_grain, [&](std::size_t a) {
    double sum[3] = {};
    for (int c = child_start[a]; c < child_start[a + 1]; ++c) {
      const auto i = index(child[index(c)]);
      if (!coupled_[i]) continue;
      for (std::size_t k = 0; k < b; ++k) sum[k] += child_weight[index(c)] * r[i * b + k];
    }
    for (std::size_t k = 0; k < b; ++k) right_[a * b + k] = sum[k];
  });
  factor_.apply(right_, solution_);
  parallel_for(coupled_.size(), row_grain, [&](std::size_t i) {
    if (!coupled_[i]) return;
    for (int k = p.start[i]; k < p.start[i + 1]; ++k) {
      const double* from = solution_.data() + index(p.column[index(k)]) * b;
      for (std::size_t c = 0; c < b; ++c) z[i * b + c] += p.weight[index(k)] * from[c];
    }
  });
}

}  // namespace lope::linalg
