#include <lope/base/errors.h>
#include <lope/base/paths.h>
#include <lope/base/process.h>
#include <lope/io/file.h>
#include <lope/io/print.h>

#include <array>
#include <fstream>
#include <string>

#include <fmt/core.h>
#include <papers/lcp_rivals.h>

namespace lope::bench {

namespace {

constexpr std::array rivals = {
    Rival{"hypre amg-cg", "lope_rival_hypre", "libhypre-dev", true},
    Rival{"petsc vi", "lope_rival_petsc", "libpetsc-real-dev", false},
};

}  // namespace

std::span<const Rival> lcp_rivals() { return rivals; }

Expected<RivalResult> rival_solve(const Rival& rival, const optimize::complementarity::MixedLcp& problem,
                                  double tolerance, int ranks, const std::filesystem::path& folder) {
  const std::filesystem::path program = executable_path().parent_path() / rival.program;
  if (!std::filesystem::exists(program)) {
    return environment_error("{} is not compared: {} was not built (install {} and configure again)",
                             rival.name, rival.program, rival.package);
  }
  const std::filesystem::path system = folder / "rival_system.bin", answer = folder / "rival_answer.txt";
  std::string bytes;
  io::put(bytes, static_cast<std::int64_t>(problem.a.rows));
  io::put(bytes, problem.a.entries());
  for (const std::int64_t start : problem.a.row_start) io::put(bytes, start);
  for (const int column : problem.a.column) io::put(bytes, static_cast<std::int32_t>(column));
  for (const double value : problem.a.value) io::put(bytes, value);
  for (const double value : problem.b) io::put(bytes, value);
  for (const std::uint8_t flag : problem.bounded) io::put(bytes, flag);
  if (const auto written = io::write_file(system, bytes); !written) return forward_error(written);
  const auto status = run_program(
      "mpirun", {"--allow-run-as-root", "--oversubscribe", "-n", std::to_string(ranks), program.string(),
                 system.string(), answer.string(), fmt::format("{}", tolerance)});
  std::error_code ignored;
  std::filesystem::remove(system, ignored);
  if (!status) return forward_error(status);
  RivalResult result;
  std::ifstream in(answer);
  in >> result.setup_seconds >> result.solve_seconds >> result.iterations >> result.residual;
  const bool complete = *status == 0 && in;
  std::filesystem::remove(answer, ignored);
  if (!complete)
    return environment_error("{} is not compared: its program failed with exit code {}", rival.name, *status);
  return result;
}

}  // namespace lope::bench
