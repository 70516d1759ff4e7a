// The levels of a pressure hierarchy: what each stores, how they are set up for a system, and how they follow
// the cells at their bound. An implementation detail of pressure_multigrid, whose header describes the
// method.
#pragma once

#include <lope/geometry/bricks.h>
#include <lope/matter/kernel_choice.h>
#include <lope/matter/liquid/galerkin_stencils.h>
#include <lope/matter/liquid/multigrid_kernels.h>
#include <lope/matter/liquid/pressure_system.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace lope::matter::multigrid {

constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Bricks per parallel chunk.
template <int Dim>
constexpr std::size_t grain = Dim == 3 ? 8 : 64;

// Zeros; keeps memory that is there.
void make_zero(std::vector<float>& field, std::size_t size);

template <int Dim>
struct Level {
  using Bricks = geometry::BrickSet<Dim>;
  static constexpr int cells = Bricks::cells, rows = Bricks::rows, around_size = Bricks::around;
  static constexpr int below_size = Dim == 3 ? 64 : 16;

  const Bricks* bricks = nullptr;  // the system's, or own_bricks
  Bricks own_bricks;
  std::vector<int> around;                     // missing bricks are the empty one
  std::vector<int> busy;                       // bricks with unknowns
  std::vector<std::uint8_t> present, uniform;  // per row
  std::vector<Links> links;                    // of cells that are not uniform
  std::vector<Parent> parent;
  std::array<std::vector<float>, Dim + 1> weight;
  std::vector<float> inverse_diagonal;
  std::int64_t unknowns = 0;

  // Coarser levels.
  const GalerkinStencil<Dim>* galerkin = nullptr;  // how this level's matrix came about
  std::vector<int> step;
  std::vector<int> slot;
  std::vector<float> pool;
  std::vector<int> below;           // 4^Dim bricks of the finer level per brick
  std::vector<std::uint8_t> dirty;  // rows whose coefficients have to be computed
  std::vector<float> f, x, x_next, d;
  std::array<std::vector<float>, 2 * Dim + 1> message;

  int count() const { return bricks->count(); }
  std::size_t field_size() const { return at(count() + 1) * cells; }
  // How far the matrix reaches.
  int reach() const { return galerkin ? galerkin->reach : 1; }

  // Takes the bricks; no cell is an unknown yet.
  void place_bricks(const Bricks& set);
  // Interpolation weights of a row that is not uniform; `active` cells get none.
  void weigh_row(int brick, int row, unsigned active);

  Interpolation<Dim> interpolation() const;
  StencilGrid<Dim> stencil() const;
  Messages<Dim> messages();
};

// What the finest level has besides: the system, bounds, the iterate's residual and correction.
template <int Dim>
struct Finest {
  const PressureSystem<Dim>* system = nullptr;
  bool bounded = true;
  std::array<std::vector<int>, 1 << Dim> colour;  // busy bricks by the parities of their coordinates
  std::vector<int> wall_bricks;                   // with cells that have a bound
  std::vector<RowKind> row_kind;
  std::vector<std::uint8_t> wall, active;  // per row
  std::vector<std::uint8_t> known;         // the active cells that the coarse matrices know
  std::vector<float> r, c, bound;
  std::vector<float> direction, direction_product, product;  // of moves: s, A s, A c
  bool moved = false;                                        // since the system was taken
  double curvature = 0;                                      // s·As; 0: no direction
  std::vector<double> part;                                  // sums of bricks
};

template <int Dim>
struct Levels {
  static constexpr int cells = Level<Dim>::cells, rows = Level<Dim>::rows;

  Levels(int most_coarsest_unknowns, Isa isa)
      : coarsest_unknowns(most_coarsest_unknowns),
        kernels(kernels_for(isa, []<Isa which>() -> const Kernels<Dim>& {
          return compiled_kernels<Dim, which == Isa::Avx512 ? Isa::Avx2 : which>();
        })) {}

  int coarsest_unknowns;
  const Kernels<Dim>& kernels;
  Finest<Dim> finest;
  std::vector<Level<Dim>> levels;
  std::size_t used = 0;  // levels of the present system
  std::vector<float> scratch;
  bool built = false;
  Eigen::LLT<Eigen::MatrixXd> coarsest;
  std::vector<std::int64_t> coarsest_cells;
  std::vector<int> coarsest_columns;  // per cell and offset; −1: no unknown
  Eigen::VectorXd coarsest_vector;

  // multigrid_setup.cpp: levels, transfers and uniform stencils for a system; no cell is active.
  void attach(const PressureSystem<Dim>& system, bool bounded);
  // multigrid_truncation.cpp: the coarse matrices; or those of their rows that are dirty.
  void compute_matrices(bool everything);
  // As PressureHierarchy.
  void update_active();

  FineGrid<Dim> fine() const;

 private:
  void describe_finest_brick(int brick);
  void list_bricks();
  void add_level();
  void describe_coarse_brick(const Level<Dim>& fine, Level<Dim>& coarse, int brick);
  void find_uniform(const Level<Dim>& fine, Level<Dim>& coarse, int brick, int reach);
  void assign_slots(Level<Dim>& level);
  void number_coarsest();

  void mark(Level<Dim>& coarse, const Level<Dim>& fine, int brick, int row, unsigned lanes, int reach);
  void compute(std::size_t level);
  void factorize_coarsest();
};

}  // namespace lope::matter::multigrid
