#include <lope/math/decompositions.h>
#include <lope/matter/contact/barrier_energy.h>

#include <cmath>
#include <limits>

#include <Eigen/Geometry>

namespace lope::matter {
namespace {

using geometry::ClosestPair;
using geometry::PairHessian;
using geometry::PairNodes;

// The second derivative as B M Bᵀ − p ccᵀ ⊗ (I − ννᵀ − Σ τ_aτ_aᵀ), B with the orthonormal columns u_i ⊗ ν and u₀ ⊗ τ_a, where
// u₀ ∥ c and u₁ … complete it to a basis of c and the σ̃_a.
struct Reduced {
  int size = 1;                        // 1 + 2·tangents
  Eigen::Matrix<double, 12, 5> basis;  // B
  Mat<5> matrix;                       // M
  double push = 0;                     // p = −Φ′/d
  Mat3 outside;                        // I − ννᵀ − Σ τ_aτ_aᵀ
};

Reduced reduce(const ClosestPair& at, const PairNodes& x, double first, double second) {
  Reduced result;
  const int tangents = at.tangents;
  const double d = std::sqrt(at.squared_distance);
  const Vec3 normal = at.r / d;
  result.size = 1 + 2 * tangents;
  result.push = -first / d;
  result.outside = Mat3::Identity() - normal * normal.transpose();
  const Eigen::Map<const Vec<4>> c(at.c.data());
  const double length = c.norm();

  // τ and σ̃ by Gram and Schmidt, columns of σ turned with those of e.
  std::array<Vec3, 2> tau;
  std::array<Vec<4>, 2> turn;
  for (int a = 0; a < tangents; ++a) {
    const auto [from, to] = at.tangent[static_cast<std::size_t>(a)];
    tau[a] = x[to] - x[from];
    turn[a] = Vec<4>::Zero();
    turn[a][to] = 1;
    turn[a][from] = -1;
    for (int b = 0; b < a; ++b) {
      const double part = tau[b].dot(tau[a]);
      tau[a] -= part * tau[b];
      turn[a] -= part * turn[b];
    }
    const double size = tau[a].norm();
    tau[a] /= size;
    turn[a] /= size;
    result.outside -= tau[a] * tau[a].transpose();
  }

  std::array<Vec<4>, 3> u;
  u[0] = c / length;
  Eigen::Matrix<double, 3, 2> parts = Eigen::Matrix<double, 3, 2>::Zero();  // σ̃_a = Σ parts(i, a) u_i
  for (int a = 0; a < tangents; ++a) {
    Vec<4> rest = turn[a];
    for (int sweep = 0; sweep < 2; ++sweep) {  // twice is enough
      for (int i = 0; i <= a; ++i) {
        const double part = u[i].dot(rest);
        parts(i, a) += part;
        rest -= part * u[i];
      }
    }
    const double size = rest.norm();
    if (size > 1e-12 * turn[a].norm()) {
      parts(a + 1, a) = size;
      u[a + 1] = rest / size;
    } else {
      u[a + 1].setZero();
    }
  }

  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k <= tangents; ++k) result.basis.block<3, 1>(3 * i, k) = u[k][i] * normal;
    for (int a = 0; a < tangents; ++a) result.basis.block<3, 1>(3 * i, 1 + tangents + a) = u[0][i] * tau[a];
  }
  Mat<5>& m = result.matrix;
  m.setZero();
  m(0, 0) = second * length * length;
  for (int a = 0; a < tangents; ++a) {
    const int across = 1 + tangents + a;
    for (int i = 0; i <= tangents; ++i) {
      const double part = result.push * length * d * parts(i, a);
      m(i, across) += part;
      m(across, i) += part;
      for (int j = 0; j <= tangents; ++j) m(i, j) += result.push * d * d * parts(i, a) * parts(j, a);
    }
  }
  return result;
}

// B M Bᵀ, by plain loops over what there is of it.
PairHessian expand(const Reduced& reduced, const Mat<5>& matrix) {
  PairHessian h;
  const int size = reduced.size;
  Eigen::Matrix<double, 12, 5> left;
  for (int k = 0; k < size; ++k) {
    left.col(k).setZero();
    for (int l = 0; l < size; ++l) left.col(k) += matrix(l, k) * reduced.basis.col(l);
  }
  for (int column = 0; column < 12; ++column) {
    for (int row = 0; row < 12; ++row) {
      double sum = 0;
      for (int k = 0; k < size; ++k) sum += left(row, k) * reduced.basis(column, k);
      h(row, column) = sum;
    }
  }
  return h;
}

PairHessian raw_of(const ClosestPair& at, const PairNodes& x, double first, double second) {
  const Reduced reduced = reduce(at, x, first, second);
  PairHessian h = expand(reduced, reduced.matrix);
  if (at.tangents < 2) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j)
        h.block<3, 3>(3 * i, 3 * j) -= reduced.push * at.c[i] * at.c[j] * reduced.outside;
    }
  }
  return h;
}

template <int size>
Mat<5> positive_part(const Mat<5>& matrix) {
  const Mat<size> inner = matrix.topLeftCorner<size, size>();
  const math::SymmetricEigen<size> eigen = math::symmetric_eigen<size>(inner);
  Mat<size> positive = inner;
  for (int k = 0; k < size && eigen.values[k] < 0; ++k) {
    const Vec<size> v = eigen.vectors.col(k);
    positive -= eigen.values[k] * v * v.transpose();
  }
  Mat<5> result = Mat<5>::Zero();
  result.topLeftCorner<size, size>() = positive;
  return result;
}

bool mollified(const PairNodes& x, const BarrierPairParameters& pair) {
  return pair.parallel_limit > 0 && geometry::parallel_measure(x) < pair.parallel_limit;
}

// Of m b(g): ∇²(m b) = m ∇²b + ∇m ∇bᵀ + ∇b ∇mᵀ + b ∇²m.
PairHessian mollified_hessian(const ClosestPair& at, const PairNodes& x, const BarrierPairParameters& pair) {
  const double d = std::sqrt(at.squared_distance);
  const BarrierOfGap b = barrier(d - pair.offset, pair.reach);
  const geometry::EdgeMollifier m = geometry::edge_mollifier(x, pair.parallel_limit);
  PairHessian h = m.value * raw_of(at, x, b.first, b.second) + b.value * m.hessian;
  Vec<12> slope;
  for (int i = 0; i < 4; ++i) slope.segment<3>(3 * i) = b.first * at.c[i] / d * at.r;
  for (int column = 0; column < 12; ++column) {
    for (int row = 0; row < 12; ++row)
      h(row, column) += m.gradient[row] * slope[column] + slope[row] * m.gradient[column];
  }
  return pair.weight * h;
}

}  // namespace

BarrierOfGap barrier(double gap, double reach) {
  if (gap >= reach) return {0, 0, 0};
  if (!(gap > 0)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return {infinity, -infinity, infinity};
  }
  const double part = gap / reach, missing = 1 - part, logarithm = std::log(part);
  return {-reach * missing * missing * logarithm, 2 * missing * logarithm - missing * missing / part,
          (-2 * logarithm + 4 * missing / part + missing * missing / (part * part)) / reach};
}

double barrier_value(const ClosestPair& at, const PairNodes& x, const BarrierPairParameters& pair) {
  const double b = barrier(std::sqrt(at.squared_distance) - pair.offset, pair.reach).value;
  if (!mollified(x, pair)) return pair.weight * b;
  return pair.weight * geometry::mollifier_value(geometry::parallel_measure(x), pair.parallel_limit) * b;
}

Vec<12> barrier_gradient(const ClosestPair& at, const PairNodes& x, const BarrierPairParameters& pair) {
  const double d = std::sqrt(at.squared_distance);
  const BarrierOfGap b = barrier(d - pair.offset, pair.reach);
  Vec<12> g;
  for (int i = 0; i < 4; ++i) g.segment<3>(3 * i) = pair.weight * b.first * at.c[i] / d * at.r;
  if (mollified(x, pair)) {
    const geometry::EdgeMollifier m = geometry::edge_mollifier(x, pair.parallel_limit);
    g = m.value * g + pair.weight * b.value * m.gradient;
  }
  return g;
}

PairHessian barrier_hessian(const ClosestPair& at, const PairNodes& x, const BarrierPairParameters& pair) {
  if (mollified(x, pair)) return mollified_hessian(at, x, pair);
  const BarrierOfGap b = barrier(std::sqrt(at.squared_distance) - pair.offset, pair.reach);
  return raw_of(at, x, pair.weight * b.first, pair.weight * b.second);
}

PairHessian projected_barrier_hessian(const ClosestPair& at, const PairNodes& x, const BarrierPairParameters& pair) {
  if (mollified(x, pair)) {
    PairHessian h = mollified_hessian(at, x, pair);
    const math::SymmetricEigen<12> eigen = math::symmetric_eigen<12>(h);
    for (int k = 0; k < 12 && eigen.values[k] < 0; ++k) {
      for (int column = 0; column < 12; ++column)
        h.col(column) -= eigen.values[k] * eigen.vectors(column, k) * eigen.vectors.col(k);
    }
    return h;
  }
  const BarrierOfGap b = barrier(std::sqrt(at.squared_distance) - pair.offset, pair.reach);
  const Reduced reduced = reduce(at, x, pair.weight * b.first, pair.weight * b.second);
  switch (at.tangents) {
    case 0:
      return expand(reduced, reduced.matrix);  // Φ″ ≥ 0 alone
    case 1:
      return expand(reduced, positive_part<3>(reduced.matrix));
    default:
      return expand(reduced, positive_part<5>(reduced.matrix));
  }
}

}  // namespace lope::matter
