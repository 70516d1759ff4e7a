#include <lope/base/parallel.h>
#include <lope/linalg/multigrid_cycle.h>
#include <lope/matter/liquid/multigrid_levels.h>
#include <lope/matter/liquid/pressure_multigrid.h>

#include <algorithm>

namespace lope::matter {

using multigrid::at;
using multigrid::Finest;
using multigrid::grain;
using multigrid::Level;
using multigrid::MoveFields;
using multigrid::stiffness;

namespace {

// Chebyshev's interval ends this much above the largest eigenvalue of the infinite grid, and is widened so
// much where a cycle turns out to amplify.
constexpr double first_margin = 1.2;
constexpr double widening = 1.3;
// A cycle whose best step is shorter than this amplifies some error.
constexpr double shortest_step = 0.6;

template <int Dim, class Body>
void each(const std::vector<int>& bricks, const Body& body) {
  parallel_for(bricks.size(), grain<Dim>, [&](std::size_t i) { body(bricks[i]); });
}

}  // namespace

template <int Dim>
struct PressureHierarchy<Dim>::Work : multigrid::Levels<Dim> {
  explicit Work(const HierarchyOptions& given)
      : multigrid::Levels<Dim>(given.coarsest_unknowns, given.isa), options(given) {}

  HierarchyOptions options;
  double margin = first_margin;  // of the eigenvalues' bound over the infinite grid's
  using multigrid::Levels<Dim>::finest;
  using multigrid::Levels<Dim>::kernels;

  void sweep(bool backwards);
  void chebyshev(Level<Dim>& level, bool from_zero);
};

// One Gauss–Seidel sweep of the finest level. Bricks of one colour do not touch each other's faces.
template <int Dim>
void PressureHierarchy<Dim>::Work::sweep(bool backwards) {
  const auto grid = this->fine();
  const float* bound = finest.bounded ? finest.bound.data() : nullptr;
  for (std::size_t k = 0; k < finest.colour.size(); ++k) {
    each<Dim>(finest.colour[backwards ? finest.colour.size() - 1 - k : k], [&](int brick) {
      kernels.relax(grid, brick, backwards, finest.r.data(), bound, finest.c.data());
    });
  }
}

template <int Dim>
void PressureHierarchy<Dim>::Work::chebyshev(Level<Dim>& level, bool from_zero) {
  const auto grid = level.stencil();
  const double high = level.galerkin->lambda * margin, low = high / options.chebyshev_ratio;
  const double middle = 0.5 * (high + low), radius = 0.5 * (high - low);
  double rho = radius / middle;
  for (int k = 0; k < options.degree; ++k) {
    double alpha = 0, beta = 1 / middle;
    if (k > 0) {
      const double next = 1 / (2 * middle / radius - rho);
      alpha = next * rho;
      beta = 2 * next / radius;
      rho = next;
    }
    const bool zero = from_zero && k == 0;
    each<Dim>(level.busy, [&](int brick) {
      kernels.chebyshev(grid, brick, static_cast<float>(alpha), static_cast<float>(beta), level.f.data(),
                        zero ? nullptr : level.x.data(), level.d.data(), level.x_next.data());
    });
    std::swap(level.x, level.x_next);
  }
}

template <int Dim>
PressureHierarchy<Dim>::PressureHierarchy(const HierarchyOptions& options)
    : work_(std::make_unique<Work>(options)) {}
template <int Dim>
PressureHierarchy<Dim>::~PressureHierarchy() = default;
template <int Dim>
PressureHierarchy<Dim>::PressureHierarchy(PressureHierarchy&&) noexcept = default;
template <int Dim>
PressureHierarchy<Dim>& PressureHierarchy<Dim>::operator=(PressureHierarchy&&) noexcept = default;

template <int Dim>
void PressureHierarchy<Dim>::attach(const PressureSystem<Dim>& system, bool bounded) {
  work_->attach(system, bounded);
  work_->margin = first_margin;
}

template <int Dim>
void PressureHierarchy<Dim>::build_matrices() {
  work_->compute_matrices(true);
}

template <int Dim>
std::size_t PressureHierarchy<Dim>::field_size() const {
  return work_->levels[0].field_size();
}

template <int Dim>
typename PressureHierarchy<Dim>::Defect PressureHierarchy<Dim>::defect(std::span<const double> p) {
  Work& w = *work_;
  Finest<Dim>& finest = w.finest;
  const auto& busy = w.levels[0].busy;
  const auto grid = w.fine();
  parallel_for(busy.size(), grain<Dim>, [&](std::size_t i) {
    double objective = 0;
    finest.part[2 * i] =
        w.kernels.defect(grid, busy[i], p.data(), finest.r.data(), finest.bound.data(), &objective);
    finest.part[2 * i + 1] = objective;
    std::fill_n(&finest.c[at(busy[i]) * Level<Dim>::cells], Level<Dim>::cells, 0.0f);
  });
  Defect result;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (!(finest.part[2 * i] <= result.violation)) result.violation = finest.part[2 * i];
    result.objective += finest.part[2 * i + 1];
  }
  return result;
}

template <int Dim>
void PressureHierarchy<Dim>::set_residual(std::span<const double> r) {
  Finest<Dim>& finest = work_->finest;
  each<Dim>(work_->levels[0].busy, [&](int brick) {
    const std::size_t first = at(brick) * Level<Dim>::cells;
    for (std::size_t i = first; i < first + Level<Dim>::cells; ++i) finest.r[i] = static_cast<float>(r[i]);
    std::fill_n(&finest.c[first], Level<Dim>::cells, 0.0f);
  });
}

template <int Dim>
void PressureHierarchy<Dim>::update_active() {
  work_->update_active();
}

template <int Dim>
void PressureHierarchy<Dim>::move(std::span<double> p) {
  Work& w = *work_;
  Finest<Dim>& f = w.finest;
  const auto& busy = w.levels[0].busy;
  const auto grid = w.fine();
  parallel_for(busy.size(), grain<Dim>, [&](std::size_t i) {
    std::fill_n(&f.part[4 * i], 4, 0.0);
    w.kernels.product(grid, busy[i], f.c.data(), f.direction.data(), f.r.data(), f.product.data(),
                      &f.part[4 * i]);
  });
  double cc = 0, cs = 0, cr = 0, sr = 0;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    cc += f.part[4 * i];
    cs += f.part[4 * i + 1];
    cr += f.part[4 * i + 2];
    sr += f.part[4 * i + 3];
  }
  if (cr < shortest_step * cc) w.margin *= widening;
  const MoveFields fields = {f.c.data(),       f.bound.data(),     f.r.data(),
                             f.product.data(), f.direction.data(), f.direction_product.data(),
                             p.data()};
  // What the quadratic grows by, at most.
  const auto growth = [&](double alpha, double beta) {
    double sum = 0.5 * (alpha * alpha * cc + 2 * alpha * beta * cs + beta * beta * f.curvature) - alpha * cr -
                 beta * sr;
    if (!f.bounded) return sum;
    parallel_for(f.wall_bricks.size(), grain<Dim>, [&](std::size_t i) {
      f.part[i] = w.kernels.clipping(grid, f.wall_bricks[i], static_cast<float>(alpha),
                                     static_cast<float>(beta), fields);
    });
    for (std::size_t i = 0; i < f.wall_bricks.size(); ++i) sum += f.part[i];
    return sum;
  };
  // The quadratic along c is least at c·r / c·Ac; c itself keeps the bounds. The first move is by c, and its
  // direction is forgotten: most of it may be rough error of the start (cells that were dry a step ago),
  // which c removes for good and which a longer move, or the direction later on, would bring back.
  const double best = cc > 0 ? cr / cc : 1;
  double alpha = std::min(1.0, best), beta = 0;
  const double modest = 0.5 * alpha * alpha * cc - alpha * cr;
  const double determinant = cc * f.curvature - cs * cs;
  if (f.curvature > 0 && determinant > 1e-4 * cc * f.curvature) {
    const double a = (cr * f.curvature - sr * cs) / determinant, b = (sr * cc - cr * cs) / determinant;
    if (growth(a, b) <= modest) {
      alpha = a;
      beta = b;
    }
  }
  if (f.moved && beta == 0 && best > 1 && growth(best, 0) <= modest) alpha = best;
  each<Dim>(busy, [&](int brick) {
    w.kernels.step(grid, brick, static_cast<float>(alpha), static_cast<float>(beta), fields);
  });
  f.curvature = f.moved ? alpha * alpha * cc + 2 * alpha * beta * cs + beta * beta * f.curvature : 0;
  f.moved = true;
}

template <int Dim>
void PressureHierarchy<Dim>::copy_correction(std::span<double> z) const {
  each<Dim>(work_->levels[0].busy, [&](int brick) {
    const std::size_t first = at(brick) * Level<Dim>::cells;
    for (std::size_t i = first; i < first + Level<Dim>::cells; ++i) z[i] = double{work_->finest.c[i]};
  });
}

template <int Dim>
int PressureHierarchy<Dim>::level_count() const {
  return static_cast<int>(work_->used);
}

template <int Dim>
void PressureHierarchy<Dim>::smooth_before(int level) {
  if (level > 0) return work_->chebyshev(work_->levels[at(level)], true);
  for (int k = 0; k < work_->options.sweeps; ++k) work_->sweep(false);
}

template <int Dim>
void PressureHierarchy<Dim>::smooth_after(int level) {
  if (level > 0) return work_->chebyshev(work_->levels[at(level)], false);
  for (int k = 0; k < work_->options.sweeps; ++k) work_->sweep(true);
}

template <int Dim>
void PressureHierarchy<Dim>::restrict_residual(int level) {
  Work& w = *work_;
  Level<Dim>& fine = w.levels[at(level)];
  Level<Dim>& coarse = w.levels[at(level + 1)];
  const auto p = fine.interpolation();
  const auto messages = coarse.messages();
  if (level == 0) {
    const auto grid = w.fine();
    each<Dim>(fine.busy, [&](int brick) {
      w.kernels.restrict_fine(grid, p, fine.parent[at(brick)], brick, w.finest.r.data(), w.finest.c.data(),
                              messages);
    });
  } else {
    const auto grid = fine.stencil();
    each<Dim>(fine.busy, [&](int brick) {
      w.kernels.restrict_coarse(grid, p, fine.parent[at(brick)], brick, fine.f.data(), fine.x.data(),
                                messages);
    });
  }
  const auto grid = coarse.stencil();
  each<Dim>(coarse.busy, [&](int brick) {
    w.kernels.collect(grid, brick, static_cast<float>(stiffness), messages, coarse.f.data());
  });
}

template <int Dim>
void PressureHierarchy<Dim>::prolong_correction(int level) {
  Work& w = *work_;
  Level<Dim>& fine = w.levels[at(level)];
  const Level<Dim>& coarse = w.levels[at(level + 1)];
  const auto p = fine.interpolation();
  if (level == 0) {
    const auto grid = w.fine();
    const float* bound = w.finest.bounded ? w.finest.bound.data() : nullptr;
    each<Dim>(fine.busy, [&](int brick) {
      w.kernels.prolong_fine(grid, p, fine.parent[at(brick)], coarse.around.data(), brick, coarse.x.data(),
                             bound, w.finest.c.data());
    });
  } else {
    const auto grid = fine.stencil();
    each<Dim>(fine.busy, [&](int brick) {
      w.kernels.prolong_coarse(grid, p, fine.parent[at(brick)], coarse.around.data(), brick, coarse.x.data(),
                               fine.x.data());
    });
  }
}

template <int Dim>
void PressureHierarchy<Dim>::solve_coarsest() {
  Work& w = *work_;
  Level<Dim>& level = w.levels[w.used - 1];
  for (std::size_t i = 0; i < w.coarsest_cells.size(); ++i)
    w.coarsest_vector[static_cast<Eigen::Index>(i)] = double{level.f[at(w.coarsest_cells[i])]};
  w.coarsest.solveInPlace(w.coarsest_vector);
  for (std::size_t i = 0; i < w.coarsest_cells.size(); ++i)
    level.x[at(w.coarsest_cells[i])] = static_cast<float>(w.coarsest_vector[static_cast<Eigen::Index>(i)]);
}

template <int Dim>
std::vector<std::int64_t> PressureHierarchy<Dim>::unknowns() const {
  std::vector<std::int64_t> result;
  for (std::size_t l = 0; l < work_->used; ++l) result.push_back(work_->levels[l].unknowns);
  return result;
}

static_assert(linalg::MultigridLevels<PressureHierarchy<3>>);

template class PressureHierarchy<2>;
template class PressureHierarchy<3>;

}  // namespace lope::matter
