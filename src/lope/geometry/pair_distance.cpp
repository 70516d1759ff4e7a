#include <lope/geometry/pair_distance.h>

#include <algorithm>

#include <Eigen/Geometry>
#include <Eigen/LU>

namespace lope::geometry {
namespace {

// Below this sine² of the angle between two edges their inner closest points are not trusted alone.
constexpr double nearly_parallel = 1e-8;
constexpr double surely_degenerate = 1e-24;

// The point of the segment (a, b) closest to p: its parameter, 0 and 1 at the ends.
double closest_parameter(const Vec3& p, const Vec3& a, const Vec3& b) {
  const Vec3 edge = b - a;
  const double along = (p - a).dot(edge), length = edge.squaredNorm();
  if (!(along > 0)) return 0;
  return along < length ? along / length : 1;
}

// Point x[p] and edge (x[a], x[b]); `sign` 1 if the point belongs to the first primitive.
ClosestPair point_edge(const PairNodes& x, int p, int a, int b, double sign) {
  ClosestPair at;
  const double s = closest_parameter(x[p], x[a], x[b]);
  at.r = sign * (x[p] - x[a] - s * (x[b] - x[a]));
  if (s == 1) at.r = sign * (x[p] - x[b]);
  at.squared_distance = at.r.squaredNorm();
  at.c[p] = sign;
  at.c[a] = -sign * (1 - s);
  at.c[b] = -sign * s;
  if (s > 0 && s < 1) {
    at.tangents = 1;
    at.tangent[0] = {a, b};
  }
  return at;
}

ClosestPair nearer(const ClosestPair& a, const ClosestPair& b) {
  return b.squared_distance < a.squared_distance ? b : a;
}

ClosestPair point_triangle(const PairNodes& x) {
  const Vec3 e1 = x[2] - x[1], e2 = x[3] - x[1], p = x[0] - x[1];
  const double g11 = e1.squaredNorm(), g12 = e1.dot(e2), g22 = e2.squaredNorm();
  const double determinant = g11 * g22 - g12 * g12;
  const double p1 = p.dot(e1), p2 = p.dot(e2);
  const double s = g22 * p1 - g12 * p2, t = g11 * p2 - g12 * p1;
  if (determinant > surely_degenerate * g11 * g22 && s > 0 && t > 0 && s + t < determinant) {
    const double ws = s / determinant, wt = t / determinant;
    ClosestPair at;
    at.r = p - ws * e1 - wt * e2;
    at.squared_distance = at.r.squaredNorm();
    at.c = {1, -(1 - ws - wt), -ws, -wt};
    at.tangents = 2;
    at.tangent = {{{1, 2}, {1, 3}}};
    return at;
  }
  return nearer(nearer(point_edge(x, 0, 1, 2, 1), point_edge(x, 0, 1, 3, 1)), point_edge(x, 0, 2, 3, 1));
}

ClosestPair edge_edge(const PairNodes& x) {
  const Vec3 u = x[1] - x[0], v = x[3] - x[2], w = x[0] - x[2];
  const double a = u.squaredNorm(), b = u.dot(v), c = v.squaredNorm(), d = u.dot(w), e = v.dot(w);
  const double determinant = a * c - b * b;
  ClosestPair inner;
  bool has_inner = false;
  if (determinant > surely_degenerate * a * c) {
    const double s = (b * e - c * d) / determinant, t = (a * e - b * d) / determinant;
    if (s > 0 && s < 1 && t > 0 && t < 1) {
      inner.r = w + s * u - t * v;
      inner.squared_distance = inner.r.squaredNorm();
      inner.c = {1 - s, s, -(1 - t), -t};
      inner.tangents = 2;
      inner.tangent = {{{0, 1}, {2, 3}}};
      has_inner = true;
      if (determinant > nearly_parallel * a * c) return inner;
    }
  }
  const ClosestPair ends = nearer(nearer(point_edge(x, 0, 2, 3, 1), point_edge(x, 1, 2, 3, 1)),
                                  nearer(point_edge(x, 2, 0, 1, -1), point_edge(x, 3, 0, 1, -1)));
  return has_inner ? nearer(ends, inner) : ends;
}

}  // namespace

ClosestPair closest_pair(PairKind kind, const PairNodes& x) {
  switch (kind) {
    case PairKind::PointTriangle:
      return point_triangle(x);
    case PairKind::EdgeEdge:
      return edge_edge(x);
    case PairKind::PointEdge:
      break;
  }
  return point_edge(x, 0, 1, 2, 1);
}

double squared_distance(PairKind kind, const PairNodes& x) { return closest_pair(kind, x).squared_distance; }

PairHessian squared_distance_hessian(const ClosestPair& at, const PairNodes& x) {
  PairHessian h = PairHessian::Zero();
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) h.block<3, 3>(3 * i, 3 * j) = 2 * at.c[i] * at.c[j] * Mat3::Identity();
  }
  if (at.tangents == 0) return h;
  Eigen::Matrix<double, 12, 2> slide = Eigen::Matrix<double, 12, 2>::Zero();
  Eigen::Matrix<double, 3, 2> e = Eigen::Matrix<double, 3, 2>::Zero();
  for (int j = 0; j < at.tangents; ++j) {
    const auto [from, to] = at.tangent[j];
    e.col(j) = x[to] - x[from];
    for (int i = 0; i < 4; ++i) slide.block<3, 1>(3 * i, j) = at.c[i] * e.col(j);
    slide.block<3, 1>(3 * to, j) += at.r;
    slide.block<3, 1>(3 * from, j) -= at.r;
  }
  Mat2 metric = e.transpose() * e;
  if (at.tangents == 1) metric(1, 1) = 1;
  const Eigen::Matrix<double, 12, 2> raised = slide * metric.inverse();
  for (int column = 0; column < 12; ++column) {
    for (int row = 0; row < 12; ++row) {
      for (int j = 0; j < at.tangents; ++j) h(row, column) -= 2 * raised(row, j) * slide(column, j);
    }
  }
  return h;
}

double parallel_measure(const PairNodes& x) { return (x[1] - x[0]).cross(x[3] - x[2]).squaredNorm(); }

double mollifier_value(double measure, double limit) {
  if (measure >= limit) return 1;
  const double part = measure / limit;
  return part * (2 - part);
}

EdgeMollifier edge_mollifier(const PairNodes& x, double limit) {
  EdgeMollifier result;
  const double c = parallel_measure(x);
  result.value = mollifier_value(c, limit);
  if (c >= limit) return result;
  const Vec3 u = x[1] - x[0], v = x[3] - x[2];
  const double uu = u.squaredNorm(), uv = u.dot(v), vv = v.squaredNorm();
  Vec<6> gradient;  // of c by u and v
  gradient << 2 * (vv * u - uv * v), 2 * (uu * v - uv * u);
  Mat<6> hessian;
  const Mat3 across = 4 * u * v.transpose() - 2 * v * u.transpose() - 2 * uv * Mat3::Identity();
  hessian.topLeftCorner<3, 3>() = 2 * (vv * Mat3::Identity() - v * v.transpose());
  hessian.bottomRightCorner<3, 3>() = 2 * (uu * Mat3::Identity() - u * u.transpose());
  hessian.topRightCorner<3, 3>() = across;
  hessian.bottomLeftCorner<3, 3>() = across.transpose();
  const double first = 2 * (1 - c / limit) / limit, second = -2 / (limit * limit);
  const Mat<6> whole = first * hessian + second * gradient * gradient.transpose();
  constexpr std::array<double, 4> sign = {-1, 1, -1, 1};
  for (int i = 0; i < 4; ++i) {
    result.gradient.segment<3>(3 * i) = sign[i] * first * gradient.segment<3>(3 * (i / 2));
    for (int j = 0; j < 4; ++j)
      result.hessian.block<3, 3>(3 * i, 3 * j) = sign[i] * sign[j] * whole.block<3, 3>(3 * (i / 2), 3 * (j / 2));
  }
  return result;
}

}  // namespace lope::geometry
