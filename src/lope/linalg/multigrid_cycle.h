// The multigrid V-cycle, written once over whatever stores the levels: block rows, fixed stencils, bricks.
//
// Level 0 is the finest. What the unknowns of a level are, and whether the finest ones have bounds, only the
// levels know.
#pragma once

#include <concepts>

namespace lope::linalg {

template <class T>
concept MultigridLevels = requires(T& levels, int level) {
  { levels.level_count() } -> std::convertible_to<int>;
  levels.smooth_before(level);       // before the coarse correction; coarser levels start from zero
  levels.restrict_residual(level);   // right-hand side of level + 1 from the residual of this one
  levels.prolong_correction(level);  // adds the result of level + 1
  levels.smooth_after(level);        // the adjoint of smooth_before, where the cycle preconditions CG
  levels.solve_coarsest();
};

// One V-cycle from `top` downwards and back.
template <MultigridLevels T>
void v_cycle(T& levels, int top = 0) {
  const int coarsest = levels.level_count() - 1;
  for (int level = top; level < coarsest; ++level) {
    levels.smooth_before(level);
    levels.restrict_residual(level);
  }
  levels.solve_coarsest();
  for (int level = coarsest - 1; level >= top; --level) {
    levels.prolong_correction(level);
    levels.smooth_after(level);
  }
}

}  // namespace lope::linalg
