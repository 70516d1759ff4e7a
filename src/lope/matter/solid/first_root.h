// Where a volume ratio first vanishes along a line: the smallest positive root of a polynomial of degree ≤ 3.
#pragma once

#include <lope/math/types.h>

#include <array>

namespace lope::matter {

// c[0] + c[1] α + c[2] α² + c[3] α³.
using Cubic = std::array<double, 4>;

// det(F + α G) as a polynomial in α.
template <int d>
Cubic determinant_along(const Mat<d>& F, const Mat<d>& G);

// The smallest α > 0 with p(α) = 0, or a value slightly below it; +infinity if there is none; 0 if p(0) ≤ 0
// or if a coefficient is not finite. Between its turning points a polynomial is monotone, so the first sign
// change is bracketed exactly and found by bisection: no case of the cubic formula, no loss of a double
// root's neighbourhood.
double first_root(const Cubic& p);

}  // namespace lope::matter
