// Broad phase: which primitives of a contact surface may come near each other. Trees of boxes over points, edges and triangles, built
// anew at the beginning of a step and refitted at every search.
//
// Left out: pairs that share a node, pairs of one owner that does not meet itself, and pairs of which all nodes are led (two things
// that are both scripted are the script's own affair).
#pragma once

#include <lope/geometry/bvh.h>
#include <lope/geometry/pair_distance.h>
#include <lope/matter/contact/barrier_energy.h>
#include <lope/matter/contact/contact_surface.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lope::matter {

struct CandidatePair {
  std::array<int, 4> node = {0, 0, 0, 0};  // as in geometry/pair_distance.h
  geometry::PairKind kind = geometry::PairKind::PointTriangle;
  double distance = 0;  // where near() found it
  // Of the barrier. Pairs of one body are nearer than they would like at rest, where its triangles are small: what reach and thickness
  // ask for never exceeds nine tenths of the distance at rest.
  BarrierPairParameters barrier;
  double reach_and_offset() const { return barrier.reach + barrier.offset; }
};

class PairFinder {
 public:
  // The surface outlives the finder.
  explicit PairFinder(const ContactSurface& surface);

  // Trees for nodes about where they are now; `led` per node: 1 where it is not solved for.
  void build(std::span<const Vec3> x, std::span<const std::uint8_t> led);

  // All pairs nearer than their reach and offset plus `margin` at x, in a fixed order.
  std::vector<CandidatePair> near(std::span<const Vec3> x, double margin);
  // All pairs that may come as near as their offset plus `margin` of each other while the nodes go from x to x + d.
  std::vector<CandidatePair> swept(std::span<const Vec3> x, std::span<const Vec3> d, double margin);

 private:
  std::vector<CandidatePair> search(std::span<const Vec3> x, std::span<const Vec3> d, double margin, bool with_reach);
  template <class Make>
  void collect(std::span<const geometry::IndexPair> found, const Make& make, std::vector<CandidatePair>& out) const;
  bool may_meet(int a, int b) const;
  void finish(CandidatePair& pair, double area) const;
  void heed_rest(CandidatePair& pair) const;

  const ContactSurface& surface_;
  std::vector<std::uint8_t> led_;
  geometry::Bvh points_, edges_, triangles_;
  std::vector<geometry::SmallBox> boxes_;  // of the nodes
};

// A lower bound of the distance of a pair that near() found, where its nodes are no farther from there than `radius` says (per node).
inline double least_distance(const CandidatePair& pair, std::span<const double> radius) {
  const auto at = [&](std::size_t k) { return radius[static_cast<std::size_t>(pair.node[k])]; };
  if (pair.kind == geometry::PairKind::EdgeEdge)
    return pair.distance - std::max(at(0), at(1)) - std::max(at(2), at(3));
  return pair.distance - at(0) - std::max({at(1), at(2), at(3)});
}

// The nodes of a pair.
inline geometry::PairNodes nodes_of(const CandidatePair& pair, std::span<const Vec3> x) {
  return {x[static_cast<std::size_t>(pair.node[0])], x[static_cast<std::size_t>(pair.node[1])],
          x[static_cast<std::size_t>(pair.node[2])], x[static_cast<std::size_t>(pair.node[3])]};
}

}  // namespace lope::matter
