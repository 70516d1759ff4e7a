#include <lope/base/errors.h>
#include <lope/geometry/flattening.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <queue>
#include <set>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/SparseCholesky>

namespace lope::geometry {
namespace {

constexpr int most_iterations = 60;
// The energy of an iteration has to fall by this part, or it was the last.
constexpr double least_progress = 1e-7;
// Of the mean curvature of the energy: keeps what an iteration moves near where it was.
constexpr double proximal = 1e-4;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Edge between(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

int root_of(std::vector<int>& root, int i) {
  while (root[index(i)] != i) i = root[index(i)] = root[index(root[index(i)])];
  return i;
}
void unite(std::vector<int>& root, int i, int j) {
  i = root_of(root, i);
  j = root_of(root, j);
  root[index(std::max(i, j))] = std::min(i, j);
}
std::vector<int> each_alone(std::size_t count) {
  std::vector<int> root(count);
  std::iota(root.begin(), root.end(), 0);
  return root;
}

// Triangles by edge.
using EdgeTriangles = std::map<Edge, std::vector<int>>;
EdgeTriangles edge_triangles(const std::vector<Triangle>& triangles) {
  EdgeTriangles result;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k)
      result[between(triangles[t][k], triangles[t][(k + 1) % 3])].push_back(static_cast<int>(t));
  }
  return result;
}

// Whether a triangle has the edge in this direction.
bool runs_along(const Triangle& t, const Edge& edge) {
  return (t[0] == edge[0] && t[1] == edge[1]) || (t[1] == edge[0] && t[2] == edge[1]) ||
         (t[2] == edge[0] && t[0] == edge[1]);
}

// Shortest ways between the borders of each piece; the edges on them are added to `cut`. Returns their number.
int cut_open(const std::vector<Vec3>& vertices, const EdgeTriangles& edges, std::set<Edge>& cut) {
  std::vector<int> piece = each_alone(vertices.size()), border = each_alone(vertices.size());
  std::vector<std::vector<int>> neighbours(vertices.size());
  std::vector<bool> on_border(vertices.size(), false);
  for (const auto& [edge, owners] : edges) {
    unite(piece, edge[0], edge[1]);
    neighbours[index(edge[0])].push_back(edge[1]);
    neighbours[index(edge[1])].push_back(edge[0]);
    if (owners.size() > 1) continue;
    unite(border, edge[0], edge[1]);
    on_border[index(edge[0])] = on_border[index(edge[1])] = true;
  }
  // What a way may start from: at first one border of every piece.
  std::vector<bool> reached(vertices.size(), false);
  std::map<int, int> first_border;
  int borders = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (!on_border[i]) continue;
    const int own = root_of(border, static_cast<int>(i));
    borders += own == static_cast<int>(i) ? 1 : 0;
    reached[i] = first_border.try_emplace(root_of(piece, static_cast<int>(i)), own).first->second == own;
  }
  const int ways = borders - static_cast<int>(first_border.size());
  for (int way = 0; way < ways; ++way) {
    std::vector<double> distance(vertices.size(), std::numeric_limits<double>::infinity());
    std::vector<int> before(vertices.size(), -1);
    std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>> front;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (reached[i]) front.emplace(distance[i] = 0, static_cast<int>(i));
    }
    int at = -1;
    while (!front.empty()) {
      const auto [far, i] = front.top();
      front.pop();
      if (far > distance[index(i)]) continue;
      if (on_border[index(i)] && !reached[index(i)]) {
        at = i;
        break;
      }
      for (const int j : neighbours[index(i)]) {
        const double there = far + (vertices[index(i)] - vertices[index(j)]).norm();
        if (there >= distance[index(j)]) continue;
        distance[index(j)] = there;
        before[index(j)] = i;
        front.emplace(there, j);
      }
    }
    const int found = root_of(border, at);
    for (; before[index(at)] >= 0; at = before[index(at)]) {
      cut.insert(between(at, before[index(at)]));
      reached[index(at)] = true;
    }
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (on_border[i] && root_of(border, static_cast<int>(i)) == found) reached[i] = true;
    }
  }
  return ways;
}

// Flat vertices: corners that meet across edges which are not cut.
void open_sheet(Sheet& sheet, const EdgeTriangles& edges, const std::set<Edge>& cut) {
  const auto corner = [&](int t, int node) {
    const Triangle& nodes = sheet.triangles[index(t)];
    return 3 * t + static_cast<int>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  std::vector<int> root = each_alone(3 * sheet.triangles.size());
  for (const auto& [edge, owners] : edges) {
    if (owners.size() != 2 || cut.contains(edge)) continue;
    for (const int node : edge) unite(root, corner(owners[0], node), corner(owners[1], node));
  }
  std::vector<int> number(root.size(), -1);
  int count = 0;
  sheet.flat_triangles.resize(sheet.triangles.size());
  for (int c = 0; c < static_cast<int>(root.size()); ++c) {
    int& mine = number[index(root_of(root, c))];
    if (mine < 0) mine = count++;
    sheet.flat_triangles[index(c / 3)][index(c % 3)] = mine;
  }
  sheet.flat.assign(index(count), Vec2::Zero());
}

// One patch: its flat vertices and triangles, numbered by itself.
struct Patch {
  std::vector<int> flat;          // of the sheet
  std::vector<int> triangle;      // of the sheet
  std::vector<Triangle> corners;  // of the patch
  std::vector<int> border;        // in a circle
  // Per triangle: its area in space, and the gradients of its corners' shape functions in an isometric frame of it.
  std::vector<double> area;
  std::vector<std::array<Vec2, 3>> gradient;
  std::vector<Vec2> place;
};

std::vector<Patch> patches_of(const Sheet& sheet) {
  std::vector<int> root = each_alone(sheet.flat.size());
  for (const Triangle& t : sheet.flat_triangles) {
    unite(root, t[0], t[1]);
    unite(root, t[0], t[2]);
  }
  std::map<int, std::size_t> number;
  std::vector<Patch> patches;
  std::vector<int> local(sheet.flat.size(), -1);
  for (std::size_t t = 0; t < sheet.flat_triangles.size(); ++t) {
    const auto [found, added] = number.try_emplace(root_of(root, sheet.flat_triangles[t][0]), patches.size());
    if (added) patches.emplace_back();
    Patch& patch = patches[found->second];
    Triangle corners;
    for (std::size_t k = 0; k < 3; ++k) {
      int& at = local[index(sheet.flat_triangles[t][k])];
      if (at < 0) {
        at = static_cast<int>(patch.flat.size());
        patch.flat.push_back(sheet.flat_triangles[t][k]);
      }
      corners[k] = at;
    }
    patch.triangle.push_back(static_cast<int>(t));
    patch.corners.push_back(corners);
  }
  return patches;
}

// Its border and whether it is a disc; `where` a vertex of it.
Expected<void> find_border(Patch& patch, int where) {
  const EdgeTriangles edges = edge_triangles(patch.corners);
  std::map<int, int> next;
  for (const Triangle& t : patch.corners) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (edges.at(between(t[k], t[(k + 1) % 3])).size() == 1) next[t[k]] = t[(k + 1) % 3];
    }
  }
  if (next.empty())
    return input_error(
        "the piece of vertex {} is closed: it has no border from which it could be flattened; cut it open, "
        "or give it texture "
        "coordinates (UV) in the program it comes from",
        where);
  int at = next.begin()->first;
  do {
    patch.border.push_back(at);
    at = next.at(at);
  } while (at != next.begin()->first && patch.border.size() <= next.size());
  const auto euler = static_cast<std::int64_t>(patch.flat.size() + patch.corners.size()) -
                     static_cast<std::int64_t>(edges.size());
  if (euler != 1 || patch.border.size() != next.size())
    return input_error(
        "the piece of vertex {} has a handle, which cannot be flattened; give it texture coordinates (UV) in "
        "the program it "
        "comes from",
        where);
  return {};
}

Expected<void> measure(const Sheet& sheet, Patch& patch) {
  for (const int t : patch.triangle) {
    const auto at = [&](std::size_t k) { return sheet.vertices[index(sheet.triangles[index(t)][k])]; };
    const Vec3 u = at(1) - at(0), v = at(2) - at(0);
    const double twice = u.cross(v).norm(),
                 longest = std::max({u.squaredNorm(), v.squaredNorm(), (u - v).squaredNorm()});
    if (!(twice > 1e-6 * longest)) return input_error("triangle {} has no area", t);
    const Vec2 b(u.norm(), 0), c(u.dot(v) / b[0], twice / b[0]);
    const auto turned = [](const Vec2& e) { return Vec2(-e[1], e[0]); };
    patch.area.push_back(0.5 * twice);
    patch.gradient.push_back(
        {Vec2(turned(c - b) / twice), Vec2(turned(-c) / twice), Vec2(turned(b) / twice)});
  }
  return {};
}

using Sparse = Eigen::SparseMatrix<double>;
using Entries = std::vector<Eigen::Triplet<double>>;

// The border on a circle with the area of the patch, every other vertex in the middle of its neighbours.
void embed(Patch& patch, const Sheet& sheet) {
  const double area = std::accumulate(patch.area.begin(), patch.area.end(), 0.0),
               radius = std::sqrt(area / std::numbers::pi);
  std::vector<int> node(patch.flat.size());
  for (std::size_t t = 0; t < patch.corners.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k)
      node[index(patch.corners[t][k])] = sheet.triangles[index(patch.triangle[t])][k];
  }
  const auto point = [&](std::size_t k) {
    return sheet.vertices[index(node[index(patch.border[k % patch.border.size()])])];
  };
  std::vector<double> along = {0};
  for (std::size_t k = 0; k < patch.border.size(); ++k)
    along.push_back(along.back() + (point(k + 1) - point(k)).norm());
  patch.place.assign(patch.flat.size(), Vec2::Zero());
  std::vector<int> unknown(patch.flat.size(), 0);
  for (std::size_t k = 0; k < patch.border.size(); ++k) {
    const double angle = 2 * std::numbers::pi * along[k] / along.back();
    patch.place[index(patch.border[k])] = radius * Vec2(std::cos(angle), std::sin(angle));
    unknown[index(patch.border[k])] = -1;
  }
  int count = 0;
  for (int& u : unknown) {
    if (u == 0) u = count++;
  }
  if (count == 0) return;
  Entries entries;
  Eigen::MatrixX2d right = Eigen::MatrixX2d::Zero(count, 2);
  for (const auto& [edge, owners] : edge_triangles(patch.corners)) {
    for (std::size_t k = 0; k < 2; ++k) {
      const int i = unknown[index(edge[k])], j = unknown[index(edge[1 - k])];
      if (i < 0) continue;
      entries.emplace_back(i, i, 1.0);
      if (j >= 0) {
        entries.emplace_back(i, j, -1.0);
      } else {
        right.row(i) += patch.place[index(edge[1 - k])].transpose();
      }
    }
  }
  Sparse laplacian(count, count);
  laplacian.setFromTriplets(entries.begin(), entries.end());
  const Eigen::MatrixX2d solution = Eigen::SimplicialLDLT<Sparse>(laplacian).solve(right);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    if (unknown[i] >= 0) patch.place[i] = solution.row(unknown[i]).transpose();
  }
}

Mat2 jacobian(const Patch& patch, const std::vector<Vec2>& place, std::size_t t) {
  Mat2 J = Mat2::Zero();
  for (std::size_t k = 0; k < 3; ++k)
    J += place[index(patch.corners[t][k])] * patch.gradient[t][k].transpose();
  return J;
}

double energy(const Patch& patch, const std::vector<Vec2>& place) {
  double sum = 0;
  for (std::size_t t = 0; t < patch.corners.size(); ++t) {
    const Mat2 J = jacobian(patch, place, t);
    const double det = J(0, 0) * J(1, 1) - J(0, 1) * J(1, 0);
    if (!(det > 0)) return std::numeric_limits<double>::infinity();
    sum += patch.area[t] * J.squaredNorm() * (1 + 1 / (det * det));
  }
  return sum;
}

// J = U diag(σ) Vᵀ of positive determinant: R = U Vᵀ, σ, and U.
struct Polar {
  Mat2 rotation, axes;
  Vec2 stretch;
};
Polar polar(const Mat2& J) {
  const Vec2 turn = Vec2(J(0, 0) + J(1, 1), J(1, 0) - J(0, 1)).normalized();
  Polar result;
  result.rotation << turn[0], -turn[1], turn[1], turn[0];
  const Mat2 S = result.rotation.transpose() * J;
  const double mean = 0.5 * (S(0, 0) + S(1, 1)), half = 0.5 * (S(0, 0) - S(1, 1)),
               off = 0.5 * (S(0, 1) + S(1, 0));
  const double spread = std::hypot(half, off), angle = 0.5 * std::atan2(off, half);
  Mat2 V;
  V << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  result.axes = result.rotation * V;
  result.stretch = {mean + spread, mean - spread};
  return result;
}

// The proxy Σ A |W (J − R)|² has the gradient of the energy at J if W² = U diag((σ − σ⁻³)/(σ − 1)) Uᵀ.
Mat2 squared_weight(const Polar& p) {
  Vec2 w;
  for (int k = 0; k < 2; ++k) {
    const double s = p.stretch[k];
    w[k] = (s + 1) * (s * s + 1) / (s * s * s);
  }
  return p.axes * w.asDiagonal() * p.axes.transpose();
}

// The longest step of at most 1 that flips no triangle.
double longest_step(const Patch& patch, const std::vector<Vec2>& place, const std::vector<Vec2>& direction) {
  double longest = 1;
  for (const Triangle& t : patch.corners) {
    const Vec2 &p = place[index(t[0])], &d = direction[index(t[0])];
    const Vec2 u = place[index(t[1])] - p, v = place[index(t[2])] - p, du = direction[index(t[1])] - d,
               dv = direction[index(t[2])] - d;
    const auto cross = [](const Vec2& a, const Vec2& b) { return a[0] * b[1] - a[1] * b[0]; };
    const double c = cross(u, v), b = cross(u, dv) + cross(du, v), a = cross(du, dv);
    // The smallest positive root of c + b s + a s².
    const double square = b * b - 4 * a * c;
    if (square < 0) continue;
    const double q = -0.5 * (b + std::copysign(std::sqrt(square), b));
    for (const double root : {q / a, c / q}) {
      if (root > 0 && root < longest / 0.9) longest = 0.9 * root;
    }
  }
  return longest;
}

void relax(Patch& patch) {
  const auto n = static_cast<Eigen::Index>(patch.place.size());
  Eigen::SimplicialLDLT<Sparse> solver;
  double before = energy(patch, patch.place);
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    Entries entries;
    Eigen::VectorXd right = Eigen::VectorXd::Zero(2 * n);
    double trace = 0;
    for (std::size_t t = 0; t < patch.corners.size(); ++t) {
      const Polar p = polar(jacobian(patch, patch.place, t));
      const Mat2 M = patch.area[t] * squared_weight(p), MR = M * p.rotation;
      for (std::size_t a = 0; a < 3; ++a) {
        const Eigen::Index i = 2 * patch.corners[t][a];
        right.segment<2>(i) += MR * patch.gradient[t][a];
        for (std::size_t b = 0; b < 3; ++b) {
          const Mat2 block = patch.gradient[t][a].dot(patch.gradient[t][b]) * M;
          if (a == b) trace += block.trace();
          for (int r = 0; r < 2; ++r) {
            for (int c = 0; c < 2; ++c) entries.emplace_back(i + r, 2 * patch.corners[t][b] + c, block(r, c));
          }
        }
      }
    }
    const double hold = proximal * trace / static_cast<double>(2 * n);
    for (Eigen::Index i = 0; i < 2 * n; ++i) {
      entries.emplace_back(i, i, hold);
      right[i] += hold * patch.place[index(i / 2)][i % 2];
    }
    Sparse matrix(2 * n, 2 * n);
    matrix.setFromTriplets(entries.begin(), entries.end());
    if (iteration == 0) solver.analyzePattern(matrix);
    solver.factorize(matrix);
    if (solver.info() != Eigen::Success) return;
    const Eigen::VectorXd solution = solver.solve(right);
    std::vector<Vec2> direction, trial(patch.place.size());
    for (Eigen::Index i = 0; i < n; ++i)
      direction.emplace_back(solution.segment<2>(2 * i) - patch.place[index(i)]);
    double step = longest_step(patch, patch.place, direction), now = before;
    for (int halving = 0; halving < 40; ++halving, step *= 0.5) {
      for (std::size_t i = 0; i < trial.size(); ++i) trial[i] = patch.place[i] + step * direction[i];
      now = energy(patch, trial);
      if (now < before) break;
    }
    if (!(now < before)) return;
    patch.place = trial;
    if (before - now < least_progress * before) return;
    before = now;
  }
}

// So that the height in space grows along the flat y axis.
void stand_up(const Sheet& sheet, Patch& patch) {
  Vec2 up = Vec2::Zero();
  double area = 0;
  for (std::size_t t = 0; t < patch.corners.size(); ++t) {
    const Mat2 back = jacobian(patch, patch.place, t).inverse().transpose();
    for (std::size_t k = 0; k < 3; ++k)
      up += patch.area[t] * sheet.vertices[index(sheet.triangles[index(patch.triangle[t])][k])][1] *
            (back * patch.gradient[t][k]);
    area += patch.area[t];
  }
  if (up.norm() < 1e-3 * area) return;
  up.normalize();
  Mat2 turn;
  turn << up[1], -up[0], up[0], up[1];
  for (Vec2& p : patch.place) p = turn * p;
}

}  // namespace

Expected<FlattenedSheet> flatten(std::vector<Vec3> vertices, std::vector<Triangle> triangles) {
  FlattenedSheet result;
  Sheet& sheet = result.sheet;
  sheet.vertices = std::move(vertices);
  sheet.triangles = std::move(triangles);
  const EdgeTriangles edges = edge_triangles(sheet.triangles);
  for (const auto& [edge, owners] : edges) {
    if (owners.size() > 2)
      return input_error("the edge of vertices {} and {} belongs to more than two triangles", edge[0],
                         edge[1]);
    if (owners.size() == 2 && runs_along(sheet.triangles[index(owners[0])], edge) ==
                                  runs_along(sheet.triangles[index(owners[1])], edge))
      return input_error("triangles {} and {} are neighbours of opposite orientation", owners[0], owners[1]);
  }
  std::set<Edge> cut;
  result.cuts = cut_open(sheet.vertices, edges, cut);
  open_sheet(sheet, edges, cut);
  double area = 0, distortion = 0, least = std::numeric_limits<double>::infinity(), largest = 0;
  for (Patch& patch : patches_of(sheet)) {
    if (const auto found = find_border(patch, sheet.triangles[index(patch.triangle[0])][0]); !found)
      return forward_error(found);
    if (const auto measured = measure(sheet, patch); !measured) return forward_error(measured);
    embed(patch, sheet);
    relax(patch);
    stand_up(sheet, patch);
    for (std::size_t i = 0; i < patch.flat.size(); ++i) sheet.flat[index(patch.flat[i])] = patch.place[i];
    for (std::size_t t = 0; t < patch.corners.size(); ++t) {
      const Vec2 stretch = polar(jacobian(patch, patch.place, t)).stretch.cwiseInverse();
      least = std::min(least, stretch.minCoeff());
      largest = std::max(largest, stretch.maxCoeff());
      area += patch.area[t];
      distortion += patch.area[t] * (stretch - Vec2::Ones()).cwiseAbs().maxCoeff();
    }
    ++result.patches;
  }
  result.least_stretch = least;
  result.largest_stretch = largest;
  result.mean_distortion = distortion / area;
  return result;
}

}  // namespace lope::geometry
