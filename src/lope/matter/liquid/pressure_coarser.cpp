// Systems made from others: on coarser cells, and without some unknowns.
#include <lope/matter/liquid/brick_steps.h>
#include <lope/matter/liquid/pressure_system.h>

#include <algorithm>

namespace lope::matter {

using geometry::BrickSet;

template <int Dim>
PressureSystem<Dim> PressureSystem<Dim>::coarser() const {
  PressureSystem coarse;
  std::vector<geometry::GridIndex<Dim>> wanted;
  for (int brick = 0; brick < bricks_->count(); ++brick) {
    const auto begin = kind_.begin() + std::ptrdiff_t{brick} * BrickSet<Dim>::cells;
    if (std::none_of(begin, begin + BrickSet<Dim>::cells, [](CellKind k) { return k >= CellKind::Liquid; }))
      continue;
    auto above = bricks_->brick(brick);
    for (int& coordinate : above) coordinate >>= 1;
    if (wanted.empty() || wanted.back() != above) wanted.push_back(above);
  }
  coarse.bricks_ = std::make_shared<BrickSet<Dim>>(wanted);
  coarse.dx_ = 2 * dx_;
  const std::size_t size = coarse.bricks_->size();
  coarse.kind_.assign(size, CellKind::Closed);
  coarse.ghost_.resize(size);
  coarse.rhs_.resize(size);
  for (auto& field : coarse.coupling_) field.resize(size + BrickSet<Dim>::cells);
  // A coarse face is 2^(Dim−1) fine ones, and q is half as large for the same pressure.
  constexpr double faces = 1 << (Dim - 1);
  for_each_brick(*coarse.bricks_, [&](const Steps<Dim>& steps, std::size_t brick) {
    // The fine bricks below: 2^Dim children.
    std::array<std::int64_t, 1 << Dim> below;
    for (std::size_t corner = 0; corner < below.size(); ++corner) {
      auto fine = coarse.bricks_->brick(static_cast<int>(brick));
      for (std::size_t a = 0; a < Dim; ++a) fine[a] = 2 * fine[a] + static_cast<int>(corner >> a & 1);
      below[corner] = std::int64_t{bricks_->find(fine)} * BrickSet<Dim>::cells;
    }
    for (int local = 0; local < BrickSet<Dim>::cells; ++local) {
      const std::size_t cell = at(steps.first() + local);
      double ghost = 0, outflow = 0;
      std::array<double, at(Dim)> open{};
      for (int child = 0; child < 1 << Dim; ++child) {
        std::size_t corner = 0;
        int within = 0;
        for (int a = Dim - 1; a >= 0; --a) {
          const int x = 2 * (local >> 3 * a & 7) + (child >> a & 1);
          corner = 2 * corner + at(x >> 3);
          within = 8 * within + (x & 7);
        }
        if (below[corner] < 0) continue;
        const std::size_t fine = at(below[corner] + within);
        coarse.kind_[cell] = std::max(coarse.kind_[cell], kind_[fine]);
        if (!is_unknown(fine)) continue;
        outflow += rhs_[fine];
        // The surface is half a fine cell further away from the coarse centre.
        const double g = ghost_[fine];
        ghost += 4 * g / (2 + g);
        for (int a = 0; a < Dim; ++a)
          if ((child >> a & 1) == 0) open[at(a)] += double{coupling_[at(a)][fine]};
      }
      coarse.ghost_[cell] = static_cast<float>(ghost / faces);
      coarse.rhs_[cell] = outflow / faces;
      for (int a = 0; a < Dim; ++a) coarse.coupling_[at(a)][cell] = static_cast<float>(open[at(a)] / faces);
    }
  });
  coarse.number_unknowns();
  return coarse;
}

template <int Dim>
PressureSystem<Dim> PressureSystem<Dim>::without(std::span<const std::uint8_t> zero) const {
  PressureSystem rest = *this;
  for (std::size_t i = 0; i < zero.size(); ++i) {
    if (!zero[i]) continue;
    const std::int64_t cell = unknown_cell_[i];
    rest.kind_[at(cell)] = CellKind::Air;
    rest.rhs_[at(cell)] = 0;
    rest.ghost_[at(cell)] = 0;
    for (int a = 0; a < Dim; ++a) {
      for (const int side : {-1, 1}) {
        const auto other = bricks_->next(cell, a, side);
        if (other < 0) continue;
        float& w = rest.coupling_[at(a)][at(side < 0 ? cell : other)];
        // A neighbour that is zero as well has no equation either.
        const std::int32_t number = number_[at(other)];
        if (number >= 0 && !zero[at(number)]) rest.ghost_[at(other)] += w;
        w = 0;
      }
    }
  }
  rest.unknown_cell_.clear();
  rest.walls_ = 0;
  rest.enclosed_.clear();
  rest.number_unknowns();
  return rest;
}

template <int Dim>
void PressureSystem<Dim>::refine(const PressureSystem& coarse, std::span<const double> coarse_q,
                                 std::span<double> q) const {
  for_each_brick(*bricks_, [&](const Steps<Dim>& steps, std::size_t brick) {
    auto above = bricks_->brick(static_cast<int>(brick));
    int offset[3] = {};
    for (int a = 0; a < Dim; ++a) {
      offset[a] = 4 * (above[at(a)] & 1);
      above[at(a)] >>= 1;
    }
    const int parent = coarse.bricks_->find(above);
    if (parent < 0) return;
    const Steps<Dim> around(*coarse.bricks_, at(parent));
    for (int local = 0; local < BrickSet<Dim>::cells; ++local) {
      const std::size_t cell = at(steps.first() + local);
      if (!is_unknown(cell)) continue;
      int place = 0;
      for (int a = Dim - 1; a >= 0; --a) place = 8 * place + offset[a] + (local >> 3 * a & 7) / 2;
      // Linear in the plane or the tetrahedron of the parent and its neighbours; those that are no unknowns
      // drop out.
      const double own = coarse_q[at(around.first() + place)];
      double value = own;
      for (int a = 0; a < Dim; ++a) {
        const auto other = around.next(place, a, (local >> 3 * a & 1) ? 1 : -1);
        if (other >= 0 && coarse.is_unknown(at(other))) value += 0.25 * (coarse_q[at(other)] - own);
      }
      q[cell] = 2 * (kind_[cell] == CellKind::Wall ? std::max(value, 0.0) : value);
    }
  });
}

template PressureSystem<2> PressureSystem<2>::coarser() const;
template PressureSystem<3> PressureSystem<3>::coarser() const;
template PressureSystem<2> PressureSystem<2>::without(std::span<const std::uint8_t>) const;
template PressureSystem<3> PressureSystem<3>::without(std::span<const std::uint8_t>) const;
template void PressureSystem<2>::refine(const PressureSystem&, std::span<const double>,
                                        std::span<double>) const;
template void PressureSystem<3>::refine(const PressureSystem&, std::span<const double>,
                                        std::span<double>) const;

}  // namespace lope::matter
