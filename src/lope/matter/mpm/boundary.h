// Obstacles on the grid: what nodes inside a level set may do in a step.
//
//   sticky      the node moves with the obstacle
//   slip        it moves with the obstacle along the normal, freely along the surface
//   separating  likewise, but it may leave: held while it is pressed on, let go when it would be pulled (rounds of
//               minimisations, mpm.cpp)
//
// A node is a point of matter at the beginning of the step: it counts as inside if it is inside the obstacle then, and
// moves with the point of the obstacle that is there. Friction (Coulomb) is an impulse after the minimisation, from the
// force that the obstacle has exerted in it: a part of the velocity along the surface is taken away, never turned round.
// Deviation from OPT §6.3: points themselves are not kept out; they go where the grid takes them.
#pragma once

#include <lope/matter/mpm/grid.h>
#include <lope/matter/world.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lope::matter::mpm {

enum class Boundary { Sticky, Slip, Separating };

// A node that touches an obstacle, other than a sticky one: n·(u − target) = 0, or ≥ 0.
template <int Dim>
struct NodeContact {
  int node = 0;
  int obstacle = 0;
  Vec<Dim> normal;  // out of the obstacle
  Vec<Dim> target;  // displacement of the obstacle's point at the node
  bool separating = false;
  bool held = true;
  double friction = 0;
};

template <int Dim>
class Conditions {
 public:
  // `kinds`: one per obstacle of the world.
  void set(const Grid<Dim>& grid, const World& world, std::span<const Boundary> kinds, double time, double h);

  // 1 where a node is sticky.
  std::span<const std::uint8_t> fixed() const { return fixed_; }
  // The largest displacement that an obstacle asks of a node, metres.
  double largest_motion() const { return largest_; }
  std::vector<NodeContact<Dim>>& contacts() { return contacts_; }
  const std::vector<NodeContact<Dim>>& contacts() const { return contacts_; }

  // After contacts have been held or let go: the projectors.
  void update();
  // Nodes that are not free, ascending, and the projector onto what they may do.
  struct Projector {
    int node = 0;
    Mat<Dim> Q;
  };
  std::span<const Projector> projectors() const { return projectors_; }
  // Place of a node in projectors(), or −1.
  int projector_of(std::size_t node) const { return which_[node]; }
  // u ← where the conditions that are held lead.
  void apply(std::span<double> u) const;
  // g ← Q g.
  void project(std::span<double> g) const;
  // The same for a direction, whose other part is kept times `scale[node]`: y ← Q y + scale (I − Q) p.
  void project_product(std::span<const double> p, std::span<const double> scale, std::span<double> y) const;

 private:
  std::vector<std::uint8_t> fixed_;
  std::vector<NodeContact<Dim>> contacts_;
  std::vector<std::pair<int, Vec<Dim>>> sticky_;  // node, displacement
  struct Step {  // u += q (value − q·u)
    int node = 0;
    Vec<Dim> q;
    double value = 0;
  };
  std::vector<Step> steps_;
  std::vector<Projector> projectors_;
  std::vector<int> which_;
  double largest_ = 0;
};

}  // namespace lope::matter::mpm
