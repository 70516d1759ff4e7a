// What a minimiser sees of the world: a function of n unknowns, its derivatives, and where it may be
// evaluated. NUMERICS: E(x) = 1/(2 c h²)|x − x̂|²_M + Φ(x) in the force scale (∇E in newtons), but nothing
// here knows that.
#pragma once

#include <lope/linalg/block_matrix.h>
#include <lope/linalg/hierarchy.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lope::optimize {

class SplitObjective;  // split_objective.h

// Raw: the exact second derivative. Projected: every local term made positive semi-definite.
enum class HessianKind { Raw, Projected };

// The scales of the stopping tests (DOT eq. 15, HOT appendix), in the units of the gradient.
struct CharacteristicScales {
  double global = 0;              // ⟨ξ⟩‖ℓ‖₂
  std::vector<double> per_block;  // ξ_i ℓ_i, one per block of unknowns
  double length = 0;              // size of the body: the default accuracy is a fraction of it
};

// An estimated error beside what is allowed of it, metres.
struct ErrorBudget {
  double error = 0;
  double allowed = 0;
  bool holds() const { return error <= allowed; }
  // Whether another budget is strained more than this one.
  bool operator<(const ErrorBudget& other) const { return error * other.allowed < other.error * allowed; }
};

// What revise() found. None: the direction may be followed. Inexact: too much of the gradient is left to tell. Changed: other constraints
// are active, or what follows from them is something else, so that what was evaluated before is out of date.
enum class Revision { None, Inexact, Changed };

class Objective {
 public:
  virtual ~Objective() = default;

  // Number of unknowns, always a multiple of the block size (the space dimension: 2 or 3).
  virtual std::size_t size() const = 0;
  virtual int block_size() const = 0;
  // Where points, gradients and directions live. All else that is a single number (value, noise, largest step, scales,
  // budget) is of the whole, wherever its parts are.
  virtual const linalg::Space& space() const { return linalg::local_space(); }
  // Blocks that are not unknowns (scripted nodes): 1 where fixed. Their gradient is 0, their Hessian rows and
  // columns are a multiple of the identity's, so that a search direction never moves them.
  virtual std::span<const std::uint8_t> fixed_blocks() const = 0;

  // Freezes active sets and contact candidates at the current point until the next call. True if that changed
  // the function or its derivatives there: what was evaluated before the call is then out of date.
  virtual bool begin_iteration() { return false; }
  // For constraints, which are asked where revises() says so. d is a direction from the current point, found with hessian(kind): freezes what is active where
  // the quadratic model says that it leads, makes d obey that, and leaves in g what d leaves of the model's gradient in the directions that are free.
  virtual Revision revise(HessianKind /*kind*/, std::span<double> /*d*/, std::span<double> /*g*/) { return Revision::None; }
  virtual bool revises() const { return false; }
  // What was foreseen is forgotten, as at the beginning of a minimisation: it starts again.
  virtual void forget() {}
  // Whether there are constraints: of stiff matter their forces are small differences of large products.
  virtual bool has_constraints() const { return false; }
  // d ← the part of it that active constraints leave free.
  virtual void project_to_tangents(std::span<double> /*d*/) const {}
  // Called when the minimisation gets stuck: from now on, until the next minimisation, the function keeps the choices it
  // makes at the current point (contact partners, held constraints) where these would make it jump or zigzag. True if
  // that may change the function: what was evaluated before the call is then out of date. False from the second call on.
  virtual bool settle() { return false; }
  // Makes x the current point: kinematics and decompositions are computed here, once per point.
  virtual void move_to(std::span<const double> x) = 0;

  // Everything below is evaluated at the current point.

  // +infinity where the function is not defined. May stop adding terms once their sum exceeds `give_up_above`
  // and return that partial sum, if all remaining terms are non-negative.
  virtual double value(double give_up_above = std::numeric_limits<double>::infinity()) = 0;
  // An upper estimate of the rounding error of value(): differences below it mean nothing.
  virtual double value_noise() = 0;
  virtual void gradient(std::span<double> g) = 0;
  // Valid until the next call of hessian() of either kind or move_to().
  virtual const linalg::BlockMatrix& hessian(HessianKind kind) = 0;
  // Whether it is a thin sheet's, or the like: compressed parts make the raw Hessian indefinite wherever wrinkles may grow, so that the
  // projected one is far from it, and one taken elsewhere as well. Then project_partly() has an effect.
  virtual bool buckles() const { return false; }
  // How much of their projection the elements' terms of the projected Hessian take from now on: 1 all, 0 none. With less than 1 that
  // Hessian may be indefinite.
  virtual void project_partly(double /*part*/) {}
  // The b×b blocks of the diagonal of hessian(kind), row-major: without a matrix where the objective can do that.
  virtual void hessian_diagonal(HessianKind kind, std::span<double> blocks) { hessian(kind).diagonal_blocks(blocks); }
  // y = H d without a matrix. Fixed blocks of d are passed through.
  virtual void hessian_times(HessianKind kind, std::span<const double> d, std::span<double> y) = 0;

  // Moves x to the nearest feasible point (identity by default): line searches then follow curved paths.
  virtual void project(std::span<double> /*x*/) const {}
  // d ← DP(x) d, P = project(): the direction of the curved path P(x + αd) at P(x).
  virtual void project_direction(std::span<const double> /*x*/, std::span<double> /*d*/) const {}
  // The largest α for which the function is defined on x + [0, α] d, x the current point.
  virtual double largest_step(std::span<const double> /*d*/) const {
    return std::numeric_limits<double>::infinity();
  }
  virtual const CharacteristicScales& scales() const = 0;
  // The test of a displacement accuracy (NUMERICS §6): of all that is asked of an estimated remaining
  // displacement d (the minimiser is near x + d, x the current point), what is strained most. `accuracy`: the
  // largest |d_i| allowed, metres; 0: 10⁻⁴ of the size of each body. By default nothing else is asked.
  virtual ErrorBudget budget(std::span<const double> d, double accuracy) const;
  // Whether what begin_iteration() freezes (contacts that come and go) may be other where an estimated remaining displacement leads.
  // An estimate is then looked at again at its end.
  virtual bool has_kinks() const { return false; }
  // Whether what is left of the gradient at the current point is small beside the forces that what is frozen exerts. Stiff matter may be within any
  // length of its minimiser and yet have the forces of its contacts wrong: a step with kinks is not done before this holds.
  virtual bool is_balanced() { return true; }
  // Whether the Hessian is the same function of the point and of choices() in all minimisations with the same
  // weights and fixed blocks, so that a model of it may be kept from one to the next. Never where the unknowns
  // themselves change from one to the next.
  virtual bool keeps_its_hessian() const { return false; }
  // What begin_iteration() froze, as numbers: all of it that the Hessian depends on.
  virtual std::vector<double> choices() const { return {}; }
  // Brings back what choices() said, as far as the Hessian is concerned, until the next begin_iteration().
  // Empty: nothing is frozen.
  virtual void choose(std::span<const double> /*choices*/) {}
  // Whether what is frozen now leaves something free that these choices held: of what moves easily since, an inverse with them knows nothing.
  virtual bool frees_more_than(std::span<const double> /*choices*/) const { return false; }

  // What approximate inverses of the Hessian may use (approximate_inverse.h): its structure. They may be called at any point.
  // What is made from it is kept for as long as the Hessian has the same pattern (BlockPattern::id), and for no longer: where
  // unknowns change from step to step, so does the pattern, even if the sizes are the same.

  // Overlapping sets of blocks (ascending) that cover all blocks: those touched by each part of a division of the local
  // terms into `parts` of about equal size. A function of the pattern's identity. Empty: not known.
  virtual std::vector<std::vector<int>> cover(int /*parts*/) const { return {}; }
  // About `functions` smooth functions on the blocks, among whose sums are all affine functions of the nodes' rest
  // positions. A function of the pattern's identity. Empty: not known.
  virtual linalg::Prolongation coarse_space(int /*functions*/) const { return {}; }
  // Prolongations from ever coarser levels, finest first, for multigrid (linalg/block_multigrid.h); the rows of the first are
  // the blocks. Fixed blocks may have entries: they are dropped where the Hessian's rows are decoupled. Another hierarchy has
  // another id. Null: not known.
  virtual linalg::HierarchyPtr hierarchy() { return nullptr; }
  // The directions in which blocks may move where that is not all of them or none, as the Hessian has it since the last
  // begin_iteration(): the prolongations' rows are multiplied by them.
  virtual std::vector<linalg::RowProjector> projectors() const { return {}; }
  // A scalar matrix L (block size 1), positive definite, for which L ⊗ I is a rough model of the Hessian everywhere.
  // Null: there is none. Another `version` means other numbers.
  struct ScalarModel {
    const linalg::BlockMatrix* matrix = nullptr;
    std::uint64_t version = 0;
  };
  virtual ScalarModel scalar_model() { return {}; }
  // The same function as a quadratic and a sum of local terms, for ADMM; scalar_model() then is Hess Q + DᵀWD. Null: it
  // is not of that form.
  virtual SplitObjective* split() { return nullptr; }
};

}  // namespace lope::optimize
