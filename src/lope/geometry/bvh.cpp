#include <lope/base/parallel.h>
#include <lope/geometry/bvh.h>

#include <cassert>
#include <cmath>
#include <numeric>

namespace lope::geometry {

namespace {

constexpr std::uint32_t parallel_leaves = 1024;  // subtrees above this size are worth a task of their own
constexpr std::size_t pair_tasks = 512;          // pieces of a pair query, never depending on the threads

float rounded_down(double x) {
  const float f = static_cast<float>(x);
  return f > x ? std::nextafter(f, -std::numeric_limits<float>::infinity()) : f;
}

float rounded_up(double x) {
  const float f = static_cast<float>(x);
  return f < x ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
}

}  // namespace

SmallBox SmallBox::around(const Bounds& box) {
  SmallBox small;
  if (!(box.min.array() <= box.max.array()).all()) return small;
  for (int i = 0; i < 3; ++i) {
    small.min[i] = rounded_down(box.min[i]);
    small.max[i] = rounded_up(box.max[i]);
  }
  return small;
}

Bvh::Bvh(std::span<const Bounds> boxes) : primitives_(boxes.size()), boxes_(boxes.size()) {
  if (boxes.empty()) return;
  const std::size_t leaves = (boxes.size() + leaf_size - 1) / leaf_size;
  nodes_.resize(2 * leaves - 1);
  nodes_[0].leaves = static_cast<std::uint32_t>(leaves);
  std::iota(primitives_.begin(), primitives_.end(), 0);
  std::vector<std::array<float, 3>> centers(boxes.size());
  parallel_for(boxes.size(), 4096, [&](std::size_t i) {
    const Vec3 center = boxes[i].center();
    // Any finite place will do for a box that is none; the median needs an order.
    for (int axis = 0; axis < 3; ++axis) {
      centers[i][axis] = std::isfinite(center[axis]) ? static_cast<float>(center[axis]) : 0.0f;
    }
  });
  build(0, centers);
  refit(boxes);
}

void Bvh::build(std::uint32_t index, std::span<std::array<float, 3>> centers) {
  Node& node = nodes_[index];
  if (node.is_leaf()) return;
  const std::uint32_t left_leaves = node.leaves / 2;
  const std::size_t begin = leaf_begin(node), end = std::min(size(), begin + node.leaves * leaf_size);
  const std::size_t middle = begin + left_leaves * leaf_size;
  SmallBox spread;
  for (std::size_t i = begin; i < end; ++i) {
    const std::array<float, 3>& center = centers[primitives_[i]];
    for (int axis = 0; axis < 3; ++axis) {
      spread.min[axis] = std::min(spread.min[axis], center[axis]);
      spread.max[axis] = std::max(spread.max[axis], center[axis]);
    }
  }
  int axis = 0;
  for (int other = 1; other < 3; ++other) {
    if (spread.max[other] - spread.min[other] > spread.max[axis] - spread.min[axis]) axis = other;
  }
  const auto order = [&](int a, int b) {
    return centers[a][axis] != centers[b][axis] ? centers[a][axis] < centers[b][axis] : a < b;
  };
  std::nth_element(primitives_.begin() + begin, primitives_.begin() + middle, primitives_.begin() + end,
                   order);
  const std::uint32_t left = index + 1, right = second_child(index);
  nodes_[left].first_leaf = node.first_leaf;
  nodes_[left].leaves = left_leaves;
  nodes_[right].first_leaf = node.first_leaf + left_leaves;
  nodes_[right].leaves = node.leaves - left_leaves;
  if (node.leaves > parallel_leaves) {
    parallel_pair([&] { build(left, centers); }, [&] { build(right, centers); });
  } else {
    build(left, centers);
    build(right, centers);
  }
}

void Bvh::refit(std::span<const Bounds> boxes) {
  assert(boxes.size() == size());
  refit_by([&](int i) { return SmallBox::around(boxes[i]); });
}

void Bvh::fit() {
  if (!nodes_.empty()) fit_subtree(0);
}

void Bvh::fit_subtree(std::uint32_t index) {
  const std::uint32_t leaves = nodes_[index].leaves;
  if (leaves > parallel_leaves) {
    const std::uint32_t left = index + 1, right = second_child(index);
    parallel_pair([&] { fit_subtree(left); }, [&] { fit_subtree(right); });
    nodes_[index].box = nodes_[left].box;
    nodes_[index].box.add(nodes_[right].box);
    return;
  }
  // A subtree is contiguous and its children follow their parents: one sweep from its end.
  for (std::uint32_t i = index + 2 * leaves - 1; i-- > index;) {
    Node& node = nodes_[i];
    if (node.is_leaf()) {
      node.box = SmallBox();
      for (std::size_t k = leaf_begin(node); k < leaf_end(node); ++k) node.box.add(boxes_[k]);
    } else {
      node.box = nodes_[i + 1].box;
      node.box.add(nodes_[second_child(i)].box);
    }
  }
}

// Replaces a task by those of the children; false for a pair of leaves. Within one tree a task (n, n) stands
// for the pairs inside n, and every pair of different nodes appears once.
bool Bvh::split(const Bvh& a, const Bvh& b, Task task, std::vector<Task>& out) {
  const Node &na = a.nodes_[task.a], &nb = b.nodes_[task.b];
  if (na.is_leaf() && nb.is_leaf()) return false;
  const std::uint32_t a1 = task.a + 1, b1 = task.b + 1;
  if (&a == &b && task.a == task.b) {
    const std::uint32_t a2 = a.second_child(task.a);
    out.insert(out.end(), {{a1, a1}, {a1, a2}, {a2, a2}});
  } else if (na.leaves >= nb.leaves) {
    out.insert(out.end(), {{a1, task.b}, {a.second_child(task.a), task.b}});
  } else {
    out.insert(out.end(), {{task.a, b1}, {task.a, b.second_child(task.b)}});
  }
  return true;
}

void Bvh::leaf_pairs(const Bvh& a, const Bvh& b, Task task, std::vector<IndexPair>& found) {
  const Node &na = a.nodes_[task.a], &nb = b.nodes_[task.b];
  const bool same = &a == &b;
  for (std::size_t i = a.leaf_begin(na); i < a.leaf_end(na); ++i) {
    if (!a.boxes_[i].overlaps(nb.box)) continue;
    for (std::size_t j = same && task.a == task.b ? i + 1 : b.leaf_begin(nb); j < b.leaf_end(nb); ++j) {
      if (!a.boxes_[i].overlaps(b.boxes_[j])) continue;
      const int p = a.primitives_[i], q = b.primitives_[j];
      found.push_back(same ? IndexPair{std::min(p, q), std::max(p, q)} : IndexPair{p, q});
    }
  }
}

void Bvh::find_pairs(const Bvh& a, const Bvh& b, Task start, std::vector<IndexPair>& found) {
  std::vector<Task> stack = {start};
  while (!stack.empty()) {
    const Task task = stack.back();
    stack.pop_back();
    if (!a.nodes_[task.a].box.overlaps(b.nodes_[task.b].box)) continue;
    if (!split(a, b, task, stack)) leaf_pairs(a, b, task, found);
  }
}

std::vector<IndexPair> Bvh::pairs(const Bvh& a, const Bvh& b) {
  if (a.nodes_.empty() || b.nodes_.empty()) return {};
  std::vector<Task> tasks = {{0, 0}};
  for (bool grows = true; grows && tasks.size() < pair_tasks;) {
    std::vector<Task> next;
    grows = false;
    for (const Task task : tasks) {
      if (!a.nodes_[task.a].box.overlaps(b.nodes_[task.b].box)) continue;
      if (split(a, b, task, next)) {
        grows = true;
      } else {
        next.push_back(task);
      }
    }
    tasks = std::move(next);
  }
  std::vector<std::vector<IndexPair>> found(tasks.size());
  parallel_for(tasks.size(), 1, [&](std::size_t t) { find_pairs(a, b, tasks[t], found[t]); });
  std::vector<IndexPair> all;
  for (const std::vector<IndexPair>& some : found) all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::vector<IndexPair> Bvh::self_pairs() const { return pairs(*this, *this); }

std::vector<IndexPair> Bvh::pairs_with(const Bvh& other) const {
  assert(this != &other);
  return pairs(*this, other);
}

}  // namespace lope::geometry
