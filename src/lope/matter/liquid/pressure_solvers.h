// Solvers of a pressure system that know its grid, behind one interface and with one stopping rule
// (PressureSystem::violation, absolute).
//
// Solvers keep their memory from system to system. Iterates live on the cells of the system's bricks, so a
// warm start is whatever the caller has left in q: the previous step's pressure, moved to the present bricks.
#pragma once

#include <lope/matter/liquid/pressure_methods.h>
#include <lope/matter/liquid/pressure_multigrid.h>
#include <lope/matter/liquid/pressure_system.h>
#include <lope/optimize/complementarity/problem.h>

#include <memory>
#include <span>

namespace lope::matter {

template <int Dim>
class PressureSolver {
 public:
  virtual ~PressureSolver() = default;
  // Starts from q (bricks().size() values, ignored where there is no unknown) and leaves the last iterate in
  // it. Iterations of the summary are cycles; its history and observer get fields over the cells.
  virtual optimize::complementarity::LcpSummary solve(
      const PressureSystem<Dim>& system, std::span<double> q,
      const optimize::complementarity::LcpOptions& options) = 0;
};

template <int Dim>
std::unique_ptr<PressureSolver<Dim>> pressure_solver(const AnyPressureMethod& method,
                                                     const HierarchyOptions& options = {});

// Truncated non-smooth Newton multigrid (the family of Gräser and Kornhuber 2009; NUMERICS §8). One cycle:
// projected Gauss–Seidel; a linear coarse correction of the cells that are not at their bound; projection;
// projected Gauss–Seidel. Guarded by the quadratic ½ qᵀAq + bᵀq: a cycle that would raise it is cut back to
// the minimum along its direction, so the objective never increases.
template <int Dim>
class TruncatedMultigrid final : public PressureSolver<Dim> {
 public:
  explicit TruncatedMultigrid(const HierarchyOptions& options = {});
  optimize::complementarity::LcpSummary solve(const PressureSystem<Dim>& system, std::span<double> q,
                                              const optimize::complementarity::LcpOptions& options) override;

 private:
  // What one grid of the nested start needs.
  struct Grid {
    explicit Grid(const HierarchyOptions& options) : hierarchy(options) {}
    PressureHierarchy<Dim> hierarchy;
    PressureSystem<Dim> coarse;
    std::vector<double> p, coarse_q;
  };
  void iterate(const PressureSystem<Dim>& system, std::size_t depth, bool nested, std::span<double> q,
               const optimize::complementarity::LcpOptions& options,
               optimize::complementarity::LcpSummary& summary);

  HierarchyOptions options_;
  std::vector<std::unique_ptr<Grid>> grids_;  // finest first
};

// V-cycles combined as by conjugate gradients (the residual is computed afresh in double precision after
// each, the cycle and the combination in single precision): what walls that hold the liquid cost.
template <int Dim>
class LinearMultigrid final : public PressureSolver<Dim> {
 public:
  explicit LinearMultigrid(const HierarchyOptions& options = {});
  optimize::complementarity::LcpSummary solve(const PressureSystem<Dim>& system, std::span<double> q,
                                              const optimize::complementarity::LcpOptions& options) override;

 private:
  PressureHierarchy<Dim> hierarchy_;
  std::vector<double> p_;
};

extern template class TruncatedMultigrid<2>;
extern template class TruncatedMultigrid<3>;
extern template class LinearMultigrid<2>;
extern template class LinearMultigrid<3>;

}  // namespace lope::matter
