// Order of the discretisation: a cantilever under refinement, the time schemes under smaller steps.
#include <cmath>

#include <fmt/core.h>

#include <lope/base/errors.h>
#include <lope/render/plot.h>
#include <lope/step/simulation.h>
#include <papers/benchmarks.h>
#include <papers/bodies.h>

namespace lope::bench {
namespace {

// A beam of length 4, height 0.5, clamped at its left end, in plane strain, bending under its weight.
struct Beam {
  double length = 4, height = 0.5, young = 1e9, poisson = 0.3, density = 1000, gravity = 9.81;

  // Timoshenko's theory with E' = E/(1 − ν²) and shear coefficient 5/6: q L⁴/(8 E'I) + q L²/(2 κ G A).
  double timoshenko() const {
    const double q = density * gravity * height, inertia = std::pow(height, 3) / 12;
    const double plane = young / (1 - poisson * poisson), shear = young / (2 * (1 + poisson));
    return q * std::pow(length, 4) / (8 * plane * inertia) + q * length * length / (2 * 5.0 / 6.0 * shear * height);
  }
};

// Tip deflection at rest. A single step of backward Euler that is long against every vibration is the static problem.
Expected<double> tip_deflection(const Beam& beam, int across) {
  geometry::PlanarOptions lattice;
  lattice.lattice = {8 * across + 1, across + 1};
  const auto mesh = geometry::triangulate(geometry::Rectangle{{beam.length / 2, 0}, {beam.length, beam.height}}, 1, lattice);
  if (!mesh) return forward_error(mesh);
  step::Model model;
  model.gravity = Vec3(0, -beam.gravity, 0);
  model.step = 1e4;
  model.solver.method = optimize::Method::Newton;
  model.solver.initial_guess = step::InitialGuess::Best;
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-10};
  model.bodies = {elastic_body(*mesh, 2, beam.young, beam.poisson, beam.density)};
  first_solid(model).handles = {{end_vertices(*mesh, 0, -1, 1e-9), {}, 0}};
  step::Simulation simulation(model);
  const auto report = simulation.advance();
  if (!report.converged()) return input_error("the cantilever did not converge: {}", report.islands[0].solve.reason);
  double lowest = 0;
  const std::vector<int> tip = end_vertices(*mesh, 0, 1, 1e-9);
  for (const int i : tip) {
    const auto k = static_cast<std::size_t>(i);
    lowest += (mesh->vertices[k][1] - simulation.state().nodes(0).x[2 * k + 1]) / static_cast<double>(tip.size());
  }
  return lowest;
}

std::vector<double> swing(step::Scheme scheme, double duration, int steps, std::vector<double>* energy) {
  geometry::PlanarOptions lattice;
  lattice.lattice = {13, 4};
  const auto mesh = geometry::triangulate(geometry::Rectangle{{0.5, 0}, {1, 0.25}}, 1, lattice);
  step::Model model;
  model.scheme = scheme;
  model.step = duration / steps;
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-12};
  model.bodies = {elastic_body(*mesh, 2, 5e4, 0.3)};
  first_solid(model).handles = {{end_vertices(*mesh, 0, -1, 1e-9), {}, 0}};
  step::Simulation simulation(model);
  if (energy) energy->push_back(simulation.energies(0).total());
  for (int i = 0; i < steps; ++i) {
    const auto report = simulation.advance();
    if (energy) energy->push_back(report.bodies[0].energy.total());
  }
  return simulation.state().nodes(0).x;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

struct NamedScheme {
  const char* name;
  step::Scheme scheme;
};
constexpr NamedScheme schemes[] = {{"backward-euler", step::Scheme::BackwardEuler},
                                   {"bdf-2", step::Scheme::Bdf2},
                                   {"trapezoid", step::Scheme::Trapezoid}};

}  // namespace

Expected<void> cantilever(const BenchOptions& options) {
  const Beam beam;
  std::vector<double> across, deflection;
  for (const int n : {2, 4, 8, 16, 32, 64}) {
    const auto tip = tip_deflection(beam, n);
    if (!tip) return forward_error(tip);
    across.push_back(n);
    deflection.push_back(*tip);
  }
  // Richardson extrapolation of the two finest meshes for an error of second order.
  const std::size_t last = deflection.size() - 1;
  const double limit = deflection[last] + (deflection[last] - deflection[last - 1]) / 3;
  options.print(fmt::format("Tip deflection of a {} m x {} m beam in plane strain. Timoshenko (small deflections): {:.5f} m; "
                            "limit of refinement: {:.5f} m ({:+.2f}%)",
                            beam.length, beam.height, beam.timoshenko(), limit, 100 * (limit / beam.timoshenko() - 1)));
  options.print(fmt::format("{:>16} {:>14} {:>12} {:>8}", "elements across", "deflection (m)", "error", "order"));
  render::Series series;
  series.name = "linear triangles";
  series.markers = true;
  for (std::size_t i = 0; i <= last; ++i) {
    const double error = std::abs(deflection[i] / limit - 1);
    const double order = i == 0 ? 0 : std::log2(series.y.back() / error);
    options.print(fmt::format("{:>16} {:>14.6f} {:>11.3f}% {:>8}", across[i], deflection[i], 100 * error,
                              i == 0 ? "" : fmt::format("{:.2f}", order)));
    series.x.push_back(across[i]);
    series.y.push_back(error);
  }
  render::LinePlot plot;
  plot.title = "Cantilever: error of the tip deflection under refinement";
  plot.x = {.label = "elements across the height", .logarithmic = true};
  plot.y = {.label = "relative error", .logarithmic = true};
  plot.series = {series};
  return render::write_figure(std::vector<render::LinePlot>{plot}, options.folder / "cantilever");
}

Expected<void> time_order(const BenchOptions& options) {
  const std::vector<double> reference = swing(step::Scheme::Trapezoid, 0.25, 4096, nullptr);
  render::LinePlot errors, energies;
  errors.title = "Error after 0.25 s of a swinging beam";
  errors.x = {.label = "time step", .unit = "s", .logarithmic = true};
  errors.y = {.label = "largest error", .unit = "m", .logarithmic = true};
  energies.title = "Total energy, 25 ms steps";
  energies.x = {.label = "time", .unit = "s"};
  energies.y = {.label = "energy", .unit = "J"};
  options.print(fmt::format("{:16} {:>8} {:>12} {:>8}", "scheme", "steps", "error (m)", "order"));
  for (const NamedScheme& scheme : schemes) {
    render::Series series;
    series.name = scheme.name;
    series.colour = render::palette(errors.series.size());
    series.markers = true;
    for (const int steps : {16, 32, 64, 128, 256}) {
      const double error = distance(swing(scheme.scheme, 0.25, steps, nullptr), reference);
      options.print(fmt::format("{:16} {:>8} {:>12.3e} {:>8}", scheme.name, steps, error,
                                series.y.empty() ? "" : fmt::format("{:.2f}", std::log2(series.y.back() / error))));
      series.x.push_back(0.25 / steps);
      series.y.push_back(error);
    }
    errors.series.push_back(series);

    render::Series energy;
    energy.name = scheme.name;
    energy.colour = series.colour;
    swing(scheme.scheme, 5, 200, &energy.y);
    for (std::size_t i = 0; i < energy.y.size(); ++i) energy.x.push_back(0.025 * static_cast<double>(i));
    energies.series.push_back(std::move(energy));
  }
  return render::write_figure(std::vector<render::LinePlot>{errors, energies}, options.folder / "time_order", {1500, 620});
}

}  // namespace lope::bench
