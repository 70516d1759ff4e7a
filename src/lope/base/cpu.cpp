#include <lope/base/cpu.h>
#include <lope/base/errors.h>
#include <lope/base/log.h>

#include <cassert>
#include <cstdlib>
#include <vector>

#include <fmt/core.h>

namespace lope {
namespace {

Isa isa_of_environment() {
  const Isa widest = supported_isas().back();
  const char* wanted = std::getenv("LOPE_ISA");
  if (!wanted || !*wanted) return widest;
  const auto named = isa_named(wanted);
  if (named) return *named;
  log_warning("LOPE_ISA: {}; using {}", named.error().message, name(widest));
  return widest;
}

Isa& selection() {
  static Isa isa = isa_of_environment();
  return isa;
}

}  // namespace

bool cpu_supports(Isa isa) {
  if (isa == Isa::Baseline) return true;
#if defined(__x86_64__)
  if (isa == Isa::Avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

std::span<const Isa> supported_isas() {
  static const std::vector<Isa> supported = [] {
    std::vector<Isa> found;
    for (const Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512}) {
      if (cpu_supports(isa)) found.push_back(isa);
    }
    return found;
  }();
  return supported;
}

Isa selected_isa() { return selection(); }

void select_isa(Isa isa) {
  assert(cpu_supports(isa));
  selection() = isa;
}

Expected<Isa> isa_named(std::string_view wanted) {
  std::string known;
  for (const Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512}) {
    if (wanted == name(isa)) {
      if (cpu_supports(isa)) return isa;
      return input_error("this processor has no {} (or the kernels for it were not built)", wanted);
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name(isa));
  }
  return input_error("there is no instruction set '{}' (known: {})", wanted, known);
}

bool is_fused([[maybe_unused]] Isa isa) {
#if defined(__aarch64__)
  return true;
#else
  return isa != Isa::Baseline;
#endif
}

const char* name(Isa isa) {
  switch (isa) {
    case Isa::Baseline:
      return "baseline";
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace lope
