#include <lope/render/plot.h>

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/core.h>
#include <papers/cloth_courses.h>

namespace lope::bench {
namespace {

constexpr std::array<double, 3> errors = {1e-1, 1e-2, 1e-3};
constexpr double wanted_accuracy = 2e-4;  // metres: 10⁻⁴ of cloth of 2 m

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

Courses::Courses(const BenchOptions& options, step::Simulation& simulation, const std::string& title,
                 double time_limit)
    : options_(options), simulation_(simulation), title_(title), time_limit_(time_limit) {
  options_.print(fmt::format("\n{}\n{:42} {:>8} {:>8} {:>8} {:>10} {:>6} {:>7} {:>7} {:>10}  {}", title, "",
                             "10^-1 s", "10^-2 s", "10^-3 s", "accuracy s", "its", "models", "CG its",
                             "error left", "outcome"));
}

double Courses::minimum_from(optimize::Objective& objective, std::vector<double> x) const {
  optimize::MinimizerOptions options;
  options.stopping.tolerance = 1e-3 * wanted_accuracy;
  options.max_iterations = 3000;
  return optimize::make_minimizer(optimize::Method::Newton, x.size())->minimize(objective, x, options).value;
}

void Courses::add(optimize::Method method) {
  add(std::string(optimize::name_of(method)),
      [method](std::size_t unknowns) { return optimize::make_minimizer(method, unknowns); });
}

void Courses::add(const std::string& name, const Make& make, const Note& note) {
  options_.progress(name);
  auto problem = simulation_.step_problem(0, simulation_.model().step);
  std::vector<std::pair<double, double>> energies;
  optimize::MinimizerOptions options;
  options.stopping.tolerance = wanted_accuracy;
  options.max_iterations = 100000;
  options.reference = problem.reference;
  const double begin = processor_seconds();
  options.observer = [&](const optimize::Iteration& iteration, std::span<const double>) {
    energies.emplace_back(processor_seconds() - begin, iteration.value);
  };
  options.stop_requested = [&] { return !energies.empty() && energies.back().first > time_limit_; };
  const auto summary = make(problem.start.size())->minimize(problem.objective, problem.start, options);
  energies.emplace_back(processor_seconds() - begin, summary.value);
  options_.progress(name + ": the minimum");
  const double lowest = minimum_from(problem.objective, problem.start);
  const double first = energies.front().second;
  Course course{name, {}};
  for (const auto& [seconds, energy] : energies)
    course.errors.emplace_back(seconds, (energy - lowest) / (first - lowest));
  std::string line = fmt::format("{:42}", name);
  for (const double error : errors) {
    const auto at = std::find_if(course.errors.begin(), course.errors.end(),
                                 [&](const auto& point) { return point.second <= error; });
    line += at == course.errors.end() ? fmt::format(" {:>8}", "-") : fmt::format(" {:>8.3f}", at->first);
  }
  line +=
      summary.converged() ? fmt::format(" {:>10.3f}", energies.back().first) : fmt::format(" {:>10}", "-");
  line += fmt::format(" {:>6} {:>7} {:>7} {:>10.1e}  {}{}", summary.iterations, summary.models,
                      summary.linear_iterations, course.errors.back().second,
                      summary.converged() ? "converged" : summary.reason, note ? note() : "");
  options_.print(line);
  courses_.push_back(std::move(course));
}

Expected<void> Courses::draw(const std::string& stem) const {
  render::LinePlot plot;
  plot.title = title_;
  plot.x = {.label = "processor time", .unit = "s", .logarithmic = true};
  plot.y = {.label = "relative energy error", .logarithmic = true, .low = 1e-4, .high = 1};
  for (const Course& course : courses_) {
    render::Series series;
    series.name = course.name;
    series.colour = render::palette(plot.series.size());
    series.dashed = plot.series.size() >= 8;
    for (const auto& [seconds, error] : course.errors) {
      series.x.push_back(seconds);
      series.y.push_back(error);
    }
    plot.series.push_back(std::move(series));
  }
  return render::write_figure({plot}, options_.folder / stem, {1100, 700});
}

}  // namespace lope::bench
