#include <lope/base/parallel.h>
#include <lope/math/positive_part.h>
#include <lope/matter/contact/obstacle_penalty.h>

#include <cassert>
#include <cmath>
#include <limits>

namespace lope::matter {
namespace {

constexpr std::size_t grain = 512;

Vec3 node(std::span<const double> x, std::size_t i, int dimension) {
  const auto d = static_cast<std::size_t>(dimension);
  return {x[i * d], x[i * d + 1], dimension == 3 ? x[i * d + 2] : 0.0};
}

std::size_t entry(int node, int component, int dimension) {
  return static_cast<std::size_t>(node) * static_cast<std::size_t>(dimension) +
         static_cast<std::size_t>(component);
}

}  // namespace

double penalty_stiffness(double scale, double weight, double length) {
  const double depth = 0.01 * length;
  return (0.01 * scale + 100 * weight) / (3 * depth * depth);
}

ObstaclePenalty::ObstaclePenalty(int dimension, std::vector<double> stiffness)
    : dimension_(dimension), stiffness_(std::move(stiffness)) {
  point_.resize(stiffness_.size() * static_cast<std::size_t>(dimension));
}

void ObstaclePenalty::begin_step(std::span<const PlacedObstacle> obstacles, std::span<const std::uint8_t> fixed) {
  assert(fixed.size() == stiffness_.size());
  obstacles_ = obstacles;
  fixed_ = fixed;
  detected_ = false;
}

void ObstaclePenalty::move_to(std::span<const double> x) {
  point_.assign(x.begin(), x.end());
  detected_ = false;
}

void ObstaclePenalty::detect() {
  if (detected_) return;
  detected_ = true;
  std::vector<std::vector<Pair>> parts((stiffness_.size() + grain - 1) / grain);
  parallel_chunks(stiffness_.size(), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (fixed_[i]) continue;
      const Vec3 x = node(point_, i, dimension_);
      for (std::size_t b = 0; b < obstacles_.size(); ++b) {
        const PlacedObstacle& obstacle = obstacles_[b];
        if (!(obstacle.shape->value(x) < 0)) continue;
        const double k = obstacle.stiffness > 0 ? obstacle.stiffness : stiffness_[i];
        parts[begin / grain].push_back(
            {static_cast<int>(i), static_cast<int>(b), k, obstacle.shape->sample(x)});
      }
    }
  });
  pairs_.clear();
  for (const auto& part : parts) pairs_.insert(pairs_.end(), part.begin(), part.end());
}

const std::vector<ObstaclePenalty::Pair>& ObstaclePenalty::pairs() {
  detect();
  return pairs_;
}

double ObstaclePenalty::value() {
  detect();
  double sum = 0;
  for (const Pair& pair : pairs_) sum -= pair.stiffness * std::pow(pair.at.value, 3);
  return sum;
}

// Rounding of the positions times the forces.
double ObstaclePenalty::value_noise() {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  detect();
  double sum = 0;
  for (const Pair& pair : pairs_) {
    const Vec3 x = node(point_, static_cast<std::size_t>(pair.node), dimension_);
    sum += 4 * epsilon * (x.norm() + std::abs(pair.at.value)) * pair.force().norm();
  }
  return sum;
}

void ObstaclePenalty::add_gradient(std::span<double> g) {
  detect();
  for (const Pair& pair : pairs_) {
    const Vec3 force = pair.force();
    for (int k = 0; k < dimension_; ++k) g[entry(pair.node, k, dimension_)] -= force[k];
  }
}

Mat3 ObstaclePenalty::second_derivative(optimize::HessianKind kind, const Pair& pair) const {
  const double phi = pair.at.value;
  Mat3 exact = -6 * pair.stiffness * phi * pair.at.gradient * pair.at.gradient.transpose() -
               3 * pair.stiffness * phi * phi * pair.at.hessian;
  if (kind == optimize::HessianKind::Raw) return exact;
  return math::positive_part(exact);
}

void ObstaclePenalty::add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& hessian) {
  detect();
  double* blocks = hessian.blocks();
  for (const Pair& pair : pairs_) {
    const Mat3 block = second_derivative(kind, pair);
    double* values = blocks + hessian.pattern().diagonal(pair.node) * dimension_ * dimension_;
    for (int r = 0; r < dimension_; ++r) {
      for (int c = 0; c < dimension_; ++c) values[r * dimension_ + c] += block(r, c);
    }
  }
}

void ObstaclePenalty::add_hessian_times(optimize::HessianKind kind, std::span<const double> p,
                                        std::span<double> y) {
  detect();
  for (const Pair& pair : pairs_) {
    const Vec3 product =
        second_derivative(kind, pair) * node(p, static_cast<std::size_t>(pair.node), dimension_);
    for (int k = 0; k < dimension_; ++k) y[entry(pair.node, k, dimension_)] += product[k];
  }
}

}  // namespace lope::matter
