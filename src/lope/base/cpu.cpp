#include <lope/base/cpu.h>

#include <vector>

namespace lope {

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

Isa best_isa() { return supported_isas().back(); }

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
