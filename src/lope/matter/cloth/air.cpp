#include <lope/base/parallel.h>
#include <lope/linalg/space.h>
#include <lope/matter/cloth/air.h>

#include <cmath>

#include <Eigen/Geometry>

namespace lope::matter {
namespace {

constexpr std::size_t grain = 4096;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

AirDrag::AirDrag(const geometry::Sheet& sheet, const Air& air, std::shared_ptr<const linalg::BlockPattern> pattern)
    : air_(air), triangles_(sheet.triangles), matrix_(std::move(pattern), 3) {
  for (auto* vector : {&push_, &offset_, &product_}) vector->resize(3 * sheet.vertices.size());
}

void AirDrag::begin_step(const StepSetup& setup) {
  weight_ = setup.damping;
  from_ = setup.damping_target;
  matrix_.set_zero();
  linalg::fill(push_, 0);
  constant_ = 0;
  if (weight_ == 0) return;
  const auto at = [](std::span<const double> x, int node) -> Vec3 {
    return Eigen::Map<const Vec3>(x.data() + std::ptrdiff_t{3} * node);
  };
  for (const geometry::Triangle& t : triangles_) {
    const Vec3 x0 = at(setup.start, t[0]);
    const Vec3 twice = (at(setup.start, t[1]) - x0).cross(at(setup.start, t[2]) - x0);
    const double area = 0.5 * twice.norm();
    if (area == 0) continue;
    const Vec3 n = twice / (2 * area);
    Vec3 velocity = Vec3::Zero();
    for (const int node : t) velocity += weight_ / 3 * (at(setup.unforced, node) - at(setup.start, node));
    const double c = 0.5 * air_.density * air_.drag * area * std::abs(n.dot(velocity - air_.wind));
    const double blow = n.dot(air_.wind);
    constant_ += 0.5 * c / weight_ * blow * blow;
    const Mat3 block = weight_ * c / 9 * n * n.transpose();
    for (const int a : t) {
      for (std::size_t k = 0; k < 3; ++k) push_[3 * index(a) + k] += c * blow / 3 * n[static_cast<Eigen::Index>(k)];
      for (const int b : t) {
        double* values = matrix_.block(matrix_.pattern().slot(a, b));
        for (int k = 0; k < 9; ++k) values[k] += block(k / 3, k % 3);
      }
    }
  }
}

double AirDrag::value(std::span<const double> x) const {
  if (weight_ == 0) return 0;
  linalg::add_scaled(x, -1, from_, offset_);
  matrix_.multiply(offset_, product_);
  return 0.5 * linalg::local_space().dot(offset_, product_) - linalg::local_space().dot(offset_, push_) + constant_;
}

void AirDrag::add_gradient(std::span<const double> x, std::span<double> g) const {
  if (weight_ == 0) return;
  linalg::add_scaled(x, -1, from_, offset_);
  matrix_.multiply(offset_, product_);
  parallel_for(g.size(), grain, [&](std::size_t k) { g[k] += product_[k] - push_[k]; });
}

void AirDrag::add_hessian(linalg::BlockAssembler& H) const {
  const auto values = matrix_.values();
  double* blocks = H.blocks();
  parallel_for(values.size(), grain, [&](std::size_t k) { blocks[k] += values[k]; });
}

void AirDrag::add_hessian_times(std::span<const double> p, std::span<double> y) const {
  matrix_.multiply(p, product_);
  parallel_for(y.size(), grain, [&](std::size_t k) { y[k] += product_[k]; });
}

}  // namespace lope::matter
