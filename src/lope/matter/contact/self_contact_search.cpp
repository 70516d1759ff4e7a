#include <lope/base/parallel.h>
#include <lope/geometry/bvh.h>
#include <lope/geometry/closest_point.h>
#include <lope/geometry/topology.h>
#include <lope/matter/contact/self_contact_search.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <Eigen/Geometry>

namespace lope::matter {

namespace {

using geometry::Bvh;
using geometry::ClosestFeature;
using geometry::Mesh;
using geometry::SmallBox;

constexpr std::size_t point_grain = 256;
constexpr std::size_t pair_grain = 64;

// What differs between the plane and space.
template <int d>
struct Cells;

template <>
struct Cells<3> {
  static const std::vector<geometry::Tetrahedron>& elements(const Mesh& mesh) { return mesh.tetrahedra; }
  static std::vector<geometry::Triangle> surface(const Mesh& mesh) {
    return geometry::boundary_triangles(mesh.tetrahedra);
  }
  // Along the outward normal of a surface face.
  static Vec3 normal(const std::array<Vec3, 3>& x) { return (x[1] - x[0]).cross(x[2] - x[0]); }
  static ClosestFeature closest(const Vec3& p, const std::array<Vec3, 3>& x) {
    return geometry::closest_on_triangle(p, x[0], x[1], x[2]);
  }
  // Barycentric coordinates times the element's measure; both signs of it are welcome.
  static std::pair<Vec<4>, double> coordinates(const std::array<Vec3, 4>& x, const Vec3& p) {
    const Vec3 e1 = x[1] - x[0], e2 = x[2] - x[0], e3 = x[3] - x[0], r = p - x[0];
    const Vec3 n1 = e2.cross(e3), n23 = e1.cross(r);
    const double measure = e1.dot(n1);
    const double b1 = r.dot(n1), b2 = n23.dot(e3), b3 = -n23.dot(e2);
    return {Vec<4>(measure - b1 - b2 - b3, b1, b2, b3), measure};
  }
};

template <>
struct Cells<2> {
  static const std::vector<geometry::Triangle>& elements(const Mesh& mesh) { return mesh.triangles; }
  static std::vector<geometry::Edge> surface(const Mesh& mesh) {
    return geometry::boundary_edges(mesh.triangles);
  }
  static Vec2 normal(const std::array<Vec2, 2>& x) { return {x[1][1] - x[0][1], x[0][0] - x[1][0]}; }
  static ClosestFeature closest(const Vec2& p, const std::array<Vec2, 2>& x) {
    return geometry::closest_on_segment<2>(p, x[0], x[1]);
  }
  static std::pair<Vec3, double> coordinates(const std::array<Vec2, 3>& x, const Vec2& p) {
    const auto cross = [](const Vec2& a, const Vec2& b) { return a[0] * b[1] - a[1] * b[0]; };
    const Vec2 e1 = x[1] - x[0], e2 = x[2] - x[0], r = p - x[0];
    const double measure = cross(e1, e2), b1 = cross(r, e2), b2 = cross(e1, r);
    return {Vec3(measure - b1 - b2, b1, b2), measure};
  }
};

// Barycentric coordinates of a point inside an element (its boundary included); none: outside or no element.
template <int d>
std::optional<Vec<d + 1>> inside(const std::array<Vec<d>, d + 1>& x, const Vec<d>& p) {
  auto [b, measure] = Cells<d>::coordinates(x, p);
  if (measure < 0) {
    b = -b;
    measure = -measure;
  }
  if (!(b.minCoeff() >= 0) || !(measure > 0)) return std::nullopt;
  return Vec<d + 1>(b / measure);
}

template <int d>
struct Body {
  using Element = std::array<int, d + 1>;
  using Face = std::array<int, d>;

  int first_node = 0;
  double stiffness = 0;
  bool with_itself = true;
  std::vector<Vec<d>> rest;
  std::vector<Element> elements;  // nodes count from the body's first
  std::vector<Face> surface;
  std::vector<Vec<d>> surface_rest;  // centroids
  Bvh element_tree, surface_tree;
  std::vector<int> surface_of_element;  // the face nearest to its centre, at rest
};

template <int d>
std::vector<int> nearest_surface_at_rest(const Body<d>& body) {
  std::vector<int> nearest(body.elements.size());
  parallel_for(nearest.size(), 256, [&](std::size_t e) {
    Vec<d> center = Vec<d>::Zero();
    for (const int v : body.elements[e]) center += body.rest[v] / (d + 1);
    const auto distance = [&](int f, const Vec3&) {
      std::array<Vec<d>, d> x;
      for (int i = 0; i < d; ++i) x[i] = body.rest[body.surface[f][i]];
      return Cells<d>::closest(center, x).squared_distance;
    };
    nearest[e] = body.surface_tree.nearest(in_space(center), distance).index;
  });
  return nearest;
}

template <class Primitive, int d>
Bvh rest_tree(const std::vector<Vec<d>>& rest, const std::vector<Primitive>& primitives) {
  std::vector<geometry::Bounds> boxes(primitives.size());
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    for (const int v : primitives[i]) boxes[i].add(in_space(rest[v]));
  }
  return Bvh(boxes);
}

template <int d>
Body<d> make_body(const SelfContactBody& given, int first_node) {
  const Mesh& mesh = *given.mesh;
  std::vector<Vec<d>> rest;
  rest.reserve(mesh.vertices.size());
  for (const Vec3& x : mesh.vertices) rest.push_back(x.head<d>());
  auto surface = Cells<d>::surface(mesh);
  std::vector<Vec<d>> centers;
  centers.reserve(surface.size());
  for (const auto& face : surface) {
    Vec<d> sum = Vec<d>::Zero();
    for (const int v : face) sum += rest[v];
    centers.push_back(sum / d);
  }
  Bvh element_tree = rest_tree(rest, Cells<d>::elements(mesh)), surface_tree = rest_tree(rest, surface);
  Body<d> body{first_node,
               given.stiffness,
               given.with_itself,
               std::move(rest),
               Cells<d>::elements(mesh),
               std::move(surface),
               std::move(centers),
               std::move(element_tree),
               std::move(surface_tree),
               {}};
  body.surface_of_element = nearest_surface_at_rest(body);
  return body;
}

}  // namespace

template <int d>
class SelfContactSearch<d>::Implementation {
 public:
  explicit Implementation(std::span<const SelfContactBody> bodies) : body_tree_(make_bodies(bodies)) {
    neighbours_.resize(bodies_.size());
    hit_.resize(bodies_.size());
    chunk_hits_.resize((points_.size() + point_grain - 1) / point_grain);
  }

  void find(std::span<const double> x, std::vector<SelfContactPair>& pairs) {
    assert(x.size() == node_boxes_.size() * d);
    x_ = x;
    parallel_for(node_boxes_.size(), 4096, [&](std::size_t v) {
      node_boxes_[v] = SmallBox::around(in_space(position(static_cast<int>(v))));
    });
    parallel_for(bodies_.size(), 1,
                 [&](std::size_t b) { refit(bodies_[b].element_tree, bodies_[b], bodies_[b].elements); });
    find_neighbours();
    parallel_chunks(points_.size(), point_grain, [&](std::size_t begin, std::size_t end) {
      std::vector<Hit>& hits = chunk_hits_[begin / point_grain];
      hits.clear();
      for (std::size_t p = begin; p < end; ++p) find_hits(static_cast<int>(p), hits);
    });
    hits_.clear();
    for (const std::vector<Hit>& hits : chunk_hits_) hits_.insert(hits_.end(), hits.begin(), hits.end());
    std::fill(hit_.begin(), hit_.end(), 0);
    for (const Hit& hit : hits_) hit_[hit.body] = 1;
    parallel_for(bodies_.size(), 1, [&](std::size_t b) {
      if (hit_[b]) refit(bodies_[b].surface_tree, bodies_[b], bodies_[b].surface);
    });
    found_.resize(hits_.size());
    parallel_for(hits_.size(), pair_grain, [&](std::size_t h) { found_[h] = closest_pair(hits_[h]); });
    pairs.clear();
    for (const SelfContactPair& pair : found_) {
      if (pair.depth > 0) pairs.push_back(pair);
    }
  }

 private:
  // A vertex inside an element of a body.
  struct Hit {
    int point;        // in points_
    int body;         // that it is in
    int element;      // of that body
    Vec<d> material;  // where it is, in the rest shape of that body
  };
  struct Point {
    int body;
    int node;  // of the body
  };

  // Fills bodies_, points_ and node_boxes_; the tree of the bodies.
  Bvh make_bodies(std::span<const SelfContactBody> given) {
    int nodes = 0;
    std::vector<geometry::Bounds> boxes;
    for (const SelfContactBody& body : given) {
      bodies_.push_back(make_body<d>(body, nodes));
      nodes += static_cast<int>(body.mesh->vertices.size());
      boxes.push_back(geometry::bounds(body.mesh->vertices));
      std::vector<std::uint8_t> on_surface(body.mesh->vertices.size(), 0);
      for (const auto& face : bodies_.back().surface) {
        for (const int v : face) on_surface[v] = 1;
      }
      for (std::size_t v = 0; v < on_surface.size(); ++v) {
        if (on_surface[v]) {
          points_.push_back({static_cast<int>(bodies_.size()) - 1, static_cast<int>(v)});
        }
      }
    }
    node_boxes_.resize(static_cast<std::size_t>(nodes));
    return Bvh(boxes);
  }

  Vec<d> position(int node) const {
    return Eigen::Map<const Vec<d>>(x_.data() + static_cast<std::size_t>(node) * d);
  }
  template <std::size_t n>
  std::array<Vec<d>, n> corners(const Body<d>& body, const std::array<int, n>& nodes) const {
    std::array<Vec<d>, n> x;
    for (std::size_t i = 0; i < n; ++i) x[i] = position(body.first_node + nodes[i]);
    return x;
  }
  template <class Primitive>
  void refit(Bvh& tree, const Body<d>& body, const std::vector<Primitive>& primitives) const {
    tree.refit_by([&](int i) {
      SmallBox box;
      for (const int v : primitives[i]) box.add(node_boxes_[body.first_node + v]);
      return box;
    });
  }

  // Bodies whose boxes overlap, each body among its own if it may meet itself; ascending.
  void find_neighbours() {
    body_tree_.refit_by([&](int b) { return bodies_[b].element_tree.box(); });
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      neighbours_[b].clear();
      if (bodies_[b].with_itself) neighbours_[b].push_back(static_cast<int>(b));
    }
    for (const auto& [a, b] : body_tree_.self_pairs()) {
      neighbours_[a].push_back(b);
      neighbours_[b].push_back(a);
    }
    for (std::vector<int>& some : neighbours_) std::sort(some.begin(), some.end());
  }

  void find_hits(int index, std::vector<Hit>& hits) const {
    const Point& point = points_[index];
    const Body<d>& own = bodies_[point.body];
    const Vec<d> p = position(own.first_node + point.node);
    const Vec3 in_3d = in_space(p);
    for (const int b : neighbours_[point.body]) {
      const Body<d>& body = bodies_[b];
      const bool self = b == point.body;
      double farthest = 0;
      Hit hit{index, b, -1, Vec<d>::Zero()};
      const auto consider = [&](int e) {
        const auto& element = body.elements[e];
        if (self && std::find(element.begin(), element.end(), point.node) != element.end()) return false;
        const auto weights = inside<d>(corners(body, element), p);
        if (!weights) return false;
        if (!self) return true;
        Vec<d> at = Vec<d>::Zero();
        for (int i = 0; i <= d; ++i) at += (*weights)[i] * body.rest[element[i]];
        const double squared = (at - body.rest[point.node]).squaredNorm();
        if (squared > farthest) {
          farthest = squared;
          hit.element = e;
          hit.material = at;
        }
        return false;  // there may be another
      };
      const int found = body.element_tree.find_containing(in_3d, consider);
      if (found >= 0) hit.element = found;
      if (hit.element >= 0) hits.push_back(hit);
    }
  }

  // Of depth 0 where there is none.
  SelfContactPair closest_pair(const Hit& hit) const {
    const Point& point = points_[hit.point];
    const Body<d>&own = bodies_[point.body], &body = bodies_[hit.body];
    const bool self = hit.body == point.body;
    const Vec<d> p = position(own.first_node + point.node);
    const auto distance = [&](int f, const Vec3&) {
      if (self) {
        const Vec<d>& rest = body.surface_rest[f];
        const bool near_itself =
            (rest - body.rest[point.node]).squaredNorm() <= (rest - hit.material).squaredNorm();
        const auto& face = body.surface[f];
        if (near_itself || std::find(face.begin(), face.end(), point.node) != face.end()) {
          return std::numeric_limits<double>::infinity();
        }
      }
      return Cells<d>::closest(p, corners(body, body.surface[f])).squared_distance;
    };
    // What is nearest at rest bounds the search, and mostly ends it: without a bound, all of the vertex's own
    // side would be looked at and left out.
    int nearest = body.surface_of_element[hit.element];
    const double estimate = distance(nearest, in_space(p));
    const int nearer = body.surface_tree.nearest(in_space(p), distance, estimate).index;
    if (nearer >= 0) nearest = nearer;
    if (nearer < 0 && !std::isfinite(estimate)) return {};
    return pair_with(hit, nearest);
  }

  SelfContactPair pair_with(const Hit& hit, int face_index) const {
    const Point& point = points_[hit.point];
    const Body<d>&own = bodies_[point.body], &body = bodies_[hit.body];
    const Vec<d> p = position(own.first_node + point.node);
    const auto& face = body.surface[face_index];
    SelfContactPair pair;
    const auto x = corners(body, face);
    const ClosestFeature feature = Cells<d>::closest(p, x);
    pair.node[0] = own.first_node + point.node;
    pair.count = feature.count;
    Vec<d> closest = Vec<d>::Zero();
    for (int i = 0; i < feature.count; ++i) {
      pair.node[i + 1] = body.first_node + face[feature.vertex[i]];
      pair.weight[i + 1] = feature.weight[i];
      closest += feature.weight[i] * (x[feature.vertex[i]] - p);
    }
    pair.depth = closest.norm();
    if (!(pair.depth > 0)) return SelfContactPair();
    pair.stiffness = std::max(own.stiffness, body.stiffness);
    pair.normal = in_space(Vec<d>(closest / pair.depth));
    return pair;
  }

  std::vector<Body<d>> bodies_;
  std::vector<Point> points_;         // the surface vertices of all bodies
  std::vector<SmallBox> node_boxes_;  // of the nodes of the island
  Bvh body_tree_;                     // after what its maker fills
  std::span<const double> x_;         // of the search that is under way
  // Scratch.
  std::vector<std::vector<int>> neighbours_;
  std::vector<std::vector<Hit>> chunk_hits_;
  std::vector<Hit> hits_;
  std::vector<std::uint8_t> hit_;
  std::vector<SelfContactPair> found_;
};

template <int d>
SelfContactSearch<d>::SelfContactSearch(std::span<const SelfContactBody> bodies)
    : implementation_(std::make_unique<Implementation>(bodies)) {}

template <int d>
SelfContactSearch<d>::~SelfContactSearch() = default;

template <int d>
void SelfContactSearch<d>::find(std::span<const double> x, std::vector<SelfContactPair>& pairs) {
  implementation_->find(x, pairs);
}

template class SelfContactSearch<2>;
template class SelfContactSearch<3>;

}  // namespace lope::matter
