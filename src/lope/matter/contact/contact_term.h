// A potential that acts between the bodies of an island, or between them and obstacles: penalties and self
// contact. Nodes are numbered through the island, body after body; coordinates are interleaved (x₀ y₀ (z₀) x₁
// …). Units: metres, joules, newtons. Nothing fails: sizes are asserted.
#pragma once

#include <lope/linalg/block_assembler.h>
#include <lope/optimize/objective.h>

#include <limits>
#include <span>

namespace lope::matter {

class ContactTerm {
 public:
  virtual ~ContactTerm() = default;

  // Freezes candidates at the current point until the next call (nothing by default). True if that changed
  // the value or its derivatives there.
  virtual bool begin_iteration() { return false; }
  // Keeps the partners found at the current point until let_go() (nothing by default). True if that changes
  // anything to come; false if they are kept already.
  virtual bool hold() { return false; }
  virtual void let_go() {}
  // Makes x the current point. Work that value() may be spared (OPT §3.3) should wait until it is asked for.
  virtual void move_to(std::span<const double> x) = 0;

  // Everything below is evaluated at the current point.

  // The largest α for which the potential is defined on x + [0, α] d, and beyond which steps must not go (a barrier, bodies
  // that may not pass through each other), x the current point.
  virtual double largest_step(std::span<const double> /*d*/) { return std::numeric_limits<double>::infinity(); }
  // Never negative: the other terms of an objective are a lower bound of the sum.
  virtual double value() = 0;
  // An upper estimate of the rounding error of value().
  virtual double value_noise() = 0;
  virtual void add_gradient(std::span<double> g) = 0;
  // Blocks within the pattern are added there, others become couplings.
  virtual void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& hessian) = 0;
  // y += H p.
  virtual void add_hessian_times(optimize::HessianKind kind, std::span<const double> p,
                                 std::span<double> y) = 0;
};

}  // namespace lope::matter
