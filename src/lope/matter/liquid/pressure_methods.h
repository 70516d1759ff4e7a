// The solvers of a pressure system by their words: those that know the grid, and all that see nothing but the matrix
// (complementarity/methods.h, but for its `auto`). One table for scene files, benchmarks and tests.
#pragma once

#include <lope/optimize/complementarity/methods.h>

#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace lope::matter {

enum class PressureMethod {
  TruncatedMultigrid,  // the default where walls let go
  TruncatedSided,
  Fas,
  FullMultigrid,
  PolicyMultigrid,
  PolicyMultigridExact,
  PenaltyMultigrid,
  PenaltyMultigridExact,
  NewtonMultigrid,
  MprgpMultigrid,
  LinearMultigrid,  // conjugate gradients with a V-cycle; ignores the inequalities: walls hold the liquid
};
using AnyPressureMethod = std::variant<PressureMethod, optimize::complementarity::LcpMethod>;

struct PressureMethodInfo {
  AnyPressureMethod method;
  std::string_view name;
  std::string_view source;       // paper
  std::string_view description;  // one line
  bool linear = false;           // bounds are not looked at
  bool sweeps = false;           // an iteration is a sweep, of which many are needed
};

std::span<const PressureMethodInfo> pressure_methods();
const PressureMethodInfo* find_pressure_method(std::string_view name);
const PressureMethodInfo& info_of(const AnyPressureMethod& method);

}  // namespace lope::matter
