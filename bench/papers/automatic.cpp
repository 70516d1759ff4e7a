// Does `auto` choose well? Whole runs of the large twist–stretch–squash script on generated shapes by `auto` and by other
// methods, compared by processor time and by counts. Every method goes its own way, all to the default accuracy; with --only characteristic
// stopped as in DOT (eq. 15 at 10⁻⁵).
#include <lope/base/errors.h>
#include <lope/geometry/lattice.h>
#include <lope/io/file.h>
#include <lope/io/mesh_io.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/stopping.h>
#include <lope/scene/suggest.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/example_meshes.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

constexpr int default_steps = 20;
constexpr int default_size = 20000;  // the largest bodies
constexpr const char* loose_word = "characteristic";
constexpr const char* usual_methods[] = {"auto", "newton", "dot", "lbfgs-h", "lbfgs-pd", "newton-pcg"};

// Processor time of all threads, seconds.
double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class AutomaticChoice {
 public:
  explicit AutomaticChoice(const BenchOptions& options)
      : options_(options), shapes_(options.only), loose_(std::erase(shapes_, loose_word) > 0) {}

  Expected<void> run() {
    if (const auto chosen = choose_methods(); !chosen) return chosen;
    options_.print(fmt::format("{:10} {:>8} {:12} {:>12} {:>8} {:>7} {:>8} {:>8} {:>8} {:>7}", "shape",
                               "vertices", "method", "processor s", "s/step", "iter", "lin/step", "models",
                               "failed", "/ best"));
    if (!options_.mesh.empty()) return compare("mesh", options_.mesh);
    for (const int vertices : {5000, 10000, 20000, 50000, 100000}) {
      if (vertices > (options_.size > 0 ? options_.size : default_size)) break;
      for (const ExampleShape& shape : example_shapes()) {
        if (!is_wanted(shape.name)) continue;
        const auto mesh = example_mesh(shape.name, vertices, options_.folder / "meshes", options_.print);
        if (!mesh) return forward_error(mesh);
        if (const auto done = compare(shape.name, mesh->string()); !done) return done;
      }
      if (!is_wanted("beam")) continue;
      const auto mesh = beam(vertices);
      if (!mesh) return forward_error(mesh);
      if (const auto done = compare("beam", *mesh); !done) return done;
    }
    return {};
  }

 private:
  bool is_wanted(std::string_view shape) const { return shapes_.empty() || is_in(shapes_, shape); }
  static bool is_in(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  // As slender as bodies get: 5 × 5 vertices across. Factors are small, and smooth errors many.
  Expected<std::string> beam(int vertices) const {
    const std::filesystem::path file = options_.folder / "meshes" / fmt::format("beam_{}.msh", vertices);
    if (const auto made = io::make_directory(file.parent_path()); !made) return forward_error(made);
    const int along = vertices / 25;
    const double width = 4.0 / (along - 1);
    const geometry::Mesh mesh = geometry::box_lattice({0, 0, 0}, {1, width, width}, {along, 5, 5}, {});
    if (const auto written = io::write_mesh(mesh, file); !written) return forward_error(written);
    return file.string();
  }

  Expected<void> choose_methods() {
    std::vector<std::string> all;
    for (const auto& info : optimize::methods()) all.emplace_back(info.name);
    std::vector<std::string> names = options_.methods;
    if (names.empty()) names.assign(std::begin(usual_methods), std::end(usual_methods));
    for (const std::string& name : names) {
      const auto method = optimize::find_method(name);
      if (!method) return input_error("there is no method '{}'{}", name, scene::did_you_mean(name, all));
      methods_.push_back(*method);
    }
    return {};
  }

  struct Row {
    optimize::Method method;
    double processor = 0;  // s
    RunTotals totals;
    long linear_iterations = 0;
    int models = 0;
  };

  Expected<void> compare(std::string_view shape, const std::string& mesh) {
    const auto loaded = load(options_.scenes / "ltss.toml", {"body.0.shape.mesh=" + mesh});
    if (!loaded) return forward_error(loaded);
    loaded->model->solver = {};  // the scene has DOT's test and start
    if (loose_) {
      constexpr auto test = optimize::StoppingTest::CharacteristicGlobal;
      loaded->model->solver.stopping = {test, optimize::default_epsilon(test)};
    }
    std::vector<Row> rows;
    for (const optimize::Method method : methods_) rows.push_back(measure(*loaded->model, method, shape));
    double best = std::numeric_limits<double>::infinity();
    for (const Row& row : rows) best = std::min(best, row.processor);
    for (const Row& row : rows) {
      const RunTotals& t = row.totals;
      options_.print(
          fmt::format("{:10} {:>8} {:12} {:>12.2f} {:>8.3f} {:>7.1f} {:>8.1f} {:>8.2f} {:>8} {:>7.2f}", shape,
                      loaded->model->bodies[0]->unknowns() / 3, optimize::name_of(row.method), row.processor,
                      t.per_step(t.seconds), t.per_step(t.iterations),
                      t.per_step(static_cast<double>(row.linear_iterations)), t.per_step(row.models),
                      t.failed, row.processor / best));
    }
    return {};
  }

  Row measure(step::Model model, optimize::Method method, std::string_view shape) const {
    Row row{method, 0, {}, 0, 0};
    model.solver.method = method;
    step::Simulation simulation(model);
    show_progress(simulation, fmt::format("{}, {}", shape, optimize::name_of(method)), options_);
    double before = processor_time();
    row.totals = run_in_memory(simulation, options_.steps > 0 ? options_.steps : default_steps, false,
                               [&](const step::StepReport& report) {
                                 for (const step::IslandReport& island : report.islands) {
                                   row.linear_iterations += island.solve.linear_iterations;
                                   row.models += island.solve.models;
                                 }
                                 return true;
                               });
    row.processor = processor_time() - before;
    return row;
  }

  const BenchOptions& options_;
  std::vector<std::string> shapes_;  // none: all
  bool loose_;                       // stopped as in DOT
  std::vector<optimize::Method> methods_;
};

}  // namespace

Expected<void> automatic_choice(const BenchOptions& options) { return AutomaticChoice(options).run(); }

}  // namespace lope::bench
