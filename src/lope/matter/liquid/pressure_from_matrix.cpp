#include <lope/base/errors.h>
#include <lope/matter/liquid/brick_steps.h>
#include <lope/matter/liquid/pressure_system.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace lope::matter {

using geometry::BrickSet;
using geometry::GridIndex;
using optimize::complementarity::MixedLcp;

namespace {

// Of a row's diagonal entry: a sum below this is rounding.
constexpr double rounding = 1e-12;
// Of it: a sum that is more negative than this is not.
constexpr double negative = 1e-6;

// The axis and the direction (±1) that lead from a cell to the one next to it; 0: it is not next to it.
struct Way {
  int axis = 0;
  int direction = 0;
};
template <int Dim>
Way way(const GridIndex<Dim>& from, const GridIndex<Dim>& to) {
  Way result;
  for (int a = 0; a < Dim; ++a) {
    const int difference = to[at(a)] - from[at(a)];
    if (difference == 0) continue;
    if (std::abs(difference) != 1 || result.direction != 0) return {};
    result = {a, difference};
  }
  return result;
}

}  // namespace

template <int Dim>
Expected<PressureSystem<Dim>> PressureSystem<Dim>::from_matrix(const MixedLcp& problem,
                                                               std::span<const GridIndex<Dim>> cells,
                                                               double scale) {
  if (cells.size() != problem.size())
    return input_error("there are {} cells for {} rows", cells.size(), problem.size());
  PressureSystem system;
  system.bricks_ = std::make_shared<BrickSet<Dim>>(BrickSet<Dim>::holding(cells).dilated());
  const BrickSet<Dim>& bricks = *system.bricks_;
  system.kind_.assign(bricks.size(), CellKind::Closed);
  system.ghost_.resize(bricks.size());
  system.rhs_.resize(bricks.size());
  for (auto& field : system.coupling_) field.resize(bricks.size() + BrickSet<Dim>::cells);
  for (std::size_t row = 0; row < cells.size(); ++row) {
    CellKind& kind = system.kind_[at(bricks.place(cells[row]))];
    if (kind != CellKind::Closed) return input_error("row {}: another row has the same cell", row + 1);
    kind = problem.bounded[row] ? CellKind::Wall : CellKind::Liquid;
  }
  for (std::size_t row = 0; row < cells.size(); ++row) {
    const std::int64_t cell = bricks.place(cells[row]);
    double diagonal = 0, sum = 0;
    for (std::int64_t k = problem.a.row_start[row]; k < problem.a.row_start[row + 1]; ++k) {
      const auto column = at(problem.a.column[at(k)]);
      const double value = problem.a.value[at(k)];
      sum += value;
      if (column == row) diagonal = value;
      if (column == row || value == 0) continue;
      const Way other = way<Dim>(cells[row], cells[column]);
      if (other.direction == 0)
        return input_error("row {} is coupled to row {}, whose cell is not next to its own", row + 1,
                           column + 1);
      if (value > 0)
        return input_error("the entry in row {}, column {} is {}; it must not be positive", row + 1,
                           column + 1, value);
      if (other.direction < 0)
        system.coupling_[at(other.axis)][at(cell)] = static_cast<float>(-value / scale);
    }
    if (sum < -negative * diagonal)
      return input_error("the sum of row {} is {}; it must not be negative", row + 1, sum);
    system.rhs_[at(cell)] = problem.b[row] / scale;
    system.largest_outflow_ = std::max(system.largest_outflow_, std::abs(problem.b[row] / scale));
    if (sum <= rounding * diagonal) continue;
    // What is beside it and holds no unknown is known to be 0.
    system.ghost_[at(cell)] = static_cast<float>(sum / scale);
    for (int a = 0; a < Dim; ++a) {
      for (const int direction : {-1, 1}) {
        const std::int64_t beside = bricks.next(cell, a, direction);
        if (!system.is_unknown(at(beside))) system.kind_[at(beside)] = CellKind::Air;
      }
    }
  }
  system.number_unknowns();
  return system;
}

template Expected<PressureSystem<2>> PressureSystem<2>::from_matrix(const MixedLcp&,
                                                                    std::span<const GridIndex<2>>, double);
template Expected<PressureSystem<3>> PressureSystem<3>::from_matrix(const MixedLcp&,
                                                                    std::span<const GridIndex<3>>, double);

}  // namespace lope::matter
