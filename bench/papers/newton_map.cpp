// OPT Fig. 1. One time step of a 36-unknown strip in 2D from zero velocity, for every pixel of a square: the pixel is
// where the middle of the strip's right end starts (the strip is sheared and stretched towards it; its left end is at
// (0, 1/2), and at pixel (3/5, 1/2) it is at rest). The paper does not give its mesh, so ours is a strip of 6×3 nodes.
// Colour: iterations, black 0, blue 15, cyan 30 and more, red where 500 iterations did not converge.
#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/core.h>

#include <lope/base/parallel.h>
#include <lope/optimize/methods.h>
#include <lope/render/plot.h>
#include <lope/step/simulation.h>
#include <papers/benchmarks.h>
#include <papers/bodies.h>

namespace lope::bench {
namespace {

constexpr double length = 0.6, height = 0.2, young = 1e7;
constexpr int iteration_limit = 500;

struct StepSize {
  const char* name;
  double h;
};
constexpr std::array<StepSize, 6> step_sizes = {{{"170 per frame", 1.0 / 24 / 170},
                                                 {"40 per frame", 1.0 / 24 / 40},
                                                 {"20 per frame", 1.0 / 24 / 20},
                                                 {"10 per frame", 1.0 / 24 / 10},
                                                 {"1 per frame", 1.0 / 24},
                                                 {"1 s", 1.0}}};

// Rest coordinates have the left end's middle at the origin.
std::vector<Vec3> start_positions(const geometry::Mesh& rest, const Vec2& pixel) {
  std::vector<Vec3> result;
  for (const Vec3& p : rest.vertices) {
    const double along = p[0] / length;
    result.emplace_back(along * pixel[0], along * (pixel[1] - 0.5) + p[1], 0);
  }
  return result;
}

// Iterations of one step, or −1.
int iterations(const geometry::Mesh& rest, const Vec2& pixel, double h, optimize::Method method) {
  step::Model model;
  model.gravity = Vec3::Zero();
  model.step = h;
  model.solver.method = method;
  model.solver.max_iterations = iteration_limit;
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-6 * length};
  model.bodies = {elastic_body(rest, 2, young, 0.3)};
  first_solid(model).initial_positions = start_positions(rest, pixel);
  step::Simulation simulation(model);
  const step::StepReport report = simulation.advance();
  return report.converged() ? report.islands[0].solve.iterations : -1;
}

render::Colour colour(int count) {
  if (count < 0) return {0.85F, 0.06F, 0.04F};
  const float t = static_cast<float>(std::min(count, 30)) / 30;
  return {0, std::max(0.0F, 2 * t - 1), std::min(1.0F, 2 * t)};
}

struct Panel {
  render::Image image;
  int failed = 0;
  int largest = 0;
  double mean = 0;
};

Panel draw_panel(const geometry::Mesh& rest, int size, double h, optimize::Method method) {
  Panel panel;
  const auto pixels = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  std::vector<int> counts(pixels);
  parallel_for(pixels, 16, [&](std::size_t k) {
    const auto row = static_cast<int>(k) / size, column = static_cast<int>(k) % size;
    counts[k] = iterations(rest, {(column + 0.5) / size, 1 - (row + 0.5) / size}, h, method);
  });
  panel.image = {size, size, std::vector<std::uint8_t>(3 * pixels)};
  double sum = 0;
  for (std::size_t k = 0; k < pixels; ++k) {
    const auto bytes = render::to_bytes(colour(counts[k]));
    panel.image.rgb[3 * k] = bytes.r;
    panel.image.rgb[3 * k + 1] = bytes.g;
    panel.image.rgb[3 * k + 2] = bytes.b;
    panel.failed += counts[k] < 0 ? 1 : 0;
    panel.largest = std::max(panel.largest, counts[k]);
    sum += std::max(counts[k], 0);
  }
  panel.mean = sum / std::max(1.0, static_cast<double>(pixels) - panel.failed);
  return panel;
}

}  // namespace

Expected<void> newton_map(const BenchOptions& options) {
  const int size = options.size > 0 ? options.size : 64;
  geometry::PlanarOptions lattice;
  lattice.lattice = {6, 3};
  auto rest = geometry::triangulate(geometry::Rectangle{{length / 2, 0}, {length, height}}, 1, lattice);
  if (!rest) return forward_error(rest);

  render::PictureGrid grid;
  grid.title = "One step of a 36-unknown strip: iterations by starting shape (OPT Fig. 1)";
  grid.row_titles = {"plain Newton", "gast15"};
  grid.key = {{"0", colour(0)}, {"15", colour(15)}, {"30 or more", colour(30)}, {"not in 500", colour(-1)}};
  for (const StepSize& step : step_sizes) grid.column_titles.emplace_back(step.name);
  options.print(fmt::format("{:>14} {:>14} {:>12} {:>10} {:>10}", "method", "time step", "failed", "mean its", "max its"));
  for (const auto method : {optimize::Method::NewtonRaw, optimize::Method::Gast15}) {
    for (const StepSize& step : step_sizes) {
      Panel panel = draw_panel(*rest, size, step.h, method);
      options.print(fmt::format("{:>14} {:>14} {:>11.1f}% {:>10.1f} {:>10}", optimize::name_of(method), step.name,
                                100.0 * panel.failed / (size * size), panel.mean, panel.largest));
      grid.cells.push_back(std::move(panel.image));
    }
  }
  return render::write_figure(grid, options.folder / "newton_map", {1500, 620});
}

}  // namespace lope::bench
