#include <lope/base/parallel.h>
#include <lope/matter/contact/pair_candidates.h>

#include <algorithm>
#include <cmath>

namespace lope::matter {
namespace {

using geometry::Bounds;
using geometry::Bvh;
using geometry::IndexPair;
using geometry::PairKind;
using geometry::SmallBox;

constexpr std::size_t grain = 256;

// Of the distance that two primitives of a body have at rest: more their reach and thickness may not ask for.
constexpr double part_of_rest = 0.9;

// Of ‖e₁‖²‖e₂‖² at rest: below, edges count as nearly parallel (NUMERICS §10).
constexpr double relative_parallel_limit = 1e-3;

template <class Primitive>
Bvh tree_of(std::span<const Vec3> x, const std::vector<Primitive>& primitives) {
  std::vector<Bounds> boxes(primitives.size());
  parallel_for(primitives.size(), 4096, [&](std::size_t i) {
    for (const int v : primitives[i]) boxes[i].add(x[static_cast<std::size_t>(v)]);
  });
  return Bvh(boxes);
}

Bvh tree_of(std::span<const Vec3> x, const std::vector<int>& points) {
  std::vector<Bounds> boxes(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) boxes[i].add(x[static_cast<std::size_t>(points[i])]);
  return Bvh(boxes);
}

void inflate(SmallBox& box, double by) {
  // Rounding of the sum included.
  for (std::size_t a = 0; a < 3; ++a) {
    const auto slack = static_cast<float>(by * (1 + 1e-6)) +
                       0x1p-22f * std::max(std::abs(box.min[a]), std::abs(box.max[a]));
    box.min[a] -= slack;
    box.max[a] += slack;
  }
}

}  // namespace

PairFinder::PairFinder(const ContactSurface& surface)
    : surface_(surface), points_({}), edges_({}), triangles_({}), boxes_(surface.nodes()) {
  build(surface.rest, std::vector<std::uint8_t>(surface.nodes(), 0));
}

void PairFinder::build(std::span<const Vec3> x, std::span<const std::uint8_t> led) {
  led_.assign(led.begin(), led.end());
  points_ = tree_of(x, surface_.points);
  edges_ = tree_of(x, surface_.edges);
  triangles_ = tree_of(x, surface_.triangles);
}

std::vector<CandidatePair> PairFinder::near(std::span<const Vec3> x, double margin) {
  return search(x, {}, margin, true);
}

std::vector<CandidatePair> PairFinder::swept(std::span<const Vec3> x, std::span<const Vec3> d, double margin) {
  return search(x, d, margin, false);
}

bool PairFinder::may_meet(int a, int b) const {
  const auto first = static_cast<std::size_t>(surface_.owner[static_cast<std::size_t>(a)]),
             second = static_cast<std::size_t>(surface_.owner[static_cast<std::size_t>(b)]);
  if (first == second) return surface_.owners[first].with_itself;
  return !surface_.apart || surface_.owners[first].led || surface_.owners[second].led;
}

// What the barrier of a pair is, from its owners.
void PairFinder::finish(CandidatePair& pair, double area) const {
  const int second = pair.kind == PairKind::EdgeEdge ? 2 : 1;
  const auto owner_of = [&](int k) { return surface_.owner[static_cast<std::size_t>(pair.node[static_cast<std::size_t>(k)])]; };
  const SurfaceOwner &a = surface_.owners[static_cast<std::size_t>(owner_of(0))],
                     &b = surface_.owners[static_cast<std::size_t>(owner_of(second))];
  const double pressure = a.led ? b.pressure : b.led ? a.pressure : std::min(a.pressure, b.pressure);
  pair.barrier.weight = pressure * area;
  pair.barrier.reach = std::min(a.reach, b.reach);
  pair.barrier.offset = a.half_thickness + b.half_thickness;
}

void PairFinder::heed_rest(CandidatePair& pair) const {
  const std::size_t second = pair.kind == PairKind::EdgeEdge ? 2 : 1;
  if (surface_.owner[static_cast<std::size_t>(pair.node[0])] != surface_.owner[static_cast<std::size_t>(pair.node[second])]) return;
  const double rest = std::sqrt(geometry::squared_distance(pair.kind, nodes_of(pair, surface_.rest)));
  const double part = std::min(1.0, part_of_rest * rest / pair.reach_and_offset());
  pair.barrier.reach *= part;
  pair.barrier.offset *= part;
}

template <class Make>
void PairFinder::collect(std::span<const IndexPair> found, const Make& make, std::vector<CandidatePair>& out) const {
  std::vector<std::vector<CandidatePair>> parts((found.size() + grain - 1) / grain);
  parallel_chunks(found.size(), grain, [&](std::size_t begin, std::size_t end) {
    std::vector<CandidatePair>& part = parts[begin / grain];
    for (std::size_t k = begin; k < end; ++k) {
      CandidatePair pair;
      if (make(found[k], pair)) part.push_back(pair);
    }
  });
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
}

std::vector<CandidatePair> PairFinder::search(std::span<const Vec3> x, std::span<const Vec3> d, double margin,
                                              bool with_reach) {
  parallel_for(boxes_.size(), 4096, [&](std::size_t v) {
    const SurfaceOwner& owner = surface_.owners[static_cast<std::size_t>(surface_.owner[v])];
    boxes_[v] = SmallBox::around(x[v]);
    if (!d.empty()) boxes_[v].add(SmallBox::around(Vec3(x[v] + d[v])));
    inflate(boxes_[v], owner.half_thickness + 0.5 * margin + (with_reach ? 0.5 * owner.reach : 0));
  });
  const auto box_of = [&](const auto& primitive) {
    SmallBox box;
    for (const int v : primitive) box.add(boxes_[static_cast<std::size_t>(v)]);
    return box;
  };
  points_.refit_by([&](int i) { return boxes_[static_cast<std::size_t>(surface_.points[static_cast<std::size_t>(i)])]; });
  edges_.refit_by([&](int i) { return box_of(surface_.edges[static_cast<std::size_t>(i)]); });

  // Far pairs are dropped as soon as their distance is known.
  const auto keeps = [&](CandidatePair& pair) {
    const double limit = pair.reach_and_offset() + margin;
    if (with_reach) {
      const double squared = geometry::squared_distance(pair.kind, nodes_of(pair, x));
      if (!(squared <= limit * limit)) return false;
      pair.distance = std::sqrt(squared);
    }
    if (with_reach || pair.barrier.offset > 0) heed_rest(pair);
    return true;
  };
  const auto all_led = [&](const std::array<int, 4>& node, int count) {
    return std::all_of(node.begin(), node.begin() + count, [&](int v) { return led_[static_cast<std::size_t>(v)] != 0; });
  };
  std::vector<CandidatePair> result;
  const auto point_pairs = [&](const std::vector<IndexPair>& found, PairKind kind, const auto& primitives) {
    collect(found, [&](const IndexPair& pair, CandidatePair& out) {
      const int p = surface_.points[static_cast<std::size_t>(pair[0])];
      const auto& other = primitives[static_cast<std::size_t>(pair[1])];
      if (std::find(other.begin(), other.end(), p) != other.end() || !may_meet(p, other[0])) return false;
      out.kind = kind;
      out.node[0] = p;
      std::copy(other.begin(), other.end(), out.node.begin() + 1);
      if (kind == PairKind::PointEdge) out.node[3] = p;
      if (all_led(out.node, 4)) return false;
      finish(out, 0.5 * surface_.point_area[static_cast<std::size_t>(pair[0])]);
      return keeps(out);
    }, result);
  };
  if (surface_.dimension == 2) {
    point_pairs(points_.pairs_with(edges_), PairKind::PointEdge, surface_.edges);
    return result;
  }
  triangles_.refit_by([&](int i) { return box_of(surface_.triangles[static_cast<std::size_t>(i)]); });
  point_pairs(points_.pairs_with(triangles_), PairKind::PointTriangle, surface_.triangles);
  collect(edges_.self_pairs(), [&](const IndexPair& pair, CandidatePair& out) {
    const auto first = static_cast<std::size_t>(pair[0]), second = static_cast<std::size_t>(pair[1]);
    const geometry::Edge &a = surface_.edges[first], &b = surface_.edges[second];
    if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1] || !may_meet(a[0], b[0])) return false;
    out.kind = PairKind::EdgeEdge;
    out.node = {a[0], a[1], b[0], b[1]};
    if (all_led(out.node, 4)) return false;
    finish(out, 0.25 * (surface_.edge_area[first] + surface_.edge_area[second]));
    const double lengths = surface_.edge_length[first] * surface_.edge_length[second];
    out.barrier.parallel_limit = relative_parallel_limit * lengths * lengths;
    return keeps(out);
  }, result);
  return result;
}

}  // namespace lope::matter
