// Cost of self contact against the number of surface primitives: one coiled rod that meets itself, and a heap of tori.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include <Eigen/Geometry>
#include <fmt/core.h>

#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/base/timer.h>
#include <lope/geometry/shapes.h>
#include <lope/matter/contact/self_contact.h>
#include <lope/render/plot.h>
#include <papers/benchmarks.h>
#include <papers/bodies.h>

namespace lope::bench {
namespace {

using std::numbers::pi;

// Bodies and where they are.
struct Crowd {
  std::vector<const geometry::Mesh*> bodies;
  std::vector<double> x;

  void add(const geometry::Mesh& mesh, const std::function<Vec3(const Vec3&)>& place) {
    bodies.push_back(&mesh);
    for (const Vec3& v : mesh.vertices) {
      const Vec3 at = place(v);
      x.insert(x.end(), at.begin(), at.end());
    }
  }
};

// A rod of 3×3 cells, wound into a spring whose turns overlap by a tenth of its thickness; every cell of its length has 24
// surface triangles.
constexpr int rod_cells = 3, rod_primitives_per_cell = 24, turn_cells = 40;

Expected<geometry::Mesh> rod(int primitives) {
  const int cells = std::max(turn_cells, primitives / rod_primitives_per_cell);
  return lattice_box(Vec3(cells, rod_cells, rod_cells), {cells + 1, rod_cells + 1, rod_cells + 1});
}

Vec3 on_spring(const Vec3& v) {
  const double radius = turn_cells / (2 * pi), turn = v.x() / radius;
  const double climb = 0.9 * rod_cells * v.x() / turn_cells;
  return {(radius + v.y()) * std::cos(turn), (radius + v.y()) * std::sin(turn), v.z() + climb};
}

// Tori on a cubic lattice, turned at random, near enough to overlap.
void add_tori(const geometry::Mesh& torus, int count, Crowd& crowd) {
  const int side = static_cast<int>(std::ceil(std::cbrt(static_cast<double>(count))));
  for (int i = 0; i < count; ++i) {
    const Vec3 center = 0.8 * Vec3(i % side, i / side % side, i / (side * side));
    Vec3 axis;
    for (int a = 0; a < 3; ++a) axis[a] = random_unit(3, 4 * i + a) - 0.5;
    const Eigen::AngleAxisd turn(2 * pi * random_unit(3, 4 * i + 3), axis.normalized());
    crowd.add(torus, [&](const Vec3& v) { return Vec3(center + turn * v); });
  }
}

struct Row {
  std::size_t primitives = 0, elements = 0, pairs = 0;
  double build = 0, detection = 0, gradient = 0, hessian = 0;  // seconds
  double total() const { return detection + gradient + hessian; }
};

// Rows and columns of the surface: what contact can touch.
std::shared_ptr<const linalg::BlockPattern> surface_pattern(const Crowd& crowd, Row& row) {
  std::vector<int> groups;
  int first = 0;
  for (const geometry::Mesh* mesh : crowd.bodies) {
    for (const geometry::Triangle& t : geometry::boundary_triangles(mesh->tetrahedra)) {
      for (const int v : t) groups.push_back(first + v);
    }
    first += static_cast<int>(mesh->vertices.size());
    row.elements += mesh->tetrahedra.size();
  }
  row.primitives = groups.size() / 3;
  return linalg::BlockPattern::from_groups(first, groups, 3);
}

Row measure(const Crowd& crowd, int repetitions) {
  Row row;
  std::vector<matter::SelfContactBody> bodies;
  for (const geometry::Mesh* mesh : crowd.bodies) bodies.push_back({mesh, 1e6, true});
  const Stopwatch build;
  const auto contact = matter::make_self_contact(3, bodies, 1);
  row.build = build.seconds();
  linalg::BlockMatrix matrix(surface_pattern(crowd, row), 3);
  std::vector<double> g(crowd.x.size());
  for (int k = 0; k <= repetitions; ++k) {  // the first fills the caches and does not count
    contact->move_to(crowd.x);
    const Stopwatch watch;
    row.pairs = contact->pairs().size();
    const double detected = watch.seconds();
    contact->value();
    contact->add_gradient(g);
    const double differentiated = watch.seconds();
    matrix.clear_couplings();
    contact->add_hessian(optimize::HessianKind::Projected, matrix);
    const double done = watch.seconds();
    if (k == 0) continue;
    const auto keep = [&](double& least, double seconds) { least = k == 1 ? seconds : std::min(least, seconds); };
    keep(row.detection, detected);
    keep(row.gradient, differentiated - detected);
    keep(row.hessian, done - differentiated);
  }
  return row;
}

// Slope of the straight line through the logarithms, from 9000 triangles on: smaller crowds have few neighbours, and so few
// contacts per triangle.
double fitted_exponent(const std::vector<Row>& rows) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const Row& row : rows) {
    if (row.primitives < 9000) continue;
    const double x = std::log(static_cast<double>(row.primitives)), y = std::log(row.total());
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace

Expected<void> self_contact(const BenchOptions& options) {
  const int most = options.size > 0 ? options.size : 1000000;
  const int repetitions = options.steps > 0 ? options.steps : 5;
  const auto torus = geometry::tetrahedralize(geometry::Torus{Vec3::Zero(), Vec3::UnitZ(), 0.4, 0.15}, 0.09);
  if (!torus) return forward_error(torus);
  const int torus_primitives = static_cast<int>(geometry::boundary_triangles(torus->tetrahedra).size());
  std::string text = fmt::format(
      "Self contact: milliseconds with {} threads, least of {} (Hessian: projected)\n\n"
      "| scene | surface triangles | tetrahedra | pairs | detection | energy and gradient | Hessian | sum | µs per triangle |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
      thread_count(), repetitions);
  options.print(text);
  std::vector<Row> rows[2];
  const char* const names[2] = {"coiled rod", "heap of tori"};
  for (int scene = 0; scene < 2; ++scene) {
    for (double size = 1000; size < 1.01 * most; size *= std::sqrt(10.0)) {
      const int primitives = static_cast<int>(size + 0.5);
      Crowd crowd;
      geometry::Mesh bar;
      if (scene == 0) {
        auto mesh = rod(std::max(primitives, turn_cells * rod_primitives_per_cell));
        if (!mesh) return forward_error(mesh);
        bar = std::move(*mesh);
        crowd.add(bar, on_spring);
      } else {
        add_tori(*torus, std::max(1, primitives / torus_primitives), crowd);
      }
      const Row row = measure(crowd, repetitions);
      rows[scene].push_back(row);
      const std::string line = fmt::format(
          "| {} | {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.3f} |", names[scene], row.primitives, row.elements,
          row.pairs, 1e3 * row.detection, 1e3 * row.gradient, 1e3 * row.hessian, 1e3 * row.total(),
          1e6 * row.total() / static_cast<double>(row.primitives));
      options.print(line);
      text += '\n' + line;
    }
  }
  const std::string summary =
      fmt::format("\nFitted: time ∝ triangles^{:.2f} ({}), triangles^{:.2f} ({}) from 9000 triangles on.", fitted_exponent(rows[0]), names[0],
                  fitted_exponent(rows[1]), names[1]);
  options.print(summary);
  text += '\n' + summary + '\n';
  std::ofstream(options.folder / "self_contact.md") << text;

  render::LinePlot plot;
  plot.title = "Self contact: detection, gradient and Hessian";
  plot.x = {.label = "surface triangles", .logarithmic = true};
  plot.y = {.label = "time", .unit = "ms", .logarithmic = true};
  for (int scene = 0; scene < 2; ++scene) {
    render::Series series;
    series.name = names[scene];
    series.colour = render::palette(scene);
    series.markers = true;
    for (const Row& row : rows[scene]) {
      series.x.push_back(static_cast<double>(row.primitives));
      series.y.push_back(1e3 * row.total());
    }
    plot.series.push_back(series);
  }
  render::Series linear;
  linear.name = "proportional";
  linear.dashed = true;
  linear.colour = render::srgb(0x444A52);
  const Row& first = rows[1].front();
  for (const Row& row : rows[1]) {
    linear.x.push_back(static_cast<double>(row.primitives));
    linear.y.push_back(1e3 * first.total() * static_cast<double>(row.primitives) / static_cast<double>(first.primitives));
  }
  plot.series.push_back(linear);
  return render::write_figure({plot}, options.folder / "self_contact");
}

}  // namespace lope::bench
