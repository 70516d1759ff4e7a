// A material of one's own: rubber with fibres, which no line of the library's table has.
//
//   ψ = ψ_rubber(F) + k/4 (|F a|² − 1)²        a: direction of the fibres at rest, a unit vector
//
// The rubber is the library's; the fibres are an energy of the body's nodes beside it, minimised in the same step, so that they may
// be as stiff as they like. F is constant in a linear tetrahedron, and F a = Σ_i w_i x_i with w_i = ∇N_i · a: value, gradient and
// Hessian are three lines. (An isotropic density of principal stretches goes into the table instead: docs/extending.md.)
//
// The bar's fibres wind around its axis like the strands of a rope. Pulled by its end, it turns.
//
// Sample run: own_material
#include <lope/geometry/shapes.h>
#include <lope/matter/solid/solid.h>
#include <lope/optimize/check_derivatives.h>
#include <lope/step/simulation.h>

#include <array>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <fmt/core.h>

namespace {

using lope::Mat3;
using lope::Vec3;
using lope::optimize::HessianKind;

struct Fibre {
  lope::geometry::Tetrahedron nodes;
  std::array<double, 4> weight;  // w_i, 1/m
  double volume;                 // m³
};

// `direction`: of the fibres at a place of the rest shape.
template <class Direction>
std::vector<Fibre> fibres_in(const lope::geometry::Mesh& mesh, const Direction& direction) {
  std::vector<Fibre> fibres;
  for (const auto& nodes : mesh.tetrahedra) {
    const auto place = [&](std::size_t i) -> const Vec3& {
      return mesh.vertices[static_cast<std::size_t>(nodes[i])];
    };
    Mat3 edges;
    for (int i = 0; i < 3; ++i) edges.col(i) = place(static_cast<std::size_t>(i) + 1) - place(0);
    const Vec3 middle = place(0) + edges.rowwise().sum() / 4;
    const Vec3 w = edges.inverse() * direction(middle);
    fibres.push_back({nodes, {-w.sum(), w[0], w[1], w[2]}, edges.determinant() / 6});
  }
  return fibres;
}

class FibreEnergy final : public lope::matter::ContactTerm {
 public:
  // `first`: number of the body's first node among those that are minimised together.
  FibreEnergy(std::vector<Fibre> fibres, double stiffness, std::size_t first)
      : fibres_(std::move(fibres)), k_(stiffness) {
    for (Fibre& fibre : fibres_) {
      for (int& node : fibre.nodes) node += static_cast<int>(first);
    }
  }

  void move_to(std::span<const double> x) override { x_.assign(x.begin(), x.end()); }
  double value() override {
    double sum = 0;
    for (const Fibre& fibre : fibres_) sum += fibre.volume * k_ / 4 * std::pow(excess(along(fibre, x_)), 2);
    return sum;
  }
  double value_noise() override { return 1e-14 * value(); }
  void add_gradient(std::span<double> g) override {
    for (const Fibre& fibre : fibres_) {
      const Vec3 v = along(fibre, x_);
      spread(fibre, fibre.volume * k_ * excess(v) * v, g);
    }
  }
  void add_hessian(HessianKind kind, lope::linalg::BlockAssembler& hessian) override {
    for (const Fibre& fibre : fibres_) {
      const Mat3 h = second_derivative(kind, fibre);
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b) {
          double* block = hessian.blocks() + 9 * hessian.pattern().slot(fibre.nodes[a], fibre.nodes[b]);
          for (int e = 0; e < 9; ++e) block[e] += fibre.weight[a] * fibre.weight[b] * h(e / 3, e % 3);
        }
      }
    }
  }
  void add_hessian_times(HessianKind kind, std::span<const double> p, std::span<double> y) override {
    for (const Fibre& fibre : fibres_) spread(fibre, second_derivative(kind, fibre) * along(fibre, p), y);
  }

 private:
  static double excess(const Vec3& v) { return v.squaredNorm() - 1; }
  static Vec3 along(const Fibre& fibre, std::span<const double> x) {
    Vec3 sum = Vec3::Zero();
    for (std::size_t i = 0; i < 4; ++i)
      sum += fibre.weight[i] * lope::matter::node(x, static_cast<std::size_t>(fibre.nodes[i]), 3);
    return sum;
  }
  static void spread(const Fibre& fibre, const Vec3& force, std::span<double> y) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (int c = 0; c < 3; ++c)
        y[static_cast<std::size_t>(3 * fibre.nodes[i] + c)] += fibre.weight[i] * force[c];
    }
  }
  // k (s I + 2 v vᵀ), s = |v|² − 1: eigenvalues k s across v and k (s + 2|v|²) along it. Projected: their negative parts are left out.
  Mat3 second_derivative(HessianKind kind, const Fibre& fibre) const {
    const Vec3 v = along(fibre, x_);
    const double s = excess(v), square = v.squaredNorm();
    double across = s, beside = s + 2 * square;
    if (kind == HessianKind::Projected) across = std::max(across, 0.0), beside = std::max(beside, 0.0);
    Mat3 h = across * Mat3::Identity();
    if (square > 0) h += (beside - across) / square * v * v.transpose();
    return fibre.volume * k_ * h;
  }

  std::vector<Fibre> fibres_;
  double k_;  // Pa
  std::vector<double> x_;
};

constexpr double length = 0.4, radius = 0.05;

// Fibres at 45 degrees to the axis, x, everywhere but on it.
Vec3 winding(const Vec3& place) {
  const Vec3 around = Vec3::UnitX().cross(Vec3(0, place.y(), place.z()));
  return (Vec3::UnitX() + (around.norm() > 0 ? around.normalized() : Vec3::Zero())).normalized();
}

lope::step::Model bar_with_fibres(const lope::geometry::Mesh& mesh, double stiffness) {
  lope::step::Model model;
  model.gravity = Vec3::Zero();
  model.scheme = lope::matter::Scheme::Static;
  lope::matter::SolidBody bar;
  bar.name = "bar";
  bar.mesh = mesh;
  bar.materials = {lope::material::from_young_poisson(lope::material::Density::StableNeoHookean, 1e5, 0.45)};
  bar.density_of_material = {1000};
  lope::matter::Handle wall;
  wall.name = "wall";
  std::vector<std::size_t> end;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (mesh.vertices[i].x() < 1e-6) wall.vertices.push_back(static_cast<int>(i));
    if (mesh.vertices[i].x() > length - 1e-6) end.push_back(i);
  }
  bar.handles = {wall};
  // The end is pulled by 200 N, shared by its nodes.
  bar.forces.push_back([end](double, std::span<const double>, std::span<double> force) {
    for (const std::size_t i : end) force[3 * i] += 200.0 / static_cast<double>(end.size());
  });
  if (stiffness > 0) {
    bar.energies.push_back([fibres = fibres_in(mesh, winding), stiffness](std::size_t first) {
      return std::make_unique<FibreEnergy>(fibres, stiffness, first);
    });
  }
  model.add(std::move(bar));
  return model;
}

}  // namespace

int main() {
  const auto mesh = lope::geometry::tetrahedralize(
      lope::geometry::Cylinder{Vec3(length / 2, 0, 0), Vec3::UnitX(), radius, length}, 0.02);
  if (!mesh) {
    fmt::print(stderr, "error: {}\n", mesh.error().message);
    return 1;
  }
  double turns[2] = {};
  for (int with = 0; with < 2; ++with) {
    lope::step::Simulation simulation(bar_with_fibres(*mesh, with * 5e5));
    if (with) {
      // Derivatives first, at a point that is not at rest.
      auto problem = simulation.step_problem(0, 0.025);
      for (std::size_t k = 0; k < problem.start.size(); ++k)
        problem.start[k] += 2e-3 * std::sin(static_cast<double>(7 * k));
      const auto errors = lope::optimize::check_derivatives(problem.objective, problem.start);
      fmt::print("errors of the derivatives: gradient {:.1e}, Hessian {:.1e}\n", errors.gradient,
                 errors.hessian);
      if (errors.largest() > 1e-5) return 1;
    }
    const auto report = simulation.advance();
    if (!report.converged()) {
      fmt::print(stderr, "not converged: {}\n", report.islands[0].solve.reason);
      return 2;
    }
    const auto& x = simulation.state().nodes(0).x;
    double stretch = 0, turn = 0;
    int rim = 0;
    for (std::size_t i = 0; i < mesh->vertices.size(); ++i) {
      const Vec3 &before = mesh->vertices[i], after = lope::matter::node(x, i, 3);
      if (before.x() < length - 1e-6 || std::hypot(before.y(), before.z()) < 0.9 * radius) continue;
      const double angle = std::atan2(after.z(), after.y()) - std::atan2(before.z(), before.y());
      turn += std::remainder(angle, 2 * std::numbers::pi);
      stretch += after.x() / before.x() - 1;
      ++rim;
    }
    turns[with] = turn / rim * 180 / std::numbers::pi;
    fmt::print("{} fibres: {} iterations; the end is pulled out by {:.1f} % and turns by {:.1f} degrees\n",
               with ? "with" : "without", report.islands[0].solve.iterations, 100 * stretch / rim,
               turns[with]);
  }
  return std::abs(turns[0]) < 1 && std::abs(turns[1]) > 5 ? 0 : 1;
}
