// `auto`: `newton` or `dot`, whichever counts say is the cheaper.
//
// Neither is the faster one everywhere: a factor of a slender or thin body is small and serves for many iterations, one of
// a solid lump grows with n^(4/3). Which it is depends on the mesh and on the motion. So the minimiser keeps account: what a
// minimisation did (models of the Hessian made, iterations of CG) times what each of these costs on this matrix (entries of
// the matrix, entries and operations of its Cholesky factor), in a model of the processor's time with fixed rates. Every few
// minimisations it compares the method in use with the other one, of which it knows what it cost when it was last in
// use, or, before that, what is to be expected; the other one takes over if it is cheaper by a clear margin. What is
// known of the method that is not in use fades, so that it gets another chance when it is not much worse.
//
// What buckles (cloth) is always newton's, for as long as there is memory for a factor: there it is another method (newton.h), whose
// costs this account does not know, and dot was slower wherever it was measured (docs/benchmarks/cloth.md).
//
// Nothing is timed: the choice is a function of the problem and of what was counted, the same on every machine and for any
// number of threads. The account is a part of what the minimiser keeps (KeptModel::account): it commits and rolls back with
// the state.
#pragma once

#include <lope/optimize/newton.h>

#include <array>

namespace lope::optimize {

// The two methods, with their options.
ProjectedNewtonOptions newton_options();  // `newton`
ProjectedNewtonOptions dot_options();     // `dot`

// What the operations of the two methods take on one matrix, in seconds of one core of a processor of 2021.
struct OperationCosts {
  double iteration = 0;        // evaluations and Hessians of one iteration
  double factor = 0;           // a Cholesky factor
  double factor_solve = 0;     // applying it once, and a product with the matrix
  double two_level = 0;        // making dot's preconditioner
  double two_level_solve = 0;  // applying it once, and a product with the matrix
};
OperationCosts operation_costs(const linalg::BlockMatrix& matrix);

class Automatic final : public Minimizer {
 public:
  // The other method takes over if it costs less than `margin` of what the one in use does.
  explicit Automatic(double margin = 0.9);
  MinimizerSummary minimize(Objective& objective, std::span<double> x, const MinimizerOptions& options) override;
  KeptModelPtr kept() const override { return kept_; }
  void recall(Objective& objective, const KeptModelPtr& kept) override;

  enum Choice { Dot, Newton };
  Choice choice() const { return account_.choice; }

 private:
  struct Account {
    Choice choice = Dot;
    bool changed = false;                   // and has not made its first model yet
    int served = 0;                         // minimisations since the last comparison
    int iterations = 0, solves = 0;         // of them
    double spent = 0;                       // by them, seconds of the model
    std::array<double, 2> cost = {-1, -1};  // per minimisation, as last known; negative: not known
    std::vector<double> numbers() const;
    static Account from(std::span<const double> numbers);
  };
  ProjectedNewton& in_use() { return methods_[account_.choice]; }
  double cost_of(const MinimizerSummary& summary) const;
  double expected_of_newton() const;
  void compare(Objective& objective);

  double margin_;
  std::array<ProjectedNewton, 2> methods_;
  Account account_;
  KeptModelPtr kept_;
  OperationCosts costs_;
  std::uint64_t costs_for_ = 0;  // id of the Hessian's pattern
};

}  // namespace lope::optimize
