// A tree of axis-aligned boxes: finds overlapping boxes fast. Built once by median splits, refitted cheaply
// when the boxes move (pair queries stay correct, only slower when things have moved far).
//
// Nodes are an array in depth-first order whose layout depends on the number of boxes alone, so that it can
// be built in parallel with the same bits for any number of threads. Boxes are stored in single precision,
// rounded outward: queries may report a box that is up to a rounding error away, never miss one. Boxes with
// NaN or min > max overlap nothing.
#pragma once

#include <lope/base/parallel.h>
#include <lope/geometry/mesh.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace lope::geometry {

// A box in single precision that contains a given one.
struct SmallBox {
  std::array<float, 3> min = {inf, inf, inf};
  std::array<float, 3> max = {-inf, -inf, -inf};

  static SmallBox around(const Bounds& box);
  // Wider than needed by up to two units in the last place, but cheap.
  static SmallBox around(const Vec3& point) {
    SmallBox box;
    for (int i = 0; i < 3; ++i) {
      const float f = static_cast<float>(point[i]);
      const float slack = std::abs(f) * 0x1.8p-23f + std::numeric_limits<float>::min();
      box.min[i] = f - slack;
      box.max[i] = f + slack;
    }
    return box;
  }
  void add(const SmallBox& other) {
    for (int i = 0; i < 3; ++i) {
      min[i] = std::min(min[i], other.min[i]);
      max[i] = std::max(max[i], other.max[i]);
    }
  }
  bool overlaps(const SmallBox& other) const {
    return min[0] <= other.max[0] && other.min[0] <= max[0] && min[1] <= other.max[1] &&
           other.min[1] <= max[1] && min[2] <= other.max[2] && other.min[2] <= max[2];
  }
  double squared_distance(const Vec3& point) const {
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      const double gap = std::max({min[i] - point[i], point[i] - max[i], 0.0});
      sum += gap * gap;
    }
    return sum;
  }

 private:
  static constexpr float inf = std::numeric_limits<float>::infinity();
};

using IndexPair = std::array<int, 2>;

class Bvh {
 public:
  explicit Bvh(std::span<const Bounds> boxes);

  // New boxes for the same primitives, in the same order; their number must not change: asserted.
  void refit(std::span<const Bounds> boxes);
  // The same with box_of(index) -> SmallBox, called in parallel.
  template <class BoxOf>
  void refit_by(const BoxOf& box_of);

  std::size_t size() const { return primitives_.size(); }
  // Around everything; overlaps nothing if there is nothing.
  SmallBox box() const { return nodes_.empty() ? SmallBox() : nodes_[0].box; }

  // Calls visit(index) for every box that overlaps `box`, in a fixed order.
  template <class Visit>
  void for_each_overlapping(const Bounds& box, const Visit& visit) const;
  template <class Visit>
  void for_each_containing(const Vec3& point, const Visit& visit) const {
    find_overlapping(SmallBox::around(point), [&](int index) {
      visit(index);
      return false;
    });
  }
  // The first primitive, in a fixed order, whose box contains the point and for which accept(index) is true;
  // −1: none.
  template <class Accept>
  int find_containing(const Vec3& point, const Accept& accept) const {
    return find_overlapping(SmallBox::around(point), accept);
  }

  // The primitive with the least squared_distance(index, point) (index −1: none below `limit`). It must not
  // be less than the squared distance of the primitive's box; infinity leaves a primitive out.
  struct Nearest {
    int index = -1;
    double squared_distance = std::numeric_limits<double>::infinity();
  };
  template <class SquaredDistance>
  Nearest nearest(const Vec3& point, const SquaredDistance& squared_distance,
                  double limit = std::numeric_limits<double>::infinity()) const;

  // All pairs (i, j), i < j, of boxes that overlap each other; in parallel, in a fixed order.
  std::vector<IndexPair> self_pairs() const;
  // All pairs (i of this tree, j of the other).
  std::vector<IndexPair> pairs_with(const Bvh& other) const;

 private:
  static constexpr std::size_t leaf_size = 4;

  // A node over `leaves` leaves: its first child follows it, the second stands after the first's 2·(leaves/2)
  // − 1 nodes. Leaf number k holds the primitives from 4k.
  struct Node {
    SmallBox box;
    std::uint32_t first_leaf = 0;
    std::uint32_t leaves = 0;
    bool is_leaf() const { return leaves == 1; }
  };
  struct Task {
    std::uint32_t a, b;  // nodes whose pairs are to be found
  };

  std::uint32_t second_child(std::uint32_t node) const { return node + 2 * (nodes_[node].leaves / 2); }
  std::size_t leaf_begin(const Node& node) const { return node.first_leaf * leaf_size; }
  std::size_t leaf_end(const Node& node) const { return std::min(size(), (node.first_leaf + 1) * leaf_size); }

  void build(std::uint32_t node, std::span<std::array<float, 3>> centers);
  // Boxes of the nodes from those of the primitives.
  void fit();
  void fit_subtree(std::uint32_t node);
  template <class Accept>
  int find_overlapping(const SmallBox& box, const Accept& accept) const;
  static std::vector<IndexPair> pairs(const Bvh& a, const Bvh& b);
  static void find_pairs(const Bvh& a, const Bvh& b, Task start, std::vector<IndexPair>& found);
  static bool split(const Bvh& a, const Bvh& b, Task task, std::vector<Task>& out);
  static void leaf_pairs(const Bvh& a, const Bvh& b, Task task, std::vector<IndexPair>& found);

  std::vector<Node> nodes_;
  std::vector<int> primitives_;  // index of the primitive at each place of the leaves
  std::vector<SmallBox> boxes_;  // its box
};

template <class BoxOf>
void Bvh::refit_by(const BoxOf& box_of) {
  parallel_for(size(), 4096, [&](std::size_t i) { boxes_[i] = box_of(primitives_[i]); });
  fit();
}

template <class Visit>
void Bvh::for_each_overlapping(const Bounds& query, const Visit& visit) const {
  find_overlapping(SmallBox::around(query), [&](int index) {
    visit(index);
    return false;
  });
}

template <class Accept>
int Bvh::find_overlapping(const SmallBox& box, const Accept& accept) const {
  if (nodes_.empty()) return -1;
  std::array<std::uint32_t, 64> stack;
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const std::uint32_t index = stack[--depth];
    const Node& node = nodes_[index];
    if (!node.box.overlaps(box)) continue;
    if (node.is_leaf()) {
      for (std::size_t i = leaf_begin(node); i < leaf_end(node); ++i) {
        if (boxes_[i].overlaps(box) && accept(primitives_[i])) return primitives_[i];
      }
    } else {
      stack[depth++] = second_child(index);
      stack[depth++] = index + 1;
    }
  }
  return -1;
}

template <class SquaredDistance>
Bvh::Nearest Bvh::nearest(const Vec3& point, const SquaredDistance& squared_distance, double limit) const {
  Nearest best{-1, limit};
  struct Waiting {
    std::uint32_t node;
    double squared_distance;
  };
  std::array<Waiting, 64> stack;
  int depth = 0;
  if (!nodes_.empty()) stack[depth++] = {0, nodes_[0].box.squared_distance(point)};
  while (depth > 0) {
    const auto [index, to_box] = stack[--depth];
    if (to_box >= best.squared_distance) continue;
    const Node& node = nodes_[index];
    if (node.is_leaf()) {
      for (std::size_t i = leaf_begin(node); i < leaf_end(node); ++i) {
        if (boxes_[i].squared_distance(point) >= best.squared_distance) continue;
        const double distance = squared_distance(primitives_[i], point);
        if (distance < best.squared_distance) best = {primitives_[i], distance};
      }
    } else {
      // The nearer child first.
      Waiting near{index + 1, nodes_[index + 1].box.squared_distance(point)};
      Waiting far{second_child(index), nodes_[second_child(index)].box.squared_distance(point)};
      if (far.squared_distance < near.squared_distance) std::swap(near, far);
      stack[depth++] = far;
      stack[depth++] = near;
    }
  }
  if (best.index < 0) best.squared_distance = std::numeric_limits<double>::infinity();
  return best;
}

}  // namespace lope::geometry
