#include <lope/base/parallel.h>
#include <lope/linalg/multigrid_cycle.h>
#include <lope/matter/liquid/pressure_multigrid.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <map>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace lope::matter {
namespace {

using geometry::BrickSet;
using geometry::GridIndex;
using multigrid::GalerkinCell;
using multigrid::GalerkinTerm;
using multigrid::RowKind;
using Offset = std::array<int, 3>;

constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Chebyshev's interval ends this much above the largest eigenvalue of the infinite grid, and is widened so
// much where a cycle turns out to amplify.
constexpr double first_margin = 1.2;
constexpr double widening = 1.3;
// A cycle whose best step is shorter than this amplifies some error.
constexpr double shortest_step = 0.6;

// Bricks per parallel chunk.
template <int Dim>
constexpr std::size_t grain = Dim == 3 ? 8 : 64;

// Interpolation weights (see the header).
constexpr double neighbour_weight = 0.2;
template <int Dim>
constexpr double own_weight = 1 - Dim* neighbour_weight;
// Energy of an interpolated linear function relative to the function's own: with weights below ¼ the coarse
// matrix is too stiff by this factor, so its right-hand side is scaled by it.
constexpr double stiffness =
    2 * (4 * neighbour_weight * neighbour_weight + (1 - 2 * neighbour_weight) * (1 - 2 * neighbour_weight));

// What lies behind a face of a cell: two bits per direction 2·axis + (upper).
enum Link : unsigned { Closed = 0, ToAir = 1, Open = 2 };
using Links = std::uint16_t;
unsigned link_of(Links links, int direction) { return links >> 2 * direction & 3u; }

int floor_half(int x) { return x >> 1; }

void make_zero(std::vector<float>& field, std::size_t size) {
  field.resize(size);
  parallel_chunks(size, 1 << 16, [&](std::size_t begin, std::size_t end) {
    std::fill(field.begin() + static_cast<std::ptrdiff_t>(begin),
              field.begin() + static_cast<std::ptrdiff_t>(end), 0.0f);
  });
}

// Weights of a cell's donors (parent first) by what is behind the faces towards them: entry Σ link_a 3^a.
template <int Dim>
const auto& interpolation_weights() {
  using Weights = std::array<float, Dim + 1>;
  static const auto table = [] {
    std::array<Weights, Dim == 3 ? 27 : 9> result{};
    for (std::size_t kind = 0; kind < result.size(); ++kind) {
      const unsigned link[3] = {static_cast<unsigned>(kind % 3), static_cast<unsigned>(kind / 3 % 3),
                                static_cast<unsigned>(kind / 9)};
      double total = own_weight<Dim>;
      for (int a = 0; a < Dim; ++a) total += link[a] == Closed ? 0 : neighbour_weight;
      result[kind][0] = static_cast<float>(own_weight<Dim> / total);
      for (std::size_t a = 0; a < Dim; ++a)
        result[kind][a + 1] = link[a] == Open ? static_cast<float>(neighbour_weight / total) : 0.0f;
    }
    return result;
  }();
  return table;
}

// The stencil's offsets, sorted from below to above; its centre is in the middle since it is symmetric.
template <int Dim>
std::vector<Offset> finest_offsets() {
  std::vector<Offset> offsets = {{0, 0, 0}};
  for (std::size_t a = 0; a < Dim; ++a) {
    for (const int side : {-1, 1}) {
      Offset offset{};
      offset[a] = side;
      offsets.push_back(offset);
    }
  }
  return offsets;
}

// The fine cells from which a coarse cell takes its right-hand side: position relative to the first child,
// and the field of weights that belongs to this coarse cell.
struct Support {
  Offset position;
  int field;
};
template <int Dim>
std::vector<Support> support_of_a_coarse_cell() {
  std::vector<Support> support;
  const int last = Dim == 3 ? 2 : 0;
  for (int z = Dim == 3 ? -1 : 0; z <= last; ++z) {
    for (int y = -1; y <= 2; ++y) {
      for (int x = -1; x <= 2; ++x) {
        const Offset u = {x, y, z};
        int outside = 0, field = 0;
        for (int a = 0; a < Dim; ++a) {
          if (u[at(a)] == 0 || u[at(a)] == 1) continue;
          ++outside;
          field = a + 1;
        }
        if (outside <= 1) support.push_back({u, outside ? field : 0});
      }
    }
  }
  return support;
}

// The coarse cells that give a fine cell (relative to the first child of the origin) its value, own parent
// first.
template <int Dim>
std::array<Offset, Dim + 1> donors(const Offset& fine) {
  Offset parent{};
  for (std::size_t a = 0; a < Dim; ++a) parent[a] = floor_half(fine[a]);
  std::array<Offset, Dim + 1> result;
  result.fill(parent);
  for (std::size_t a = 0; a < Dim; ++a) result[a + 1][a] += fine[a] & 1 ? 1 : -1;
  return result;
}

Offset sum(const Offset& a, const Offset& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

// Offsets of Pᵀ A P, and the terms of its sums (multigrid_kernels.h).
template <int Dim>
struct Galerkin {
  std::vector<Offset> offsets;
  int centre = 0;
  std::vector<GalerkinCell> cells;
  std::vector<GalerkinTerm> terms;
  std::vector<float> uniform;  // the stencil of the infinite grid,
  double row_sum = 0;          // its Σ|a_ij| / a_ii,
  double lambda = 0;           // and the largest eigenvalue of D⁻¹A there

  Galerkin(const std::vector<Offset>& fine, std::span<const float> fine_uniform) {
    std::map<Offset, int> number;
    const auto support = support_of_a_coarse_cell<Dim>();
    for (const auto& u : support)
      for (const Offset& o : fine)
        for (const Offset& donor : donors<Dim>(sum(u.position, o))) number.emplace(donor, 0);
    for (auto& [offset, index] : number) {
      index = static_cast<int>(offsets.size());
      offsets.push_back(offset);
    }
    centre = number.at({0, 0, 0});
    uniform.assign(offsets.size(), 0);
    std::vector<double> sums(offsets.size());
    const auto weight = [](int field) { return field == 0 ? own_weight<Dim> : neighbour_weight; };
    for (const auto& u : support) {
      cells.push_back({place(u.field, u.position), row_of(u.position), variant_of(u.position[0])});
      for (std::size_t k = 0; k < fine.size(); ++k) {
        const Offset column = sum(u.position, fine[k]);
        const auto donor = donors<Dim>(column);
        for (int d = 0; d <= Dim; ++d) {
          const int target = number.at(donor[at(d)]);
          terms.push_back({place(d, column), target});
          sums[at(target)] += weight(u.field) * double{fine_uniform[k]} * weight(d);
        }
      }
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      uniform[k] = static_cast<float>(sums[k]);
      row_sum += std::abs(sums[k]) / sums[at(centre)];
    }
    lambda = largest_eigenvalue(sums);
  }

 private:
  static int place(int field, const Offset& o) {
    return multigrid::galerkin_place<Dim>(field, o[0] & 1, floor_half(o[0]), o[1], o[2]);
  }
  // Over the waves of eight cells and shorter.
  double largest_eigenvalue(const std::vector<double>& sums) const {
    double largest = 0;
    for (int wave = 0; wave < (Dim == 3 ? 125 : 25); ++wave) {
      const int number[3] = {wave % 5, wave / 5 % 5, wave / 25};
      double value = 0;
      for (std::size_t k = 0; k < sums.size(); ++k) {
        const int phase = offsets[k][0] * number[0] + offsets[k][1] * number[1] + offsets[k][2] * number[2];
        value += sums[k] * std::cos(std::numbers::pi / 4 * phase);
      }
      largest = std::max(largest, value / sums[at(centre)]);
    }
    return largest;
  }
  // As the kernel orders the fine rows.
  static int row_of(const Offset& u) {
    const int y = u[1], z = u[2];
    const bool y_inside = y == 0 || y == 1, z_inside = z == 0 || z == 1;
    if constexpr (Dim == 2) return y_inside ? y : y < 0 ? 2 : 3;
    if (y_inside && z_inside) return y + 2 * z;
    if (z_inside) return 4 + (y > 0) + 2 * z;
    return 8 + y + 2 * (z > 0);
  }
  static int variant_of(int x) { return x == 0 ? 0 : x == 1 ? 1 : x < 0 ? 2 : 3; }
};

// The stencils depend on the dimension and the level alone. Beyond the last of these plans no cell counts as
// uniform.
constexpr int plan_count = 8;
template <int Dim>
const Galerkin<Dim>& galerkin_below(int level) {
  static const std::vector<Galerkin<Dim>> plans = [] {
    std::vector<Galerkin<Dim>> result;
    std::vector<float> finest(2 * Dim + 1, -1.0f);
    finest[0] = 2 * Dim;
    result.emplace_back(finest_offsets<Dim>(), finest);
    for (int l = 1; l < plan_count; ++l) result.emplace_back(result.back().offsets, result.back().uniform);
    return result;
  }();
  return plans[at(std::min(level, plan_count - 1))];
}

int reach_of(const std::vector<Offset>& offsets) {
  int reach = 0;
  for (const Offset& o : offsets)
    for (const int x : o) reach = std::max(reach, std::abs(x));
  return reach;
}

}  // namespace

template <int Dim>
struct PressureHierarchy<Dim>::Level {
  using Bricks = BrickSet<Dim>;
  static constexpr int cells = Bricks::cells, rows = Bricks::rows, around_size = Bricks::around;

  const Bricks* bricks = nullptr;  // the system's, or own_bricks
  Bricks own_bricks;
  std::vector<int> around;                     // missing bricks are the empty one
  std::vector<int> busy;                       // bricks with unknowns
  std::vector<std::uint8_t> present, uniform;  // per row
  std::vector<Links> links;                    // of cells that are not uniform
  std::vector<multigrid::Parent> parent;
  std::array<std::vector<float>, Dim + 1> weight;
  std::vector<float> inverse_diagonal;
  std::int64_t unknowns = 0;

  // Coarser levels.
  const Galerkin<Dim>* galerkin = nullptr;  // how this level's matrix came about
  std::vector<int> step;
  std::vector<int> slot;
  std::vector<float> pool;
  std::vector<int> below;           // 4^Dim bricks of the finer level per brick
  std::vector<std::uint8_t> dirty;  // rows whose coefficients have to be computed
  std::vector<float> f, x, x_next, d;
  std::array<std::vector<float>, 2 * Dim + 1> message;

  int count() const { return bricks->count(); }

  void place_bricks(const Bricks& set) {
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
  std::size_t field_size() const { return at(count() + 1) * cells; }

  multigrid::Interpolation<Dim> interpolation() const {
    multigrid::Interpolation<Dim> p;
    p.present = present.data();
    p.uniform = uniform.data();
    for (std::size_t k = 0; k <= Dim; ++k) p.weight[k] = weight[k].data();
    p.own = static_cast<float>(own_weight<Dim>);
    p.neighbour = static_cast<float>(neighbour_weight);
    return p;
  }
  multigrid::StencilGrid<Dim> stencil() const {
    return {around.data(),           slot.data(), pool.data(),
            inverse_diagonal.data(), step.data(), static_cast<int>(step.size())};
  }
  multigrid::Messages<Dim> messages() {
    multigrid::Messages<Dim> m;
    m.own = message[0].data();
    for (std::size_t a = 0; a < Dim; ++a) {
      m.low[a] = message[1 + 2 * a].data();
      m.high[a] = message[2 + 2 * a].data();
    }
    return m;
  }

  // Interpolation weights of a row that is not uniform; `active` cells get none.
  void weigh_row(std::size_t brick, int row, unsigned active) {
    const std::size_t index = brick * rows + at(row);
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
      const auto& weights = interpolation_weights<Dim>()[kind];
      for (std::size_t a = 0; a <= Dim; ++a) weight[a][cell] = weights[a];
    }
  }
};

template <int Dim>
struct PressureHierarchy<Dim>::Finest {
  const PressureSystem<Dim>* system = nullptr;
  bool bounded = true;
  std::array<std::vector<int>, 1 << Dim>
      colour;  // bricks with unknowns, by the parities of their coordinates
  std::vector<RowKind> row_kind;
  std::vector<std::uint8_t> wall, active;  // per row
  std::vector<float> r, c, bound;
  std::vector<float> direction, direction_product, product;  // of moves: s, A s, A c
  double curvature = 0;                                      // s·As; 0: no direction
  std::vector<double> part;                                  // per busy brick
};

template <int Dim>
struct PressureHierarchy<Dim>::Work {
  HierarchyOptions options;
  const multigrid::Kernels<Dim>& kernels = multigrid::kernels<Dim>();
  Finest finest;
  std::vector<Level> levels;
  std::size_t used = 0;  // levels of the present system
  std::vector<float> scratch;
  bool built = false;
  double margin = first_margin;  // of the eigenvalues' bound over the infinite grid's
  Eigen::LLT<Eigen::MatrixXd> coarsest;
  std::vector<std::int64_t> coarsest_cells;
  std::vector<int> coarsest_columns;  // per cell and offset; −1: no unknown
  Eigen::VectorXd coarsest_vector;

  static constexpr int cells = BrickSet<Dim>::cells, rows = BrickSet<Dim>::rows;

  multigrid::FineGrid<Dim> fine() const {
    const Level& level = levels[0];
    multigrid::FineGrid<Dim> grid;
    grid.around = level.around.data();
    grid.row_kind = finest.row_kind.data();
    grid.wall = finest.wall.data();
    for (int a = 0; a < Dim; ++a) grid.weight[a] = finest.system->coupling(a).data();
    grid.ghost = finest.system->ghost().data();
    grid.inverse_diagonal = level.inverse_diagonal.data();
    grid.rhs = finest.system->rhs().data();
    return grid;
  }

  template <class Body>
  static void each(const std::vector<int>& bricks, const Body& body) {
    parallel_for(bricks.size(), grain<Dim>, [&](std::size_t i) { body(bricks[i]); });
  }

  void attach(const PressureSystem<Dim>& system, bool bounded);
  void describe_finest_brick(std::size_t brick);
  void add_level();
  void describe_coarse_brick(const Level& fine, Level& coarse, int brick);
  void find_uniform(const Level& fine, Level& coarse, int brick, int reach);
  void assign_slots(Level& level);
  void mark(Level& coarse, const Level& fine, int brick, int row, unsigned lanes, int reach);
  void compute(std::size_t level);
  void compute_matrices(bool everything);
  void number_coarsest();
  void factorize_coarsest();
  void sweep(bool backwards);
  void chebyshev(Level& level, bool from_zero);
};

template <int Dim>
void PressureHierarchy<Dim>::Work::attach(const PressureSystem<Dim>& system, bool bounded) {
  if (levels.empty()) levels.resize(1);
  Level& level = levels[0];
  finest.system = &system;
  finest.bounded = bounded;
  built = false;
  margin = first_margin;
  level.place_bricks(system.bricks());
  const std::size_t bricks = at(level.count());
  finest.row_kind.assign((bricks + 1) * rows, RowKind::Empty);
  finest.wall.assign(bricks * rows, 0);
  finest.active.assign(bricks * rows, 0);
  for (auto* field :
       {&finest.r, &finest.c, &finest.bound, &finest.direction, &finest.direction_product, &finest.product})
    make_zero(*field, level.field_size());
  finest.curvature = 0;
  parallel_for(bricks, grain<Dim>, [&](std::size_t brick) { describe_finest_brick(brick); });
  level.busy.clear();
  for (auto& list : finest.colour) list.clear();
  level.unknowns = system.unknowns();
  for (std::size_t brick = 0; brick < bricks; ++brick) {
    const auto* begin = &level.present[brick * rows];
    if (std::all_of(begin, begin + rows, [](std::uint8_t bits) { return bits == 0; })) continue;
    level.busy.push_back(static_cast<int>(brick));
    const auto& coordinates = level.bricks->brick(static_cast<int>(brick));
    std::size_t colour = 0;
    for (std::size_t a = 0; a < Dim; ++a) colour |= at(coordinates[a] & 1) << a;
    finest.colour[colour].push_back(static_cast<int>(brick));
  }
  finest.part.resize(4 * level.busy.size());
  used = 1;
  while (levels[used - 1].unknowns > options.coarsest_unknowns) add_level();
  if (used == 1) add_level();
  number_coarsest();
}

// Kinds of rows, links, weights and the inverse diagonal of one brick.
template <int Dim>
void PressureHierarchy<Dim>::Work::describe_finest_brick(std::size_t brick) {
  const PressureSystem<Dim>& system = *finest.system;
  Level& level = levels[0];
  const auto kind = system.kind();
  const auto ghost = system.ghost();
  const int* around = &level.around[brick * Level::around_size + Level::around_size / 2];
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
    level.weigh_row(brick, row, 0);
  }
}

template <int Dim>
void PressureHierarchy<Dim>::Work::add_level() {
  if (levels.size() == used) {
    levels.resize(used + 1);
    // The levels moved: a level's own set of bricks moved with it.
    for (std::size_t l = 1; l < used; ++l) levels[l].bricks = &levels[l].own_bricks;
  }
  Level& fine = levels[used - 1];
  Level& coarse = levels[used];
  std::vector<GridIndex<Dim>> wanted;
  for (const int brick : fine.busy) {
    GridIndex<Dim> above = fine.bricks->brick(brick);
    for (int& coordinate : above) coordinate = floor_half(coordinate);
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
      above[at(a)] = floor_half(above[at(a)]);
    }
    fine.parent[at(brick)] = {coarse.own_bricks.find(above), corner};
  }
  coarse.galerkin = &galerkin_below<Dim>(static_cast<int>(used) - 1);
  coarse.step.clear();
  for (const Offset& o : coarse.galerkin->offsets)
    coarse.step.push_back(multigrid::padded_place(o[0], o[1], o[2]));
  constexpr int table = Dim == 3 ? 64 : 16;
  coarse.below.resize(at(bricks) * table);
  coarse.busy.resize(at(bricks));
  for (int b = 0; b < bricks; ++b) coarse.busy[at(b)] = b;
  const int reach = used == 1 ? 1 : reach_of(levels[used - 1].galerkin->offsets);
  each(coarse.busy, [&](int brick) {
    for (int n = 0; n < table; ++n) {
      GridIndex<Dim> below = coarse.own_bricks.brick(brick);
      for (int a = 0; a < Dim; ++a) below[at(a)] = 2 * below[at(a)] + (n >> 2 * a & 3) - 1;
      const int found = fine.bricks->find(below);
      coarse.below[at(brick) * table + at(n)] = found < 0 ? fine.count() : found;
    }
    describe_coarse_brick(fine, coarse, brick);
    if (used <= plan_count) find_uniform(fine, coarse, brick, 1 + reach);
    for (int row = 0; row < rows; ++row) {
      const std::size_t index = at(brick) * rows + at(row);
      if (coarse.present[index] && coarse.uniform[index] != 0xff) coarse.weigh_row(at(brick), row, 0);
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
void PressureHierarchy<Dim>::Work::describe_coarse_brick(const Level& fine, Level& coarse, int brick) {
  constexpr int table = Dim == 3 ? 64 : 16;
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
      const int below = coarse.below[at(brick) * table + at(n)];
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
void PressureHierarchy<Dim>::Work::find_uniform(const Level& fine, Level& coarse, int brick, int reach) {
  constexpr int table = Dim == 3 ? 64 : 16, width = 16 + 2 * multigrid::galerkin_reach;
  const int* below = &coarse.below[at(brick) * table];
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
void PressureHierarchy<Dim>::Work::assign_slots(Level& level) {
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

// The coarse rows whose coefficients depend on these cells of a fine row.
template <int Dim>
void PressureHierarchy<Dim>::Work::mark(Level& coarse, const Level& fine, int brick, int row,
                                        unsigned lanes_changed, int reach) {
  const multigrid::Parent parent = fine.parent[at(brick)];
  const int* around = &coarse.around[at(parent.brick) * Level::around_size + Level::around_size / 2];
  // Along each axis the coarse cells from `low` to `high`, counted from the parent brick's first one.
  int low[3] = {}, high[3] = {};
  for (int a = 0; a < Dim; ++a) {
    const int origin = 8 * (parent.corner >> a & 1);
    const int first = a == 0 ? std::countr_zero(lanes_changed) : a == 1 ? row % 8 : row / 8;
    const int last = a == 0 ? 31 - std::countl_zero(lanes_changed) : first;
    low[a] = (origin + first - reach) >> 1;
    high[a] = (origin + last + reach) >> 1;
  }
  for (int z = low[2]; z <= high[2]; ++z) {
    for (int y = low[1]; y <= high[1]; ++y) {
      for (int x = low[0] >> 3; x <= high[0] >> 3; ++x) {
        const int target = around[x + 3 * (y >> 3) + (Dim == 3 ? 9 * (z >> 3) : 0)];
        coarse.dirty[at(target) * rows + at((y & 7) + (Dim == 3 ? 8 * (z & 7) : 0))] = 1;
      }
    }
  }
}

// The dirty rows of a level.
template <int Dim>
void PressureHierarchy<Dim>::Work::compute(std::size_t number) {
  Level& coarse = levels[number];
  const Level& fine = levels[number - 1];
  constexpr int table = Dim == 3 ? 64 : 16;
  const multigrid::FineGrid<Dim> finest_grid = this->fine();
  const multigrid::StencilGrid<Dim> stencil_grid = fine.stencil();
  const multigrid::Interpolation<Dim> p = fine.interpolation();
  constexpr std::size_t scratch_size = multigrid::galerkin_scratch<Dim>;
  scratch.resize(std::max(scratch.size(), worker_count() * scratch_size));
  parallel_tasks(coarse.busy.size(), [&](std::size_t task, std::size_t worker) {
    const int brick = coarse.busy[task];
    std::uint8_t* dirty = &coarse.dirty[at(brick) * rows];
    multigrid::GalerkinPlan<Dim> plan;
    plan.cell = coarse.galerkin->cells.data();
    plan.term = coarse.galerkin->terms.data();
    plan.fine_size = number == 1 ? 2 * Dim + 1 : static_cast<int>(fine.step.size());
    plan.coarse_size = static_cast<int>(coarse.step.size());
    plan.centre = coarse.galerkin->centre;
    plan.row_sum = static_cast<float>(coarse.galerkin->row_sum);
    plan.bricks = &coarse.below[at(brick) * table];
    float* mine = &scratch[worker * scratch_size];
    bool copied = false;
    for (int row = 0; row < rows; ++row) {
      const std::size_t index = at(brick) * rows + at(row);
      if (!dirty[row] || coarse.slot[index] <= 0) continue;
      if (!copied) kernels.galerkin_weights(p, plan, mine);
      copied = true;
      float* target = &coarse.pool[at(coarse.slot[index]) * coarse.step.size() * 8];
      kernels.galerkin_row(number == 1 ? &finest_grid : nullptr, number == 1 ? nullptr : &stencil_grid, plan,
                           row % 8, row / 8, mine, target, &coarse.inverse_diagonal[8 * index]);
    }
  });
}

template <int Dim>
void PressureHierarchy<Dim>::Work::compute_matrices(bool everything) {
  for (std::size_t l = 1; l < used; ++l) {
    Level& level = levels[l];
    if (everything) std::fill(level.dirty.begin(), level.dirty.end(), std::uint8_t{1});
    compute(l);
    if (l + 1 < used && !everything) {
      const int reach = 1 + reach_of(level.galerkin->offsets);
      for (const int brick : level.busy) {
        for (int row = 0; row < rows; ++row) {
          const std::size_t index = at(brick) * rows + at(row);
          if (level.dirty[index] && level.slot[index] > 0)
            mark(levels[l + 1], level, brick, row, level.present[index], reach);
        }
      }
    }
    std::fill(level.dirty.begin(), level.dirty.end(), std::uint8_t{0});
  }
  factorize_coarsest();
  built = true;
}

template <int Dim>
void PressureHierarchy<Dim>::Work::number_coarsest() {
  const Level& level = levels[used - 1];
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

template <int Dim>
void PressureHierarchy<Dim>::Work::factorize_coarsest() {
  const Level& level = levels[used - 1];
  const auto n = static_cast<Eigen::Index>(coarsest_cells.size());
  const std::size_t size = level.step.size();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::int64_t cell = coarsest_cells[at(i)];
    const float* a = &level.pool[at(level.slot[at(cell / 8)]) * size * 8 + at(cell % 8)];
    const int* columns = &coarsest_columns[at(i) * size];
    for (std::size_t k = 0; k < size; ++k)
      if (columns[k] >= 0) matrix(i, columns[k]) = double{a[8 * k]};
  }
  // Regions without air and cells without free children leave rows of sum zero: a little on the diagonal
  // makes the factor exist and, since right-hand sides are compatible, changes nothing that matters.
  const double largest = n > 0 ? std::max(matrix.diagonal().maxCoeff(), 1e-30) : 1;
  for (Eigen::Index i = 0; i < n; ++i) matrix(i, i) = std::max(matrix(i, i) * (1 + 1e-5), 1e-6 * largest);
  coarsest.compute(0.5 * (matrix + matrix.transpose()));
  coarsest_vector.resize(n);
}

// One Gauss–Seidel sweep of the finest level. Bricks of one colour do not touch each other's faces.
template <int Dim>
void PressureHierarchy<Dim>::Work::sweep(bool backwards) {
  const auto grid = fine();
  const float* bound = finest.bounded ? finest.bound.data() : nullptr;
  for (std::size_t k = 0; k < finest.colour.size(); ++k) {
    each(finest.colour[backwards ? finest.colour.size() - 1 - k : k],
         [&](int brick) { kernels.relax(grid, brick, backwards, finest.r.data(), bound, finest.c.data()); });
  }
}

template <int Dim>
void PressureHierarchy<Dim>::Work::chebyshev(Level& level, bool from_zero) {
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
    each(level.busy, [&](int brick) {
      kernels.chebyshev(grid, brick, static_cast<float>(alpha), static_cast<float>(beta), level.f.data(),
                        zero ? nullptr : level.x.data(), level.d.data(), level.x_next.data());
    });
    std::swap(level.x, level.x_next);
  }
}

template <int Dim>
PressureHierarchy<Dim>::PressureHierarchy(const HierarchyOptions& options) : work_(std::make_unique<Work>()) {
  work_->options = options;
}
template <int Dim>
PressureHierarchy<Dim>::~PressureHierarchy() = default;
template <int Dim>
PressureHierarchy<Dim>::PressureHierarchy(PressureHierarchy&&) noexcept = default;
template <int Dim>
PressureHierarchy<Dim>& PressureHierarchy<Dim>::operator=(PressureHierarchy&&) noexcept = default;

template <int Dim>
void PressureHierarchy<Dim>::attach(const PressureSystem<Dim>& system, bool bounded) {
  work_->attach(system, bounded);
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
  Finest& finest = w.finest;
  const auto& busy = w.levels[0].busy;
  const auto grid = w.fine();
  parallel_for(busy.size(), grain<Dim>, [&](std::size_t i) {
    double objective = 0;
    finest.part[2 * i] =
        w.kernels.defect(grid, busy[i], p.data(), finest.r.data(), finest.bound.data(), &objective);
    finest.part[2 * i + 1] = objective;
    std::fill_n(&finest.c[at(busy[i]) * Level::cells], Level::cells, 0.0f);
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
  Finest& finest = work_->finest;
  Work::each(work_->levels[0].busy, [&](int brick) {
    const std::size_t first = at(brick) * Level::cells;
    for (std::size_t i = first; i < first + Level::cells; ++i) finest.r[i] = static_cast<float>(r[i]);
    std::fill_n(&finest.c[first], Level::cells, 0.0f);
  });
}

template <int Dim>
std::int64_t PressureHierarchy<Dim>::update_active() {
  Work& w = *work_;
  Finest& finest = w.finest;
  Level& level = w.levels[0];
  std::int64_t changed = 0;
  for (const int brick : level.busy) {
    for (int row = 0; row < Level::rows; ++row) {
      const std::size_t index = at(brick) * Level::rows + at(row);
      if (finest.row_kind[index] != RowKind::Wall) continue;
      unsigned active = 0;
      for (unsigned k = 0; k < 8; ++k)
        active |= static_cast<unsigned>(finest.c[8 * index + k] <= finest.bound[8 * index + k]) << k;
      active &= finest.wall[index];
      const unsigned difference = active ^ finest.active[index];
      if (difference == 0) continue;
      changed += std::popcount(difference);
      finest.active[index] = static_cast<std::uint8_t>(active);
      level.weigh_row(at(brick), row, active);
      if (w.built) w.mark(w.levels[1], level, brick, row, difference, 2);
    }
  }
  if (changed > 0 && w.built) w.compute_matrices(false);
  return changed;
}

template <int Dim>
void PressureHierarchy<Dim>::move(std::span<double> p, bool conjugate, double slack) {
  Work& w = *work_;
  Finest& f = w.finest;
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
  double alpha = 1, beta = 0;
  const double determinant = cc * f.curvature - cs * cs;
  bool combined = conjugate && f.curvature > 0 && determinant > 1e-4 * cc * f.curvature;
  if (combined) {
    alpha = (cr * f.curvature - sr * cs) / determinant;
    beta = (sr * cc - cr * cs) / determinant;
  } else if (conjugate && cc > 0) {
    alpha = cr / cc;
    combined = true;
  }
  if (combined && f.bounded) {
    parallel_for(busy.size(), grain<Dim>, [&](std::size_t i) {
      f.part[i] = w.kernels.probe(grid, busy[i], alpha, beta, f.c.data(), f.direction.data(), p.data());
    });
    for (std::size_t i = 0; i < busy.size(); ++i) combined &= f.part[i] >= -slack;
  }
  if (!combined) {
    beta = 0;
    // The quadratic along c is least at c·r / c·Ac and back at its start at twice that.
    alpha = cr > 0 && cc > 2 * cr ? cr / cc : 1;
  }
  Work::each(busy, [&](int brick) {
    w.kernels.step(grid, brick, alpha, beta, f.c.data(), f.product.data(), f.direction.data(),
                   f.direction_product.data(), p.data());
  });
  f.curvature = alpha * alpha * cc + 2 * alpha * beta * cs + beta * beta * f.curvature;
}

template <int Dim>
void PressureHierarchy<Dim>::copy_correction(std::span<double> z) const {
  Work::each(work_->levels[0].busy, [&](int brick) {
    const std::size_t first = at(brick) * Level::cells;
    for (std::size_t i = first; i < first + Level::cells; ++i) z[i] = double{work_->finest.c[i]};
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
  Level& fine = w.levels[at(level)];
  Level& coarse = w.levels[at(level + 1)];
  const auto p = fine.interpolation();
  const auto messages = coarse.messages();
  if (level == 0) {
    const auto grid = w.fine();
    Work::each(fine.busy, [&](int brick) {
      w.kernels.restrict_fine(grid, p, fine.parent[at(brick)], brick, w.finest.r.data(), w.finest.c.data(),
                              messages);
    });
  } else {
    const auto grid = fine.stencil();
    Work::each(fine.busy, [&](int brick) {
      w.kernels.restrict_coarse(grid, p, fine.parent[at(brick)], brick, fine.f.data(), fine.x.data(),
                                messages);
    });
  }
  const auto grid = coarse.stencil();
  Work::each(coarse.busy, [&](int brick) {
    w.kernels.collect(grid, brick, static_cast<float>(stiffness), messages, coarse.f.data());
  });
}

template <int Dim>
void PressureHierarchy<Dim>::prolong_correction(int level) {
  Work& w = *work_;
  Level& fine = w.levels[at(level)];
  const Level& coarse = w.levels[at(level + 1)];
  const auto p = fine.interpolation();
  if (level == 0) {
    const auto grid = w.fine();
    const float* bound = w.finest.bounded ? w.finest.bound.data() : nullptr;
    Work::each(fine.busy, [&](int brick) {
      w.kernels.prolong_fine(grid, p, fine.parent[at(brick)], coarse.around.data(), brick, coarse.x.data(),
                             bound, w.finest.c.data());
    });
  } else {
    const auto grid = fine.stencil();
    Work::each(fine.busy, [&](int brick) {
      w.kernels.prolong_coarse(grid, p, fine.parent[at(brick)], coarse.around.data(), brick, coarse.x.data(),
                               fine.x.data());
    });
  }
}

template <int Dim>
void PressureHierarchy<Dim>::solve_coarsest() {
  Work& w = *work_;
  Level& level = w.levels[w.used - 1];
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
