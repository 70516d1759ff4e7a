#include <lope/base/parallel.h>
#include <lope/matter/liquid/multigrid_levels.h>

#include <algorithm>

namespace lope::matter::multigrid {

void make_zero(std::vector<float>& field, std::size_t size) {
  field.resize(size);
  parallel_chunks(size, 1 << 16, [&](std::size_t begin, std::size_t end) {
    std::fill(field.begin() + static_cast<std::ptrdiff_t>(begin),
              field.begin() + static_cast<std::ptrdiff_t>(end), 0.0f);
  });
}

template <int Dim>
void Level<Dim>::place_bricks(const Bricks& set) {
  bricks = &set;
  const int empty = set.count();
  around.resize(at(empty + 1) * around_size);
  for (int b = 0; b < empty; ++b) {
    const auto neighbours = set.neighbours(b);
    for (int n = 0; n < around_size; ++n)
      around[at(b) * around_size + at(n)] = neighbours[at(n)] < 0 ? empty : neighbours[at(n)];
  }
  std::fill(around.end() - around_size, around.end(), empty);
  present.assign(at(empty + 1) * rows, 0);
  uniform.assign(at(empty + 1) * rows, 0);
  links.resize(at(empty) * cells);
  parent.resize(at(empty));
  for (auto& field : weight) field.resize(at(empty) * cells);
  make_zero(inverse_diagonal, at(empty + 1) * cells);
}

template <int Dim>
void Level<Dim>::weigh_row(int brick, int row, unsigned active) {
  const std::size_t index = at(brick) * rows + at(row);
  for (int k = 0; k < 8; ++k) {
    const std::size_t cell = index * 8 + at(k);
    if (!(present[index] & ~active & 1u << k)) {
      for (auto& field : weight) field[cell] = 0;
      continue;
    }
    unsigned kind = 0;
    for (int a = Dim - 1; a >= 0; --a) {
      const int upper = (a == 0 ? k : a == 1 ? row : row >> 3) & 1;
      const bool inner = uniform[index] & 1u << k;
      kind = 3 * kind + (inner ? unsigned{Open} : link_of(links[cell], 2 * a + upper));
    }
    const auto& weights = donor_weights<Dim>()[kind];
    for (std::size_t a = 0; a <= Dim; ++a) weight[a][cell] = weights[a];
  }
}

template <int Dim>
Interpolation<Dim> Level<Dim>::interpolation() const {
  Interpolation<Dim> p;
  p.present = present.data();
  p.uniform = uniform.data();
  for (std::size_t k = 0; k <= Dim; ++k) p.weight[k] = weight[k].data();
  p.own = static_cast<float>(own_weight<Dim>);
  p.neighbour = static_cast<float>(neighbour_weight);
  return p;
}

template <int Dim>
StencilGrid<Dim> Level<Dim>::stencil() const {
  return {around.data(),           slot.data(), pool.data(),
          inverse_diagonal.data(), step.data(), static_cast<int>(step.size())};
}

template <int Dim>
Messages<Dim> Level<Dim>::messages() {
  Messages<Dim> m;
  m.own = message[0].data();
  for (std::size_t a = 0; a < Dim; ++a) {
    m.low[a] = message[1 + 2 * a].data();
    m.high[a] = message[2 + 2 * a].data();
  }
  return m;
}

template <int Dim>
FineGrid<Dim> Levels<Dim>::fine() const {
  const Level<Dim>& level = levels[0];
  FineGrid<Dim> grid;
  grid.around = level.around.data();
  grid.row_kind = finest.row_kind.data();
  grid.wall = finest.wall.data();
  for (int a = 0; a < Dim; ++a) grid.weight[a] = finest.system->coupling(a).data();
  grid.ghost = finest.system->ghost().data();
  grid.inverse_diagonal = level.inverse_diagonal.data();
  grid.rhs = finest.system->rhs().data();
  return grid;
}

template struct Level<2>;
template struct Level<3>;
template FineGrid<2> Levels<2>::fine() const;
template FineGrid<3> Levels<3>::fine() const;

}  // namespace lope::matter::multigrid
