#include <lope/base/parallel.h>
#include <lope/geometry/brick_halo.h>
#include <lope/matter/liquid/multigrid_levels.h>

#include <algorithm>
#include <bit>
#include <map>

namespace lope::matter::multigrid {

using geometry::BrickSet;
using geometry::GridIndex;

template <int Dim>
void Levels<Dim>::attach(const PressureSystem<Dim>& system, bool bounded) {
  if (levels.empty()) levels.resize(1);
  Level<Dim>& level = levels[0];
  finest.system = &system;
  finest.bounded = bounded;
  built = false;
  level.place_bricks(system.bricks());
  const std::size_t bricks = at(level.count());
  finest.row_kind.assign((bricks + 1) * rows, RowKind::Empty);
  for (auto* bits : {&finest.wall, &finest.active, &finest.known}) bits->assign(bricks * rows, 0);
  for (auto* field :
       {&finest.r, &finest.c, &finest.bound, &finest.direction, &finest.direction_product, &finest.product})
    make_zero(*field, level.field_size());
  finest.curvature = 0;
  finest.moved = false;
  parallel_for(bricks, grain<Dim>,
               [&](std::size_t brick) { describe_finest_brick(static_cast<int>(brick)); });
  level.unknowns = system.unknowns();
  list_bricks();
  used = 1;
  while (levels[used - 1].unknowns > coarsest_unknowns) add_level();
  if (used == 1) add_level();
  number_coarsest();
}

// The finest level's bricks by what they hold.
template <int Dim>
void Levels<Dim>::list_bricks() {
  Level<Dim>& level = levels[0];
  level.busy.clear();
  finest.wall_bricks.clear();
  for (auto& list : finest.colour) list.clear();
  for (int brick = 0; brick < level.count(); ++brick) {
    const auto holds = [&](const std::vector<std::uint8_t>& bits) {
      const auto* begin = &bits[at(brick) * rows];
      return std::any_of(begin, begin + rows, [](std::uint8_t row) { return row != 0; });
    };
    if (!holds(level.present)) continue;
    level.busy.push_back(brick);
    if (holds(finest.wall)) finest.wall_bricks.push_back(brick);
    finest.colour[geometry::parity_group<Dim>(level.bricks->brick(brick))].push_back(brick);
  }
  finest.part.resize(4 * level.busy.size());
}

// Kinds of rows, links, weights and the inverse diagonal of one brick.
template <int Dim>
void Levels<Dim>::describe_finest_brick(int number) {
  const std::size_t brick = at(number);
  const PressureSystem<Dim>& system = *finest.system;
  Level<Dim>& level = levels[0];
  const auto kind = system.kind();
  const auto ghost = system.ghost();
  const int* around = &level.around[brick * Level<Dim>::around_size + Level<Dim>::around_size / 2];
  constexpr int power[3] = {1, 3, 9};
  const int missing = level.count();
  for (int row = 0; row < rows; ++row) {
    const std::size_t index = brick * rows + at(row), first = index * 8;
    unsigned present = 0, wall = 0;
    for (unsigned k = 0; k < 8; ++k) {
      present |= static_cast<unsigned>(kind[first + k] >= CellKind::Liquid) << k;
      wall |= static_cast<unsigned>(kind[first + k] == CellKind::Wall) << k;
    }
    level.present[index] = static_cast<std::uint8_t>(present);
    if (present == 0) continue;
    // Neighbouring rows along y and z; along x the single cells at the ends.
    std::int64_t beside[3][2];
    for (int a = 0; a < Dim; ++a) {
      const int coordinate = a == 0 ? 0 : a == 1 ? row % 8 : row / 8;
      const int stride = a == 1 ? 8 : 64;
      for (const int side : {-1, 1}) {
        std::int64_t& place = beside[a][side > 0];
        const std::int64_t other = std::int64_t{around[side * power[a]]} * cells;
        if (a == 0) {
          place = other + row * 8 + (side < 0 ? 7 : 0);
        } else if (coordinate + side >= 0 && coordinate + side < 8) {
          place = static_cast<std::int64_t>(first) + side * stride;
        } else {
          place = other + row * 8 - side * 7 * stride;
        }
      }
    }
    const std::int64_t empty = std::int64_t{missing} * cells;
    float face[2 * Dim][8];
    for (int a = 0; a < Dim; ++a) {
      const auto w = system.coupling(a);
      for (std::size_t k = 0; k < 8; ++k) {
        face[2 * a][k] = w[first + k];
        face[2 * a + 1][k] = a > 0 ? w[at(beside[a][1]) + k] : k < 7 ? w[first + k + 1] : w[at(beside[0][1])];
      }
    }
    unsigned uniform = present;
    for (std::size_t k = 0; k < 8; ++k) {
      bool full = ghost[first + k] == 0;
      for (int n = 0; n < 2 * Dim; ++n) full &= face[n][k] == 1;
      if (!full) uniform &= ~(1u << k);
    }
    level.uniform[index] = static_cast<std::uint8_t>(uniform);
    finest.wall[index] = static_cast<std::uint8_t>(finest.bounded ? wall : 0);
    finest.row_kind[index] = uniform == 0xff           ? RowKind::Uniform
                             : finest.wall[index] != 0 ? RowKind::Wall
                                                       : RowKind::General;
    if (uniform == 0xff) continue;
    for (std::size_t k = 0; k < 8; ++k) {
      const std::size_t cell = first + k;
      float diagonal = ghost[cell];
      Links links = 0;
      if (present & 1u << k) {
        for (int n = 0; n < 2 * Dim; ++n) {
          diagonal += face[n][k];
          unsigned link = face[n][k] > 0 ? Open : Closed;
          if (link == Closed) {
            const int a = n / 2, side = n % 2;
            std::int64_t other = a > 0 ? beside[a][side] + static_cast<std::int64_t>(k)
                                       : static_cast<std::int64_t>(cell) + (side ? 1 : -1);
            if (a == 0 && k == (side ? 7u : 0u)) other = beside[0][side];
            if (other < empty && kind[at(other)] == CellKind::Air) link = ToAir;
          }
          links = static_cast<Links>(links | link << 2 * n);
        }
      }
      level.links[cell] = links;
      level.inverse_diagonal[cell] = diagonal > 0 ? 1 / diagonal : 0.0f;
    }
    level.weigh_row(number, row, 0);
  }
}

template <int Dim>
void Levels<Dim>::add_level() {
  if (levels.size() == used) {
    levels.resize(used + 1);
    // The levels moved: a level's own set of bricks moved with it.
    for (std::size_t l = 1; l < used; ++l) levels[l].bricks = &levels[l].own_bricks;
  }
  Level<Dim>& fine = levels[used - 1];
  Level<Dim>& coarse = levels[used];
  std::vector<GridIndex<Dim>> wanted;
  for (const int brick : fine.busy) {
    GridIndex<Dim> above = fine.bricks->brick(brick);
    for (int& coordinate : above) coordinate = coordinate >> 1;
    if (wanted.empty() || wanted.back() != above) wanted.push_back(above);
  }
  coarse.own_bricks = BrickSet<Dim>(wanted);
  coarse.place_bricks(coarse.own_bricks);
  const int bricks = coarse.count();
  for (const int brick : fine.busy) {
    GridIndex<Dim> above = fine.bricks->brick(brick);
    int corner = 0;
    for (int a = 0; a < Dim; ++a) {
      corner |= (above[at(a)] & 1) << a;
      above[at(a)] = above[at(a)] >> 1;
    }
    fine.parent[at(brick)] = {coarse.own_bricks.find(above), corner};
  }
  coarse.galerkin = &stencil_below<Dim>(static_cast<int>(used) - 1);
  coarse.step.clear();
  for (const Offset& o : coarse.galerkin->offsets) coarse.step.push_back(padded_place(o[0], o[1], o[2]));
  coarse.below.resize(at(bricks) * Level<Dim>::below_size);
  coarse.busy.resize(at(bricks));
  for (int b = 0; b < bricks; ++b) coarse.busy[at(b)] = b;
  const int reach = fine.reach();
  parallel_for(at(bricks), grain<Dim>, [&](std::size_t task) {
    const int brick = static_cast<int>(task);
    for (int n = 0; n < Level<Dim>::below_size; ++n) {
      GridIndex<Dim> below = coarse.own_bricks.brick(brick);
      for (int a = 0; a < Dim; ++a) below[at(a)] = 2 * below[at(a)] + (n >> 2 * a & 3) - 1;
      const int found = fine.bricks->find(below);
      coarse.below[at(brick) * Level<Dim>::below_size + at(n)] = found < 0 ? fine.count() : found;
    }
    describe_coarse_brick(fine, coarse, brick);
    if (used <= stencil_count) find_uniform(fine, coarse, brick, 1 + reach);
    for (int row = 0; row < rows; ++row) {
      const std::size_t index = at(brick) * rows + at(row);
      if (coarse.present[index] && coarse.uniform[index] != 0xff) coarse.weigh_row(brick, row, 0);
    }
  });
  coarse.unknowns = 0;
  for (const std::uint8_t bits : coarse.present) coarse.unknowns += std::popcount(bits);
  assign_slots(coarse);
  for (auto* field : {&coarse.f, &coarse.x, &coarse.x_next, &coarse.d})
    make_zero(*field, coarse.field_size());
  for (auto& field : coarse.message) make_zero(field, coarse.field_size());
  ++used;
}

// Unknowns and links of a coarse brick: a coarse face is what the best of its fine faces is.
template <int Dim>
void Levels<Dim>::describe_coarse_brick(const Level<Dim>& fine, Level<Dim>& coarse, int brick) {
  for (int local = 0; local < cells; ++local) {
    const int coordinate[3] = {local & 7, local >> 3 & 7, Dim == 3 ? local >> 6 : 0};
    Links links = 0;
    bool present = false;
    for (int child = 0; child < 1 << Dim; ++child) {
      int within = 0, n = 0;
      for (int a = Dim - 1; a >= 0; --a) {
        const int x = 2 * coordinate[a] + (child >> a & 1);
        within = within * 8 + (x & 7);
        n = n * 4 + 1 + (x >> 3);
      }
      const int below = coarse.below[at(brick) * Level<Dim>::below_size + at(n)];
      const std::size_t index = at(below) * rows + at(within / 8);
      const unsigned bit = 1u << (within & 7);
      if (!(fine.present[index] & bit)) continue;
      present = true;
      const bool inner = fine.uniform[index] & bit;
      for (int a = 0; a < Dim; ++a) {
        const int direction = 2 * a + (child >> a & 1);
        const unsigned link =
            inner ? unsigned{Open} : link_of(fine.links[at(below) * cells + at(within)], direction);
        if (link > link_of(links, direction))
          links = static_cast<Links>((links & ~(3u << 2 * direction)) | link << 2 * direction);
      }
    }
    const std::size_t cell = at(brick) * cells + at(local);
    coarse.links[cell] = links;
    if (present)
      coarse.present[cell / 8] = static_cast<std::uint8_t>(coarse.present[cell / 8] | 1u << (local & 7));
  }
}

// A coarse cell is uniform if all fine cells within `reach` of its children are.
template <int Dim>
void Levels<Dim>::find_uniform(const Level<Dim>& fine, Level<Dim>& coarse, int brick, int reach) {
  constexpr int width = 16 + 2 * galerkin_reach;
  const int* below = &coarse.below[at(brick) * Level<Dim>::below_size];
  const int low = -reach, high = 16 + reach, low_z = Dim == 3 ? low : 0, high_z = Dim == 3 ? high : 1;
  // Rows of 32 fine cells, from −8 to 23; a cell stays if it and its row's neighbours within reach are
  // uniform.
  std::uint32_t line[width][width];
  for (int z = low_z; z < high_z; ++z) {
    for (int y = low; y < high; ++y) {
      const int* bricks = below + 4 * ((y >> 3) + 1) + (Dim == 3 ? 16 * ((z >> 3) + 1) : 0);
      std::uint32_t bits = 0;
      for (unsigned b = 0; b < 4; ++b)
        bits |= std::uint32_t{fine.uniform[at(bricks[b]) * rows + at((y & 7) + 8 * (Dim == 3 ? z & 7 : 0))]}
                << 8 * b;
      std::uint32_t kept = bits;
      for (int k = 1; k <= reach; ++k) kept &= bits << k & bits >> k;
      line[z - low_z][y - low] = kept;
    }
  }
  for (int row = 0; row < rows; ++row) {
    const int y = 2 * (row % 8), z = Dim == 3 ? 2 * (row / 8) : 0;
    std::uint32_t bits = ~0u;
    for (int k = z; k < (Dim == 3 ? z + 2 + 2 * reach : 1); ++k)
      for (int j = y; j < y + 2 + 2 * reach; ++j) bits &= line[k][j];
    unsigned result = 0;
    for (unsigned x = 0; x < 8; ++x) result |= (bits >> (8 + 2 * x) & bits >> (9 + 2 * x) & 1u) << x;
    coarse.uniform[at(brick) * rows + at(row)] = static_cast<std::uint8_t>(result);
  }
}

// Room for the coefficients: one entry for all uniform rows, one for each other row.
template <int Dim>
void Levels<Dim>::assign_slots(Level<Dim>& level) {
  const std::size_t size = level.step.size();
  level.slot.assign(level.present.size(), -1);
  int next = 1;
  for (std::size_t row = 0; row < level.present.size(); ++row) {
    if (level.present[row] == 0) continue;
    level.slot[row] = level.uniform[row] == 0xff ? 0 : next++;
  }
  level.pool.resize(at(next) * size * 8);
  const auto& standard = level.galerkin->uniform;
  for (std::size_t k = 0; k < size; ++k) std::fill_n(&level.pool[8 * k], 8, standard[k]);
  const float inverse = 1 / standard[at(level.galerkin->centre)];
  for (std::size_t row = 0; row < level.slot.size(); ++row)
    if (level.slot[row] == 0) std::fill_n(&level.inverse_diagonal[8 * row], 8, inverse);
  level.dirty.assign(level.present.size(), 0);
}

template <int Dim>
void Levels<Dim>::number_coarsest() {
  const Level<Dim>& level = levels[used - 1];
  coarsest_cells.clear();
  std::map<GridIndex<Dim>, int> number;
  for (std::size_t row = 0; row < level.present.size(); ++row) {
    for (int k = 0; k < 8; ++k) {
      if (!(level.present[row] & 1u << k)) continue;
      const auto cell = static_cast<std::int64_t>(row * 8) + k;
      number[level.bricks->cell(cell)] = static_cast<int>(coarsest_cells.size());
      coarsest_cells.push_back(cell);
    }
  }
  coarsest_columns.clear();
  for (const std::int64_t cell : coarsest_cells) {
    const GridIndex<Dim> here = level.bricks->cell(cell);
    for (const Offset& offset : level.galerkin->offsets) {
      GridIndex<Dim> other = here;
      for (std::size_t axis = 0; axis < Dim; ++axis) other[axis] += offset[axis];
      const auto found = number.find(other);
      coarsest_columns.push_back(found == number.end() ? -1 : found->second);
    }
  }
}

template void Levels<2>::attach(const PressureSystem<2>&, bool);
template void Levels<3>::attach(const PressureSystem<3>&, bool);

}  // namespace lope::matter::multigrid
