// The barrier of a whole surface: candidates are complete, derivatives agree, steps are bounded, and nothing behind a crossing is finite.
#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/geometry/crossings.h>
#include <lope/geometry/shapes.h>
#include <lope/geometry/transform.h>
#include <lope/matter/contact/barrier.h>
#include <lope/matter/contact/path_bound.h>

#include <cmath>
#include <functional>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

namespace lope::matter {
namespace {

using geometry::Mesh;
using optimize::HessianKind;

struct Scene {
  int dimension = 3;
  std::vector<Mesh> meshes;
  std::vector<double> x;
  double thickness = 0;

  void add(const Mesh& mesh, const std::function<Vec3(const Vec3&)>& place) {
    meshes.push_back(mesh);
    for (const Vec3& v : mesh.vertices) {
      const Vec3 at = place(v);
      for (int axis = 0; axis < dimension; ++axis) x.push_back(at[axis]);
    }
  }
  std::unique_ptr<BarrierContact> contact(double reach) const {
    std::vector<SelfContactBody> bodies;
    for (const Mesh& mesh : meshes) bodies.push_back({&mesh, 0, true, thickness});
    ContactSurface surface = make_contact_surface(dimension, bodies, {}, reach);
    for (SurfaceOwner& owner : surface.owners) owner.pressure = 1e4;
    auto made = std::make_unique<BarrierContact>(std::move(surface));
    made->begin_step(x, {}, std::vector<std::uint8_t>(x.size() / static_cast<std::size_t>(dimension), 0), 1);
    made->move_to(x);
    return made;
  }
  std::shared_ptr<const linalg::BlockPattern> pattern() const {
    std::vector<int> groups;
    int first = 0;
    for (const Mesh& mesh : meshes) {
      for (const auto& t : mesh.tetrahedra) {
        for (const int v : t) groups.push_back(first + v);
      }
      for (const auto& t : mesh.triangles) {
        if (!mesh.tetrahedra.empty()) break;
        for (const int v : t) groups.push_back(first + v);
        if (dimension == 3) groups.push_back(first + t[0]);
      }
      first += static_cast<int>(mesh.vertices.size());
    }
    return linalg::BlockPattern::from_groups(first, groups, dimension + 1);
  }
};

Vec3 noise(const Vec3& v, double size, std::uint64_t seed) {
  Vec3 shift;
  const auto index = static_cast<std::uint64_t>(1e6 * (v.x() + 10) + 1e3 * (v.y() + 10) + v.z() + 10);
  for (int axis = 0; axis < 3; ++axis) shift[axis] = size * (2 * random_unit(seed + static_cast<std::uint64_t>(axis), index) - 1);
  return v + shift;
}

Mesh box(int nodes) {
  geometry::MeshingOptions options;
  options.lattice = {nodes, nodes, nodes};
  return *geometry::tetrahedralize(geometry::Box{Vec3::Zero(), Vec3::Ones()}, 1, options);
}

Scene two_boxes(double gap) {
  Scene scene;
  const Mesh mesh = box(4);
  scene.add(mesh, [&](const Vec3& v) { return noise(v, 0.01, 1); });
  Mesh turned = mesh;
  geometry::rotate(turned, Vec3(0, 1, 1), 0.03);
  scene.add(turned, [&](const Vec3& v) { return Vec3(noise(v, 0.01, 7) + Vec3(1.05 + gap, 0.013, 0.021)); });
  return scene;
}

// Two open sheets, one above the other.
Scene two_sheets(double gap) {
  Scene scene;
  Mesh sheet;
  constexpr int n = 6;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= n; ++j) sheet.vertices.emplace_back(double(i) / n, double(j) / n, 0);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const int a = i * (n + 1) + j;
      sheet.triangles.push_back({a, a + n + 1, a + 1});
      sheet.triangles.push_back({a + 1, a + n + 1, a + n + 2});
    }
  }
  scene.add(sheet, [&](const Vec3& v) { return noise(v, 0.003, 1); });
  scene.add(sheet, [&](const Vec3& v) { return Vec3(noise(v, 0.003, 5) + Vec3(0.04, 0.03, gap)); });
  return scene;
}

Scene two_discs(double gap) {
  Scene scene;
  scene.dimension = 2;
  const Mesh a = *geometry::triangulate(geometry::Rectangle{}, 0.2), b = *geometry::triangulate(geometry::Disc{}, 0.15);
  scene.add(a, [&](const Vec3& v) { return v; });
  scene.add(b, [&](const Vec3& v) { return Vec3(v + Vec3(1 + gap, 0.07, 0)); });
  return scene;
}

std::vector<Scene> scenes() { return {two_boxes(0.02), two_sheets(0.02), two_discs(0.01)}; }
constexpr double reach = 0.05;

TEST(Barrier, FindsEveryPairWithinItsReach) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact(reach);
    const ContactSurface& surface = contact->surface();
    std::vector<Vec3> x(surface.nodes(), Vec3::Zero());
    for (std::size_t k = 0; k < scene.x.size(); ++k)
      x[k / static_cast<std::size_t>(scene.dimension)][static_cast<Eigen::Index>(k) % scene.dimension] = scene.x[k];
    const auto shares = [](const auto& a, const auto& b) {
      for (const int i : a) {
        for (const int j : b) {
          if (i == j) return true;
        }
      }
      return false;
    };
    // Between the bodies, where reaches are whole.
    std::size_t expected = 0;
    const auto near = [&](geometry::PairKind kind, const geometry::PairNodes& nodes) {
      return std::sqrt(geometry::squared_distance(kind, nodes)) < reach;
    };
    const auto apart = [&](int a, int b) { return surface.owner[a] != surface.owner[b]; };
    for (const int p : surface.points) {
      if (scene.dimension == 3) {
        for (const auto& t : surface.triangles)
          expected += apart(p, t[0]) && near(geometry::PairKind::PointTriangle, {x[p], x[t[0]], x[t[1]], x[t[2]]});
      } else {
        for (const auto& e : surface.edges)
          expected += apart(p, e[0]) && near(geometry::PairKind::PointEdge, {x[p], x[e[0]], x[e[1]], x[p]});
      }
    }
    for (std::size_t i = 0; i < surface.edges.size() && scene.dimension == 3; ++i) {
      for (std::size_t j = i + 1; j < surface.edges.size(); ++j) {
        const auto &a = surface.edges[i], &b = surface.edges[j];
        expected += !shares(a, b) && apart(a[0], b[0]) && near(geometry::PairKind::EdgeEdge, {x[a[0]], x[a[1]], x[b[0]], x[b[1]]});
      }
    }
    std::size_t found = 0;
    for (const BarrierPair& pair : contact->pairs()) {
      found += apart(pair.node[0], pair.node[scene.dimension == 3 ? 3 : 1]);
      EXPECT_GT(pair.force, 0);
    }
    EXPECT_GT(expected, 4u);
    EXPECT_EQ(found, expected);
  }
}

TEST(Barrier, BodiesAtRestFeelNothingOfThemselves) {
  for (const double thickness : {0.0, 1.0}) {  // thicker than its edges
    Scene scene = two_boxes(3);
    scene.thickness = thickness;
    for (std::size_t k = 0; k < scene.x.size(); ++k) {
      const std::size_t v = k / 3, first = scene.meshes[0].vertices.size();
      scene.x[k] = v < first ? scene.meshes[0].vertices[v][static_cast<Eigen::Index>(k % 3)]
                             : scene.meshes[1].vertices[v - first][static_cast<Eigen::Index>(k % 3)] + 5.0 * (k % 3 == 0);
    }
    const auto contact = scene.contact(10 * reach);
    EXPECT_EQ(contact->value(), 0);
    EXPECT_TRUE(contact->pairs().empty());
  }
}

TEST(Barrier, DerivativesAgreeWithDifferences) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact(reach);
    EXPECT_GT(contact->value(), 0);
    const auto size = static_cast<Eigen::Index>(scene.x.size());
    std::vector<double> g(scene.x.size(), 0);
    contact->add_gradient(g);
    for (std::uint64_t k = 0; k < 5; ++k) {
      std::vector<double> p(scene.x.size()), product(p.size(), 0);
      for (std::size_t i = 0; i < p.size(); ++i) p[i] = 2 * random_unit(k, i) - 1;
      contact->move_to(scene.x);
      contact->add_hessian_times(HessianKind::Raw, p, product);
      const double step = 1e-7;
      std::array<double, 2> values;
      std::array<std::vector<double>, 2> gradients;
      for (const int side : {0, 1}) {
        std::vector<double> x = scene.x;
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += (side ? -step : step) * p[i];
        contact->move_to(x);
        values[side] = contact->value();
        gradients[side].assign(x.size(), 0);
        contact->add_gradient(gradients[side]);
      }
      const Eigen::Map<const Eigen::VectorXd> along(p.data(), size), gradient(g.data(), size), hp(product.data(), size),
          plus(gradients[0].data(), size), minus(gradients[1].data(), size);
      EXPECT_NEAR((values[0] - values[1]) / (2 * step), gradient.dot(along), 1e-5 * gradient.norm() * along.norm());
      EXPECT_LE(((plus - minus) / (2 * step) - hp).norm(), 1e-4 * hp.norm());
    }
  }
}

TEST(Barrier, MatrixAndProductAgreeAndProjectionIsSemidefinite) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact(reach);
    linalg::BlockMatrix matrix(scene.pattern(), scene.dimension);
    for (const HessianKind kind : {HessianKind::Raw, HessianKind::Projected}) {
      matrix.set_zero();
      contact->add_hessian(kind, matrix);
      EXPECT_FALSE(matrix.couplings().empty());
      for (std::uint64_t k = 0; k < 10; ++k) {
        std::vector<double> p(scene.x.size()), by_matrix(p.size()), by_pairs(p.size(), 0);
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = 2 * random_unit(k, i) - 1;
        matrix.multiply(p, by_matrix);
        contact->add_hessian_times(kind, p, by_pairs);
        double energy = 0, largest = 0;
        for (std::size_t i = 0; i < p.size(); ++i) largest = std::max(largest, std::abs(by_pairs[i]));
        for (std::size_t i = 0; i < p.size(); ++i) {
          EXPECT_NEAR(by_matrix[i], by_pairs[i], 1e-11 * largest);
          energy += p[i] * by_pairs[i];
        }
        if (kind == HessianKind::Projected) {
          EXPECT_GE(energy, 0);
        }
      }
    }
  }
}

TEST(Barrier, ForcesConserveLinearAndAngularMomentum) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact(reach);
    std::vector<double> g(scene.x.size(), 0);
    contact->add_gradient(g);
    const auto d = static_cast<std::size_t>(scene.dimension);
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
    double size = 0;
    for (std::size_t v = 0; v < g.size() / d; ++v) {
      Vec3 f = Vec3::Zero(), x = Vec3::Zero();
      for (std::size_t a = 0; a < d; ++a) {
        f[static_cast<Eigen::Index>(a)] = g[v * d + a];
        x[static_cast<Eigen::Index>(a)] = scene.x[v * d + a];
      }
      force += f;
      torque += x.cross(f);
      size += f.norm();
    }
    EXPECT_GT(size, 0);
    EXPECT_LE(force.norm(), 1e-13 * size);
    EXPECT_LE(torque.norm(), 1e-12 * size);
  }
}

// Random directions, short and long: along the whole of what is allowed nothing crosses, and values are finite; straight through
// the other body they are not.
TEST(Barrier, StepsAreBoundedAndNothingBehindACrossingIsFinite) {
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact(reach);
    const ContactSurface& surface = contact->surface();
    const auto d = static_cast<std::size_t>(scene.dimension);
    const auto crossings = [&](const std::vector<double>& x) {
      std::vector<Vec3> points(surface.nodes(), Vec3::Zero());
      for (std::size_t k = 0; k < x.size(); ++k) points[k / d][static_cast<Eigen::Index>(k % d)] = x[k];
      return d == 2 ? geometry::find_planar_crossings(points, surface.edges).size()
                    : geometry::find_crossings(points, surface.edges, surface.triangles).size();
    };
    ASSERT_EQ(crossings(scene.x), 0u);
    int bounded = 0;
    for (std::uint64_t k = 0; k < 12; ++k) {
      const double size = std::pow(10.0, -2.0 + 0.25 * static_cast<double>(k));
      std::vector<double> p(scene.x.size());
      for (std::size_t i = 0; i < p.size(); ++i) p[i] = size * (2 * random_unit(k, i) - 1);
      contact->move_to(scene.x);
      contact->begin_iteration();
      const double alpha = contact->largest_step(p);
      ASSERT_GT(alpha, 0);
      bounded += alpha < 1;
      for (const double part : {0.1, 0.5, 1.0}) {
        std::vector<double> x = scene.x;
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += part * alpha * p[i];
        contact->move_to(x);
        EXPECT_TRUE(std::isfinite(contact->value()));
        EXPECT_EQ(crossings(x), 0u);
      }
    }
    EXPECT_GT(bounded, 2);
    // The first body jumps far behind the second: no crossing there, but there is one on the way.
    std::vector<double> behind = scene.x;
    const std::size_t first = scene.meshes[0].vertices.size() * d;
    const std::size_t axis = scene.meshes[0].tetrahedra.empty() && d == 3 ? 2 : 0;
    for (std::size_t k = axis; k < first; k += d) behind[k] += 10;
    ASSERT_EQ(crossings(behind), 0u);
    contact->move_to(behind);
    EXPECT_TRUE(std::isinf(contact->value()));
    contact->begin_iteration();  // does not take it for reached
    contact->move_to(scene.x);
    EXPECT_TRUE(std::isfinite(contact->value()));
    EXPECT_LT(contact->free_part(behind, {}), 1);
  }
}

// What is passed over because it stays away would not have bounded anything, wherever the list was made.
TEST(Barrier, PairsThatStayAwayDoNotBoundSteps) {
  constexpr double margin = 0.1;
  int bounded = 0, passed_over = 0;
  for (const Scene& scene : scenes()) {
    const auto contact = scene.contact(reach);
    const ContactSurface& surface = contact->surface();
    const auto d = static_cast<std::size_t>(scene.dimension);
    PairFinder finder(surface);
    std::vector<Vec3> center(surface.nodes(), Vec3::Zero()), x, way(surface.nodes(), Vec3::Zero());
    for (std::size_t k = 0; k < scene.x.size(); ++k)
      center[k / d][static_cast<Eigen::Index>(k % d)] = scene.x[k];
    const std::vector<CandidatePair> pairs = finder.near(center, margin);
    const std::vector<double> anywhere(surface.nodes(), 1e3);
    for (std::uint64_t k = 0; k < 20; ++k) {
      const double size = 0.002 * static_cast<double>(k + 1);
      x = center;
      std::vector<double> radius(surface.nodes());
      for (std::size_t v = 0; v < x.size(); ++v) {
        for (Eigen::Index axis = 0; axis < scene.dimension; ++axis) {
          x[v][axis] += 0.001 * (2 * random_unit(91 + k, 3 * v + static_cast<std::size_t>(axis)) - 1);
          way[v][axis] = size * (2 * random_unit(17 + k, 3 * v + static_cast<std::size_t>(axis)) - 1);
        }
        radius[v] = std::max((x[v] - center[v]).norm(), (x[v] + way[v] - center[v]).norm());
      }
      const double bound = path_bound(pairs, radius, x, way, 0.2, 1);
      EXPECT_EQ(bound, path_bound(pairs, anywhere, x, way, 0.2, 1));
      bounded += bound < 1;
      for (const CandidatePair& pair : pairs)
        passed_over += least_distance(pair, radius) >= pair.reach_and_offset();
    }
  }
  EXPECT_GT(bounded, 5);
  EXPECT_GT(passed_over, 100);
}

TEST(Barrier, PushesWithTheBearingPressureAtHalfItsReach) {
  constexpr double bearing = 70, scale = 3;
  const Scene scene = two_sheets(0.02);
  ContactSurface surface = scene.contact(reach)->surface();
  balance_pressures(surface, std::vector<double>(surface.nodes(), scale), std::vector<double>{bearing, 0},
                    0.1);
  const double half = -barrier(0.5 * reach, reach).first;
  EXPECT_NEAR(surface.owners[0].pressure * half, bearing, 1e-9 * bearing);
  double area = 0;
  for (std::size_t k = 0; k < surface.points.size(); ++k)
    area += surface.owner[surface.points[k]] == 1 ? surface.point_area[k] : 0;
  const auto points = static_cast<double>(surface.points.size()) / 2;
  EXPECT_NEAR(surface.owners[1].pressure * half * area, 0.1 * scale * points, 1e-9);
}

// Values do not depend on where the candidates were found.
TEST(Barrier, IsOneFunctionOfThePoint) {
  for (const Scene& scene : scenes()) {
    const auto kept = scene.contact(reach);
    for (int step = 0; step < 30; ++step) {
      Scene moved = scene;
      const auto d = static_cast<std::size_t>(scene.dimension);
      const std::size_t first = scene.meshes[0].vertices.size() * d;
      for (std::size_t k = 0; k < first; k += d) moved.x[k] -= 0.004 * step;
      kept->move_to(moved.x);
      const double value = kept->value();
      EXPECT_NEAR(value, moved.contact(reach)->value(), 1e-12 * (1 + value)) << step;
    }
  }
}

TEST(Barrier, ThreadsGiveTheSameBits) {
  const auto numbers = [](int threads) {
    const ThreadLimit limit(threads);
    std::vector<double> all;
    for (const Scene& scene : scenes()) {
      const auto contact = scene.contact(reach);
      all.push_back(contact->value());
      std::vector<double> g(scene.x.size(), 0), p(scene.x.size(), 0.3);
      p[0] = -2;
      contact->add_gradient(g);
      contact->add_hessian_times(HessianKind::Projected, p, g);
      all.insert(all.end(), g.begin(), g.end());
      all.push_back(contact->largest_step(p));
    }
    return all;
  };
  EXPECT_EQ(numbers(1), numbers(2));
}

TEST(Barrier, StiffensWhereGapsKeepShrinking) {
  BarrierMemory memory;
  memory = next(memory, 0.5);
  EXPECT_EQ(memory.stiffening, 1);
  memory = next(memory, 5e-4);
  EXPECT_EQ(memory.stiffening, 2);
  memory = next(memory, 6e-4);  // wider again
  EXPECT_EQ(memory.stiffening, 2);
  memory = next(memory, 4e-4);
  EXPECT_EQ(memory.stiffening, 4);
}

}  // namespace
}  // namespace lope::matter
