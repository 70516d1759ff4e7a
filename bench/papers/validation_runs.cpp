#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/LU>
#include <fmt/core.h>
#include <papers/validation_runs.h>

namespace lope::bench {
namespace {

// A quarter of each element at each of its vertices, as a simulation has it.
std::vector<double> lumped_masses(const matter::SolidBody& body) {
  std::vector<double> masses(body.mesh.vertices.size(), 0.0);
  for (const auto& t : body.mesh.tetrahedra) {
    const auto vertex = [&](std::size_t k) { return body.mesh.vertices[static_cast<std::size_t>(t[k])]; };
    Mat3 edges;
    for (std::size_t k = 0; k < 3; ++k) edges.col(static_cast<Eigen::Index>(k)) = vertex(k + 1) - vertex(0);
    for (const int k : t)
      masses[static_cast<std::size_t>(k)] += body.density_of_material.front() * edges.determinant() / 24;
  }
  return masses;
}

}  // namespace

std::string_view name_of(step::Scheme scheme) {
  switch (scheme) {
    case step::Scheme::BackwardEuler:
      return "backward-euler";
    case step::Scheme::Bdf2:
      return "bdf-2";
    case step::Scheme::Trapezoid:
      return "trapezoid";
    case step::Scheme::Static:
      return "static";
  }
  return "";
}

std::string seconds(double h) {
  if (h >= 0.999) return fmt::format("{:.3g} s", h);
  const double per_second = 1 / h;
  return std::abs(per_second - std::round(per_second)) < 1e-9 && per_second < 999
             ? fmt::format("1/{:.0f} s", per_second)
             : fmt::format("{:.3g} ms", 1e3 * h);
}

matter::SolidBody box_body(const Vec3& size, std::array<int, 3> nodes, double young, double density) {
  geometry::Mesh mesh = lattice_box(size, nodes).value();  // about the origin
  for (Vec3& p : mesh.vertices) p += 0.5 * size;
  return elastic_body(std::move(mesh), 3, young, 0.3, density);
}

step::Obstacle plane(double friction) {
  step::Obstacle made;
  made.name = "plane";
  made.shape = geometry::level_set(geometry::HalfSpace{Vec3::Zero(), Vec3::UnitY()}).value();
  made.friction = friction;
  return made;
}

Run::Run(const step::Model& model)
    : simulation(model),
      masses(lumped_masses(first_solid(model))),
      mass(std::accumulate(masses.begin(), masses.end(), 0.0)) {
  first_energy = largest_energy = simulation.energies(0).total();
}

step::StepReport Run::step() {
  step::StepReport report = simulation.advance();
  unconverged += report.converged() ? 0 : 1;
  if (report.accepted) largest_energy = std::max(largest_energy, report.bodies.front().energy.total());
  return report;
}

void Run::steps(double duration, const std::function<void(const step::StepReport&)>& see) {
  const double h = simulation.model().step;
  const auto count = static_cast<int>(std::lround(duration / h));
  for (int i = 0; i < count; ++i) {
    const step::StepReport report = step();
    if (see) see(report);
  }
}

Vec3 Run::mean(const std::vector<double>& values) const {
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < masses.size(); ++i)
    sum += masses[i] * Vec3(values[3 * i], values[3 * i + 1], values[3 * i + 2]);
  return sum / mass;
}

}  // namespace lope::bench
