// The vector space of a minimiser: every dot product and norm of a solver goes through here, so that their
// order of summation is fixed (same bits for any number of threads) and a distributed space can take this
// one's place.
#pragma once

#include <cstddef>
#include <span>

namespace lope::linalg {

using ConstVector = std::span<const double>;
using Vector = std::span<double>;

double dot(ConstVector a, ConstVector b);
double norm(ConstVector a);
// Largest Euclidean norm of a block of `block_size` consecutive numbers.
double max_block_norm(ConstVector a, int block_size);
// y = a x + b y.
void combine(double a, ConstVector x, double b, Vector y);
// z = x + a y.
void add_scaled(ConstVector x, double a, ConstVector y, Vector z);
void copy(ConstVector from, Vector to);
void fill(Vector x, double value);
bool all_finite(ConstVector x);

}  // namespace lope::linalg
