// The grid of material points: only nodes that points touch exist, and they are numbered.
//
// Nodes stand at integer multiples of dx. A point between touches 3^Dim of them (quadratic B-splines); the first of these is
// its cell. Cells are grouped in blocks of 4^Dim, points are sorted by block and within it by kind and cell, so that what a
// block does is local and blocks can be done in parallel: each writes to an array of its own over the 6^Dim nodes it
// reaches, and a node adds up what the blocks say of it in their order. The same bits for any number of threads.
//
// Nodes are numbered in lexicographic order of their indices, the last axis fastest: the nodes within two steps of a node,
// with which it may share points, are 5^(Dim − 1) ranges of numbers (lines).
#pragma once

#include <lope/base/parallel.h>
#include <lope/geometry/bricks.h>
#include <lope/linalg/block_pattern.h>
#include <lope/matter/mpm/kernels.h>
#include <lope/matter/mpm/particles.h>
#include <lope/matter/particles/binning.h>
#include <lope/matter/particles/particle_arrays.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace lope::matter::mpm {

template <int Dim>
class Grid {
 public:
  using Index = geometry::GridIndex<Dim>;
  static constexpr int reach = local_nodes<Dim>;
  static constexpr int lines = window_lines<Dim>;

  struct Block {
    Index corner{};                  // its first cell
    std::size_t begin = 0, end = 0;  // its particles
  };

  explicit Grid(double dx) : dx_(dx) {}
  double dx() const { return dx_; }

  // Whether all points are near enough to the origin to have an index (and none is NaN).
  bool holds(const Particles<Dim>& particles) const;
  // Sorts the particles (kind_of_part: a small number for each part; those of one kind stand together in a block),
  // finds the blocks, and numbers the nodes with mass > 0.
  void build(Particles<Dim>& particles, std::span<const int> kind_of_part);

  std::span<const Block> blocks() const { return blocks_; }
  std::size_t nodes() const { return node_.size(); }
  std::span<const Index> node_indices() const { return node_; }
  std::span<const double> masses() const { return mass_; }
  Vec<Dim> position(std::size_t node) const;
  // Of the nodes that a block reaches, −1 where there is none.
  const int* numbers(std::size_t block) const { return numbers_.data() + block * reach; }
  // The number of a node, or −1.
  int find(const Index& node) const;

  // A point's cell as a node of its block, and its distance from that node in cells.
  struct Place {
    int local = 0;
    Vec<Dim> at;
  };
  Place place(const Block& block, const Vec<Dim>& x) const;

  // Values of all nodes (`components` each) for a block: local[node of block·components + k]; 0 where there is no node.
  void gather(std::size_t block, int components, std::span<const double> nodes, double* local) const;
  // Every block fills its own zeroed array; the nodes add these up: nodes = Σ over blocks.
  template <class Fill>
  void scatter(int components, const Fill& fill, std::span<double> nodes);

  // Blocks whose nodes do not overlap, colour by colour: what may be written at the same time.
  std::span<const std::vector<int>> colours() const { return colours_; }

  // All pairs of nodes within two steps. The same object as long as the nodes stay the same.
  const std::shared_ptr<const linalg::BlockPattern>& pattern() const { return pattern_; }
  // The slot of block (row, column) is shifts()[lines·row + line] + column (kernels.h).
  std::span<const std::int64_t> shifts() const { return shift_; }

 private:
  void sort(Particles<Dim>& particles, std::span<const int> kind_of_part);
  void number_nodes(const Particles<Dim>& particles);
  void make_tables();
  void make_pattern();
  void reduce(int components, std::span<double> nodes) const;
  Index cell_of(const Vec<Dim>& x) const;

  double dx_;
  Binning binning_;
  Particles<Dim> spare_;
  std::vector<Block> blocks_;
  std::vector<std::vector<int>> colours_;
  std::vector<Index> node_, previous_;
  std::vector<double> mass_;
  std::vector<int> numbers_;                   // reach per block
  std::vector<std::size_t> line_start_;        // nodes of a line along the last axis; one more at the end
  std::vector<std::int64_t> share_start_;      // per node: its entries in `share_`
  std::vector<std::int64_t> share_;            // places in arrays of all blocks, ascending
  std::vector<double> local_;                  // arrays of all blocks, of scatter()
  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::vector<std::int64_t> shift_;
};

template <int Dim>
template <class Fill>
void Grid<Dim>::scatter(int components, const Fill& fill, std::span<double> nodes) {
  const std::size_t stride = static_cast<std::size_t>(components) * reach;
  if (local_.size() < blocks_.size() * stride) local_.resize(blocks_.size() * stride);
  parallel_for(blocks_.size(), 1, [&](std::size_t b) {
    double* local = local_.data() + b * stride;
    std::fill(local, local + stride, 0.0);
    fill(b, local);
  });
  reduce(components, nodes);
}

}  // namespace lope::matter::mpm
