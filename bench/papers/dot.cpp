// The tables and figures of DOT (Li et al. 2019, §5), at sizes that a small machine can do. The paper's own
// tables of timings are in a supplement that is not public; the columns here are ours. All methods solve the
// step problems of one recorded trajectory per case, each in a process of its own, to the same displacement
// accuracy (comparison.h).
#include <lope/base/errors.h>
#include <lope/geometry/topology.h>
#include <lope/io/file.h>
#include <lope/linalg/space.h>
#include <lope/optimize/lbfgs.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/stopping.h>
#include <lope/render/frame_surface.h>
#include <lope/render/picture.h>
#include <lope/render/plot.h>
#include <lope/scene/suggest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <papers/benchmarks.h>
#include <papers/bodies.h>
#include <papers/comparison.h>
#include <papers/decomposition.h>
#include <papers/example_meshes.h>
#include <papers/penalty_admm.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

namespace fs = std::filesystem;
using Overrides = std::vector<std::string>;

constexpr int default_vertices = 5000;
constexpr int default_steps = 40;

// The methods of the paper and those that a knowledgeable person would try; those that are not there are left
// out.
constexpr const char* rivals[] = {"dot",      "dot-printed", "lbfgs-schwarz", "lbfgs-h",
                                  "lbfgs-pd", "newton",      "newton-pcg"};
constexpr const char* rivals_and_admm[] = {"dot",      "dot-printed", "lbfgs-schwarz", "lbfgs-h",
                                           "lbfgs-pd", "newton",      "newton-pcg",    "admm-pd"};

struct Case {
  std::string label;  // also the name of its folder
  std::string scene;
  Overrides overrides;
  std::int64_t steps = default_steps;
  std::int64_t history_step = 0;
};

class DotBench {
 public:
  explicit DotBench(const BenchOptions& options) : options_(options) {}

  Expected<void> run() {
    struct Table {
      const char* name;
      Expected<void> (DotBench::*make)();
    };
    static constexpr Table tables[] = {
        {"examples", &DotBench::examples},       {"bars", &DotBench::bars},
        {"convergence", &DotBench::convergence}, {"variation", &DotBench::variation},
        {"subdomains", &DotBench::subdomains},   {"residual", &DotBench::residual},
        {"memory", &DotBench::memory},
    };
    std::vector<std::string> names;
    for (const Table& table : tables) names.emplace_back(table.name);
    bool all = true;
    for (const std::string& wanted : options_.only) {
      if (wanted == loose_word) continue;
      all = false;
      if (std::find(names.begin(), names.end(), wanted) == names.end()) {
        return input_error(
            "there is no table '{}' of this benchmark{}; it has {}, and {} for DOT's stopping test", wanted,
            scene::did_you_mean(wanted, names), fmt::join(names, ", "), loose_word);
      }
    }
    for (const Table& table : tables) {
      if (!all && !is_wanted(table.name)) continue;
      options_.print(fmt::format("\n== {} ==", table.name));
      if (const auto made = (this->*table.make)(); !made) return made;
    }
    return {};
  }

 private:
  static constexpr const char* loose_word = "characteristic";

  bool is_wanted(std::string_view name) const {
    return std::find(options_.only.begin(), options_.only.end(), name) != options_.only.end();
  }
  // Whether methods are stopped as in the paper, by eq. 15 at 10⁻⁵.
  bool is_loose() const { return is_wanted(loose_word); }

  int vertices() const { return options_.size > 0 ? options_.size : default_vertices; }
  std::int64_t steps(std::int64_t otherwise = default_steps) const {
    return options_.steps > 0 ? options_.steps : otherwise;
  }

  // The methods asked for, or those of the list that exist.
  Expected<std::vector<optimize::Method>> methods(std::span<const char* const> names) const {
    std::vector<optimize::Method> result;
    if (options_.methods.empty()) {
      for (const char* name : names) {
        if (const auto method = optimize::find_method(name)) result.push_back(*method);
      }
      return result;
    }
    std::vector<std::string> all;
    for (const auto& info : optimize::methods()) all.emplace_back(info.name);
    for (const std::string& name : options_.methods) {
      const auto method = optimize::find_method(name);
      if (!method) return input_error("there is no method '{}'{}", name, scene::did_you_mean(name, all));
      result.push_back(*method);
    }
    return result;
  }

  // The override that puts a generated mesh (or the user's) into the first body.
  Expected<std::string> mesh_override(std::string_view shape, int wanted) const {
    if (!options_.mesh.empty()) return "body.0.shape.mesh=" + options_.mesh;
    const auto file = example_mesh(shape, wanted, options_.folder / "meshes", options_.print);
    if (!file) return forward_error(file);
    return "body.0.shape.mesh=" + file->string();
  }

  void print_head() const {
    options_.print(
        fmt::format("{:24} {:>8} {:>8} {:12} {:>8} {:>8} {:>7} {:>5} {:>8} {:>6} {:>6} {:>8} {:>7} {:>8}",
                    "case", "vertices", "tets", "method", "s/step", "max", "iter", "max", "lin/step",
                    "factor", "solve", "peak MB", "failed", "err/acc"));
  }

  void print_rows(const Case& c, const step::Model& model, const Comparison& comparison) const {
    for (const scene::Replay& replay : comparison.replays) {
      const Cost cost = cost_of(replay);
      options_.print(fmt::format(
          "{:24} {:>8} {:>8} {:12} {:>8.3f} {:>8.3f} {:>7.1f} {:>5} {:>8.1f} {:>5.0f}% {:>5.0f}% {:>8.0f} "
          "{:>7} {:>8.2f}",
          c.label, first_solid(model).mesh.vertices.size(), first_solid(model).mesh.tetrahedra.size(),
          replay.method, cost.seconds, cost.slowest, cost.iterations, cost.most_iterations,
          cost.linear_iterations, 100 * cost.factorize, 100 * cost.solve, replay.peak_memory * 1e-6,
          cost.failures, comparison.agreement(replay).largest / usual_accuracy(model)));
    }
  }

  // In which errors are given, whatever stops a method: a ten-thousandth of the body's size.
  static double usual_accuracy(const step::Model& model) {
    return optimize::default_epsilon(optimize::StoppingTest::Displacement) *
           geometry::bounds(first_solid(model).mesh.vertices).extent().maxCoeff();
  }

  // Runs a case and prints its rows.
  Expected<Comparison> measure(const Case& c, const std::vector<optimize::Method>& chosen,
                               optimize::Method reference = optimize::Method::Newton) const {
    Overrides overrides = c.overrides;
    if (is_loose()) overrides.emplace_back("solver.tolerance=characteristic");
    const auto loaded = load(options_.scenes / c.scene, overrides);
    if (!loaded) return forward_error(loaded);
    ComparisonOptions comparing;
    comparing.methods = chosen;
    comparing.reference = reference;
    comparing.folder = options_.folder / (is_loose() ? fmt::format("{}_{}", c.label, loose_word) : c.label);
    comparing.steps = std::min(c.steps, scene::step_count(loaded->scene, *loaded->model));
    comparing.history_step = std::min(c.history_step, comparing.steps);
    comparing.program = options_.program;
    if (const auto made = io::make_directory(comparing.folder); !made) return forward_error(made);
    auto comparison = compare(loaded->scene, *loaded->model, comparing);
    if (!comparison) return comparison;
    print_rows(c, *loaded->model, *comparison);
    if (const auto written = write_results(*comparison, comparing.folder); !written)
      return forward_error(written);
    return comparison;
  }

  // Fig. 5: every shape, twisted, stretched and squashed, and shot.
  Expected<void> examples() {
    const auto chosen = methods(rivals);
    if (!chosen) return forward_error(chosen);
    print_head();
    int agreed = 0, all = 0;
    for (const char* script : {"tss", "slingshot"}) {
      for (const ExampleShape& shape : example_shapes()) {
        const auto mesh = mesh_override(shape.name, vertices());
        if (!mesh) return forward_error(mesh);
        const Case c{
            fmt::format("{}_{}", script, shape.name), fmt::format("{}.toml", script), {*mesh}, steps()};
        const auto comparison = measure(c, *chosen);
        if (!comparison) return forward_error(comparison);
        for (const scene::Replay& replay : comparison->replays) {
          agreed += comparison->agreement(replay).agreed;
          all += comparison->agreement(replay).steps;
        }
        if (!options_.mesh.empty()) break;
      }
    }
    if (!is_loose()) {
      options_.print(fmt::format(
          "all methods, all steps: {} of {} answers within 3 x accuracy of the minimiser", agreed, all));
    }
    return {};
  }

  // Fig. 2: a bar stretched, squashed and twisted uniformly, where the Laplacian is a good model.
  Expected<void> bars() {
    const auto chosen = methods(rivals_and_admm);
    if (!chosen) return forward_error(chosen);
    const double edge = 0.25 * std::cbrt(4.0 / vertices());  // of a bar of 1 × ¼ × ¼ m
    const auto bar = [&](const char* label, const Overrides& motion) {
      Overrides overrides = {"solver={}", fmt::format("body.0.edge={}", edge)};
      overrides.insert(overrides.end(), motion.begin(), motion.end());
      return Case{label, "bar_twist.toml", overrides, steps()};
    };
    const auto pull = [](double speed) {
      return Overrides{"body.0.handle.0.rotate.rate=0", "body.0.handle.1.rotate.rate=0",
                       fmt::format("body.0.handle.0.move={{velocity=[{},0,0]}}", -speed),
                       fmt::format("body.0.handle.1.move={{velocity=[{},0,0]}}", speed)};
    };
    print_head();
    for (const Case& c : {bar("bar_stretch", pull(0.5)), bar("bar_squash", pull(-0.2)),
                          bar("bar_twist", {"body.0.handle.0.rotate.rate=-0.5 turn/s",
                                            "body.0.handle.1.rotate.rate=0.5 turn/s"})}) {
      if (const auto done = measure(c, *chosen); !done) return forward_error(done);
    }
    return {};
  }

  // Fig. 7 and §5.5: the characteristic norm of one hard step against iterations and time, far below any
  // tolerance in use, for the methods and for the subdomains on their own.
  Expected<void> convergence() {
    const auto chosen = methods(rivals_and_admm);
    if (!chosen) return forward_error(chosen);
    const auto mesh = mesh_override("creature", vertices());
    if (!mesh) return forward_error(mesh);
    const auto loaded = load(options_.scenes / "tss.toml", {*mesh, "solver.relative_accuracy=1e-8"});
    if (!loaded) return forward_error(loaded);
    const step::Model& model = *loaded->model;
    step::Simulation simulation(model);
    for (std::int64_t i = 1; i < steps(20); ++i) simulation.advance();
    auto problem = simulation.step_problem(0, model.step);
    const auto parts =
        static_cast<int>(std::max<std::size_t>(2, first_solid(model).mesh.vertices.size() / 2000));

    std::vector<std::pair<std::string, std::unique_ptr<optimize::Minimizer>>> minimizers;
    for (const optimize::Method method : *chosen) {
      minimizers.emplace_back(optimize::name_of(method),
                              optimize::make_minimizer(method, problem.objective.size()));
    }
    minimizers.emplace_back("jacobi alone", make_decomposition(Sweep::Jacobi, parts));
    minimizers.emplace_back("gauss-seidel alone", make_decomposition(Sweep::GaussSeidel, parts));
    for (const double weight : {0.1, 1.0, 10.0}) {
      minimizers.emplace_back(fmt::format("admm, {:g} K of eq. 9", weight),
                              make_penalty_admm(first_solid(model), model.step, {.subdomains = parts, .weight = weight}));
    }

    optimize::MinimizerOptions solving;
    solving.stopping = model.solver.stopping;
    solving.max_iterations = 300;
    const double scale = problem.objective.scales().global;
    options_.print(fmt::format(
        "step {} of tss, {} vertices, {} subdomains for the rows below admm-pd; at most {} iterations",
        steps(20), first_solid(model).mesh.vertices.size(), parts, solving.max_iterations));
    options_.print(fmt::format("{:20} {:>14} {:>12} {:>14} {:>12} {:>10} {}", "method", "iter to 1e-5",
                               "s to 1e-5", "iter to 1e-8", "s to 1e-8", "last CN", "outcome"));
    render::LinePlot plots[2];
    for (std::size_t m = 0; m < minimizers.size(); ++m) {
      std::vector<double> x = problem.start;
      const optimize::MinimizerSummary summary =
          minimizers[m].second->minimize(problem.objective, x, solving);
      options_.print(convergence_row(minimizers[m].first, summary, scale));
      for (int k = 0; k < 2; ++k) {
        render::Series series{minimizers[m].first, {}, {}, render::palette(m)};
        series.dashed = m >= 7;  // the palette repeats
        for (const optimize::Iteration& i : summary.history) {
          series.x.push_back(k == 0 ? i.number : i.seconds);
          series.y.push_back(i.gradient_norm / scale);
        }
        plots[k].series.push_back(std::move(series));
      }
    }
    for (int k = 0; k < 2; ++k) {
      plots[k].title = fmt::format("step {} of the twist, stretch and squash", steps(20));
      plots[k].x = k == 0 ? render::Axis{.label = "iteration", .whole_numbers = true}
                          : render::Axis{.label = "time", .unit = "s"};
      plots[k].y = {.label = "characteristic norm", .logarithmic = true};
      plots[k].levels = {{"DOT's tolerance", 1e-5}};
    }
    return render::write_figure({plots[0], plots[1]}, options_.folder / "convergence", {1300, 560});
  }

  static std::string convergence_row(const std::string& name, const optimize::MinimizerSummary& summary,
                                     double scale) {
    std::string row = fmt::format("{:20}", name);
    for (const double tolerance : {1e-5, 1e-8}) {
      const auto reached =
          std::find_if(summary.history.begin(), summary.history.end(),
                       [&](const optimize::Iteration& i) { return i.gradient_norm <= tolerance * scale; });
      const bool found = reached != summary.history.end();
      row += fmt::format(" {:>14} {:>12}", found ? fmt::format("{}", reached->number) : "never",
                         found ? fmt::format("{:.3f}", reached->seconds) : "-");
    }
    return row + fmt::format(" {:>10.1e} {}", summary.gradient_norm / scale,
                             summary.converged() ? "converged" : summary.reason);
  }

  // Fig. 6 and the effect of the decomposition on time: DOT's L-BFGS with 2 to 300 subdomains, with and
  // without a coarse space.
  Expected<void> subdomains() {
    const auto mesh = mesh_override("creature", vertices());
    if (!mesh) return forward_error(mesh);
    const auto loaded = load(options_.scenes / "tss.toml", {*mesh});
    if (!loaded) return forward_error(loaded);
    const step::Model& model = *loaded->model;
    const std::size_t blocks = first_solid(model).mesh.vertices.size();
    std::vector<Division> divisions;
    for (const int count : {2, 4, 8, 16, 32, 64, 128, 200, 300}) {
      if (static_cast<std::size_t>(count) * smallest_subdomain > blocks) break;
      for (const bool coarse : {false, true}) divisions.emplace_back(count, coarse);
    }
    optimize::MinimizerOptions solving;
    solving.stopping = model.solver.stopping;
    solving.max_iterations = model.solver.max_iterations;
    step::Simulation simulation(model);
    for (std::int64_t i = 1; i <= steps(30); ++i) {
      if (i % 5 == 0) {  // every fifth step is solved by all; the trajectory itself is the model's own
        solving.reference = simulation.state().nodes(0).x;
        for (Division& division : divisions) {
          auto problem = simulation.step_problem(0, model.step);
          division.solve(problem.objective, problem.start, solving);
        }
      }
      if (!simulation.advance().accepted) return input_error("step {} of the trajectory failed", i);
    }
    options_.print(fmt::format("every fifth of the first {} steps of tss, {} vertices", steps(30), blocks));
    const std::string columns =
        fmt::format("{:>9} {:>5} {:>9} {:>8} {:>7}", "iter/step", "max", "lin/step", "s/step", "failed");
    options_.print(fmt::format("{:26}   {:^42}   {:^42}", "", fmt::format("to the norm {:g}", tight_norm),
                               "to the accuracy"));
    options_.print(
        fmt::format("{:>10} {:>7} {:>7}   {}   {}", "subdomains", "nodes", "coarse", columns, columns));
    for (const Division& division : divisions) options_.print(division.row(blocks));
    return plot_divisions(divisions);
  }

  static constexpr std::size_t smallest_subdomain = 15;  // nodes: below that there is nothing to factorise
  // The coarse space belongs to the mesh, not to the division: one that shrinks with the number of subdomains
  // is of no use to a few of them.
  static constexpr int nodes_per_function = 12;

  // DOT with a given number of subdomains, and what it cost.
  class Division {
   public:
    Division(int count, bool coarse) : count_(count), coarse_(coarse) {}

    void solve(optimize::Objective& objective, std::vector<double> x,
               const optimize::MinimizerOptions& solving) {
      if (!minimizer_) {
        optimize::LbfgsOptions lbfgs;
        lbfgs.inverse.kind = optimize::InverseKind::Subdomains;
        lbfgs.inverse.subdomains = count_;
        lbfgs.inverse.coarse_size = coarse_ ? nodes_per_function : 0;
        minimizer_ = std::make_unique<optimize::Lbfgs>(lbfgs);
      }
      ++steps_;
      // To the norm: nothing but L-BFGS, as in the paper. To the accuracy: with the CG solves of the stopping
      // test.
      optimize::MinimizerOptions to_norm = solving;
      to_norm.stopping = {optimize::StoppingTest::CharacteristicGlobal, tight_norm};
      std::vector<double> start = x;
      norm_.add(minimizer_->minimize(objective, start, to_norm));
      accuracy_.add(minimizer_->minimize(objective, x, solving));
    }

    std::string row(std::size_t blocks) const {
      const auto part = [&](const Total& t) {
        return fmt::format("{:>9.1f} {:>5} {:>9.1f} {:>8.3f} {:>7}", per_step(t.iterations), t.most,
                           per_step(t.linear), per_step(t.seconds), t.failures);
      };
      return fmt::format("{:>10} {:>7} {:>7}   {}   {}", count_, blocks / static_cast<std::size_t>(count_),
                         coarse_ ? "yes" : "no", part(norm_), part(accuracy_));
    }
    int count() const { return count_; }
    bool coarse() const { return coarse_; }
    double iterations() const { return per_step(norm_.iterations); }
    double seconds() const { return per_step(accuracy_.seconds); }

   private:
    struct Total {
      double iterations = 0, linear = 0, seconds = 0;
      int most = 0, failures = 0;
      void add(const optimize::MinimizerSummary& summary) {
        iterations += summary.iterations;
        linear += static_cast<double>(summary.linear_iterations);
        seconds += summary.timings.total;
        most = std::max(most, summary.iterations);
        failures += summary.converged() ? 0 : 1;
      }
    };
    double per_step(double total) const { return total / std::max(1, steps_); }
    int count_;
    bool coarse_;
    std::unique_ptr<optimize::Minimizer> minimizer_;
    Total norm_, accuracy_;
    int steps_ = 0;
  };
  static constexpr double tight_norm = 1e-7;

  Expected<void> plot_divisions(const std::vector<Division>& divisions) const {
    render::LinePlot plots[2];
    for (int k = 0; k < 2; ++k) {
      plots[k].title = k == 0 ? fmt::format("iterations per step to the norm {:g}", tight_norm)
                              : "time per step to the accuracy";
      plots[k].x = {.label = "subdomains", .logarithmic = true};
      plots[k].y = k == 0 ? render::Axis{.label = "iterations"} : render::Axis{.label = "time", .unit = "s"};
      plots[k].y.low = 0;
      for (const bool coarse : {false, true}) {
        render::Series series{
            coarse ? "with a coarse space" : "as in the paper", {}, {}, render::palette(coarse ? 1 : 0)};
        series.markers = true;
        for (const Division& division : divisions) {
          if (division.coarse() != coarse) continue;
          series.x.push_back(division.count());
          series.y.push_back(k == 0 ? division.iterations() : division.seconds());
        }
        plots[k].series.push_back(std::move(series));
      }
    }
    return render::write_figure({plots[0], plots[1]}, options_.folder / "subdomains", {1300, 560});
  }

  // Table 2: time step, stiffness, Poisson ratio, material.
  Expected<void> variation() {
    const auto chosen = methods(rivals);
    if (!chosen) return forward_error(chosen);
    const auto mesh = mesh_override("creature", vertices());
    if (!mesh) return forward_error(mesh);
    struct Variation {
      const char* label;
      const char* override_;
    };
    constexpr Variation variations[] = {
        {"h_10ms", "time.step=0.01"},
        {"h_25ms", "time.step=0.025"},
        {"h_40ms", "time.step=0.04"},
        {"E_20kPa", "body.0.material.young=2e4"},
        {"E_500kPa", "body.0.material.young=5e5"},
        {"nu_0.3", "body.0.material.poisson=0.3"},
        {"nu_0.45", "body.0.material.poisson=0.45"},
        {"nu_0.49", "body.0.material.poisson=0.49"},
        {"stable_neo_hookean", "body.0.material.model=stable-neo-hookean"},
        {"neo_hookean", "body.0.material.model=neo-hookean"},
    };
    print_head();
    for (const Variation& v : variations) {
      const Case c{v.label, "tss.toml", {*mesh, v.override_}, steps()};
      if (const auto done = measure(c, *chosen); !done) return forward_error(done);
    }
    return {};
  }

  // Fig. 8: where the residual is after each iteration.
  Expected<void> residual() {
    const auto chosen = methods(rivals);
    if (!chosen) return forward_error(chosen);
    const auto mesh = mesh_override("creature", vertices());
    if (!mesh) return forward_error(mesh);
    const auto loaded = load(options_.scenes / "tss.toml", {*mesh, "solver.relative_accuracy=1e-6"});
    if (!loaded) return forward_error(loaded);
    return draw_residuals(*loaded->model, *chosen);
  }

  Expected<void> draw_residuals(const step::Model& model, const std::vector<optimize::Method>& chosen) {
    constexpr std::size_t columns = 5;
    step::Simulation simulation(model);
    for (std::int64_t i = 1; i < steps(20); ++i) simulation.advance();
    const geometry::Mesh& mesh = first_solid(model).mesh;
    const auto triangles = geometry::boundary_triangles(mesh.tetrahedra);
    render::PictureGrid grid;
    grid.title = fmt::format("residual force after each iteration of step {}, log scale", steps(20));
    for (std::size_t k = 0; k < columns; ++k)
      grid.column_titles.push_back(k == 0 ? "start" : fmt::format("iteration {}", k));
    grid.crisp = false;
    for (const optimize::Method method : chosen) {
      auto problem = simulation.step_problem(0, model.step);
      std::vector<std::vector<double>> iterates;
      optimize::MinimizerOptions solving;
      solving.stopping = model.solver.stopping;
      solving.observer = [&](const optimize::Iteration&, std::span<const double> x) {
        iterates.emplace_back(x.begin(), x.end());
      };
      optimize::make_minimizer(method, problem.objective.size())
          ->minimize(problem.objective, problem.start, solving);
      grid.row_titles.emplace_back(optimize::name_of(method));
      for (std::size_t k = 0; k < columns; ++k) {
        if (k >= iterates.size()) {
          grid.cells.emplace_back();
          continue;
        }
        auto picture = residual_picture(problem.objective, iterates[k], mesh, triangles);
        if (!picture) return forward_error(picture);
        grid.cells.push_back(std::move(*picture));
      }
    }
    return render::write_figure(grid, options_.folder / "residual",
                                {1400, 170 * static_cast<int>(chosen.size()) + 90});
  }

  // log10 of the residual of each node relative to its characteristic force.
  static Expected<render::Image> residual_picture(optimize::Objective& objective,
                                                  const std::vector<double>& x, const geometry::Mesh& mesh,
                                                  const std::vector<geometry::Triangle>& triangles) {
    std::vector<double> g(x.size()), field(mesh.vertices.size());
    objective.move_to(x);
    objective.gradient(g);
    std::vector<Vec3> positions(mesh.vertices.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      positions[i] = Vec3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
      const double size =
          std::sqrt(g[3 * i] * g[3 * i] + g[3 * i + 1] * g[3 * i + 1] + g[3 * i + 2] * g[3 * i + 2]);
      field[i] = std::log10(std::max(size / objective.scales().per_block[i], 1e-12));
    }
    render::Surface surface = render::body_surface(positions, triangles, render::palette(0));
    auto coloured = render::field_on("residual", positions.size(), triangles.size(), field,
                                     {render::ColourMap::Ember, -8, -2});
    if (!coloured) return forward_error(coloured);
    surface.field = std::move(*coloured);
    render::Scene scene;
    scene.camera = render::frame_bounds(render::bounds({surface}), {.aspect = 1.6});
    scene.surfaces = {std::move(surface)};
    scene.ground.reset();
    return render::draw(scene, {.width = 400, .height = 250, .samples = 16});
  }

  // Peak memory by vertices.
  Expected<void> memory() {
    const auto chosen = methods(rivals);
    if (!chosen) return forward_error(chosen);
    render::LinePlot plot;
    plot.title = "peak memory";
    plot.x = {.label = "vertices", .logarithmic = true};
    plot.y = {.label = "memory", .unit = "MB", .logarithmic = true};
    for (std::size_t m = 0; m < chosen->size(); ++m) {
      plot.series.push_back({std::string(optimize::name_of((*chosen)[m])), {}, {}, render::palette(m)});
      plot.series.back().markers = true;
    }
    print_head();
    for (const int count : {5000, 10000, 20000, 50000, 100000, 200000, 300000, 700000}) {
      if (count > std::max(vertices(), 20000)) break;
      const auto mesh = mesh_override("creature", count);
      if (!mesh) return forward_error(mesh);
      const Case c{fmt::format("memory_{}", count), "tss.toml", {*mesh}, steps(2)};
      const auto comparison = measure(c, *chosen, optimize::Method::NewtonPcg);
      if (!comparison) return forward_error(comparison);
      for (std::size_t m = 0; m < chosen->size(); ++m) {
        plot.series[m].x.push_back(count);
        plot.series[m].y.push_back(comparison->replays[m].peak_memory * 1e-6);
      }
      if (!options_.mesh.empty()) break;
    }
    return render::write_figure({plot}, options_.folder / "memory");
  }

  const BenchOptions& options_;
};

}  // namespace

Expected<void> dot(const BenchOptions& options) { return DotBench(options).run(); }

}  // namespace lope::bench
