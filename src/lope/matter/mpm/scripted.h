// Material points that follow a script from `begin` until `end`.
//
// While a script acts, its points are carried by its rigid motion, and a node half of whose mass or more is theirs moves with it like
// one in a sticky obstacle (boundary.h). The displacement of such nodes is affine, so the deformation of the points between them
// turns with them exactly. Points are told by their numbers: nothing is kept with them.
#pragma once

#include <lope/geometry/motion.h>
#include <lope/matter/mpm/boundary.h>
#include <lope/matter/mpm/filling.h>
#include <lope/matter/mpm/grid.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lope::matter::mpm {

struct Script {
  int part = 0;             // not a jet
  std::vector<int> points;  // of its filling; none that another script holds at the same time
  geometry::Motion motion;  // its times count from `begin`
  double begin = 0;         // s
  double end = std::numeric_limits<double>::infinity();
};

template <int Dim>
class Scripted {
 public:
  // The fillings of all parts, in their order.
  Scripted(std::span<const Script> scripts, std::span<const Filling<Dim>> fillings);

  bool any() const { return !scripts_.empty(); }
  // The next time after this one at which a script begins or ends; +infinity: none.
  double next_change(double time) const;

  // The nodes that are carried in a step, ascending, with their displacements.
  std::span<const ScriptedNode<Dim>> nodes(Grid<Dim>& grid, const Particles<Dim>& particles, double time,
                                           double h);
  // Of a step that began with the positions `before`: where the points of the scripts that act are, and how fast, at its end.
  void carry(double time, double h, std::span<const Vec<Dim>> before, Particles<Dim>& particles) const;

 private:
  struct Step {
    geometry::RigidPose before, after;
    Vec3 operator()(const Vec3& x) const { return after.place(before.unplace(x)); }
  };
  // The script that acts on a point with this number, or −1.
  int script_of(std::int32_t id, double time) const;
  Step step(int script, double time, double h) const;

  std::span<const Script> scripts_;
  std::vector<std::vector<std::uint8_t>> member_;  // per script, by the points' numbers
  std::vector<ScriptedNode<Dim>> nodes_;
  std::vector<double> share_;
};

}  // namespace lope::matter::mpm
