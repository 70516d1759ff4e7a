// The solvers that `lope bench lcp` compares, those that know the grid and those that see a matrix, behind
// one call.
#pragma once

#include <lope/matter/liquid/pressure_system.h>
#include <lope/optimize/complementarity/problem.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lope::bench {

// One pressure problem, as a grid and as a matrix (rows in the order of the system's unknowns).
template <int Dim>
struct LcpCase {
  explicit LcpCase(matter::PressureSystem<Dim> made) : system(std::move(made)) {}
  matter::PressureSystem<Dim> system;

  std::size_t size() const { return static_cast<std::size_t>(system.unknowns()); }
  // Made when first asked for: not every table needs it, and the largest grids are better off without.
  const optimize::complementarity::MixedLcp& matrix() const {
    if (!matrix_) matrix_ = system.matrix_form();
    return *matrix_;
  }

 private:
  mutable std::optional<optimize::complementarity::MixedLcp> matrix_;
};

template <int Dim>
class LcpContender {
 public:
  virtual ~LcpContender() = default;
  // Starts from p (in the order of the unknowns) and leaves its answer there. Conversions between grid and
  // matrix are not timed.
  virtual optimize::complementarity::LcpSummary solve(
      const LcpCase<Dim>& problem, std::vector<double>& p,
      const optimize::complementarity::LcpOptions& options) = 0;
};

struct LcpContenderInfo {
  std::string_view name;
  std::string_view column;  // the paper's word for it; empty if it is not in the paper
  std::string_view description;
  bool linear = false;        // sees no inequalities
  bool counts_inner = false;  // the paper counts its linear iterations, not its outer ones
  int largest_2d = 1 << 20;   // cells along a side up to which it is worth waiting for
  int largest_3d = 1 << 20;
};

std::span<const LcpContenderInfo> lcp_contenders();
const LcpContenderInfo* find_lcp_contender(std::string_view name);

template <int Dim>
std::unique_ptr<LcpContender<Dim>> make_lcp_contender(const LcpContenderInfo& info);

// Iterations as LCP §5 counts them: cycles for multigrid methods, linear iterations (and line-search steps)
// for nested ones.
long counted_iterations(const LcpContenderInfo& info, const optimize::complementarity::LcpSummary& summary);

extern template std::unique_ptr<LcpContender<2>> make_lcp_contender<2>(const LcpContenderInfo&);
extern template std::unique_ptr<LcpContender<3>> make_lcp_contender<3>(const LcpContenderInfo&);

}  // namespace lope::bench
