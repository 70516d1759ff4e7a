// The table of methods: a method is a named combination of minimiser and options. `lope solvers` prints it.
#pragma once

#include <lope/optimize/minimizer.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace lope::optimize {

enum class Method {
  Auto,
  Newton,
  NewtonPcg,
  NewtonPcgMatrixFree,
  Gast15,
  Gast15Printed,
  NewtonRaw,
  LbfgsH,
  LbfgsPd,
  Dot,
  DotPrinted,
  LbfgsSchwarz,
  LbfgsCg,
  LbfgsJacobi,
  LbfgsIc,
  AdmmPd,
  NewtonMgpcg,
  Hot,
  Nfmg,
  Pd,
  PdGs,
  PdGsChebyshev,
  PdNfmg,
  PdNfmgChebyshev,
};

struct MethodInfo {
  Method method;
  std::string_view name;
  std::string_view source;       // paper
  std::string_view description;  // one line
  // Follows Objective::project along its searches: obstacles as constraints need that.
  bool honours_projection = false;
};

std::span<const MethodInfo> methods();
std::optional<Method> find_method(std::string_view name);
const MethodInfo& info(Method method);
std::string_view name_of(Method method);

// A minimiser for a problem of `unknowns` unknowns. Auto is `newton` for small problems; beyond, it keeps account of what
// `newton` and `dot` cost (automatic.h).
std::unique_ptr<Minimizer> make_minimizer(Method method, std::size_t unknowns);

}  // namespace lope::optimize
