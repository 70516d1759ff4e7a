#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/base/timer.h>
#include <lope/io/matrix_market.h>
#include <lope/optimize/complementarity/methods.h>
#include <lope/scene/suggest.h>

#include "commands.h"
#include <fmt/core.h>

namespace lope::program {
namespace {

namespace lcp = optimize::complementarity;

struct LcpArguments {
  std::string matrix, right, bounded, start, output;
  std::string method = "auto";
  double tolerance = 1e-6;
  int max_iterations = 0;
  int threads = 0;
};

Expected<lcp::LcpMethod> method_named(const std::string& name) {
  if (const auto method = lcp::find_lcp_method(name)) return *method;
  std::vector<std::string> names;
  for (const auto& entry : lcp::lcp_methods()) names.emplace_back(entry.name);
  return input_error("there is no method '{}'{}; `lope lcp --list` lists them", name,
                     scene::did_you_mean(name, names));
}

// A vector of the file, with as many numbers as the matrix has rows.
Expected<std::vector<double>> read_vector(const std::string& path, int rows) {
  auto values = io::read_matrix_market_vector(path);
  if (values && values->size() != static_cast<std::size_t>(rows)) {
    return input_error("{}: has {} numbers, but the matrix has {} rows", path, values->size(), rows);
  }
  return values;
}

Expected<std::vector<std::uint8_t>> read_flags(const std::string& path, int rows) {
  if (path.empty()) return std::vector<std::uint8_t>(static_cast<std::size_t>(rows), 0);
  const auto values = read_vector(path, rows);
  if (!values) return forward_error(values);
  std::vector<std::uint8_t> flags;
  flags.reserve(values->size());
  for (const double value : *values) {
    if (value != 0 && value != 1) {
      return input_error("{}: flag {} is {}; flags are 1 for bounded rows and 0 for the others", path,
                         flags.size() + 1, value);
    }
    flags.push_back(value == 1);
  }
  return flags;
}

Expected<lcp::MixedLcp> read_problem(const LcpArguments& arguments) {
  lcp::MixedLcp problem;
  {
    const auto entries = io::read_matrix_market(arguments.matrix);
    if (!entries) return forward_error(entries);
    std::vector<linalg::CsrEntry> list(entries->value.size());
    for (std::size_t k = 0; k < list.size(); ++k)
      list[k] = {entries->row[k], entries->column[k], entries->value[k]};
    problem.a = linalg::csr_from_entries(entries->rows, entries->columns, list);
  }
  auto right = read_vector(arguments.right, problem.a.rows);
  if (!right) return forward_error(right);
  auto bounded = read_flags(arguments.bounded, problem.a.rows);
  if (!bounded) return forward_error(bounded);
  problem.b = std::move(*right);
  problem.bounded = std::move(*bounded);
  if (const std::string fault = lcp::fault_of(problem); !fault.empty())
    return input_error("{}: {}", arguments.matrix, fault);
  return problem;
}

void describe(const lcp::MixedLcp& problem, const lcp::Compatibility& found) {
  const auto bounded = std::count(problem.bounded.begin(), problem.bounded.end(), 1);
  fmt::print("{} unknowns, {} bounded, {} entries, {} connected part{}\n", problem.size(), bounded,
             problem.a.entries(), found.components, found.components == 1 ? "" : "s");
  if (found.singular > 0) {
    fmt::print(
        "{} of them singular (rows sum to zero); b shifted in {} of those, by at most {:.3g}, to make it "
        "solvable\n",
        found.singular, found.projected, found.largest_shift);
  }
}

void print_iteration(const lcp::LcpIteration& iteration) {
  fmt::print("{:6}  residual {:9.3e}  objective {:<22.15g}  inner {:5}  {:.3f} s\n", iteration.number,
             iteration.residual, iteration.objective, iteration.inner_iterations, iteration.seconds);
}

int solve_lcp(const LcpArguments& arguments) {
  const auto method = method_named(arguments.method);
  if (!method) return complain(method.error());
  const Stopwatch reading;
  auto problem = read_problem(arguments);
  if (!problem) return complain(problem.error());
  std::vector<double> p(problem->size(), 0.0);
  if (!arguments.start.empty()) {
    auto start = read_vector(arguments.start, problem->a.rows);
    if (!start) return complain(start.error());
    p = std::move(*start);
  }
  const ThreadLimit threads(arguments.threads);
  describe(*problem, lcp::make_solvable(*problem));
  fmt::print("read and checked in {:.2f} s; method {}, {} threads\n", reading.seconds(), arguments.method,
             thread_count());

  const auto solver = lcp::make_lcp_solver(*method, problem->size());
  solver->attach(*problem);
  lcp::LcpOptions options;
  options.tolerance = arguments.tolerance;
  options.max_iterations = arguments.max_iterations;
  options.observer = [](const lcp::LcpIteration& iteration, linalg::ConstVector) {
    print_iteration(iteration);
  };
  const lcp::LcpSummary summary = solver->solve(p, options);

  fmt::print("{}: {} iterations, {} inner, residual {:.3g} (max norm, absolute), objective {:.15g}\n",
             summary.converged() ? "converged" : "NOT converged", summary.iterations,
             summary.inner_iterations, summary.residual, summary.objective);
  fmt::print("time: {:.3f} s = set-up {:.3f} s + solve {:.3f} s\n", summary.seconds(), summary.setup_seconds,
             summary.solve_seconds);
  if (!arguments.output.empty()) {
    const std::string comment =
        fmt::format("solution of a mixed complementarity problem, residual {:.3g}", summary.residual);
    if (const auto written = io::write_matrix_market_vector(arguments.output, p, comment); !written) {
      return complain(written.error());
    }
    fmt::print("{} written\n", arguments.output);
  }
  if (summary.converged()) return Done;
  fmt::print(stderr, "error: {}: {}; try another --method, --max-iterations or --tolerance\n",
             arguments.matrix, summary.reason);
  return NotConverged;
}

void list_methods() {
  for (const auto& entry : lcp::lcp_methods())
    fmt::print("{:14} {:14} {}\n", entry.name, entry.source, entry.description);
}

}  // namespace

void add_lcp(Arguments& app, int& status) {
  Arguments* command = app.add_subcommand("lcp",
                                          "Solve a mixed complementarity problem from Matrix Market files: 0 "
                                          "<= p, Ap + b >= 0, one of them 0, on bounded "
                                          "rows; Ap + b = 0 on the others");
  auto arguments = std::make_shared<LcpArguments>();
  auto list = std::make_shared<bool>(false);
  command->add_flag("--list", *list, "List the methods");
  const Argument* matrix =
      command->add_option("A", arguments->matrix, "Matrix: .mtx or .mtx.gz, symmetric positive definite")
                              ->suggest({}, Paths::Files);
  const Argument* right = command->add_option("b", arguments->right, "Right-hand side: a vector")->suggest({}, Paths::Files);
  command->add_option("--bounded", arguments->bounded, "Vector of flags, 1 on bounded rows (default: none)")
      ->type_name("FILE");
  command->add_option("--start", arguments->start, "Vector to start from (default: zero)")->type_name("FILE");
  command->add_option("--method", arguments->method, "Solver; --list shows them")->type_name("NAME")->suggest([] {
    std::vector<std::string> names;
    for (const auto& entry : lcp::lcp_methods()) names.emplace_back(entry.name);
    return names;
  });
  command->add_option("--tolerance", arguments->tolerance, "Largest residual of a row, absolute")
      ->check(positive);
  command->add_option("--max-iterations", arguments->max_iterations, "Cycles or outer iterations")
      ->check(positive);
  command->add_option("-o,--output", arguments->output, "Solution: .mtx or .mtx.gz")->type_name("FILE");
  command->add_option("--threads", arguments->threads, "Threads (default: all cores)")->check(positive);
  command->rehearse([arguments] {
    const auto method = method_named(arguments->method);
    return method ? static_cast<int>(Done) : complain(method.error());
  });
  command->callback([=, &status] {
    if (*list) {
      list_methods();
    } else if (matrix->empty() || right->empty()) {
      status = complain({"name the files of A and b; see `lope lcp --help`", Trouble::Input});
    } else {
      status = solve_lcp(*arguments);
    }
  });
}

}  // namespace lope::program
