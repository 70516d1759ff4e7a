#include <lope/linalg/nested_dissection.h>
#include <lope/linalg/sparse_cholesky_symbolic.h>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace lope::linalg {
namespace {

// The graph of the matrix in some order of its rows.
class OrderedGraph {
 public:
  OrderedGraph(const BlockPattern& pattern, std::vector<int> order)
      : pattern_(pattern), order_(std::move(order)), position_(order_.size()) {
    for (std::size_t k = 0; k < order_.size(); ++k) position_[order_[k]] = static_cast<int>(k);
  }
  int size() const { return static_cast<int>(order_.size()); }
  const std::vector<int>& order() const { return order_; }

  // body(position of the neighbour, slot) for every block in the row at position k, its diagonal included.
  template <class Body>
  void for_row(int k, const Body& body) const {
    const int row = order_[k];
    for (std::int64_t slot = pattern_.row_start()[row]; slot < pattern_.row_start()[row + 1]; ++slot) {
      body(position_[pattern_.column()[slot]], slot);
    }
  }

 private:
  const BlockPattern& pattern_;
  std::vector<int> order_;
  std::vector<int> position_;
};

// Parents in the elimination tree (Liu 1986), −1 for roots.
std::vector<int> elimination_tree(const OrderedGraph& graph) {
  std::vector<int> parent(graph.size(), -1), ancestor(graph.size(), -1);
  for (int k = 0; k < graph.size(); ++k) {
    graph.for_row(k, [&](int i, std::int64_t) {
      while (i != -1 && i < k) {
        const int next = ancestor[i];
        ancestor[i] = k;
        if (next == -1) parent[i] = k;
        i = next;
      }
    });
  }
  return parent;
}

// The children of every node of a forest in compressed rows, in ascending order; row n holds the roots.
struct Children {
  explicit Children(const std::vector<int>& parent) : start(parent.size() + 2, 0), child(parent.size()) {
    const auto n = static_cast<int>(parent.size());
    const auto row = [&](int i) { return parent[i] < 0 ? n : parent[i]; };
    for (int i = 0; i < n; ++i) ++start[row(i) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<int> next(start.begin(), start.end() - 1);
    for (int i = 0; i < n; ++i) child[next[row(i)]++] = i;
  }
  std::span<int> of(int node) {
    return {child.data() + start[node], static_cast<std::size_t>(start[node + 1] - start[node])};
  }
  std::vector<int> start;
  std::vector<int> child;
};

// The nodes of the forest, each after its children; children in the order of their list.
std::vector<int> postorder(Children& children) {
  const auto n = static_cast<int>(children.child.size());
  std::vector<int> result, stack;
  result.reserve(n);
  const auto push_children = [&](int node) {
    const auto list = children.of(node);
    stack.insert(stack.end(), list.rbegin(), list.rend());
  };
  push_children(n);
  std::vector<bool> expanded(n, false);
  while (!stack.empty()) {
    const int node = stack.back();
    if (expanded[node]) {
      stack.pop_back();
      result.push_back(node);
    } else {
      expanded[node] = true;
      push_children(node);
    }
  }
  return result;
}

// The number of rows below the diagonal in every column of the factor: row i has an entry in the columns on
// the paths of the tree from its neighbours to i.
std::vector<int> column_counts(const OrderedGraph& graph, const std::vector<int>& parent) {
  std::vector<int> count(graph.size(), 0), seen(graph.size(), -1);
  for (int i = 0; i < graph.size(); ++i) {
    seen[i] = i;
    graph.for_row(i, [&](int k, std::int64_t) {
      for (; k < i && seen[k] != i; k = parent[k]) {
        ++count[k];
        seen[k] = i;
      }
    });
  }
  return count;
}

// A supernode under construction, in blocks. Merged ones point to what they were merged into.
struct Node {
  int w = 0;
  int m = 0;
  int parent = -1;
  bool merged = false;
};

// Runs of columns with the same structure; fills in the supernode of each column.
std::vector<Node> find_supernodes(const std::vector<int>& parent, const std::vector<int>& count,
                                  std::vector<int>& node_of) {
  const auto n = static_cast<int>(parent.size());
  std::vector<Node> nodes;
  node_of.resize(n);
  for (int j = 0; j < n; ++j) {
    const bool joins = j > 0 && parent[j - 1] == j && count[j - 1] == count[j] + 1;
    if (!joins) nodes.emplace_back();
    node_of[j] = static_cast<int>(nodes.size()) - 1;
    ++nodes.back().w;
    nodes.back().m = count[j];
  }
  for (int j = 0; j < n; ++j) {
    const bool last = j + 1 == n || node_of[j + 1] != node_of[j];
    if (last && parent[j] >= 0) nodes[node_of[j]].parent = node_of[parent[j]];
  }
  return nodes;
}

// Nanoseconds for a front of w columns and m rows below: a constant, flops, entries of the panel that are
// cleared and later read in solves, entries of the update matrix that the parent adds. Only ratios matter.
double front_time(double w, double m) {
  return 1500 + front_flops(w, m) / 20 + 0.7 * w * (w + m) + 0.8 * m * m / 2;
}

// Merges children into parents wherever that saves time. Nodes are in postorder.
void amalgamate(std::vector<Node>& nodes, int block_size) {
  const double b = block_size;
  std::vector<int> parent(nodes.size());
  for (std::size_t s = 0; s < nodes.size(); ++s) parent[s] = nodes[s].parent;
  Children original(parent);
  std::vector<std::vector<int>> children(nodes.size());
  for (int s = 0; s < static_cast<int>(nodes.size()); ++s) {
    const auto list = original.of(s);
    std::vector<int> waiting(list.begin(), list.end());
    // The last one has the most rows in common with the parent.
    const auto by_rows = [&](int a, int c) {
      return nodes[a].m != nodes[c].m ? nodes[a].m < nodes[c].m : a < c;
    };
    std::sort(waiting.begin(), waiting.end(), by_rows);
    Node& node = nodes[s];
    while (!waiting.empty()) {
      const int c = waiting.back();
      waiting.pop_back();
      const double separate = front_time(b * nodes[c].w, b * nodes[c].m) + front_time(b * node.w, b * node.m);
      if (front_time(b * (node.w + nodes[c].w), b * node.m) < separate) {
        node.w += nodes[c].w;
        nodes[c].merged = true;
        waiting.insert(waiting.end(), children[c].begin(), children[c].end());
        for (const int grandchild : children[c]) nodes[grandchild].parent = s;
        children[c].clear();
      } else {
        children[s].push_back(c);
      }
    }
  }
}

// Orders the children of each node so that few update matrices wait at the same time (Liu 1986): those whose
// own factorisation needs most beyond what they leave come first.
void order_children(Children& children, const std::vector<Node>& nodes) {
  std::vector<double> peak(nodes.size(), 0);
  const auto left = [&](int s) { return double(nodes[s].m) * nodes[s].m; };
  for (int s = 0; s <= static_cast<int>(nodes.size()); ++s) {
    const auto list = children.of(s);
    std::sort(list.begin(), list.end(), [&](int a, int c) {
      const double excess_a = peak[a] - left(a), excess_c = peak[c] - left(c);
      return excess_a != excess_c ? excess_a > excess_c : a < c;
    });
    if (s == static_cast<int>(nodes.size())) break;
    double waiting = 0;
    for (const int c : list) {
      peak[s] = std::max(peak[s], waiting + peak[c]);
      waiting += left(c);
    }
    peak[s] = std::max(peak[s], waiting + left(s));
  }
}

// The final numbering: supernodes in postorder, their columns one after another.
void number(const std::vector<Node>& nodes, const std::vector<int>& node_of, const std::vector<int>& order,
            SymbolicCholesky& result) {
  // What every supernode was merged into in the end; parents come later, so that one pass from the end is
  // enough.
  std::vector<int> target(nodes.size());
  for (int s = static_cast<int>(nodes.size()) - 1; s >= 0; --s) {
    target[s] = nodes[s].merged ? target[nodes[s].parent] : s;
  }
  std::vector<int> kept, index(nodes.size(), -1);
  for (int s = 0; s < static_cast<int>(nodes.size()); ++s) {
    if (nodes[s].merged) continue;
    index[s] = static_cast<int>(kept.size());
    kept.push_back(s);
  }
  std::vector<Node> final_nodes;
  std::vector<int> parent;
  for (const int s : kept) {
    parent.push_back(nodes[s].parent < 0 ? -1 : index[target[nodes[s].parent]]);
    final_nodes.push_back(nodes[s]);
  }
  Children children(parent);
  order_children(children, final_nodes);
  const std::vector<int> post = postorder(children);

  std::vector<int> place(kept.size());
  for (std::size_t k = 0; k < post.size(); ++k) place[post[k]] = static_cast<int>(k);
  result.first_column.assign(kept.size() + 1, 0);
  for (std::size_t k = 0; k < post.size(); ++k) {
    result.first_column[k + 1] = result.first_column[k] + final_nodes[post[k]].w;
  }
  std::vector<int> next(result.first_column.begin(), result.first_column.end() - 1);
  result.order.resize(order.size());
  for (std::size_t j = 0; j < order.size(); ++j) {
    result.order[next[place[index[target[node_of[j]]]]]++] = order[j];
  }
  result.parent.resize(kept.size());
  for (std::size_t k = 0; k < post.size(); ++k) {
    result.parent[k] = parent[post[k]] < 0 ? -1 : place[parent[post[k]]];
  }
  Children lists(result.parent);
  result.child_start.assign(lists.start.begin(), lists.start.end() - 1);
  result.child.assign(lists.child.begin(), lists.child.begin() + result.child_start.back());
}

// Rows of every supernode: those of the matrix and of the children.
void find_rows(const OrderedGraph& graph, SymbolicCholesky& result) {
  result.row_start.assign(1, 0);
  std::vector<int> seen(graph.size(), -1);
  for (int s = 0; s < result.supernodes(); ++s) {
    const int begin = result.first_column[s], end = result.first_column[s + 1];
    const auto first = static_cast<std::ptrdiff_t>(result.row.size());
    const auto take = [&](int row) {
      if (row < end || seen[row] == s) return;
      seen[row] = s;
      result.row.push_back(row);
    };
    for (int j = begin; j < end; ++j) graph.for_row(j, [&](int i, std::int64_t) { take(i); });
    for (const int c : result.children(s)) {
      for (std::int64_t k = result.row_start[c]; k < result.row_start[c + 1]; ++k) take(result.row[k]);
    }
    std::sort(result.row.begin() + first, result.row.end());
    result.row_start.push_back(static_cast<std::int64_t>(result.row.size()));
  }
}

// Where the rows of every supernode are in its parent's front, and the blocks of the matrix in every front.
void find_places(const OrderedGraph& graph, SymbolicCholesky& result) {
  const int count = result.supernodes();
  std::vector<std::vector<SymbolicCholesky::Run>> runs(count);
  std::vector<int> place(graph.size());  // of a row in the front at hand
  result.entry_start.assign(1, 0);
  for (int s = 0; s < count; ++s) {
    const int begin = result.first_column[s], end = result.first_column[s + 1], w = end - begin;
    for (int j = begin; j < end; ++j) place[j] = j - begin;
    const auto below = result.rows(s);
    for (std::size_t i = 0; i < below.size(); ++i) place[below[i]] = w + static_cast<int>(i);
    for (int j = begin; j < end; ++j) {
      graph.for_row(j, [&](int i, std::int64_t slot) {
        if (i >= j) result.entry.push_back({slot, place[i], j - begin});
      });
    }
    result.entry_start.push_back(static_cast<std::int64_t>(result.entry.size()));
    for (const int c : result.children(s)) {
      const auto rows = result.rows(c);
      for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        const int at = place[rows[i]];
        auto& list = runs[c];
        if (!list.empty() && at == list.back().parent + list.back().length && at != w) {
          ++list.back().length;
        } else {
          list.push_back({i, at, 1});
        }
      }
    }
  }
  result.run_start.assign(1, 0);
  result.run_below.clear();
  for (int s = 0; s < count; ++s) {
    const int w = result.parent[s] < 0 ? 0 : result.columns(result.parent[s]);
    const auto below =
        std::find_if(runs[s].begin(), runs[s].end(), [w](const auto& run) { return run.parent >= w; });
    result.run_below.push_back(result.run_start.back() + (below - runs[s].begin()));
    result.run.insert(result.run.end(), runs[s].begin(), runs[s].end());
    result.run_start.push_back(static_cast<std::int64_t>(result.run.size()));
  }
}

std::vector<int> reordered(const std::vector<int>& order, const std::vector<int>& by) {
  std::vector<int> result(order.size());
  for (std::size_t k = 0; k < by.size(); ++k) result[k] = order[by[k]];
  return result;
}

}  // namespace

double front_flops(double w, double m) {
  const double n = w + m;  // Σ (n − k)² for k < w
  return w * n * n - w * (w - 1) * n + (w - 1) * w * (2 * w - 1) / 6;
}

CholeskySize cholesky_size(const BlockPattern& pattern, int block_size) {
  const SymbolicCholesky symbolic = analyze(pattern, block_size);
  CholeskySize size;
  for (int s = 0; s < symbolic.supernodes(); ++s) {
    const double w = symbolic.columns(s) * block_size;
    const double m = static_cast<double>(symbolic.rows(s).size()) * block_size;
    size.entries += w * (w + m);
    size.time += front_time(w, m);
  }
  return size;
}

SymbolicCholesky analyze(const BlockPattern& pattern, int block_size, std::vector<int> order) {
  if (order.empty()) order = nested_dissection(pattern);
  {
    Children tree(elimination_tree(OrderedGraph(pattern, order)));
    order = reordered(order, postorder(tree));
  }
  SymbolicCholesky result;
  {
    const OrderedGraph graph(pattern, order);
    const std::vector<int> parent = elimination_tree(graph);
    std::vector<int> node_of;
    std::vector<Node> nodes = find_supernodes(parent, column_counts(graph, parent), node_of);
    amalgamate(nodes, block_size);
    number(nodes, node_of, order, result);
  }
  const OrderedGraph graph(pattern, result.order);
  find_rows(graph, result);
  find_places(graph, result);
  return result;
}

}  // namespace lope::linalg
