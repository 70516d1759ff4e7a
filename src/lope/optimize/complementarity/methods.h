// The table of matrix-based solvers of mixed complementarity problems: what `lope lcp` and `lope bench lcp`
// choose from. Solvers that know the liquid's grid are in matter/liquid.
#pragma once

#include <lope/optimize/complementarity/problem.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace lope::optimize::complementarity {

enum class LcpMethod {
  Auto,
  MprgpAmg,
  MprgpIc,
  PolicyAmg,
  PolicyIc,
  PolicyIcExact,
  PenaltyAmg,
  PenaltyIc,
  PenaltyIcExact,
  TruncatedAmg,
  NewtonIc,
  NewtonCg,
  Sor,
  GaussSeidel,
  LinearAmg,
  LinearIc,
};

struct LcpMethodInfo {
  LcpMethod method;
  std::string_view name;
  std::string_view source;       // paper
  std::string_view description;  // one line
  bool linear = false;           // bounds are not looked at
};

std::span<const LcpMethodInfo> lcp_methods();
std::optional<LcpMethod> find_lcp_method(std::string_view name);
std::string_view name_of(LcpMethod method);

// `unknowns` decides what Auto is.
std::unique_ptr<MatrixLcpSolver> make_lcp_solver(LcpMethod method, std::size_t unknowns);

}  // namespace lope::optimize::complementarity
