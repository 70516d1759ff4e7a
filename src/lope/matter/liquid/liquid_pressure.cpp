// The pressure of a substep, and what is told of the grid.
#include <lope/matter/liquid/particle_liquid.h>
#include <lope/optimize/complementarity/policy_iteration.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace lope::matter::liquid {
namespace {

constexpr int most_cycles = 100;  // of multigrid; what they leave, policy iteration solves
// Of the terms of a pressure equation: a smaller residual is left to chance.
constexpr double rounding = 1e-10;
// Of what moving walls sweep at the border of enclosed liquid: a net inflow below this is what faces of cells make
// of walls that only turn or slide along it.
constexpr double squeeze_noise = 0.01;
// Cells along each axis: smaller pockets, as between a vane and the wall it sweeps along, leave through gaps that the grid
// does not see.
constexpr double smallest_sealed = 3;

std::string describe(const Squeeze& squeeze, int dimension) {
  const char* unit = dimension == 2 ? "m²" : "m³";
  return fmt::format(
      "moving walls squeeze {:.3g} {} of it that have no free surface, around ({:.3g}, {:.3g}, {:.3g}), by "
      "{:.3g} {}/s "
      "({:.3g} % per second): liquid cannot be compressed, so there is no solution",
      squeeze.volume, unit, squeeze.middle.x(), squeeze.middle.y(), squeeze.middle.z(), squeeze.flux, unit,
      100 * squeeze.flux / squeeze.volume);
}

}  // namespace

template <int Dim>
void ParticleLiquid<Dim>::solve_pressure(State& state, double dt, Report& report) {
  PressureOptions options;
  options.separating = description_.separating;
  system_ = PressureSystem<Dim>(pressure_grid_, options);
  recall_pressure(state, dt);
  if (const auto& observe = std::get<PressureObserver<Dim>>(description_.pressure_observers))
    observe(system_, q_, dt);
  const double tolerance = pressure_tolerance();
  const auto summary = find_pressure(tolerance);
  report.unknowns = std::max(report.unknowns, system_.unknowns());
  report.wall_unknowns = std::max(report.wall_unknowns, system_.wall_unknowns());
  report.iterations += summary.iterations;
  report.inner_iterations += summary.inner_iterations;
  if (report.tolerance == 0 || !(summary.residual * report.tolerance <= report.residual * tolerance)) {
    report.residual = summary.residual;
    report.tolerance = tolerance;
  }
  if (summary.history.size() > report.history.size()) report.history = summary.history;
  const bool finite = linalg::local_space().all_finite(q_);
  if (summary.outcome == optimize::Outcome::Failed || !finite) {
    reject(report, finite ? summary.reason : "the pressure is not finite");
  } else if (!summary.converged()) {
    report.converged = false;
    report.reason = summary.reason;
  }
  note_enclosed(dt, report);
  if (report.accepted) {
    system_.subtract_gradient(pressure_grid_, q_, after_, &valid_);
    keep_pressure(state, dt);
    report.separated = 0;
    for (const std::int64_t cell : system_.unknown_cells()) {
      const auto i = static_cast<std::size_t>(cell);
      report.separated += system_.kind()[i] == CellKind::Wall && q_[i] <= 0;
    }
  }
}

// Regions without a free surface, and whether walls squeeze them.
template <int Dim>
void ParticleLiquid<Dim>::note_enclosed(double dt, Report& report) const {
  const auto regions = system_.enclosed_regions();
  const double face = std::pow(grid_.dx, Dim - 1);
  double removed = 0;
  for (const EnclosedRegion& region : regions) {
    removed += face * std::abs(region.removed);
    if (region.squeeze <= squeeze_noise * region.swept) continue;
    Squeeze squeeze;
    squeeze.flux = face * region.squeeze;
    for (const std::int64_t cell : region.cells) {
      const double open = open_volume_[static_cast<std::size_t>(cell)] * face * grid_.dx;
      const Vec<Dim> corner = grid_.corner(grid_.bricks->cell(cell));
      squeeze.volume += open;
      squeeze.middle += open * in_space<Dim>(corner + Vec<Dim>::Constant(0.5 * grid_.dx));
    }
    if (squeeze.volume < std::pow(smallest_sealed * grid_.dx, Dim)) continue;
    squeeze.middle /= squeeze.volume;
    report.squeezed_volume += dt * squeeze.flux;
    if (squeeze.flux > report.squeeze.flux) report.squeeze = squeeze;
  }
  report.enclosed_regions = std::max(report.enclosed_regions, static_cast<int>(regions.size()));
  report.removed_flux = std::max(report.removed_flux, removed);
  if (report.squeeze.flux == 0 || !report.accepted) return;
  report.converged = false;
  report.reason = describe(report.squeeze, Dim);
}

// What may remain of a net outflow (NUMERICS §6 for liquids). Below the rounding of its terms there is nothing to gain.
template <int Dim>
double ParticleLiquid<Dim>::pressure_tolerance() const {
  double terms = 0;
  for (const std::int64_t cell : system_.unknown_cells()) {
    const auto i = static_cast<std::size_t>(cell);
    terms = std::max(terms, std::abs(system_.rhs()[i]) + std::abs(q_[i]));
  }
  const double relative = description_.relative_tolerance * system_.largest_outflow();
  return std::min(description_.tolerance, std::max(relative, rounding * terms));
}

// From the first guess in q_. What multigrid does not finish, policy iteration does; a solver that was asked for by name is on its own.
template <int Dim>
optimize::complementarity::LcpSummary ParticleLiquid<Dim>::find_pressure(double tolerance) {
  namespace lcp = optimize::complementarity;
  lcp::LcpOptions options;
  options.tolerance = tolerance;
  if (description_.solver) {
    if (!info_of(*description_.solver).sweeps) options.max_iterations = description_.max_iterations;
    return solver_->solve(system_, q_, options);
  }
  options.max_iterations = std::min(description_.max_iterations, most_cycles);
  const std::vector<double> guess = q_;
  lcp::LcpSummary summary = solver_->solve(system_, q_, options);
  options.max_iterations = description_.max_iterations - summary.iterations;
  if (summary.converged() || options.max_iterations <= 0) return summary;
  if (!linalg::local_space().all_finite(q_)) q_ = guess;
  const lcp::MixedLcp problem = system_.matrix_form();
  const auto cells = system_.unknown_cells();
  std::vector<double> p(problem.size());
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = q_[static_cast<std::size_t>(cells[i])];
  lcp::PolicyIteration policy_iteration(std::make_unique<linalg::MaskedIncompleteCholesky>());
  policy_iteration.attach(problem);
  const int cycles = summary.iterations;
  summary = policy_iteration.solve(p, options);
  summary.iterations += cycles;
  for (std::size_t i = 0; i < p.size(); ++i) q_[static_cast<std::size_t>(cells[i])] = p[i];
  return summary;
}

// The last substep's pressure, where its cells still are, as this one's first guess.
template <int Dim>
void ParticleLiquid<Dim>::recall_pressure(const State& state, double dt) {
  constexpr std::size_t cells = Bricks::cells;
  q_.assign(grid_.bricks->size(), 0.0);
  for (std::size_t k = 0; k < state.pressure_bricks.size() / Dim; ++k) {
    Index brick;
    for (std::size_t a = 0; a < Dim; ++a) brick[a] = state.pressure_bricks[k * Dim + a];
    const int b = grid_.bricks->find(brick);
    if (b < 0) continue;
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t place = static_cast<std::size_t>(b) * cells + i;
      if (system_.is_unknown(place)) q_[place] = state.pressure[k * cells + i] * dt / grid_.dx;
    }
  }
}

template <int Dim>
void ParticleLiquid<Dim>::keep_pressure(State& state, double dt) const {
  constexpr std::size_t cells = Bricks::cells;
  state.pressure_bricks.clear();
  state.pressure.clear();
  for (int b = 0; b < grid_.bricks->count(); ++b) {
    const auto begin = q_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(b) * cells);
    if (std::all_of(begin, begin + cells, [](double q) { return q == 0; })) continue;
    for (const int coordinate : grid_.bricks->brick(b)) state.pressure_bricks.push_back(coordinate);
    for (std::size_t i = 0; i < cells; ++i)
      state.pressure.push_back(begin[static_cast<std::ptrdiff_t>(i)] * grid_.dx / dt);
  }
}

template <int Dim>
GridFields ParticleLiquid<Dim>::fields(const State& state, double time) {
  const bool stepped = dt_ > 0;
  if (!stepped) look_at(state, time);
  GridFields result;
  const auto kinds = system_.kind();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool liquid = system_.is_unknown(i);
    if (!liquid && !near_liquid(i)) continue;
    const Index cell = grid_.bricks->cell(static_cast<std::int64_t>(i));
    result.kind.push_back(liquid                        ? GridFields::Kind::Liquid
                          : kinds[i] == CellKind::Closed ? GridFields::Kind::Wall
                                                        : GridFields::Kind::Air);
    result.separating.push_back(stepped && kinds[i] == CellKind::Wall && q_[i] <= 0);
    const double pressure = liquid ? q_[i] * description_.density * grid_.dx / (stepped ? dt_ : 1) : 0;
    result.pressure.push_back(static_cast<float>(pressure));
    result.level_set.push_back(static_cast<float>(pressure_grid_.liquid[i]));
    for (std::size_t a = 0; a < Dim; ++a) {
      result.index.push_back(cell[a]);
      result.velocity.push_back(static_cast<float>(after_[a][i]));
      result.open.push_back(static_cast<float>(pressure_grid_.open[a][i]));
    }
    if constexpr (Dim == 2) {
      result.index.push_back(0);
      result.velocity.push_back(0);
      result.open.push_back(0);
    }
  }
  return result;
}

// Whether some cell next to this one, along the axes, is an unknown.
template <int Dim>
bool ParticleLiquid<Dim>::near_liquid(std::size_t place) const {
  for (int a = 0; a < Dim; ++a) {
    for (const int direction : {-1, 1}) {
      const std::int64_t next = grid_.bricks->next(static_cast<std::int64_t>(place), a, direction);
      if (next >= 0 && system_.is_unknown(static_cast<std::size_t>(next))) return true;
    }
  }
  return false;
}

template class ParticleLiquid<2>;
template class ParticleLiquid<3>;

}  // namespace lope::matter::liquid
