#include <lope/base/parallel.h>
#include <lope/matter/cloth/bending.h>
#include <lope/matter/element_clusters.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include <Eigen/Geometry>

namespace lope::matter {
namespace {

constexpr std::size_t grain_size = 2048;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Cotangent of the angle at a in the triangle a, b, c.
double cotangent(const Vec2& a, const Vec2& b, const Vec2& c) {
  return (b - a).dot(c - a) / std::abs(geometry::twice_area(a, b, c));
}

Mat3 skew(const Vec3& v) {
  Mat3 m;
  m << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
  return m;
}

// One triangle (0, 1, apex) of a hinge: the derivative of θ by its apex and the foot of the apex on the edge.
//   g = ∂θ/∂apex = sign |e| N/|N|²,  N = e × (apex − x₀);  t = (apex − x₀)·e/|e|²
struct HingeSide {
  Vec3 g;
  double t;
  // By x₀, x₁ and the apex.
  std::array<Mat3, 3> dg;
  std::array<Vec3, 3> dt;
};

HingeSide hinge_side(const Vec3& x0, const Vec3& x1, const Vec3& apex, double sign, bool second) {
  const Vec3 e = x1 - x0, a = apex - x0, N = e.cross(a);
  const double ee = e.squaredNorm(), length = std::sqrt(ee), nn = N.squaredNorm();
  HingeSide side;
  side.g = sign * length / nn * N;
  side.t = a.dot(e) / ee;
  if (!second) return side;
  const Mat3 by_normal = sign * length / nn * (Mat3::Identity() - 2 / nn * N * N.transpose());
  const Mat3 by_length = sign / (length * nn) * N * e.transpose();  // ∂|e|/∂x₁ = e/|e|
  side.dg[1] = by_length - by_normal * skew(a);
  side.dg[2] = by_normal * skew(e);
  side.dg[0] = -(side.dg[1] + side.dg[2]);
  side.dt[2] = e / ee;
  side.dt[1] = a / ee - 2 * side.t / ee * e;
  side.dt[0] = -(side.dt[1] + side.dt[2]);
  return side;
}

}  // namespace

Bending::Bending(const geometry::Sheet& sheet, const BendingParameters& parameters, double grain,
                 std::shared_ptr<const linalg::BlockPattern> pattern)
    : model_(parameters.model), pattern_(std::move(pattern)), matrix_(index(pattern_->blocks()), 0.0) {
  std::vector<double> rest;
  for (const Vec3& p : sheet.vertices) rest.insert(rest.end(), p.data(), p.data() + 3);
  std::vector<Vec3> centers;
  std::vector<int> groups;
  for (const geometry::Hinge& hinge : geometry::hinges(sheet)) {
    const auto flat = [&](std::size_t side, std::size_t corner) -> const Vec2& {
      return sheet.flat[index(hinge.flat[side][corner])];
    };
    // First triangle 0, 1, 2; second 1, 0, 3.
    const double a0 = cotangent(flat(0, 0), flat(0, 1), flat(0, 2)), a1 = cotangent(flat(0, 1), flat(0, 0), flat(0, 2));
    const double b0 = cotangent(flat(1, 1), flat(1, 0), flat(1, 2)), b1 = cotangent(flat(1, 0), flat(1, 1), flat(1, 2));
    const double area = 0.5 * (geometry::twice_area(flat(0, 0), flat(0, 1), flat(0, 2)) +
                               geometry::twice_area(flat(1, 0), flat(1, 1), flat(1, 2)));
    const Vec2 edge = flat(0, 1) - flat(0, 0);
    // The normal of the edge is at a right angle to it: cos²φ is the sine's square of the edge.
    const double along = (edge[0] * std::cos(grain) + edge[1] * std::sin(grain)) / edge.norm();
    const double B = parameters.warp * (1 - along * along) + parameters.weft * along * along;
    nodes_.push_back(hinge.nodes);
    weights_.push_back({a1 + b1, a0 + b0, -(a0 + a1), -(b0 + b1)});
    stiffness_.push_back(B / area);
    angular_stiffness_.push_back(B / area * edge.squaredNorm());
    const std::size_t h = nodes_.size() - 1;
    rest_angle_.push_back(parameters.curved_at_rest ? angle(rest, h) : 0.0);
    double square = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      square += weights_[h][a] * weights_[h][a];
      for (std::size_t b = 0; b < 4; ++b) {
        matrix_[index(pattern_->slot(hinge.nodes[a], hinge.nodes[b]))] +=
            stiffness_[h] * weights_[h][a] * weights_[h][b];
      }
    }
    total_stiffness_ += stiffness_[h] * square;
    if (model_ == BendingModel::Quadratic) continue;
    centers.emplace_back(0.5 * (place(rest, hinge.nodes[0]) + place(rest, hinge.nodes[1])));
    groups.insert(groups.end(), hinge.nodes.begin(), hinge.nodes.end());
  }
  if (model_ == BendingModel::Quadratic) return;
  members_ = bisected_clusters<3>(centers, cluster_size(hinge_count(), 8));
  std::vector<int> load;
  for (const auto& cluster : members_) load.push_back(static_cast<int>(cluster.size()));
  colours_ = coloured_clusters(pattern_->rows(), groups, 4, members_, load);
}

Vec3 Bending::place(std::span<const double> x, int node) const {
  return Eigen::Map<const Vec3>(x.data() + std::ptrdiff_t{3} * node);
}

// Positive where the triangles fold towards their common normal's side.
double Bending::angle(std::span<const double> x, std::size_t hinge) const {
  const auto& node = nodes_[hinge];
  const Vec3 x0 = place(x, node[0]), e = place(x, node[1]) - x0;
  const Vec3 n1 = e.cross(place(x, node[2]) - x0), n2 = (place(x, node[3]) - x0).cross(e);
  return std::atan2(n1.cross(n2).dot(e) / e.norm(), n1.dot(n2));
}

void Bending::angle_gradient(std::size_t hinge, Gradient& g) const {
  const auto& node = nodes_[hinge];
  const Vec3 x0 = place(x_, node[0]), x1 = place(x_, node[1]);
  const HingeSide one = hinge_side(x0, x1, place(x_, node[2]), -1, false);
  const HingeSide two = hinge_side(x0, x1, place(x_, node[3]), 1, false);
  g.segment<3>(6) = one.g;
  g.segment<3>(9) = two.g;
  g.segment<3>(0) = -(1 - one.t) * one.g - (1 - two.t) * two.g;
  g.segment<3>(3) = -one.t * one.g - two.t * two.g;
}

void Bending::angle_hessian(std::size_t hinge, Hessian& h) const {
  const auto& node = nodes_[hinge];
  const Vec3 x0 = place(x_, node[0]), x1 = place(x_, node[1]);
  h.setZero();
  for (int s = 0; s < 2; ++s) {
    const HingeSide side = hinge_side(x0, x1, place(x_, node[index(2 + s)]), s == 0 ? -1 : 1, true);
    const std::array<int, 3> at = {0, 3, 6 + 3 * s};
    for (std::size_t k = 0; k < 3; ++k) {
      const Mat3 moved = side.g * side.dt[k].transpose();
      h.block<3, 3>(6 + 3 * s, at[k]) += side.dg[k];
      h.block<3, 3>(0, at[k]) += -(1 - side.t) * side.dg[k] + moved;
      h.block<3, 3>(3, at[k]) += -side.t * side.dg[k] - moved;
    }
  }
}

Bending::Hessian Bending::hinge_hessian(optimize::HessianKind kind, std::size_t hinge) const {
  Gradient g;
  angle_gradient(hinge, g);
  Hessian result = angular_stiffness_[hinge] * g * g.transpose();
  if (kind == optimize::HessianKind::Projected) return result;
  Hessian second;
  angle_hessian(hinge, second);
  const double factor = angular_stiffness_[hinge] * (angle(x_, hinge) - rest_angle_[hinge]);
  result += 0.5 * factor * (second + second.transpose());
  return result;
}

double Bending::value() const {
  return parallel_sum(nodes_.size(), grain_size, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t h = begin; h < end; ++h) {
      if (model_ == BendingModel::Dihedral) {
        const double change = angle(x_, h) - rest_angle_[h];
        sum += 0.5 * angular_stiffness_[h] * change * change;
        continue;
      }
      const Vec3 origin = place(x_, nodes_[h][0]);
      Vec3 bend = Vec3::Zero();
      for (std::size_t a = 1; a < 4; ++a) bend += weights_[h][a] * (place(x_, nodes_[h][a]) - origin);
      sum += 0.5 * stiffness_[h] * bend.squaredNorm();
    }
    return sum;
  });
}

template <class Body>
void Bending::for_each_by_colour(const Body& body) const {
  for (const std::vector<int>& colour : colours_) {
    parallel_for(colour.size(), 1, [&](std::size_t i) {
      for (const int hinge : members_[index(colour[i])]) body(index(hinge));
    });
  }
}

// The rows of the matrix add up to 0: differences from the row's own node keep the digits.
void Bending::add_rows(double scale, std::span<const double> p, std::span<double> y) const {
  const auto start = pattern_->row_start();
  const auto column = pattern_->column();
  parallel_for(index(pattern_->rows()), grain_size, [&](std::size_t i) {
    const double* own = p.data() + 3 * i;
    double sum[3] = {0, 0, 0};
    for (std::int64_t slot = start[i]; slot < start[i + 1]; ++slot) {
      const double weight = matrix_[index(slot)];
      const double* other = p.data() + 3 * index(column[index(slot)]);
      for (std::size_t k = 0; k < 3; ++k) sum[k] += weight * (other[k] - own[k]);
    }
    for (std::size_t k = 0; k < 3; ++k) y[3 * i + k] += scale * sum[k];
  });
}

void Bending::add_gradient(std::span<double> g) const {
  if (model_ == BendingModel::Quadratic) return add_rows(1, x_, g);
  for_each_by_colour([&](std::size_t h) {
    Gradient slope;
    angle_gradient(h, slope);
    slope *= angular_stiffness_[h] * (angle(x_, h) - rest_angle_[h]);
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t k = 0; k < 3; ++k)
        g[3 * index(nodes_[h][a]) + k] += slope[static_cast<Eigen::Index>(3 * a + k)];
    }
  });
}

void Bending::add_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const {
  double* blocks = H.blocks();
  if (model_ == BendingModel::Quadratic) {
    parallel_for(matrix_.size(), grain_size, [&](std::size_t slot) {
      for (std::size_t k = 0; k < 9; k += 4) blocks[9 * slot + k] += scale * matrix_[slot];
    });
    return;
  }
  for_each_by_colour([&](std::size_t h) {
    const Hessian local = scale * hinge_hessian(kind, h);
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        double* block = blocks + 9 * pattern_->slot(nodes_[h][a], nodes_[h][b]);
        for (Eigen::Index i = 0; i < 3; ++i) {
          for (Eigen::Index j = 0; j < 3; ++j)
            block[3 * i + j] += local(static_cast<Eigen::Index>(3 * a) + i, static_cast<Eigen::Index>(3 * b) + j);
        }
      }
    }
  });
}

void Bending::add_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p,
                                std::span<double> y) const {
  if (model_ == BendingModel::Quadratic) return add_rows(scale, p, y);
  for_each_by_colour([&](std::size_t h) {
    Gradient direction;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t k = 0; k < 3; ++k)
        direction[static_cast<Eigen::Index>(3 * a + k)] = p[3 * index(nodes_[h][a]) + k];
    }
    const Gradient product = scale * (hinge_hessian(kind, h) * direction);
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t k = 0; k < 3; ++k)
        y[3 * index(nodes_[h][a]) + k] += product[static_cast<Eigen::Index>(3 * a + k)];
    }
  });
}

void Bending::add_laplacian(double scale, linalg::BlockAssembler& L) const {
  double* entries = L.blocks();
  parallel_for(matrix_.size(), grain_size, [&](std::size_t slot) { entries[slot] += scale * matrix_[slot]; });
}

// Σ K x changes by |K| δ, the energy of a hinge by what that does to ½ k |Σ K x|².
double Bending::noise(double delta) const {
  return std::sqrt(2 * total_stiffness_ * value()) * delta + total_stiffness_ * delta * delta;
}

}  // namespace lope::matter
