#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/geometry/closest_point.h>
#include <lope/geometry/shapes.h>
#include <lope/geometry/topology.h>
#include <lope/geometry/transform.h>
#include <lope/matter/contact/self_contact.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <set>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

namespace lope::matter {
namespace {

using geometry::Mesh;
using optimize::HessianKind;

// Bodies in their rest shapes, one after another, and where they are.
struct Scene {
  int dimension = 3;
  std::vector<Mesh> meshes;
  std::vector<double> x;

  std::unique_ptr<SelfContact> contact(double stiffness = 100, bool with_itself = true) const {
    std::vector<SelfContactBody> bodies;
    for (const Mesh& mesh : meshes) bodies.push_back({&mesh, stiffness, with_itself});
    return make_self_contact(dimension, bodies, 1);
  }
  void add(const Mesh& mesh, const std::function<Vec3(const Vec3&)>& place) {
    meshes.push_back(mesh);
    for (const Vec3& v : mesh.vertices) {
      const Vec3 at = place(v);
      for (int axis = 0; axis < dimension; ++axis) x.push_back(at[axis]);
    }
  }
  int first_node(std::size_t body) const {
    int nodes = 0;
    for (std::size_t b = 0; b < body; ++b) nodes += static_cast<int>(meshes[b].vertices.size());
    return nodes;
  }
};

Mesh box(const Vec3& size, int nodes) {
  geometry::MeshingOptions options;
  options.lattice = {nodes, nodes, nodes};
  return *geometry::tetrahedralize(geometry::Box{Vec3::Zero(), size}, 1, options);
}

Mesh long_bar() {
  geometry::MeshingOptions options;
  options.lattice = {33, 4, 4};
  return *geometry::tetrahedralize(geometry::Box{Vec3::Zero(), Vec3(8, 0.75, 0.75)}, 1, options);
}

Vec3 noise(const Vec3& v, double size, std::uint64_t seed) {
  Vec3 shift;
  const auto index = static_cast<std::uint64_t>(1e6 * (v.x() + 10) + 1e3 * (v.y() + 10) + v.z() + 10);
  for (int axis = 0; axis < 3; ++axis) shift[axis] = size * (2 * random_unit(seed + axis, index) - 1);
  return v + shift;
}

// Two boxes pushed together by `depth` along x; the second turned a little, so that nothing is aligned.
Scene two_boxes(double depth, double jitter = 0.01) {
  Scene scene;
  const Mesh mesh = box(Vec3::Ones(), 5);
  scene.add(mesh, [&](const Vec3& v) { return noise(v, jitter, 1); });
  Mesh turned = mesh;
  geometry::rotate(turned, Vec3(0, 1, 1), 0.05);
  scene.add(turned,
            [&](const Vec3& v) { return Vec3(noise(v, jitter, 7) + Vec3(1.03 - depth, 0.013, 0.021)); });
  return scene;
}

Scene two_squares(double depth) {
  Scene scene;
  scene.dimension = 2;
  const Mesh a = *geometry::triangulate(geometry::Rectangle{}, 0.2),
             b = *geometry::triangulate(geometry::Disc{}, 0.15);
  scene.add(a, [&](const Vec3& v) { return v; });
  scene.add(b, [&](const Vec3& v) { return Vec3(v + Vec3(1 - depth, 0.07, 0)); });
  return scene;
}

// A bar bent into a ring so far that its ends overlap.
Scene folded_bar() {
  Scene scene;
  const double angle = 2.06 * std::numbers::pi, radius = 8 / angle;
  scene.add(long_bar(), [=](const Vec3& v) {
    const double turn = v.x() / radius;
    return Vec3((radius + v.y()) * std::sin(turn), (radius + v.y()) * std::cos(turn), v.z() + 0.02 * v.x());
  });
  return scene;
}

std::vector<Scene> scenes() { return {two_boxes(0.2), two_squares(0.12), folded_bar()}; }

TEST(SelfContact, BodiesApartOrAtRestDoNotCollide) {
  for (const double gap : {0.0, 0.3}) {
    Scene scene = two_boxes(-0.05 - gap, 0);
    const auto contact = scene.contact();
    contact->move_to(scene.x);
    EXPECT_TRUE(contact->pairs().empty());
    EXPECT_EQ(contact->value(), 0);
    EXPECT_EQ(contact->deepest(), 0);
  }
}

// Exactly the surface vertices of one box inside the other, each with the distance to its nearest face.
TEST(SelfContact, FindsWhatTheDefinitionFinds) {
  const Scene scene = two_boxes(0.2);
  const auto contact = scene.contact();
  contact->move_to(scene.x);
  std::set<int> found;
  for (const SelfContactPair& pair : contact->pairs()) EXPECT_TRUE(found.insert(pair.node[0]).second);
  std::size_t expected = 0;
  double deepest = 0;
  for (std::size_t b = 0; b < 2; ++b) {
    const Mesh &own = scene.meshes[b], &other = scene.meshes[1 - b];
    const int first = scene.first_node(b), other_first = scene.first_node(1 - b);
    const auto at = [&](int v) { return Eigen::Map<const Vec3>(scene.x.data() + 3 * v); };
    for (const int v : geometry::boundary_vertices(own)) {
      const Vec3 p = at(first + v);
      bool inside = false;
      for (const geometry::Tetrahedron& t : other.tetrahedra) {
        Mat3 edges;
        for (int i = 0; i < 3; ++i) edges.col(i) = at(other_first + t[i + 1]) - at(other_first + t[0]);
        const Vec3 weights = edges.inverse() * (p - at(other_first + t[0]));
        inside = inside || (weights.minCoeff() >= 0 && weights.sum() <= 1);
      }
      EXPECT_EQ(found.count(first + v) == 1, inside);
      if (!inside) continue;
      ++expected;
      double least = 1e300;
      for (const geometry::Triangle& t : geometry::boundary_triangles(other.tetrahedra)) {
        least = std::min(least, geometry::closest_on_triangle(p, at(other_first + t[0]),
                                                              at(other_first + t[1]), at(other_first + t[2]))
                                    .squared_distance);
      }
      deepest = std::max(deepest, std::sqrt(least));
      const auto pair = std::find_if(contact->pairs().begin(), contact->pairs().end(),
                                     [&](const SelfContactPair& q) { return q.node[0] == first + v; });
      EXPECT_NEAR(pair->depth, std::sqrt(least), 1e-12);
    }
  }
  EXPECT_EQ(contact->pairs().size(), expected);
  EXPECT_GT(expected, 10u);
  EXPECT_NEAR(contact->deepest(), deepest, 1e-12);
}

TEST(SelfContact, ABarMeetsItselfAtItsEnds) {
  const Scene scene = folded_bar();
  const auto contact = scene.contact();
  contact->move_to(scene.x);
  EXPECT_GT(contact->pairs().size(), 4u);
  const auto rest = [&](int v) { return scene.meshes[0].vertices[v]; };
  for (const SelfContactPair& pair : contact->pairs()) {
    // The primitive belongs to the other end, not to the vertex's own neighbourhood.
    for (int i = 1; i <= pair.count; ++i) {
      EXPECT_GT(std::abs(rest(pair.node[i]).x() - rest(pair.node[0]).x()), 4) << pair.node[0];
    }
    EXPECT_LT(pair.depth, 0.5);
  }
  const auto not_itself = scene.contact(100, false);
  not_itself->move_to(scene.x);
  EXPECT_TRUE(not_itself->pairs().empty());
}

TEST(SelfContact, DerivativesAgreeWithFiniteDifferences) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact();
    contact->move_to(scene.x);
    ASSERT_GT(contact->value(), 0);
    std::vector<double> g(scene.x.size(), 0);
    contact->add_gradient(g);
    const auto size = static_cast<Eigen::Index>(g.size());
    // Along directions of all unknowns; the closest primitives do not change over so short a way.
    for (std::uint64_t k = 0; k < 10; ++k) {
      std::vector<double> direction(g.size()), product(g.size(), 0);
      for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = 2 * random_unit(k, i) - 1;
      contact->move_to(scene.x);
      contact->add_hessian_times(HessianKind::Raw, direction, product);
      const double step = 1e-6;
      std::array<double, 2> values;
      std::array<std::vector<double>, 2> gradients;
      for (int side = 0; side < 2; ++side) {
        std::vector<double> x = scene.x;
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += (side == 0 ? step : -step) * direction[i];
        contact->move_to(x);
        values[side] = contact->value();
        gradients[side].assign(x.size(), 0);
        contact->add_gradient(gradients[side]);
      }
      const Eigen::Map<const Eigen::VectorXd> p(direction.data(), size), gradient(g.data(), size),
          hp(product.data(), size), plus(gradients[0].data(), size), minus(gradients[1].data(), size);
      EXPECT_NEAR((values[0] - values[1]) / (2 * step), gradient.dot(p), 1e-6 * gradient.norm() * p.norm());
      EXPECT_LE(((plus - minus) / (2 * step) - hp).norm(), 1e-5 * hp.norm());
    }
  }
}

// A pattern of the bodies' own elements: the couplings between them must make up the rest.
std::shared_ptr<const linalg::BlockPattern> pattern_of(const Scene& scene) {
  std::vector<int> groups;
  for (std::size_t b = 0; b < scene.meshes.size(); ++b) {
    const int first = scene.first_node(b);
    for (const auto& t : scene.meshes[b].tetrahedra) {
      for (const int v : t) groups.push_back(first + v);
    }
    if (scene.dimension == 3) continue;
    for (const auto& t : scene.meshes[b].triangles) {
      for (const int v : t) groups.push_back(first + v);
    }
  }
  return linalg::BlockPattern::from_groups(scene.first_node(scene.meshes.size()), groups,
                                           scene.dimension + 1);
}

TEST(SelfContact, MatrixAndProductAgreeAndProjectionIsSemidefinite) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact();
    contact->move_to(scene.x);
    linalg::BlockMatrix matrix(pattern_of(scene), scene.dimension);
    for (const HessianKind kind : {HessianKind::Raw, HessianKind::Projected}) {
      matrix.set_zero();
      contact->add_hessian(kind, matrix);
      EXPECT_FALSE(matrix.couplings().empty());
      for (std::uint64_t k = 0; k < 20; ++k) {
        std::vector<double> p(scene.x.size()), by_matrix(p.size()), by_pairs(p.size(), 0);
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = 2 * random_unit(k, i) - 1;
        matrix.multiply(p, by_matrix);
        contact->add_hessian_times(kind, p, by_pairs);
        double energy = 0, norm = 0, largest = 0;
        for (std::size_t i = 0; i < p.size(); ++i) {
          EXPECT_NEAR(by_matrix[i], by_pairs[i], 1e-10);
          energy += p[i] * by_pairs[i];
          norm += p[i] * p[i];
          largest = std::max(largest, std::abs(by_pairs[i]));
        }
        if (kind == HessianKind::Projected) {
          EXPECT_GE(energy, -1e-10 * largest * norm);
        }
      }
    }
  }
}

TEST(SelfContact, ForcesConserveLinearAndAngularMomentum) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact();
    contact->move_to(scene.x);
    std::vector<double> g(scene.x.size(), 0);
    contact->add_gradient(g);
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
    double size = 0;
    for (std::size_t v = 0; v < g.size() / scene.dimension; ++v) {
      Vec3 f = Vec3::Zero(), x = Vec3::Zero();
      for (int a = 0; a < scene.dimension; ++a) {
        f[a] = g[v * scene.dimension + a];
        x[a] = scene.x[v * scene.dimension + a];
      }
      force += f;
      torque += x.cross(f);
      size += f.norm();
    }
    EXPECT_GT(size, 0);
    EXPECT_LE(force.norm(), 1e-13 * size);
    EXPECT_LE(torque.norm(), 1e-13 * size);
  }
}

// No jump where vertices enter or leave: the energy changes by what the forces say.
TEST(SelfContact, EnergyStartsAtZeroAndIsContinuous) {
  const Scene scene = two_boxes(0);
  const auto contact = scene.contact(1);
  const std::size_t second = 3 * static_cast<std::size_t>(scene.first_node(1));
  const double step = 5e-4;
  std::vector<double> x = scene.x, g(x.size());
  double last_value = 0, last_slope = 0;
  for (int i = 0; i < 500; ++i) {
    contact->move_to(x);
    const double value = contact->value();
    std::fill(g.begin(), g.end(), 0);
    contact->add_gradient(g);
    double slope = 0;
    for (std::size_t k = second; k < g.size(); k += 3) slope -= g[k];
    if (i == 0) {
      EXPECT_LT(value, 1e-6);
    } else {
      // Kinks (another primitive becomes the closest) change the slope within a step; a jump would exceed
      // that.
      EXPECT_NEAR(value - last_value, 0.5 * step * (slope + last_slope),
                  step * (2 * std::abs(slope - last_slope) + 5e-3 * (0.1 + std::abs(slope))));
    }
    last_value = value;
    last_slope = slope;
    for (std::size_t k = second; k < x.size(); k += 3) x[k] -= step;
  }
  EXPECT_GT(last_value, 0.01);
}

// Held partners: the same energy where they were found; then a function with a continuous gradient, 0 once a
// vertex is out, however the others move; and let_go() finds what is there.
TEST(SelfContact, HeldPartnersGiveASmoothEnergy) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact();
    contact->move_to(scene.x);
    const double found = contact->value();
    ASSERT_GT(found, 0);
    EXPECT_TRUE(contact->hold());
    EXPECT_FALSE(contact->hold());
    contact->move_to(scene.x);
    EXPECT_NEAR(contact->value(), found, 1e-12 * found);
    std::vector<double> direction(scene.x.size());
    for (std::size_t k = 0; k < direction.size(); ++k) direction[k] = 2 * random_unit(3, k) - 1;
    const auto value_at = [&](double t) {
      std::vector<double> x = scene.x;
      for (std::size_t k = 0; k < x.size(); ++k) x[k] += t * direction[k];
      contact->move_to(x);
      return contact->value();
    };
    const auto slope_here = [&] {
      std::vector<double> g(scene.x.size(), 0.0);
      contact->add_gradient(g);
      double slope = 0;
      for (std::size_t k = 0; k < g.size(); ++k) slope += g[k] * direction[k];
      return slope;
    };
    for (const double t : {0.0, 0.01, 0.03}) {
      const double h = 1e-6;
      const double difference = (value_at(t + h) - value_at(t - h)) / (2 * h);
      value_at(t);
      EXPECT_NEAR(slope_here(), difference, 1e-4 * (std::abs(difference) + found));
      std::vector<double> product(scene.x.size(), 0.0);
      contact->add_hessian_times(HessianKind::Projected, direction, product);
      double curvature = 0;
      for (std::size_t k = 0; k < product.size(); ++k) curvature += product[k] * direction[k];
      value_at(t + h);
      const double after = slope_here();
      value_at(t - h);
      EXPECT_NEAR(curvature, (after - slope_here()) / (2 * h), 1e-4 * (curvature + found));
    }
    // Nor is there a jump anywhere on the way: between neighbouring points the value changes by what the slopes say.
    const double step = 2e-4;
    double last_value = value_at(0), last_slope = slope_here();
    for (int i = 1; i <= 1000; ++i) {
      const double value = value_at(i * step), slope = slope_here();
      EXPECT_NEAR(value - last_value, 0.5 * step * (slope + last_slope),
                  step * (2 * std::abs(slope - last_slope) + 1e-3 * found))
          << i * step;
      last_value = value;
      last_slope = slope;
    }
    contact->let_go();
    contact->move_to(scene.x);
    EXPECT_EQ(contact->value(), found);
  }
}

TEST(SelfContact, SameBitsForAnyNumberOfThreads) {
  for (const Scene& scene : scenes()) {
    std::vector<double> g[2];
    double value[2];
    for (int threads = 1; threads <= 2; ++threads) {
      const ThreadLimit limit(threads);
      const auto contact = scene.contact();
      contact->move_to(scene.x);
      value[threads - 1] = contact->value();
      g[threads - 1].assign(scene.x.size(), 0);
      contact->add_gradient(g[threads - 1]);
    }
    EXPECT_EQ(value[0], value[1]);
    EXPECT_EQ(g[0], g[1]);
  }
}

}  // namespace
}  // namespace lope::matter
