#include <lope/matter/liquid/pressure_fas.h>
#include <lope/matter/liquid/pressure_record.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lope::matter {
namespace {

using linalg::CsrMatrix;
using optimize::complementarity::LcpOptions;
using optimize::complementarity::LcpSummary;

constexpr int coarsest_unknowns = 100;
constexpr int coarsest_sweeps = 50;
constexpr double printed_time_step = 0.01;  // Δt of FasScaling::AsPrinted [s], ρ = 1

constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// How the fine cells around a cell, in the corner where it lies, are reached from it.
enum class Reach { Closed, Air, Open };

template <int Dim>
class Corner {
 public:
  Corner(const PressureSystem<Dim>& system, std::int64_t cell) : system_(system) {
    const auto coordinates = system.bricks().cell(cell);
    for (int a = 0; a < Dim; ++a) side_[at(a)] = coordinates[at(a)] & 1 ? 1 : -1;
    cell_[0] = cell;
    reach_[0] = Reach::Open;
    for (int axes = 1; axes < 1 << Dim; ++axes) {
      cell_[at(axes)] = -1;
      reach_[at(axes)] = Reach::Closed;
      for (int a = 0; a < Dim; ++a) {
        const int before = axes & ~(1 << a);
        if (before == axes || cell_[at(before)] < 0) continue;
        cell_[at(axes)] = system.bricks().next(cell_[at(before)], a, side_[at(a)]);
        if (cell_[at(axes)] < 0) break;
        if (system.kind()[at(cell_[at(axes)])] == CellKind::Air) reach_[at(axes)] = Reach::Air;
        const auto face = side_[at(a)] < 0 ? cell_[at(before)] : cell_[at(axes)];
        if (reach_[at(before)] != Reach::Open || system.coupling(a)[at(face)] == 0) continue;
        reach_[at(axes)] = Reach::Open;
        break;
      }
    }
  }
  Reach reach(int axes) const { return reach_[at(axes)]; }
  int side(int axis) const { return side_[at(axis)]; }

 private:
  const PressureSystem<Dim>& system_;
  std::array<int, at(Dim)> side_;
  std::array<std::int64_t, 1 << Dim> cell_;
  std::array<Reach, 1 << Dim> reach_;
};

// Weight of the donor that lies from the parent along these axes; 0: not a donor.
template <int Dim>
double weight_of(Transfer transfer, int axes) {
  const int count = __builtin_popcount(static_cast<unsigned>(axes));
  switch (transfer) {
    case Transfer::Barycentric:
      return count == 0 ? 1 - 0.25 * Dim : count == 1 ? 0.25 : 0;
    case Transfer::Trilinear:
      return std::pow(0.75, Dim - count) * std::pow(0.25, count);
    case Transfer::Constant:
      return count == 0 ? 1 : 0;
  }
  return 0;
}

template <int Dim>
CsrMatrix prolongation(const PressureSystem<Dim>& fine, const PressureSystem<Dim>& coarse,
                       const FasOptions& options) {
  CsrMatrix p;
  p.rows = fine.unknowns();
  p.columns = coarse.unknowns();
  std::vector<std::pair<int, double>> entries;
  for (const std::int64_t cell : fine.unknown_cells()) {
    const Corner<Dim> corner(fine, cell);
    auto parent = fine.bricks().cell(cell);
    for (int& coordinate : parent) coordinate >>= 1;
    entries.clear();
    double total = 0;
    for (int axes = 0; axes < 1 << Dim; ++axes) {
      const double weight = weight_of<Dim>(options.transfer, axes);
      if (weight == 0) continue;
      if (options.one_sided && corner.reach(axes) == Reach::Closed) continue;
      total += weight;
      auto donor = parent;
      for (int a = 0; a < Dim; ++a)
        if (axes >> a & 1) donor[at(a)] += corner.side(a);
      const auto place = coarse.bricks().place(donor);
      if (place < 0 || (options.one_sided && corner.reach(axes) == Reach::Air)) continue;
      if (const int number = coarse.numbering()[at(place)]; number >= 0) entries.emplace_back(number, weight);
    }
    std::sort(entries.begin(), entries.end());
    for (const auto& [column, weight] : entries) {
      p.column.push_back(column);
      p.value.push_back(options.one_sided ? weight / total : weight);
    }
    p.row_start.push_back(p.entries());
  }
  return p;
}

CsrMatrix scaled(CsrMatrix matrix, double factor) {
  for (double& value : matrix.value) value *= factor;
  return matrix;
}

// One projected Gauss–Seidel sweep for N(p) = f; `plain`: no bounds.
template <class Level>
void sweep(Level& l, bool plain) {
  for (int i = 0; i < l.a.rows; ++i) {
    const double d = l.diagonal[at(i)];
    if (d <= 0 || (plain && l.fixed[at(i)])) continue;
    double sum = l.f[at(i)] - l.b[at(i)];
    for (std::int64_t k = l.a.row_start[at(i)]; k < l.a.row_start[at(i) + 1]; ++k)
      if (l.a.column[at(k)] != i) sum -= l.a.value[at(k)] * l.p[at(l.a.column[at(k)])];
    const double value = sum / d;
    l.p[at(i)] = l.bounded[at(i)] && !plain ? std::max(value, l.f[at(i)] / l.sigma[at(i)]) : value;
  }
}

// N(p).
template <class Level>
void evaluate(const Level& l, std::vector<double>& result) {
  result.resize(l.b.size());
  linalg::multiply(l.a, l.p, result);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double row = result[i] + l.b[i];
    result[i] = l.bounded[i] ? std::min(row, l.sigma[i] * l.p[i]) : row;
  }
}

template <class Level>
void fas_cycle(std::vector<Level>& levels, std::size_t depth, int sweeps) {
  Level& fine = levels[depth];
  if (depth + 1 == levels.size()) {
    for (int k = 0; k < coarsest_sweeps; ++k) sweep(fine, false);
    return;
  }
  Level& coarse = levels[depth + 1];
  for (int k = 0; k < sweeps; ++k) sweep(fine, false);
  evaluate(fine, fine.residual);
  for (std::size_t i = 0; i < fine.residual.size(); ++i) fine.residual[i] = fine.f[i] - fine.residual[i];
  linalg::multiply(fine.restriction, fine.p, coarse.p);
  std::vector<double> restricted(coarse.b.size()), correction(fine.b.size());
  linalg::multiply(fine.restriction, fine.residual, restricted);
  evaluate(coarse, coarse.f);
  for (std::size_t i = 0; i < restricted.size(); ++i) coarse.f[i] += restricted[i];
  const std::vector<double> before = coarse.p;
  fas_cycle(levels, depth + 1, sweeps);
  for (std::size_t i = 0; i < before.size(); ++i) restricted[i] = coarse.p[i] - before[i];
  linalg::multiply(fine.prolongation, restricted, correction);
  for (std::size_t i = 0; i < correction.size(); ++i) fine.p[i] += correction[i];
  for (int k = 0; k < sweeps; ++k) sweep(fine, false);
}

// A coarse cell with a separated child keeps the pressure 0.
template <class Level>
void fix_below(const Level& fine, Level& coarse) {
  std::fill(coarse.fixed.begin(), coarse.fixed.end(), std::uint8_t{0});
  const CsrMatrix& p = fine.prolongation;
  for (std::size_t i = 0; i < fine.fixed.size(); ++i) {
    if (!fine.fixed[i] || p.row_start[i] == p.row_start[i + 1]) continue;
    const auto begin = p.value.begin() + p.row_start[i];
    const auto parent = std::max_element(begin, p.value.begin() + p.row_start[i + 1]) - p.value.begin();
    coarse.fixed[at(p.column[at(parent)])] = 1;
  }
}

// V-cycle for A p = f − b without bounds below the finest level.
template <class Level>
void linear_cycle(std::vector<Level>& levels, std::size_t depth, int sweeps) {
  Level& fine = levels[depth];
  const bool coarsest = depth + 1 == levels.size();
  for (int k = 0; k < (coarsest ? coarsest_sweeps : sweeps); ++k) sweep(fine, depth > 0);
  if (coarsest) return;
  Level& coarse = levels[depth + 1];
  linalg::multiply(fine.a, fine.p, fine.residual);
  for (std::size_t i = 0; i < fine.residual.size(); ++i) {
    if (depth == 0) fine.fixed[i] = fine.bounded[i] && fine.p[i] <= 0;
    fine.residual[i] = fine.fixed[i] ? 0 : fine.f[i] - fine.b[i] - fine.residual[i];
  }
  fix_below(fine, coarse);
  linalg::multiply(fine.restriction, fine.residual, coarse.f);
  std::fill(coarse.p.begin(), coarse.p.end(), 0.0);
  linear_cycle(levels, depth + 1, sweeps);
  std::vector<double> correction(fine.b.size());
  linalg::multiply(fine.prolongation, coarse.p, correction);
  for (std::size_t i = 0; i < correction.size(); ++i) {
    if (!fine.fixed[i]) fine.p[i] += correction[i];
  }
  for (int k = 0; k < sweeps; ++k) sweep(fine, depth > 0);
}

}  // namespace

template <int Dim>
MatrixLevels<Dim>::MatrixLevels(const PressureSystem<Dim>& system, const FasOptions& options) {
  const PressureSystem<Dim>* fine = &system;
  PressureSystem<Dim> coarse;
  auto problem = system.matrix_form();
  Level level;
  level.a = std::move(problem.a);
  level.b = std::move(problem.b);
  level.bounded = std::move(problem.bounded);
  // Rows in 1/s and unknowns in Pa.
  const double rows = options.scaling == FasScaling::AsPrinted ? 1 / system.dx() : 1;
  const double unknowns = options.scaling == FasScaling::AsPrinted ? printed_time_step / system.dx() : 1;
  level.a = scaled(std::move(level.a), rows * unknowns);
  for (double& b : level.b) b *= rows;
  PressureSystem<Dim> kept;
  for (;;) {
    const std::size_t n = level.b.size();
    level.diagonal = linalg::diagonal(level.a);
    level.fixed.assign(n, 0);
    level.sigma.assign(n, 1);
    if (options.scaling == FasScaling::Diagonal) {
      for (std::size_t i = 0; i < n; ++i)
        if (level.diagonal[i] > 0) level.sigma[i] = level.diagonal[i];
    }
    level.p.assign(n, 0);
    level.f.assign(n, 0);
    level.residual.assign(n, 0);
    levels.push_back(std::move(level));
    if (n <= coarsest_unknowns) break;
    coarse = fine->coarser();
    if (coarse.unknowns() == fine->unknowns()) break;
    Level& above = levels.back();
    above.prolongation = prolongation(*fine, coarse, options);
    above.restriction = scaled(linalg::transpose(above.prolongation), 1.0 / (1 << Dim));
    level = Level();
    auto direct = coarse.matrix_form();
    level.bounded = std::move(direct.bounded);
    if (options.galerkin) {
      level.a = linalg::multiply(above.restriction, linalg::multiply(above.a, above.prolongation));
    } else {
      // The coarse system's rows and unknowns are halves of what R and P speak of, level by level.
      level.a =
          scaled(std::move(direct.a), rows * unknowns * std::pow(0.25, static_cast<double>(levels.size())));
    }
    level.b.resize(direct.b.size());
    linalg::multiply(above.restriction, above.b, level.b);
    kept = std::move(coarse);
    fine = &kept;
  }
}

namespace {

// Sets the levels up and repeats `cycle` on them until the iterate of the finest one is good enough. `unit`:
// of the levels' unknowns in m/s.
template <int Dim, class Cycle>
LcpSummary iterate(const PressureSystem<Dim>& system, const FasOptions& fas, double unit, std::span<double> q,
                   const LcpOptions& options, const Cycle& cycle) {
  LcpSummary summary;
  PressureRecord record(options, summary);
  const Stopwatch watch;
  MatrixLevels<Dim> matrices(system, fas);
  const double setup = watch.seconds();
  auto& finest = matrices.levels[0];
  finest.p = system.gather(q);
  for (double& p : finest.p) p /= unit;
  std::vector<double> field;
  const auto take = [&] {
    field = system.scatter(finest.p);
    for (double& value : field) value *= unit;
    return system.violation(field);
  };
  while (!record.add(take(), std::numeric_limits<double>::quiet_NaN(), field)) cycle(matrices.levels);
  std::copy(field.begin(), field.end(), q.begin());
  record.finish(setup);
  return summary;
}

// The residual on all levels, then from the coarsest upwards: the correction so far, one V-cycle. Below the
// finest level everything is a correction.
template <class Level>
void full_cycle(std::vector<Level>& levels, int sweeps) {
  for (std::size_t l = 1; l < levels.size(); ++l) std::fill(levels[l].b.begin(), levels[l].b.end(), 0.0);
  Level& finest = levels[0];
  linalg::multiply(finest.a, finest.p, finest.residual);
  for (std::size_t i = 0; i < finest.residual.size(); ++i) {
    finest.fixed[i] = finest.bounded[i] && finest.p[i] <= 0 && finest.residual[i] + finest.b[i] > 0;
    finest.residual[i] = finest.fixed[i] ? 0 : -finest.b[i] - finest.residual[i];
  }
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) fix_below(levels[l], levels[l + 1]);
  std::vector<std::vector<double>> rhs = {finest.residual};
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    rhs.emplace_back(levels[l + 1].b.size());
    linalg::multiply(levels[l].restriction, rhs[l], rhs[l + 1]);
  }
  std::vector<double> correction(levels.back().b.size());
  for (std::size_t l = levels.size() - 1; l > 0; --l) {
    levels[l].p = correction;
    levels[l].f = rhs[l];
    linear_cycle(levels, l, sweeps);
    std::vector<double> finer(levels[l - 1].b.size());
    linalg::multiply(levels[l - 1].prolongation, levels[l].p, finer);
    for (std::size_t i = 0; i < finer.size(); ++i) finer[i] = levels[l - 1].fixed[i] ? 0 : finer[i];
    correction = std::move(finer);
  }
  for (std::size_t i = 0; i < correction.size(); ++i) {
    if (finest.fixed[i]) continue;
    const double value = finest.p[i] + correction[i];
    finest.p[i] = finest.bounded[i] ? std::max(value, 0.0) : value;
  }
  linear_cycle(levels, 0, sweeps);
}

}  // namespace

template <int Dim>
LcpSummary FasMultigrid<Dim>::solve(const PressureSystem<Dim>& system, std::span<double> q,
                                    const LcpOptions& options) {
  const double unit = options_.scaling == FasScaling::AsPrinted ? printed_time_step / system.dx() : 1;
  return iterate(system, options_, unit, q, options,
                 [&](auto& levels) { fas_cycle(levels, 0, options_.sweeps); });
}

template <int Dim>
LcpSummary FullMultigrid<Dim>::solve(const PressureSystem<Dim>& system, std::span<double> q,
                                     const LcpOptions& options) {
  return iterate(system, options_, 1, q, options, [&](auto& levels) { full_cycle(levels, options_.sweeps); });
}

template class MatrixLevels<2>;
template class MatrixLevels<3>;
template class FasMultigrid<2>;
template class FasMultigrid<3>;
template class FullMultigrid<2>;
template class FullMultigrid<3>;

}  // namespace lope::matter
