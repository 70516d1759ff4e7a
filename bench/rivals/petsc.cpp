// PETSc's reduced-space method for variational inequalities (SNESVINEWTONRSLS) with CG and BoomerAMG inside:
//   mpirun -n RANKS lope_rival_petsc SYSTEM ANSWER TOLERANCE
// ANSWER: 0, seconds, outer iterations, largest |min(p, Ap + b)| of bounded and |Ap + b| of other rows.
// Set-ups happen anew in every outer iteration and are part of the seconds. BoomerAMG as for hypre's own
// rival, linear systems to 10⁻³ (of 10⁻¹ … 10⁻⁵ the fastest here). Options can be given in PETSC_OPTIONS.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <petscsnes.h>
#include <rivals/system.h>

namespace {

using lope::rivals::System;

struct Problem {
  Mat a = nullptr;
  Vec b = nullptr, flags = nullptr;
  double tolerance = 0, residual = 0;
};

PetscErrorCode function(SNES, Vec p, Vec f, void* context) {
  const auto& problem = *static_cast<Problem*>(context);
  return MatMultAdd(problem.a, p, problem.b, f);
}

PetscErrorCode jacobian(SNES, Vec, Mat, Mat, void*) { return 0; }

PetscErrorCode violation(Problem& problem, Vec p, Vec f, double* largest) {
  const PetscScalar *values, *rows, *flags;
  PetscInt size = 0;
  VecGetLocalSize(p, &size);
  VecGetArrayRead(p, &values);
  VecGetArrayRead(f, &rows);
  VecGetArrayRead(problem.flags, &flags);
  double own = 0;
  for (PetscInt i = 0; i < size; ++i)
    own = std::max(own, std::abs(flags[i] != 0 ? std::min(values[i], rows[i]) : rows[i]));
  VecRestoreArrayRead(problem.flags, &flags);
  VecRestoreArrayRead(f, &rows);
  VecRestoreArrayRead(p, &values);
  MPI_Allreduce(&own, largest, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return 0;
}

// Everybody's stopping rule in place of PETSc's Euclidean norm.
PetscErrorCode stop(SNES snes, PetscInt, PetscReal, PetscReal, PetscReal, SNESConvergedReason* reason,
                    void* context) {
  auto& problem = *static_cast<Problem*>(context);
  Vec p, f;
  SNESGetSolution(snes, &p);
  SNESGetFunction(snes, &f, nullptr, nullptr);
  violation(problem, p, f, &problem.residual);
  *reason = problem.residual <= problem.tolerance ? SNES_CONVERGED_FNORM_ABS : SNES_CONVERGED_ITERATING;
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  PetscInitialize(nullptr, nullptr, nullptr, nullptr);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  System s;
  Problem problem;
  if (count == 4) problem.tolerance = std::atof(arguments[3]);
  if (count != 4 || !lope::rivals::load(arguments[1], s) || !(problem.tolerance > 0)) {
    std::fprintf(stderr, "usage: lope_rival_petsc SYSTEM ANSWER TOLERANCE\n");
    MPI_Abort(PETSC_COMM_WORLD, 1);
  }
  const auto first = static_cast<std::size_t>(s.rows * rank / ranks);
  const auto last = static_cast<std::size_t>(s.rows * (rank + 1) / ranks);
  const auto own = static_cast<PetscInt>(last - first);
  std::vector<PetscInt> start, column;
  for (std::size_t i = first; i <= last; ++i)
    start.push_back(static_cast<PetscInt>(s.start[i] - s.start[first]));
  for (auto k = static_cast<std::size_t>(s.start[first]); k < static_cast<std::size_t>(s.start[last]); ++k)
    column.push_back(s.column[k]);
  MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, own, own, PETSC_DETERMINE, PETSC_DETERMINE, start.data(),
                            column.data(), s.value.data() + s.start[first], &problem.a);
  Vec p, lower, upper, f;
  MatCreateVecs(problem.a, &p, &problem.b);
  for (Vec* v : {&lower, &upper, &f, &problem.flags}) VecDuplicate(p, v);
  for (std::size_t i = first; i < last; ++i) {
    const auto row = static_cast<PetscInt>(i);
    VecSetValue(problem.b, row, s.b[i], INSERT_VALUES);
    VecSetValue(problem.flags, row, s.bounded[i], INSERT_VALUES);
    VecSetValue(lower, row, s.bounded[i] ? 0.0 : PETSC_NINFINITY, INSERT_VALUES);
  }
  for (Vec v : {problem.b, problem.flags, lower}) {
    VecAssemblyBegin(v);
    VecAssemblyEnd(v);
  }
  VecSet(upper, PETSC_INFINITY);
  VecSet(p, 0);

  SNES snes;
  SNESCreate(PETSC_COMM_WORLD, &snes);
  SNESSetType(snes, SNESVINEWTONRSLS);
  SNESSetFunction(snes, f, function, &problem);
  SNESSetJacobian(snes, problem.a, problem.a, jacobian, &problem);
  SNESVISetVariableBounds(snes, lower, upper);
  SNESSetConvergenceTest(snes, stop, &problem, nullptr);
  KSP ksp;
  PC pc;
  SNESGetKSP(snes, &ksp);
  KSPSetType(ksp, KSPCG);
  KSPSetTolerances(ksp, 1e-3, PETSC_DEFAULT, PETSC_DEFAULT, 500);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCHYPRE);
  PCHYPRESetType(pc, "boomeramg");
  for (const auto& [key, value] :
       {std::pair{"-pc_hypre_boomeramg_coarsen_type", "HMIS"},
        std::pair{"-pc_hypre_boomeramg_interp_type", "ext+i"}, std::pair{"-pc_hypre_boomeramg_P_max", "4"},
        std::pair{"-pc_hypre_boomeramg_agg_nl", "1"},
        std::pair{"-pc_hypre_boomeramg_strong_threshold", "0.5"},
        std::pair{"-pc_hypre_boomeramg_relax_type_all", "l1scaled-SOR/Jacobi"}}) {
    PetscBool given = PETSC_FALSE;
    PetscOptionsHasName(nullptr, nullptr, key, &given);
    if (!given) PetscOptionsSetValue(nullptr, key, value);
  }
  SNESSetFromOptions(snes);
  MPI_Barrier(PETSC_COMM_WORLD);
  const double before = MPI_Wtime();
  SNESSolve(snes, nullptr, p);
  MPI_Barrier(PETSC_COMM_WORLD);
  const double seconds = MPI_Wtime() - before;
  PetscInt iterations = 0;
  SNESGetIterationNumber(snes, &iterations);
  if (rank == 0)
    lope::rivals::write_answer(arguments[2], 0, seconds, static_cast<int>(iterations), problem.residual);
  PetscFinalize();
  return 0;
}
