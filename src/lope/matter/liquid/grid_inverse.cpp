#include <lope/base/parallel.h>
#include <lope/linalg/multigrid_cycle.h>
#include <lope/matter/liquid/grid_inverse.h>

#include <algorithm>
#include <cassert>

namespace lope::matter {
namespace {

constexpr std::size_t grain = 1 << 13;
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

// The hierarchy is not made before something is fixed or applied: methods fix their first rows at once.
template <int Dim>
bool GridInverse<Dim>::set_matrix(const linalg::CsrMatrix& a) {
  assert(system_ && a.rows == system_->unknowns());
  fixed_.assign(at(a.rows), 0);
  built_ = false;
  return true;
}

template <int Dim>
bool GridInverse<Dim>::set_fixed(linalg::RowFlags fixed) {
  if (built_ && std::equal(fixed.begin(), fixed.end(), fixed_.begin())) return true;
  std::copy(fixed.begin(), fixed.end(), fixed_.begin());
  build();
  return true;
}

template <int Dim>
void GridInverse<Dim>::build() {
  free_ = system_->without(fixed_);
  hierarchy_.attach(free_, false);
  hierarchy_.build_matrices();
  field_.assign(hierarchy_.field_size(), 0);
  built_ = true;
}

template <int Dim>
void GridInverse<Dim>::apply(linalg::ConstVector r, linalg::Vector z) {
  if (!built_) build();
  const auto cells = system_->unknown_cells();
  parallel_for(r.size(), grain, [&](std::size_t i) { field_[at(cells[i])] = fixed_[i] ? 0 : r[i]; });
  hierarchy_.set_residual(field_);
  linalg::v_cycle(hierarchy_);
  hierarchy_.copy_correction(field_);
  parallel_for(z.size(), grain, [&](std::size_t i) { z[i] = fixed_[i] ? 0 : field_[at(cells[i])]; });
}

template class GridInverse<2>;
template class GridInverse<3>;

}  // namespace lope::matter
