// hypre's conjugate gradients with BoomerAMG on a system from a file: A p = −b, no bounds, to a largest
// residual.
//   mpirun -n RANKS lope_rival_hypre SYSTEM ANSWER TOLERANCE
// ANSWER: set-up seconds, solve seconds, iterations, largest residual.
// BoomerAMG as tuned for these matrices: HMIS coarsening, extended+i interpolation of at most 4 entries, ℓ1
// Gauss–Seidel, one aggressive level. CG knows the Euclidean norm only: its tolerance is tightened until the
// max norm is reached, and the last solve alone is timed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <rivals/system.h>

namespace {

using lope::rivals::System;

struct Vectors {
  HYPRE_IJVector ij;
  HYPRE_ParVector par;
};

Vectors make_vector(HYPRE_BigInt first, HYPRE_BigInt last) {
  Vectors v{};
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &v.ij);
  HYPRE_IJVectorSetObjectType(v.ij, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(v.ij);
  return v;
}

void finish(Vectors& v) {
  HYPRE_IJVectorAssemble(v.ij);
  HYPRE_IJVectorGetObject(v.ij, reinterpret_cast<void**>(&v.par));
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  HYPRE_Init();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  System s;
  const double wanted = count == 4 ? std::atof(arguments[3]) : 0;
  if (!(wanted > 0) || !lope::rivals::load(arguments[1], s)) {
    std::fprintf(stderr, "usage: lope_rival_hypre SYSTEM ANSWER TOLERANCE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const auto first = static_cast<HYPRE_BigInt>(s.rows * rank / ranks);
  const auto last = static_cast<HYPRE_BigInt>(s.rows * (rank + 1) / ranks - 1);
  HYPRE_IJMatrix ij;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &ij);
  HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(ij);
  for (HYPRE_BigInt row = first; row <= last; ++row) {
    const auto begin = static_cast<std::size_t>(s.start[static_cast<std::size_t>(row)]);
    HYPRE_Int width = static_cast<HYPRE_Int>(s.start[static_cast<std::size_t>(row) + 1] -
                                             s.start[static_cast<std::size_t>(row)]);
    std::vector<HYPRE_BigInt> columns(s.column.begin() + static_cast<std::ptrdiff_t>(begin),
                                      s.column.begin() + static_cast<std::ptrdiff_t>(begin) + width);
    HYPRE_IJMatrixSetValues(ij, 1, &width, &row, columns.data(), s.value.data() + begin);
  }
  HYPRE_IJMatrixAssemble(ij);
  HYPRE_ParCSRMatrix a;
  HYPRE_IJMatrixGetObject(ij, reinterpret_cast<void**>(&a));
  Vectors right = make_vector(first, last), x = make_vector(first, last), r = make_vector(first, last);
  for (HYPRE_BigInt row = first; row <= last; ++row) {
    const double value = -s.b[static_cast<std::size_t>(row)];
    HYPRE_IJVectorSetValues(right.ij, 1, &row, &value);
  }
  finish(right);
  finish(x);
  finish(r);

  double setup = 0, solve = 0, residual = 0;
  HYPRE_Int iterations = 0;
  double squares = 0;
  for (const double value : s.b) squares += value * value;
  double tolerance = wanted * std::sqrt(static_cast<double>(s.rows)) / std::sqrt(squares) * 0.3;
  for (int attempt = 0; attempt < 12; ++attempt, tolerance *= 0.5) {
    HYPRE_Solver amg, cg;
    HYPRE_BoomerAMGCreate(&amg);
    HYPRE_BoomerAMGSetCoarsenType(amg, 10);
    HYPRE_BoomerAMGSetInterpType(amg, 6);
    HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
    HYPRE_BoomerAMGSetAggNumLevels(amg, 1);
    HYPRE_BoomerAMGSetStrongThreshold(amg, 0.5);
    HYPRE_BoomerAMGSetRelaxType(amg, 8);
    HYPRE_BoomerAMGSetMaxIter(amg, 1);
    HYPRE_BoomerAMGSetTol(amg, 0);
    HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &cg);
    HYPRE_PCGSetMaxIter(cg, 500);
    HYPRE_PCGSetTol(cg, tolerance);
    HYPRE_PCGSetTwoNorm(cg, 1);
    HYPRE_PCGSetPrecond(cg, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSolve),
                        reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSetup), amg);
    HYPRE_ParVectorSetConstantValues(x.par, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = MPI_Wtime();
    HYPRE_ParCSRPCGSetup(cg, a, right.par, x.par);
    MPI_Barrier(MPI_COMM_WORLD);
    const double between = MPI_Wtime();
    HYPRE_ParCSRPCGSolve(cg, a, right.par, x.par);
    MPI_Barrier(MPI_COMM_WORLD);
    solve = MPI_Wtime() - between;
    setup = between - before;
    HYPRE_PCGGetNumIterations(cg, &iterations);
    HYPRE_ParCSRPCGDestroy(cg);
    HYPRE_BoomerAMGDestroy(amg);

    HYPRE_ParVectorCopy(right.par, r.par);
    HYPRE_ParCSRMatrixMatvec(-1, a, x.par, 1, r.par);
    double own = 0;
    for (HYPRE_BigInt row = first; row <= last; ++row) {
      double value = 0;
      HYPRE_IJVectorGetValues(r.ij, 1, &row, &value);
      own = std::max(own, std::abs(value));
    }
    MPI_Allreduce(&own, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (residual <= wanted) break;
  }
  if (rank == 0)
    lope::rivals::write_answer(arguments[2], setup, solve, static_cast<int>(iterations), residual);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
