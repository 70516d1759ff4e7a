// Obstacles on the grid: what nodes inside a level set may do in a step.
//
//   sticky      the node moves with the obstacle
//   slip        it moves with the obstacle along the normal, freely along the surface
//   separating  likewise, but it may leave: held while it is pressed on, let go when it would be pulled (rounds of
//               minimisations, mpm.cpp)
//
// A node is a point of matter at the beginning of the step: it counts as inside if it is inside the obstacle then, and
// moves with the point of the obstacle that is there. Friction is Coulomb's: a node that touches either sticks, or slides
// and feels the drag μ f_n, f_n the force that the obstacle has exerted in the last round (mpm.cpp); in explicit steps it is
// an impulse on the node. Where a node slides, and how much, is thus known from the round before.
// Points go where the grid takes them; what keeps them themselves out of obstacles is in positions.h.
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
  double friction = 0;
  bool held = true;    // along the normal
  bool stuck = false;  // along the surface too, while held
  Vec<Dim> drag = Vec<Dim>::Zero();  // force of friction on a node that slides, N
};

// A node that follows a script (scripted.h).
template <int Dim>
struct ScriptedNode {
  int number = 0;
  Vec<Dim> displacement;
};

template <int Dim>
class Conditions {
 public:
  // `kinds`: one per obstacle of the world. `scripted`: nodes that move with their points, wherever they are.
  void set(const Grid<Dim>& grid, const World& world, std::span<const Boundary> kinds,
           std::span<const ScriptedNode<Dim>> scripted, double time, double h);

  // 1 where a node is sticky or scripted.
  std::span<const std::uint8_t> fixed() const { return fixed_; }
  // The largest displacement that an obstacle or a script asks of a node, metres.
  double largest_motion() const { return largest_; }
  std::vector<NodeContact<Dim>>& contacts() { return contacts_; }
  const std::vector<NodeContact<Dim>>& contacts() const { return contacts_; }

  // After contacts have been held, let go, stuck or released: the projectors.
  void update();
  // g −= drag.
  void add_drag(std::span<double> g) const;
  // −Σ drag·u.
  double drag_energy(std::span<const double> u) const;
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
  void fix(const NodeContact<Dim>& contact, const Vec<Dim>& direction, std::size_t first, Mat<Dim>& Q);
  std::vector<Step> steps_;
  std::vector<Projector> projectors_;
  std::vector<int> which_;
  double largest_ = 0;
};

}  // namespace lope::matter::mpm
