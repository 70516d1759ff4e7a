#include <lope/geometry/planar_triangulation.h>
#include <lope/geometry/sheet_hierarchy.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>

namespace lope::geometry {
namespace {

// Of inner vertices, in mean edges: a lattice of equilateral triangles then loses every other row, a square one too.
constexpr double spacing = 1.75;

// A boundary that turns by more than this has a corner.
constexpr double corner_angle = std::numbers::pi / 6;

// Weights of vertices outside of all coarse triangles: farther out they are cut off.
constexpr double farthest = -0.5;

// A level is worth having if it has less than this part of the vertices.
constexpr double least_gain = 0.7;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// One patch at one level. Vertices are flat: a node may have several.
struct Patch {
  std::vector<int> node;
  std::vector<Vec2> flat;
  std::vector<std::vector<int>> loops;  // boundaries, closed
  std::vector<Triangle> triangles;
};

std::vector<Patch> patches_of(const Sheet& sheet) {
  // Pieces of flat vertices, numbered by their first triangle.
  std::vector<int> root(sheet.flat.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int i) {
    while (root[index(i)] != i) i = root[index(i)] = root[index(root[index(i)])];
    return i;
  };
  for (const Triangle& t : sheet.flat_triangles) {
    for (std::size_t k = 1; k < 3; ++k) root[index(find(t[k]))] = find(t[0]);
  }
  std::vector<Patch> patches;
  std::vector<int> patch_of(sheet.flat.size(), -1), local(sheet.flat.size(), -1);
  for (std::size_t t = 0; t < sheet.flat_triangles.size(); ++t) {
    int& patch = patch_of[index(find(sheet.flat_triangles[t][0]))];
    if (patch < 0) {
      patch = static_cast<int>(patches.size());
      patches.emplace_back();
    }
    Patch& mine = patches[index(patch)];
    Triangle corners;
    for (std::size_t k = 0; k < 3; ++k) {
      const int flat = sheet.flat_triangles[t][k];
      if (local[index(flat)] < 0) {
        local[index(flat)] = static_cast<int>(mine.node.size());
        mine.node.push_back(sheet.triangles[t][k]);
        mine.flat.push_back(sheet.flat[index(flat)]);
      }
      corners[k] = local[index(flat)];
    }
    mine.triangles.push_back(corners);
  }
  return patches;
}

// Edges with one triangle, joined to loops.
void find_loops(Patch& patch) {
  std::map<Edge, int> count;
  for (const Triangle& t : patch.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      ++count[{std::min(a, b), std::max(a, b)}];
    }
  }
  std::multimap<int, int> next;
  for (const Triangle& t : patch.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      if (count[{std::min(a, b), std::max(a, b)}] == 1) next.emplace(a, b);
    }
  }
  while (!next.empty()) {
    std::vector<int> loop;
    int at = next.begin()->first;
    for (auto found = next.begin(); found != next.end(); found = next.find(at)) {
      loop.push_back(at);
      at = found->second;
      next.erase(found);
    }
    patch.loops.push_back(std::move(loop));
  }
}

// The boundaries of all patches as a graph of nodes.
using BorderGraph = std::vector<std::vector<int>>;

BorderGraph border_graph(const std::vector<Patch>& patches, std::size_t nodes) {
  BorderGraph graph(nodes);
  for (const Patch& patch : patches) {
    for (const std::vector<int>& loop : patch.loops) {
      for (std::size_t k = 0; k < loop.size(); ++k) {
        const int a = patch.node[index(loop[k])], b = patch.node[index(loop[(k + 1) % loop.size()])];
        if (a == b) continue;
        graph[index(a)].push_back(b);
        graph[index(b)].push_back(a);
      }
    }
  }
  for (std::vector<int>& neighbours : graph) {
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  }
  return graph;
}

std::vector<bool> find_corners(const std::vector<Patch>& patches, const BorderGraph& graph) {
  std::vector<bool> corner(graph.size(), false);
  for (std::size_t i = 0; i < graph.size(); ++i) corner[i] = !graph[i].empty() && graph[i].size() != 2;
  for (const Patch& patch : patches) {
    for (const std::vector<int>& loop : patch.loops) {
      for (std::size_t k = 0; k < loop.size(); ++k) {
        const Vec2& here = patch.flat[index(loop[k])];
        const Vec2 in = here - patch.flat[index(loop[(k + loop.size() - 1) % loop.size()])];
        const Vec2 out = patch.flat[index(loop[(k + 1) % loop.size()])] - here;
        const double turn = std::atan2(in[0] * out[1] - in[1] * out[0], in.dot(out));
        if (std::abs(turn) > corner_angle) corner[index(patch.node[index(loop[k])])] = true;
      }
    }
  }
  return corner;
}

// Marks the ends of about `pieces` equal pieces of a chain, its own ends excluded.
void keep_between(const std::vector<int>& chain, int pieces, std::vector<bool>& kept) {
  const auto segments = static_cast<double>(chain.size() - 1);
  for (int j = 1; j < pieces; ++j) kept[index(chain[static_cast<std::size_t>(std::lround(j * segments / pieces))])] = true;
}

void keep_borders(const BorderGraph& graph, const std::vector<bool>& corner, std::vector<bool>& kept) {
  std::vector<bool> passed(graph.size(), false);
  std::map<Edge, int> chains;  // between two corners
  const auto follow = [&](int from, int to) {
    std::vector<int> chain = {from, to};
    while (!corner[index(chain.back())] && chain.back() != from) {
      passed[index(chain.back())] = true;
      const std::vector<int>& both = graph[index(chain.back())];
      chain.push_back(both[0] == chain[chain.size() - 2] ? both[1] : both[0]);
    }
    return chain;
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!corner[i]) continue;
    kept[i] = true;
    for (const int neighbour : graph[i]) {
      if (passed[index(neighbour)]) continue;
      const std::vector<int> chain = follow(static_cast<int>(i), neighbour);
      const int last = chain.back(), segments = static_cast<int>(chain.size()) - 1;
      // A loop keeps three sides, the second chain between the same corners two.
      const int others = chains[{std::min(static_cast<int>(i), last), std::max(static_cast<int>(i), last)}]++;
      const int least = last == static_cast<int>(i) ? 3 : others > 0 ? 2 : 1;
      keep_between(chain, std::max(segments / 2, std::min(least, segments)), kept);
    }
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph[i].empty() || corner[i] || passed[i]) continue;
    passed[i] = kept[i] = true;
    const std::vector<int> loop = follow(static_cast<int>(i), graph[i][0]);
    const int segments = static_cast<int>(loop.size()) - 1;
    keep_between(loop, std::max(segments / 2, std::min(3, segments)), kept);
  }
}

std::vector<std::vector<int>> neighbours_of(const Patch& patch) {
  std::vector<std::vector<int>> result(patch.node.size());
  for (const Triangle& t : patch.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      result[index(t[k])].push_back(t[(k + 1) % 3]);
      result[index(t[k])].push_back(t[(k + 2) % 3]);
    }
  }
  for (std::vector<int>& list : result) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return result;
}

// The order of inner vertices: by their distance from the boundary in edges, then by number.
std::vector<int> from_border_inwards(const Patch& patch, const std::vector<std::vector<int>>& neighbours,
                                     const std::vector<bool>& inner) {
  std::vector<int> order, layer;
  std::vector<bool> seen(patch.node.size(), false);
  for (std::size_t v = 0; v < inner.size(); ++v) {
    if (!inner[v]) layer.push_back(static_cast<int>(v));
  }
  if (layer.empty()) layer.push_back(0);  // a closed surface has no boundary
  for (const int v : layer) seen[index(v)] = true;
  while (!layer.empty()) {
    for (const int v : layer) {
      if (inner[index(v)]) order.push_back(v);
    }
    std::vector<int> next;
    for (const int v : layer) {
      for (const int w : neighbours[index(v)]) {
        if (seen[index(w)]) continue;
        seen[index(w)] = true;
        next.push_back(w);
      }
    }
    std::sort(next.begin(), next.end());
    layer = std::move(next);
  }
  return order;
}

void keep_inner(const Patch& patch, const BorderGraph& graph, std::vector<bool>& kept) {
  const std::vector<std::vector<int>> neighbours = neighbours_of(patch);
  std::vector<bool> inner(patch.node.size());
  std::vector<double> edge(patch.node.size(), 0.0);
  for (std::size_t v = 0; v < inner.size(); ++v) {
    inner[v] = graph[index(patch.node[v])].empty();
    for (const int w : neighbours[v])
      edge[v] += (patch.flat[index(w)] - patch.flat[v]).norm() / static_cast<double>(neighbours[v].size());
  }
  std::vector<int> seen(patch.node.size(), -1), near;
  for (const int v : from_border_inwards(patch, neighbours, inner)) {
    const auto distance = [&](int w) { return (patch.flat[index(w)] - patch.flat[index(v)]).norm(); };
    bool free = true;
    near.assign(1, v);
    seen[index(v)] = v;
    for (std::size_t i = 0; i < near.size() && free; ++i) {
      for (const int w : neighbours[index(near[i])]) {
        if (seen[index(w)] == v) continue;
        seen[index(w)] = v;
        const double away = distance(w);
        if (away >= spacing * std::max(edge[index(v)], edge[index(w)])) continue;
        near.push_back(w);
        if (kept[index(patch.node[index(w)])] && away < 0.5 * spacing * (edge[index(v)] + edge[index(w)])) free = false;
      }
    }
    if (free) kept[index(patch.node[index(v)])] = true;
  }
}

// A patch without the vertices that are not kept, and its triangulation; nothing where too little is left of it.
struct Coarsened {
  Patch patch;
  std::vector<int> finer;  // per vertex
  std::optional<PlanarTriangulation> triangulation;  // none: all vertices are kept
};
std::optional<Coarsened> coarsened(const Patch& patch, const std::vector<bool>& kept, const std::vector<int>& number) {
  Coarsened result;
  std::vector<int> local(patch.node.size(), -1);
  for (std::size_t v = 0; v < patch.node.size(); ++v) {
    if (!kept[index(patch.node[v])]) continue;
    local[v] = static_cast<int>(result.finer.size());
    result.finer.push_back(static_cast<int>(v));
    result.patch.node.push_back(number[index(patch.node[v])]);
    result.patch.flat.push_back(patch.flat[v]);
  }
  std::vector<Edge> borders;
  for (const std::vector<int>& loop : patch.loops) {
    std::vector<int> shorter;
    for (const int v : loop) {
      if (local[index(v)] >= 0) shorter.push_back(local[index(v)]);
    }
    for (std::size_t k = 0; k < shorter.size(); ++k) borders.push_back({shorter[k], shorter[(k + 1) % shorter.size()]});
    result.patch.loops.push_back(std::move(shorter));
  }
  if (result.finer.size() == patch.node.size()) {
    result.patch.triangles = patch.triangles;
    return result;
  }
  result.triangulation.emplace(result.patch.flat, borders);
  result.patch.triangles = result.triangulation->triangles();
  if (result.patch.triangles.empty()) return {};
  return result;
}

// Rows of the vertices that are not kept.
void interpolate(const Patch& patch, const std::vector<bool>& kept, const Coarsened& coarse, SheetLevel& level) {
  for (std::size_t v = 0; v < patch.node.size(); ++v) {
    const std::size_t node = index(patch.node[v]);
    if (kept[node] || level.weights[node][0] != 0) continue;
    const auto place = coarse.triangulation->locate(patch.flat[v]);
    const Triangle& corners = coarse.patch.triangles[index(place->triangle)];
    std::array<double, 3> weights = place->weights;
    if (std::min({weights[0], weights[1], weights[2]}) < farthest) {
      double sum = 0;
      for (double& weight : weights) sum += weight = std::max(weight, 0.0);
      for (double& weight : weights) weight /= sum;
    }
    // The largest first, so that a row that is there is known by its first weight.
    std::array<std::size_t, 3> order = {0, 1, 2};
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    for (std::size_t k = 0; k < 3; ++k) {
      level.parents[node][k] = coarse.patch.node[index(corners[order[k]])];
      level.weights[node][k] = weights[order[k]];
    }
  }
}

// One level down; `patches` and `corner` become those of the coarser level.
SheetLevel coarsen(std::vector<Patch>& patches, std::vector<bool>& corner) {
  const std::size_t nodes = corner.size();
  const BorderGraph graph = border_graph(patches, nodes);
  std::vector<bool> kept(nodes, false);
  keep_borders(graph, corner, kept);
  for (const Patch& patch : patches) keep_inner(patch, graph, kept);

  SheetLevel level;
  std::vector<std::optional<Coarsened>> coarse(patches.size());
  for (bool complete = false; !complete;) {
    level.kept.clear();
    std::vector<int> number(nodes, -1);
    for (std::size_t i = 0; i < nodes; ++i) {
      if (!kept[i]) continue;
      number[i] = static_cast<int>(level.kept.size());
      level.kept.push_back(static_cast<int>(i));
    }
    complete = true;
    for (std::size_t p = 0; p < patches.size(); ++p) {
      coarse[p] = coarsened(patches[p], kept, number);
      if (coarse[p]) continue;
      for (const int node : patches[p].node) kept[index(node)] = true;  // it stays as it is
      complete = false;
      break;
    }
  }
  level.parents.assign(nodes, {0, 0, 0});
  level.weights.assign(nodes, {0, 0, 0});
  std::vector<bool> coarse_corner(level.kept.size());
  for (std::size_t i = 0; i < level.kept.size(); ++i) {
    level.parents[index(level.kept[i])] = {static_cast<int>(i), 0, 0};
    level.weights[index(level.kept[i])] = {1, 0, 0};
    coarse_corner[i] = corner[index(level.kept[i])];
  }
  for (std::size_t p = 0; p < patches.size(); ++p) {
    interpolate(patches[p], kept, *coarse[p], level);
    patches[p] = std::move(coarse[p]->patch);
  }
  corner = std::move(coarse_corner);
  return level;
}

}  // namespace

std::vector<SheetLevel> coarsen_sheet(const Sheet& sheet, int coarsest) {
  std::vector<SheetLevel> levels;
  std::size_t nodes = sheet.vertices.size();
  if (nodes <= index(coarsest)) return levels;
  std::vector<Patch> patches = patches_of(sheet);
  for (Patch& patch : patches) find_loops(patch);
  std::vector<bool> corner = find_corners(patches, border_graph(patches, nodes));
  while (nodes > index(coarsest)) {
    SheetLevel level = coarsen(patches, corner);
    if (static_cast<double>(level.kept.size()) > least_gain * static_cast<double>(nodes)) break;
    nodes = level.kept.size();
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace lope::geometry
