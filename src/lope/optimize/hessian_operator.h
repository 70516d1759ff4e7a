// The Hessian of an objective as an operator, without a matrix.
#pragma once

#include <lope/linalg/operator.h>
#include <lope/optimize/objective.h>

namespace lope::optimize {

// At the objective's current point, whatever that is when it is called. The objective outlives it.
class HessianOperator final : public linalg::Operator {
 public:
  HessianOperator(Objective& objective, HessianKind kind) : objective_(&objective), kind_(kind) {}
  std::size_t size() const override { return objective_->size(); }
  int block_size() const override { return objective_->block_size(); }
  void multiply(linalg::ConstVector x, linalg::Vector y) const override { objective_->hessian_times(kind_, x, y); }
  void diagonal_blocks(linalg::Vector blocks) const override { objective_->hessian_diagonal(kind_, blocks); }

 private:
  Objective* objective_;
  HessianKind kind_;
};

}  // namespace lope::optimize
