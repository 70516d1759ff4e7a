#include <lope/base/parallel.h>
#include <lope/matter/liquid/multigrid_levels.h>

#include <algorithm>
#include <bit>

namespace lope::matter::multigrid {
namespace {

// Part of the wall cells whose state the coarse matrices need not know. With 0.01 a sequence of systems on the
// half-filled sphere took 8.3 cycles instead of 7 at 256³, with 0.003 it took 6.7.
constexpr double tolerated_lag = 0.003;

}  // namespace

// The coarse rows whose coefficients depend on these cells of a fine row.
template <int Dim>
void Levels<Dim>::mark(Level<Dim>& coarse, const Level<Dim>& fine, int brick, int row, unsigned lanes_changed,
                       int reach) {
  const Parent parent = fine.parent[at(brick)];
  const int* around =
      &coarse.around[at(parent.brick) * Level<Dim>::around_size + Level<Dim>::around_size / 2];
  // Along each axis the coarse cells from `low` to `high`, counted from the parent brick's first one.
  int low[3] = {}, high[3] = {};
  for (int a = 0; a < Dim; ++a) {
    const int origin = 8 * (parent.corner >> a & 1);
    const int first = a == 0 ? std::countr_zero(lanes_changed) : a == 1 ? row % 8 : row / 8;
    const int last = a == 0 ? 31 - std::countl_zero(lanes_changed) : first;
    low[a] = (origin + first - reach) >> 1;
    high[a] = (origin + last + reach) >> 1;
  }
  for (int z = low[2]; z <= high[2]; ++z) {
    for (int y = low[1]; y <= high[1]; ++y) {
      for (int x = low[0] >> 3; x <= high[0] >> 3; ++x) {
        const int target = around[x + 3 * (y >> 3) + (Dim == 3 ? 9 * (z >> 3) : 0)];
        coarse.dirty[at(target) * rows + at((y & 7) + (Dim == 3 ? 8 * (z & 7) : 0))] = 1;
      }
    }
  }
}

// The dirty rows of a level.
template <int Dim>
void Levels<Dim>::compute(std::size_t number) {
  Level<Dim>& coarse = levels[number];
  const Level<Dim>& fine = levels[number - 1];
  const FineGrid<Dim> finest_grid = this->fine();
  const StencilGrid<Dim> stencil_grid = fine.stencil();
  const Interpolation<Dim> p = fine.interpolation();
  constexpr std::size_t scratch_size = galerkin_scratch<Dim>;
  scratch.resize(std::max(scratch.size(), worker_count() * scratch_size));
  parallel_tasks(coarse.busy.size(), [&](std::size_t task, std::size_t worker) {
    const int brick = coarse.busy[task];
    std::uint8_t* dirty = &coarse.dirty[at(brick) * rows];
    GalerkinPlan<Dim> plan;
    plan.cell = coarse.galerkin->cells.data();
    plan.term = coarse.galerkin->terms.data();
    plan.fine_size = number == 1 ? 2 * Dim + 1 : static_cast<int>(fine.step.size());
    plan.coarse_size = static_cast<int>(coarse.step.size());
    plan.centre = coarse.galerkin->centre;
    plan.row_sum = static_cast<float>(coarse.galerkin->row_sum);
    plan.bricks = &coarse.below[at(brick) * Level<Dim>::below_size];
    float* mine = &scratch[worker * scratch_size];
    const int* slot = &coarse.slot[at(brick) * rows];
    GalerkinRows needed;
    for (int row = 0; row < rows; ++row)
      if (dirty[row] && slot[row] > 0) needed.include(row % 8, row / 8);
    if (needed.empty()) return;
    kernels.galerkin_weights(p, plan, needed, mine);
    for (int row = 0; row < rows; ++row) {
      if (!dirty[row] || slot[row] <= 0) continue;
      const std::size_t index = at(brick) * rows + at(row);
      float* target = &coarse.pool[at(slot[row]) * coarse.step.size() * 8];
      kernels.galerkin_row(number == 1 ? &finest_grid : nullptr, number == 1 ? nullptr : &stencil_grid, plan,
                           row % 8, row / 8, mine, target, &coarse.inverse_diagonal[8 * index]);
    }
  });
}

template <int Dim>
void Levels<Dim>::compute_matrices(bool everything) {
  for (std::size_t l = 1; l < used; ++l) {
    Level<Dim>& level = levels[l];
    if (everything) std::fill(level.dirty.begin(), level.dirty.end(), std::uint8_t{1});
    compute(l);
    if (l + 1 < used && !everything) {
      for (const int brick : level.busy) {
        for (int row = 0; row < rows; ++row) {
          const std::size_t index = at(brick) * rows + at(row);
          if (level.dirty[index] && level.slot[index] > 0)
            mark(levels[l + 1], level, brick, row, level.present[index], 1 + level.reach());
        }
      }
    }
    std::fill(level.dirty.begin(), level.dirty.end(), std::uint8_t{0});
  }
  factorize_coarsest();
  finest.known = finest.active;
  built = true;
}

// The transfers always follow: an active cell's residual is the wall's force, which must not reach the coarse
// levels. The matrices may lag behind by a few cells, as they only precondition.
template <int Dim>
void Levels<Dim>::update_active() {
  Level<Dim>& level = levels[0];
  const std::vector<int>& bricks = finest.wall_bricks;
  parallel_for(bricks.size(), grain<Dim>, [&](std::size_t i) {
    int unknown = 0;
    for (int row = 0; row < rows; ++row) {
      const std::size_t index = at(bricks[i]) * rows + at(row);
      if (finest.row_kind[index] != RowKind::Wall) continue;
      unsigned active = 0;
      for (unsigned k = 0; k < 8; ++k)
        active |= static_cast<unsigned>(finest.c[8 * index + k] <= finest.bound[8 * index + k]) << k;
      active &= finest.wall[index];
      unknown += std::popcount(active ^ finest.known[index]);
      if (active == finest.active[index]) continue;
      finest.active[index] = static_cast<std::uint8_t>(active);
      level.weigh_row(bricks[i], row, active);
    }
    finest.part[i] = unknown;
  });
  if (!built) return;
  double stale = 0;
  for (std::size_t i = 0; i < bricks.size(); ++i) stale += finest.part[i];
  if (stale <= tolerated_lag * finest.system->wall_unknowns()) return;
  for (const int brick : bricks) {
    for (int row = 0; row < rows; ++row) {
      const std::size_t index = at(brick) * rows + at(row);
      const unsigned changed = finest.active[index] ^ finest.known[index];
      if (changed != 0) mark(levels[1], level, brick, row, changed, 1 + level.reach());
    }
  }
  compute_matrices(false);
}

template <int Dim>
void Levels<Dim>::factorize_coarsest() {
  const Level<Dim>& level = levels[used - 1];
  const auto n = static_cast<Eigen::Index>(coarsest_cells.size());
  const std::size_t size = level.step.size();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::int64_t cell = coarsest_cells[at(i)];
    const float* a = &level.pool[at(level.slot[at(cell / 8)]) * size * 8 + at(cell % 8)];
    const int* columns = &coarsest_columns[at(i) * size];
    for (std::size_t k = 0; k < size; ++k)
      if (columns[k] >= 0) matrix(i, columns[k]) = double{a[8 * k]};
  }
  // Regions without air and cells without free children leave rows of sum zero: a little on the diagonal
  // makes the factor exist and, since right-hand sides are compatible, changes nothing that matters.
  const double largest = n > 0 ? std::max(matrix.diagonal().maxCoeff(), 1e-30) : 1;
  for (Eigen::Index i = 0; i < n; ++i) matrix(i, i) = std::max(matrix(i, i) * (1 + 1e-5), 1e-6 * largest);
  coarsest.compute(0.5 * (matrix + matrix.transpose()));
  coarsest_vector.resize(n);
}

template void Levels<2>::compute_matrices(bool);
template void Levels<3>::compute_matrices(bool);
template void Levels<2>::update_active();
template void Levels<3>::update_active();

}  // namespace lope::matter::multigrid
