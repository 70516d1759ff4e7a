// From the run-time name of a density to its compile-time struct.
#pragma once

#include <lope/material/arap.h>
#include <lope/material/corotated.h>
#include <lope/material/fixed_corotated.h>
#include <lope/material/neo_hookean.h>
#include <lope/material/neo_hookean_extrapolated.h>
#include <lope/material/parameters.h>
#include <lope/material/stable_neo_hookean.h>
#include <lope/material/stvk_hencky.h>

namespace lope::material {

// Calls visitor(Model{}) with the struct of the density. The visitor must be a type of the calling
// translation unit (see math/pack.h).
template <class Visitor>
[[gnu::always_inline]] inline void visit_density(Density density, const Visitor& visitor) {
  switch (density) {
    case Density::FixedCorotated:
      return visitor(FixedCorotated{});
    case Density::StableNeoHookean:
      return visitor(StableNeoHookean{});
    case Density::NeoHookean:
      return visitor(NeoHookean{});
    case Density::Arap:
      return visitor(Arap{});
    case Density::Corotated:
      return visitor(Corotated{});
    case Density::StvkHencky:
      return visitor(StvkHencky{});
    case Density::NeoHookeanExtrapolated:
      return visitor(NeoHookeanExtrapolated{});
  }
}

}  // namespace lope::material
