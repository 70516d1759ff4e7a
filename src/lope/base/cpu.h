// What the processor can do, asked at run time: one program runs everywhere and uses the widest vectors it
// finds. AVX2 and AVX-512 kernels give the same bits (math/pack.h), the choice between them is one of speed.
#pragma once

#include <lope/base/expected.h>

#include <span>
#include <string_view>

namespace lope {

// Instruction sets the batched kernels are compiled for. Baseline is whatever the compiler targets by default
// (SSE2 on x86-64, NEON on 64-bit ARM).
enum class Isa { Baseline, Avx2, Avx512 };

// True where both the processor and the operating system support it and the kernels were compiled for it.
bool cpu_supports(Isa isa);
// Every supported one, narrowest first (never empty).
std::span<const Isa> supported_isas();
// Whether its kernels round the sum of a product once (fused). All those that do give the same bits.
bool is_fused(Isa isa);
const char* name(Isa isa);
// The set of this name (baseline, avx2, avx512), or why it cannot be had here.
Expected<Isa> isa_named(std::string_view name);

// What kernels are chosen for where the caller does not say: the argument of the last select_isa(), else what
// the environment variable LOPE_ISA names, else the widest supported one. (A variable that names nothing
// usable is warned of and ignored; programs had better refuse it first.)
Isa selected_isa();
// For everything that is built from now on. Not safe while other threads build; `isa` must be supported.
void select_isa(Isa isa);
// The same until the end of its life.
class SelectedIsa {
 public:
  explicit SelectedIsa(Isa isa) : before_(selected_isa()) { select_isa(isa); }
  ~SelectedIsa() { select_isa(before_); }
  SelectedIsa(const SelectedIsa&) = delete;
  SelectedIsa& operator=(const SelectedIsa&) = delete;

 private:
  Isa before_;
};

}  // namespace lope
