// What the subdomains of DOT can do on their own, without L-BFGS around them: rows of the comparison, not
// methods for use.
//
// Jacobi and Gauss–Seidel domain decomposition (DOT §5.5; Quarteroni & Valli 1999): one sweep over the
// subdomains, with their matrices taken once per step, is the direction of a line search. Jacobi adds the
// subdomains' answers and divides by the number of copies of a node; Gauss–Seidel lets each subdomain see its
// predecessors' answers.
#pragma once

#include <lope/optimize/minimizer.h>

#include <memory>

namespace lope::bench {

enum class Sweep { Jacobi, GaussSeidel };

// The objective must offer a cover().
std::unique_ptr<optimize::Minimizer> make_decomposition(Sweep sweep, int subdomains);

}  // namespace lope::bench
