#include <lope/linalg/sparse_cholesky_plan.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace lope::linalg {
namespace {

// Subtrees have at most this part of the work.
constexpr double subtree_part = 1.0 / 32;

// Positions on two stacks that grow towards each other.
class TwoStacks {
 public:
  // Places `size` numbers on the stack `end` (0 or 1) for front s.
  void push(int s, int end, Offset size) {
    placed_.push_back({s, end, end == 0 ? top_[0] : top_[1] + size});
    top_[end] += size;
    peak_ = std::max(peak_, top_[0] + top_[1]);
  }
  void pop(int end, Offset size) { top_[end] -= size; }
  Offset peak() const { return peak_; }
  // Once all is placed: the positions in an array of peak() numbers that starts at `base`.
  void assign(std::vector<Front>& fronts, Offset base) const {
    for (const Placed& p : placed_) fronts[p.front].update = base + (p.end == 0 ? p.at : peak_ - p.at);
  }

 private:
  struct Placed {
    int front;
    int end;
    Offset at;
  };
  std::vector<Placed> placed_;
  Offset top_[2] = {0, 0};
  Offset peak_ = 0;
};

template <class T>
class Planner {
 public:
  Planner(const SymbolicCholesky& symbolic, int block_size, const FrontLayout<T>& layout)
      : symbolic_(symbolic), block_size_(block_size), layout_(layout) {}

  FrontPlan plan() {
    size_fronts();
    cut_tree();
    place_updates();
    return std::move(plan_);
  }

 private:
  void size_fronts() {
    plan_.fronts.assign(symbolic_.supernodes(), {});
    for (int s = 0; s < symbolic_.supernodes(); ++s) {
      Front& front = plan_.fronts[s];
      front.w = symbolic_.columns(s) * block_size_;
      front.m = static_cast<int>(symbolic_.rows(s).size()) * block_size_;
      front.panel = plan_.factor_size;
      front.vector = plan_.vectors_size;
      plan_.factor_size += layout_.diagonal_size(front.w) + layout_.below_size(front.w, front.m);
      plan_.factor_size = (plan_.factor_size + line - 1) / line * line;
      plan_.vectors_size += layout_.padded(front.m);
      plan_.largest_w = std::max(plan_.largest_w, front.w);
      plan_.largest_n = std::max(plan_.largest_n, front.w + front.m);
      plan_.flops += front_flops(front.w, front.m);
    }
  }

  void cut_tree() {
    const int count = symbolic_.supernodes();
    std::vector<double> work(count, 0);
    std::vector<int> first(count);
    std::iota(first.begin(), first.end(), 0);
    double total = 0;
    for (int s = 0; s < count; ++s) {
      const Front& front = plan_.fronts[s];
      const double own = front_flops(front.w, front.m) + 10.0 * front.m * front.m + 1000;
      work[s] += own;
      total += own;
      if (!symbolic_.children(s).empty()) first[s] = first[symbolic_.children(s).front()];
      if (symbolic_.parent[s] >= 0) work[symbolic_.parent[s]] += work[s];
    }
    for (int s = 0; s < count; ++s) {
      if (work[s] > subtree_part * total) {
        plan_.top.push_back(s);
      } else if (symbolic_.parent[s] < 0 || work[symbolic_.parent[s]] > subtree_part * total) {
        plan_.subtrees.push_back({first[s], s, work[s]});
      }
    }
    std::stable_sort(plan_.subtrees.begin(), plan_.subtrees.end(),
                     [](const Subtree& a, const Subtree& b) { return a.work > b.work; });
  }

  void place_updates() {
    const int count = symbolic_.supernodes();
    std::vector<int> parity(count, 0);
    for (int s = count - 1; s >= 0; --s) {
      if (symbolic_.parent[s] >= 0) parity[s] = 1 - parity[symbolic_.parent[s]];
    }
    for (const Subtree& subtree : plan_.subtrees) {
      Front& root = plan_.fronts[subtree.last];
      root.kept = true;
      root.update = plan_.kept_size;
      plan_.kept_size += update_size(subtree.last);
    }
    for (const int s : plan_.top) plan_.fronts[s].kept = true;
    // The children's update matrices leave when that of s is complete; `here` tells which of them are on the
    // stacks.
    const auto process = [&](TwoStacks& stacks, int s, const auto& here) {
      if (here(s)) stacks.push(s, parity[s], update_size(s));
      for (const int c : symbolic_.children(s)) {
        if (here(c)) stacks.pop(parity[c], update_size(c));
      }
    };
    for (const Subtree& subtree : plan_.subtrees) {
      TwoStacks stacks;
      for (int s = subtree.first; s <= subtree.last; ++s) {
        process(stacks, s, [&](int node) { return node != subtree.last; });
      }
      stacks.assign(plan_.fronts, 0);
      plan_.stack_size = std::max(plan_.stack_size, stacks.peak());
    }
    std::vector<bool> in_top(count, false);
    for (const int s : plan_.top) in_top[s] = true;
    TwoStacks stacks;
    for (const int s : plan_.top) process(stacks, s, [&](int node) { return in_top[node]; });
    stacks.assign(plan_.fronts, plan_.kept_size);
    plan_.kept_size += stacks.peak();
  }

  Offset update_size(int s) const { return (layout_.update_size(plan_.fronts[s].m) + line - 1) / line * line; }

  static constexpr Offset line = 64 / sizeof(T);  // numbers in a cache line

  const SymbolicCholesky& symbolic_;
  int block_size_;
  const FrontLayout<T>& layout_;
  FrontPlan plan_;
};

}  // namespace

template <class T>
FrontPlan plan_fronts(const SymbolicCholesky& symbolic, int block_size, const FrontLayout<T>& layout) {
  return Planner<T>(symbolic, block_size, layout).plan();
}

template FrontPlan plan_fronts(const SymbolicCholesky&, int, const FrontLayout<double>&);
template FrontPlan plan_fronts(const SymbolicCholesky&, int, const FrontLayout<float>&);

}  // namespace lope::linalg
