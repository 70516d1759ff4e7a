// The space that the vectors of a solver live in (optimize::Objective::space). Every dot product and norm goes through it:
// their order of summation is fixed (same bits for any number of threads), and a space of vectors that are distributed over
// several memories can take the local one's place. What works element by element needs no space: free functions.
#pragma once

#include <lope/base/parallel.h>

#include <cstddef>
#include <span>

namespace lope::linalg {

using ConstVector = std::span<const double>;
using Vector = std::span<double>;

// Two reductions, from which all others are made. Of a distributed vector, a process sees its own part: `size`, indices
// and spans are of that part, what is returned is of the whole and the same for all.
class Space {
 public:
  virtual ~Space() = default;
  // As parallel_sum and parallel_max.
  virtual double sum(std::size_t size, std::size_t grain, const ChunkSum& partial) const = 0;
  virtual double max(std::size_t size, std::size_t grain, const ChunkSum& partial) const = 0;

  double dot(ConstVector a, ConstVector b) const;
  double norm(ConstVector a) const;
  // Largest Euclidean norm of a block of `block_size` consecutive numbers.
  double max_block_norm(ConstVector a, int block_size) const;
  bool all_finite(ConstVector x) const;
};

// Of vectors in one memory: those of a BlockMatrix or a CsrMatrix are.
const Space& local_space();

// y = a x + b y.
void combine(double a, ConstVector x, double b, Vector y);
// z = x + a y.
void add_scaled(ConstVector x, double a, ConstVector y, Vector z);
void copy(ConstVector from, Vector to);
void fill(Vector x, double value);

}  // namespace lope::linalg
