// Where everything of a multifrontal factorisation is (sparse_cholesky.h): sizes of the fronts, the subtrees that run as tasks, and
// positions of all update matrices, found before there are numbers. An implementation detail of sparse_cholesky.cpp.
#pragma once

#include <lope/linalg/dense_kernels.h>
#include <lope/linalg/sparse_cholesky_symbolic.h>

#include <cstddef>
#include <vector>

namespace lope::linalg {

using Offset = std::ptrdiff_t;

// A front in numbers of T: where its parts are.
struct Front {
  int w = 0;
  int m = 0;
  Offset panel = 0;   // in the factor
  Offset vector = 0;  // in the update vectors of a solve
  Offset update = 0;  // in the kept update matrices, or in a worker's stack
  bool kept = false;
};

// The supernodes [first, last] of a subtree, or of a subtree that runs as a task.
struct Subtree {
  int first;
  int last;
  double work;
};

struct FrontPlan {
  std::vector<Front> fronts;
  std::vector<Subtree> subtrees;  // largest first
  std::vector<int> top;           // the supernodes above them, in postorder
  // Numbers of T.
  Offset factor_size = 0, vectors_size = 0;
  Offset kept_size = 0;   // of the update matrices that leave their subtree, and of those above
  Offset stack_size = 0;  // of a worker
  int largest_w = 0, largest_n = 0;
  double flops = 0;
};

// T is float or double. A function of the pattern alone.
template <class T>
FrontPlan plan_fronts(const SymbolicCholesky& symbolic, int block_size, const FrontLayout<T>& layout);

}  // namespace lope::linalg
