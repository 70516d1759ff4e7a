#include <lope/base/parallel.h>
#include <lope/linalg/algebraic_multigrid.h>
#include <lope/linalg/multigrid_cycle.h>

#include <algorithm>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 4096;
// A coarsening that keeps more than this part of the rows is not worth a level.
constexpr double worst_ratio = 0.7;
// Of the diagonal with nothing fixed: what is left of it by rounding when all fine rows are fixed.
constexpr double dead_part = 1e-10;
// Added to the coarsest diagonal, in parts of it: singular matrices (enclosed liquid) stay factorisable.
constexpr double coarsest_shift = 1e-8;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t slot_of(const CsrMatrix& a, int row, int column) {
  const auto first = a.column.begin() + a.row_start[index(row)];
  const auto last = a.column.begin() + a.row_start[index(row) + 1];
  return std::lower_bound(first, last, column) - a.column.begin();
}

}  // namespace

bool AlgebraicMultigrid::set_matrix(const CsrMatrix& a) {
  return make_levels(a, [this](std::size_t level, const CsrMatrix& fine) {
    const bool last =
        fine.rows <= options_.coarsest_rows || static_cast<int>(level) + 1 == options_.max_levels;
    CsrMatrix found = last ? CsrMatrix() : smoothed_aggregation(fine, options_.aggregation);
    return found.columns > worst_ratio * fine.rows ? CsrMatrix() : std::move(found);
  });
}

bool AlgebraicMultigrid::set_matrix(const CsrMatrix& a, std::vector<CsrMatrix> prolongations) {
  return make_levels(a, [&](std::size_t level, const CsrMatrix&) {
    return level < prolongations.size() ? std::move(prolongations[level]) : CsrMatrix();
  });
}

// `next` gives the prolongation to a level; without columns: there is none below it.
bool AlgebraicMultigrid::make_levels(const CsrMatrix& a, const NextProlongation& next) {
  levels_.clear();
  fixed_.assign(index(a.rows), 0);
  levels_.emplace_back().a = &a;
  while (true) {
    Level& level = levels_.back();
    level.full_diagonal = diagonal(*level.a);
    const bool positive =
        std::all_of(level.full_diagonal.begin(), level.full_diagonal.end(), [](double d) { return d > 0; });
    if (!positive) return false;
    level.dead.assign(index(level.a->rows), 0);
    for (auto* work : {&level.x, &level.f, &level.r}) work->resize(index(level.a->rows));
    CsrMatrix prolongation = next(levels_.size() - 1, *level.a);
    if (prolongation.columns == 0) break;
    const int coarse_rows = prolongation.columns;
    level.prolongation = std::move(prolongation);
    level.restriction = transpose(level.prolongation);
    level.smoother.set_matrix(*level.a);
    Level& below = levels_.emplace_back();
    below.own = multiply(level.restriction, multiply(*level.a, level.prolongation));
    below.a = &below.own;
    below.difference.assign(below.own.value.size(), 0.0);
    below.is_changed.assign(index(coarse_rows), 0);
  }
  return factorize_coarsest();
}

double AlgebraicMultigrid::operator_complexity() const {
  double entries = 0;
  for (const Level& level : levels_) entries += static_cast<double>(level.a->entries());
  return entries / static_cast<double>(levels_.front().a->entries());
}

bool AlgebraicMultigrid::set_fixed(RowFlags fixed) {
  std::vector<std::uint8_t> now(fixed.begin(), fixed.end());
  now.resize(fixed_.size(), 0);
  Level& finest = levels_.front();
  if (levels() > 1) {
    Level& first = levels_[1];
    const auto add = [&](int i, int j, double value) {
      for (std::int64_t k = finest.prolongation.row_start[index(i)];
           k < finest.prolongation.row_start[index(i) + 1]; ++k) {
        const int row = finest.prolongation.column[index(k)];
        const double scaled = value * finest.prolongation.value[index(k)];
        if (first.is_changed[index(row)] == 0) {
          first.is_changed[index(row)] = 1;
          first.changed_rows.push_back(row);
        }
        for (std::int64_t l = finest.prolongation.row_start[index(j)];
             l < finest.prolongation.row_start[index(j) + 1]; ++l) {
          first.difference[index(slot_of(first.own, row, finest.prolongation.column[index(l)]))] +=
              scaled * finest.prolongation.value[index(l)];
        }
      }
    };
    for (int i = 0; i < finest.a->rows; ++i) {
      if (now[index(i)] == fixed_[index(i)]) continue;
      for (std::int64_t k = finest.a->row_start[index(i)]; k < finest.a->row_start[index(i) + 1]; ++k) {
        const auto j = index(finest.a->column[index(k)]);
        const bool is_free = now[index(i)] == 0 && now[j] == 0;
        const bool was_free = fixed_[index(i)] == 0 && fixed_[j] == 0;
        if (is_free == was_free) continue;
        const double change = (is_free ? 1 : -1) * finest.a->value[index(k)];
        add(i, static_cast<int>(j), change);
        if (now[j] == fixed_[j]) add(static_cast<int>(j), i, change);
      }
    }
    for (std::size_t l = 1; l < levels_.size(); ++l) {
      if (l + 1 < levels_.size()) carry_difference(levels_[l], levels_[l + 1]);
      take_difference(levels_[l]);
    }
  }
  fixed_ = std::move(now);
  finest.dead = fixed_;
  if (levels() > 1) finest.smoother.update_numbers(fixed_);
  return factorize_coarsest();
}

// to.difference += Pᵀ (from.difference) P.
void AlgebraicMultigrid::carry_difference(const Level& from, Level& to) const {
  const CsrMatrix& p = from.prolongation;
  for (const int i : from.changed_rows) {
    for (std::int64_t s = from.own.row_start[index(i)]; s < from.own.row_start[index(i) + 1]; ++s) {
      const double value = from.difference[index(s)];
      if (value == 0) continue;
      const auto j = index(from.own.column[index(s)]);
      for (std::int64_t k = p.row_start[index(i)]; k < p.row_start[index(i) + 1]; ++k) {
        const int row = p.column[index(k)];
        if (to.is_changed[index(row)] == 0) {
          to.is_changed[index(row)] = 1;
          to.changed_rows.push_back(row);
        }
        for (std::int64_t l = p.row_start[j]; l < p.row_start[j + 1]; ++l) {
          to.difference[index(slot_of(to.own, row, p.column[index(l)]))] +=
              value * p.value[index(k)] * p.value[index(l)];
        }
      }
    }
  }
}

// Adds the difference to the matrix and finds the rows that died or came back.
void AlgebraicMultigrid::take_difference(Level& level) {
  for (const int row : level.changed_rows) {
    for (std::int64_t s = level.own.row_start[index(row)]; s < level.own.row_start[index(row) + 1]; ++s) {
      level.own.value[index(s)] += level.difference[index(s)];
      level.difference[index(s)] = 0;
    }
    level.dead[index(row)] = level.own.at(row, row) <= dead_part * level.full_diagonal[index(row)];
    level.is_changed[index(row)] = 0;
  }
  level.changed_rows.clear();
  if (level.prolongation.rows > 0) level.smoother.update_numbers(level.dead);
}

bool AlgebraicMultigrid::factorize_coarsest() {
  const Level& level = levels_.back();
  coarsest_alive_.clear();
  std::vector<int> place(index(level.a->rows), -1);
  for (int i = 0; i < level.a->rows; ++i) {
    if (level.dead[index(i)] != 0) continue;
    place[index(i)] = static_cast<int>(coarsest_alive_.size());
    coarsest_alive_.push_back(i);
  }
  const auto size = static_cast<Eigen::Index>(coarsest_alive_.size());
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(size, size);
  for (const int i : coarsest_alive_) {
    const int row = place[index(i)];
    for (std::int64_t k = level.a->row_start[index(i)]; k < level.a->row_start[index(i) + 1]; ++k) {
      const int column = place[index(level.a->column[index(k)])];
      if (column >= 0) dense(row, column) = level.a->value[index(k)];
    }
    dense(row, row) *= 1 + coarsest_shift;
  }
  coarsest_x_.resize(size);
  if (size == 0) return true;
  coarsest_.compute(dense);
  return coarsest_.info() == Eigen::Success;
}

// Right-hand side of the level below: Pᵀ (f − A x), without the rows that are left alone.
void AlgebraicMultigrid::restrict_residual(std::size_t l, ConstVector x, ConstVector f) {
  Level& level = levels_[l];
  residual(*level.a, x, f, level.r);
  parallel_for(level.r.size(), grain, [&](std::size_t i) {
    if (level.dead[i] != 0) level.r[i] = 0;
  });
  restrict_to(l + 1, level.restriction, level.r);
}

void AlgebraicMultigrid::restrict_to(std::size_t l, const CsrMatrix& restriction, ConstVector r) {
  std::vector<double>& f = levels_[l].f;
  multiply(restriction, r, f);
  if (options_.stiffness != 1) combine(0, f, options_.stiffness, f);
}

// x (+)= P x_below, rows that are left alone excepted.
void AlgebraicMultigrid::prolongate(std::size_t l, Vector x, bool add) {
  const Level& level = levels_[l];
  const CsrMatrix& p = level.prolongation;
  const std::vector<double>& below = levels_[l + 1].x;
  parallel_for(x.size(), grain, [&](std::size_t i) {
    double sum = add ? x[i] : 0;
    if (level.dead[i] == 0) {
      for (std::int64_t k = p.row_start[i]; k < p.row_start[i + 1]; ++k) {
        sum += p.value[index(k)] * below[index(p.column[index(k)])];
      }
    }
    x[i] = sum;
  });
}

struct AlgebraicMultigrid::Levels {
  AlgebraicMultigrid& my;

  int level_count() const { return my.levels(); }
  void smooth_before(int l) {
    Level& level = my.levels_[index(l)];
    fill(level.x, 0);
    for (int s = 0; s < my.options_.sweeps; ++s) level.smoother.sweep(level.f, level.x, Direction::Forward);
  }
  void restrict_residual(int l) {
    my.restrict_residual(index(l), my.levels_[index(l)].x, my.levels_[index(l)].f);
  }
  void prolong_correction(int l) { my.prolongate(index(l), my.levels_[index(l)].x, true); }
  void smooth_after(int l) {
    Level& level = my.levels_[index(l)];
    for (int s = 0; s < my.options_.sweeps; ++s) level.smoother.sweep(level.f, level.x, Direction::Backward);
  }
  void solve_coarsest() {
    Level& level = my.levels_.back();
    const std::vector<int>& alive = my.coarsest_alive_;
    fill(level.x, 0);
    if (alive.empty()) return;
    for (std::size_t k = 0; k < alive.size(); ++k) {
      my.coarsest_x_[static_cast<Eigen::Index>(k)] = level.f[index(alive[k])];
    }
    my.coarsest_.solveInPlace(my.coarsest_x_);
    for (std::size_t k = 0; k < alive.size(); ++k) {
      level.x[index(alive[k])] = my.coarsest_x_[static_cast<Eigen::Index>(k)];
    }
  }
};

// levels_[l].x ≈ A⁻¹ levels_[l].f.
void AlgebraicMultigrid::cycle(std::size_t l) {
  Levels levels{*this};
  v_cycle(levels, static_cast<int>(l));
}

void AlgebraicMultigrid::apply(ConstVector r, Vector z) {
  Level& finest = levels_.front();
  parallel_for(r.size(), grain, [&](std::size_t i) { finest.f[i] = fixed_[i] != 0 ? 0 : r[i]; });
  cycle(0);
  copy(finest.x, z);
}

void AlgebraicMultigrid::coarse_correction(ConstVector r, Vector z) {
  fill(z, 0);
  if (levels() == 1) {
    apply(r, z);
    return;
  }
  Level& finest = levels_.front();
  parallel_for(r.size(), grain, [&](std::size_t i) { finest.r[i] = fixed_[i] != 0 ? 0 : r[i]; });
  restrict_to(1, finest.restriction, finest.r);
  cycle(1);
  prolongate(0, z, false);
}

}  // namespace lope::linalg
