#include <lope/base/parallel.h>
#include <lope/matter/liquid/brick_steps.h>
#include <lope/matter/liquid/pressure_system.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace lope::matter {

using geometry::BrickSet;

namespace {

// Openings this near to 1 are full: a rounding error in a fraction must not make a wall.
constexpr double full_opening = 1 - 1e-6;

// The open fraction that counts.
float opening(double given, double smallest) {
  return given < smallest ? 0.0f : given >= full_opening ? 1.0f : static_cast<float>(given);
}

// Fraction of the way from a liquid cell's centre to an air cell's centre at which the surface lies.
double surface_fraction(double liquid, double air, double smallest) {
  return std::clamp(liquid / (liquid - air), smallest, 1.0);
}

// Finds the unknowns that are connected with air, eight cells at a time: bit k of a row's mask is its cell k.
template <int Dim>
class Flood {
 public:
  static constexpr int rows = BrickSet<Dim>::rows;

  Flood(const BrickSet<Dim>& bricks, const std::array<std::vector<float>, at(Dim)>& coupling,
        std::span<const float> ghost)
      : bricks_(bricks),
        reached_(static_cast<std::size_t>(bricks.count()) * rows),
        queued_(at(bricks.count()), 1) {
    for (auto& mask : open_) mask.resize(reached_.size());
    for_each_brick(bricks, [&](const Steps<Dim>& steps, std::size_t brick) {
      for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t cell = at(steps.first()) + 8 * row, r = brick * rows + row;
        reached_[r] = positive(&ghost[cell]);
        for (int a = 0; a < Dim; ++a) open_[at(a)][r] = positive(&coupling[at(a)][cell]);
      }
    });
  }

  // Bit masks of the connected cells, row by row.
  std::span<const std::uint8_t> run() {
    std::vector<std::size_t> queue(queued_.size());
    for (std::size_t i = 0; i < queue.size(); ++i) queue[i] = queue.size() - 1 - i;
    while (!queue.empty()) {
      const std::size_t brick = queue.back();
      queue.pop_back();
      queued_[brick] = 0;
      if (!spread_within(brick)) continue;
      const auto around = bricks_.neighbours(static_cast<int>(brick));
      for (const int offset : {1, 3, 9}) {
        if (offset > BrickSet<Dim>::around / 2) break;
        for (const int next : {around[at(BrickSet<Dim>::around / 2 - offset)],
                               around[at(BrickSet<Dim>::around / 2 + offset)]}) {
          if (next < 0 || queued_[at(next)]) continue;
          queued_[at(next)] = 1;
          queue.push_back(at(next));
        }
      }
    }
    return reached_;
  }

 private:
  static std::uint8_t positive(const float* row) {
    unsigned mask = 0;
    for (unsigned k = 0; k < 8; ++k) mask |= static_cast<unsigned>(row[k] > 0) << k;
    return static_cast<std::uint8_t>(mask);
  }

  // What reaches a row from the rows around it and along it.
  unsigned pull(const Steps<Dim>& steps, int row) const {
    const auto row_of = [](std::int64_t cell) { return at(cell / 8); };
    const std::size_t r = row_of(steps.first()) + at(row);
    unsigned mask = reached_[r];
    for (int a = 1; a < Dim; ++a) {
      if (const auto low = steps.next(8 * row, a, -1); low >= 0)
        mask |= open_[at(a)][r] & reached_[row_of(low)];
      if (const auto high = steps.next(8 * row, a, 1); high >= 0)
        mask |= open_[at(a)][row_of(high)] & reached_[row_of(high)];
    }
    const unsigned along = open_[0][r];
    if (const auto low = steps.next(8 * row, 0, -1); low >= 0)
      mask |= along & (reached_[row_of(low)] >> 7 & 1u);
    if (const auto high = steps.next(8 * row + 7, 0, 1); high >= 0)
      mask |= (open_[0][row_of(high)] & reached_[row_of(high)] & 1u) << 7;
    for (unsigned before = 0; before != mask;) {
      before = mask;
      mask |= (along & mask << 1) | (along & mask) >> 1;
    }
    return mask;
  }

  // True if the brick's masks grew.
  bool spread_within(std::size_t brick) {
    const Steps<Dim> steps(bricks_, brick);
    bool grew = false;
    for (bool again = true; again;) {
      again = false;
      for (int pass = 0; pass < 2 * rows; ++pass) {
        const int row = pass < rows ? pass : 2 * rows - 1 - pass;
        const auto mask = static_cast<std::uint8_t>(pull(steps, row));
        std::uint8_t& reached = reached_[brick * rows + at(row)];
        again |= mask != reached;
        reached = mask;
      }
      grew |= again;
    }
    return grew;
  }

  const BrickSet<Dim>& bricks_;
  std::vector<std::uint8_t> reached_, queued_;
  std::array<std::vector<std::uint8_t>, at(Dim)> open_;
};

}  // namespace

template <int Dim>
PressureSystem<Dim>::PressureSystem(const PressureGrid<Dim>& grid, const PressureOptions& options)
    : bricks_(grid.bricks),
      dx_(grid.dx),
      smallest_opening_(options.smallest_opening),
      smallest_theta_(options.smallest_theta) {
  const std::size_t size = bricks_->size();
  assert(grid.liquid.size() == size);
  kind_.resize(size);
  ghost_.resize(size);
  rhs_.resize(size);
  for (int a = 0; a < Dim; ++a) {
    assert(grid.open[at(a)].size() == size && grid.velocity[at(a)].size() == size);
    assert(grid.wall_velocity[at(a)].empty() || grid.wall_velocity[at(a)].size() == size);
    coupling_[at(a)].resize(size + BrickSet<Dim>::cells);
  }
  classify(grid, options);
  weigh(grid);
  number_unknowns();
  make_compatible(grid, options.separating);
}

// Openings (into coupling_) and kinds.
template <int Dim>
void PressureSystem<Dim>::classify(const PressureGrid<Dim>& grid, const PressureOptions& options) {
  for_each_brick(*bricks_, [&](const Steps<Dim>& steps, std::size_t) {
    for (int a = 0; a < Dim; ++a) {
      for (int local = 0; local < BrickSet<Dim>::cells; ++local) {
        const std::size_t cell = at(steps.first() + local);
        const bool inside = steps.next(local, a, -1) >= 0;
        coupling_[at(a)][cell] = inside ? opening(grid.open[at(a)][cell], smallest_opening_) : 0.0f;
      }
    }
  });
  for_each_brick(*bricks_, [&](const Steps<Dim>& steps, std::size_t) {
    for (int local = 0; local < BrickSet<Dim>::cells; ++local) {
      const std::size_t cell = at(steps.first() + local);
      float widest = 0, narrowest = 1;
      for (int a = 0; a < Dim; ++a) {
        const auto high = steps.next(local, a, 1);
        const float low_face = coupling_[at(a)][cell],
                    high_face = high < 0 ? 0.0f : coupling_[at(a)][at(high)];
        widest = std::max({widest, low_face, high_face});
        narrowest = std::min({narrowest, low_face, high_face});
      }
      kind_[cell] = widest == 0                           ? CellKind::Closed
                    : grid.liquid[cell] >= 0              ? CellKind::Air
                    : narrowest < 1 && options.separating ? CellKind::Wall
                                                          : CellKind::Liquid;
    }
  });
}

// Right-hand side, ghost weights, and the openings between two unknowns as couplings.
template <int Dim>
void PressureSystem<Dim>::weigh(const PressureGrid<Dim>& grid) {
  std::vector<double> largest(static_cast<std::size_t>(bricks_->count()));
  for_each_brick(*bricks_, [&](const Steps<Dim>& steps, std::size_t brick) {
    for (int local = 0; local < BrickSet<Dim>::cells; ++local) {
      const std::size_t cell = at(steps.first() + local);
      if (!is_unknown(cell)) continue;
      double ghost = 0, outflow = 0;
      for (int a = 0; a < Dim; ++a) {
        const auto& wall = grid.wall_velocity[at(a)];
        for (const int side : {-1, 1}) {
          const auto other = steps.next(local, a, side);
          const auto face = side < 0 ? steps.first() + local : other;
          if (face < 0) continue;  // the upper border of the domain: closed and at rest
          const double w = coupling_[at(a)][at(face)];
          outflow += side * w * grid.velocity[at(a)][at(face)];
          if (!wall.empty()) outflow += side * (1 - w) * wall[at(face)];
          if (w > 0 && kind_[at(other)] == CellKind::Air)
            ghost += w / surface_fraction(grid.liquid[cell], grid.liquid[at(other)], smallest_theta_);
        }
      }
      ghost_[cell] = static_cast<float>(ghost);
      rhs_[cell] = outflow - (grid.expansion.empty() ? 0.0 : grid.expansion[cell]);
      largest[brick] = std::max(largest[brick], std::abs(outflow));
    }
  });
  for (const double outflow : largest) largest_outflow_ = std::max(largest_outflow_, outflow);
  for_each_brick(*bricks_, [&](const Steps<Dim>& steps, std::size_t) {
    const auto begin = kind_.begin() + steps.first();
    const bool wet =
        std::any_of(begin, begin + BrickSet<Dim>::cells, [](CellKind k) { return k >= CellKind::Liquid; });
    for (int a = 0; a < Dim; ++a) {
      if (!wet) {
        std::fill_n(coupling_[at(a)].begin() + steps.first(), BrickSet<Dim>::cells, 0.0f);
        continue;
      }
      for (int local = 0; local < BrickSet<Dim>::cells; ++local) {
        const std::size_t cell = at(steps.first() + local);
        const auto low = steps.next(local, a, -1);
        if (!is_unknown(cell) || low < 0 || !is_unknown(at(low))) coupling_[at(a)][cell] = 0;
      }
    }
  });
}

template <int Dim>
void PressureSystem<Dim>::number_unknowns() {
  number_.assign(kind_.size(), -1);
  for (std::size_t cell = 0; cell < kind_.size(); ++cell) {
    if (!is_unknown(cell)) continue;
    number_[cell] = static_cast<std::int32_t>(unknown_cell_.size());
    unknown_cell_.push_back(static_cast<std::int64_t>(cell));
    walls_ += kind_[cell] == CellKind::Wall;
  }
}

template <int Dim>
void PressureSystem<Dim>::make_compatible(const PressureGrid<Dim>& grid, bool separating) {
  Flood<Dim> flood(*bricks_, coupling_, ghost_);
  const auto reached = flood.run();
  std::vector<std::uint8_t> seen(kind_.size());
  for (const std::int64_t start : unknown_cell_) {
    if (reached[at(start / 8)] >> (start % 8) & 1 || seen[at(start)]) continue;
    EnclosedRegion& region = enclosed_.emplace_back();
    region.cells = {start};
    seen[at(start)] = 1;
    double sum = 0, from_walls = 0;
    for (std::size_t i = 0; i < region.cells.size(); ++i) {
      const std::int64_t cell = region.cells[i];
      sum += rhs_[at(cell)];
      for (int a = 0; a < Dim; ++a) {
        const auto& wall = grid.wall_velocity[at(a)];
        for (const int side : {-1, 1}) {
          const auto other = bricks_->next(cell, a, side), face = side < 0 ? cell : other;
          if (face < 0) continue;
          if (other < 0 || coupling_[at(a)][at(face)] == 0) {
            // The region's border, closed. What walls close of the faces inside it comes in and goes out again.
            if (wall.empty()) continue;
            from_walls += side * wall[at(face)];
            region.swept += std::abs(wall[at(face)]);
          } else if (!seen[at(other)]) {
            seen[at(other)] = 1;
            region.cells.push_back(other);
          }
        }
      }
    }
    if (separating && sum >= 0) continue;
    for (const std::int64_t cell : region.cells)
      rhs_[at(cell)] -= sum / static_cast<double>(region.cells.size());
    region.removed = sum;
    region.squeeze = std::max(0.0, std::min(-sum, -from_walls));
  }
}

template <int Dim>
double PressureSystem<Dim>::diagonal(std::size_t cell) const {
  double sum = ghost_[cell];
  for (int a = 0; a < Dim; ++a) {
    const auto high = bricks_->next(static_cast<std::int64_t>(cell), a, 1);
    sum += double{coupling_[at(a)][cell]} + (high < 0 ? 0.0 : double{coupling_[at(a)][at(high)]});
  }
  return sum;
}

template <int Dim>
void PressureSystem<Dim>::residual(std::span<const double> q, std::span<double> result) const {
  for_each_brick(*bricks_, [&](const Steps<Dim>& steps, std::size_t) {
    for (int local = 0; local < BrickSet<Dim>::cells; ++local) {
      const std::size_t cell = at(steps.first() + local);
      double sum = rhs_[cell] + double{ghost_[cell]} * q[cell];
      for (int a = 0; a < Dim; ++a) {
        const auto low = steps.next(local, a, -1), high = steps.next(local, a, 1);
        if (low >= 0) sum += double{coupling_[at(a)][cell]} * (q[cell] - q[at(low)]);
        if (high >= 0) sum += double{coupling_[at(a)][at(high)]} * (q[cell] - q[at(high)]);
      }
      result[cell] = sum;
    }
  });
}

template <int Dim>
double PressureSystem<Dim>::violation(std::span<const double> q) const {
  std::vector<double> outflow(kind_.size());
  residual(q, outflow);
  const double largest =
      parallel_max(kind_.size(), brick_grain * BrickSet<Dim>::cells, [&](std::size_t begin, std::size_t end) {
        double worst = 0;
        for (std::size_t cell = begin; cell < end; ++cell) {
          const double row =
              optimize::complementarity::row_residual(kind_[cell] == CellKind::Wall, q[cell], outflow[cell]);
          if (!(row <= worst)) worst = row;
        }
        return worst;
      });
  return std::max(largest, 0.0);
}

template <int Dim>
optimize::complementarity::MixedLcp PressureSystem<Dim>::matrix_form() const {
  optimize::complementarity::MixedLcp problem;
  linalg::CsrMatrix& a = problem.a;
  a.rows = a.columns = unknowns();
  std::vector<std::pair<int, double>> entries;
  for (std::size_t row = 0; row < unknown_cell_.size(); ++row) {
    const std::int64_t cell = unknown_cell_[row];
    entries.assign(1, {static_cast<int>(row), diagonal(at(cell))});
    for (int axis = 0; axis < Dim; ++axis) {
      for (const int side : {-1, 1}) {
        const auto other = bricks_->next(cell, axis, side);
        if (other < 0) continue;
        const float w = coupling_[at(axis)][at(side < 0 ? cell : other)];
        if (w > 0) entries.emplace_back(number_[at(other)], -double{w});
      }
    }
    std::sort(entries.begin(), entries.end());
    for (const auto& [column, value] : entries) {
      a.column.push_back(column);
      a.value.push_back(value);
    }
    a.row_start.push_back(a.entries());
    problem.b.push_back(rhs_[at(cell)]);
    problem.bounded.push_back(kind_[at(cell)] == CellKind::Wall);
  }
  return problem;
}

template <int Dim>
std::vector<double> PressureSystem<Dim>::gather(std::span<const double> field) const {
  std::vector<double> result(unknown_cell_.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = field[at(unknown_cell_[i])];
  return result;
}

template <int Dim>
std::vector<double> PressureSystem<Dim>::scatter(std::span<const double> unknowns) const {
  std::vector<double> field(kind_.size());
  for (std::size_t i = 0; i < unknowns.size(); ++i) field[at(unknown_cell_[i])] = unknowns[i];
  return field;
}

template <int Dim>
void PressureSystem<Dim>::subtract_gradient(const PressureGrid<Dim>& grid, std::span<const double> q,
                                            PerAxis<std::vector<double>>& velocity,
                                            PerAxis<std::vector<std::uint8_t>>* valid) const {
  for (int a = 0; a < Dim; ++a) {
    velocity[at(a)].resize(kind_.size());
    if (valid) (*valid)[at(a)].assign(kind_.size(), 0);
  }
  for_each_brick(*bricks_, [&](const Steps<Dim>& steps, std::size_t) {
    for (int a = 0; a < Dim; ++a) {
      for (int local = 0; local < BrickSet<Dim>::cells; ++local) {
        const std::size_t cell = at(steps.first() + local);
        const auto low = steps.next(local, a, -1);
        const auto& wall = grid.wall_velocity[at(a)];
        double& u = velocity[at(a)][cell];
        u = grid.velocity[at(a)][cell];
        if (low < 0 || opening(grid.open[at(a)][cell], smallest_opening_) == 0) {
          u = wall.empty() ? 0 : wall[cell];
          continue;
        }
        const bool above = is_unknown(cell), below = is_unknown(at(low));
        if (!above && !below) continue;
        if (above && below) {
          u -= q[cell] - q[at(low)];
        } else if (above) {
          if (kind_[at(low)] == CellKind::Air)
            u -= q[cell] / surface_fraction(grid.liquid[cell], grid.liquid[at(low)], smallest_theta_);
        } else if (kind_[cell] == CellKind::Air) {
          u += q[at(low)] / surface_fraction(grid.liquid[at(low)], grid.liquid[cell], smallest_theta_);
        }
        if (valid) (*valid)[at(a)][cell] = 1;
      }
    }
  });
}

template class PressureSystem<2>;
template class PressureSystem<3>;

}  // namespace lope::matter
