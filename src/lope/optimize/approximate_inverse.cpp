#include <lope/linalg/coarse_space.h>
#include <lope/linalg/coupled_cholesky.h>
#include <lope/linalg/incomplete_cholesky.h>
#include <lope/linalg/inner_solvers.h>
#include <lope/linalg/rounded_matrix.h>
#include <lope/linalg/symmetric_sweep.h>
#include <lope/optimize/approximate_inverse.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lope::optimize {
namespace {

// Inexact LBFGS-H.
const linalg::CgOptions inner_cg = {.relative_tolerance = 0.1, .max_iterations = 100, .monitor = {}};

template <template <class> class Factor, class... Arguments>
std::unique_ptr<linalg::Preconditioner> in_precision(bool single, const Arguments&... arguments) {
  if (single) return std::make_unique<Factor<float>>(arguments...);
  return std::make_unique<Factor<double>>(arguments...);
}

std::size_t blocks_of(const Objective& objective) {
  return objective.size() / static_cast<std::size_t>(objective.block_size());
}

template <class T>
std::unique_ptr<linalg::Preconditioner> make_schwarz(const InverseOptions& options,
                                                     const Objective& objective) {
  const std::size_t blocks = blocks_of(objective);
  std::vector<std::vector<int>> sets = objective.cover(subdomain_count(options, blocks));
  if (sets.empty()) {
    sets.emplace_back(blocks);
    std::iota(sets.front().begin(), sets.front().end(), 0);
  }
  auto schwarz = std::make_unique<linalg::Schwarz<T>>(options.weighting);
  schwarz->set_cover(std::move(sets));
  return schwarz;
}

std::unique_ptr<linalg::Preconditioner> make_level(const InverseOptions& options,
                                                   const Objective& objective) {
  switch (options.kind) {
    case InverseKind::BlockJacobi:
      return std::make_unique<linalg::BlockJacobi>();
    case InverseKind::GaussSeidel:
      return std::make_unique<linalg::SymmetricSweep>();
    case InverseKind::IncompleteCholesky:
      return std::make_unique<linalg::IncompleteCholesky>();
    case InverseKind::Cholesky:
      if (objective.buckles()) return in_precision<linalg::CoupledCholesky>(options.single_precision);
      return in_precision<linalg::SparseCholesky>(options.single_precision);
    case InverseKind::Laplacian:
      return in_precision<linalg::ComponentwiseCholesky>(options.single_precision);
    case InverseKind::LaplacianSweeps: {
      linalg::SymmetricSweepOptions sweeps = options.sweeps;
      sweeps.components = objective.block_size();
      return std::make_unique<linalg::SymmetricSweep>(sweeps);
    }
    case InverseKind::Subdomains:
      return options.single_precision ? make_schwarz<float>(options, objective)
                                      : make_schwarz<double>(options, objective);
    case InverseKind::Cg:
      return std::make_unique<linalg::InexactInverse>(inner_cg);
    case InverseKind::Multigrid: {
      linalg::BlockMultigridOptions multigrid = options.multigrid;
      multigrid.single_precision = options.single_precision;
      return std::make_unique<linalg::BlockMultigrid>(multigrid);
    }
  }
  return nullptr;
}

bool is_local(InverseKind kind) {
  return kind == InverseKind::BlockJacobi || kind == InverseKind::IncompleteCholesky ||
         kind == InverseKind::Subdomains;
}

}  // namespace

KeptModel model_at(std::span<const double> x, const Objective& objective) {
  KeptModel model;
  model.point.assign(x.begin(), x.end());
  model.choices = objective.choices();
  return model;
}

int subdomain_count(const InverseOptions& options, std::size_t blocks) {
  if (options.subdomains > 0) return options.subdomains;
  const double wanted = static_cast<double>(blocks) / options.subdomain_size;
  return std::max(1, static_cast<int>(std::lround(wanted)));
}

std::unique_ptr<linalg::Preconditioner> ApproximateInverse::made(const InverseOptions& options,
                                                                 const Objective& objective) const {
  std::unique_ptr<linalg::Preconditioner> result = make_level(options, objective);
  if (options.coarse_size == 0 || !is_local(options.kind) || result->is_near_inverse()) return result;
  const int functions = std::max(1, static_cast<int>(blocks_of(objective)) / options.coarse_size);
  linalg::Prolongation coarse = objective.coarse_space(functions);
  if (coarse.empty()) return result;
  return std::make_unique<linalg::TwoLevel>(std::move(result), std::move(coarse));
}

void ApproximateInverse::make(Objective& objective, const linalg::BlockPattern& pattern) {
  made_for_ = pattern.id();
  if (multigrid_ != nullptr) return;  // it finds out by itself, and uses its memory again
  preconditioner_ = made(options_, objective);
  multigrid_ = options_.kind == InverseKind::Multigrid
                   ? static_cast<linalg::BlockMultigrid*>(preconditioner_.get())
                   : nullptr;
  in_double_.reset();
  in_use_ = nullptr;
  scalar_version_ = 0;
}

void ApproximateInverse::forget() {
  if (preconditioner_) preconditioner_->forget();
  if (in_double_) in_double_->forget();
}

bool ApproximateInverse::update(Objective& objective, const linalg::BlockMatrix& matrix, bool doubtful) {
  failure_ = "no approximate inverse of the Hessian: it is not positive definite, or there is no memory for its factor";
  in_use_ = preconditioner_.get();
  if (multigrid_ != nullptr) return update_levels(objective, matrix);
  const bool rounds_too_much =
      options_.single_precision && objective.has_constraints() && !linalg::survives_rounding(matrix);
  if (!rounds_too_much && preconditioner_->update(matrix)) return true;
  if (!options_.single_precision || doubtful) return false;
  if (!in_double_) {
    InverseOptions options = options_;
    options.single_precision = false;
    in_double_ = made(options, objective);
  }
  in_use_ = in_double_.get();
  return in_double_->update(matrix);
}

bool ApproximateInverse::update_levels(Objective& objective, const linalg::BlockMatrix& matrix) {
  linalg::HierarchyPtr hierarchy = objective.hierarchy();
  if (!hierarchy) {
    failure_ = "this method needs a hierarchy of coarser levels, and what is to be minimised has none";
    return false;
  }
  multigrid_->set_hierarchy(std::move(hierarchy));
  multigrid_->set_projectors(objective.projectors());
  return multigrid_->update(matrix);
}

bool ApproximateInverse::renew_laplacian(Objective& objective) {
  const Objective::ScalarModel model = objective.scalar_model();
  if (model.matrix == nullptr) {
    failure_ = no_scalar_model;
    return false;
  }
  if (made_for_ != model.matrix->pattern().id()) make(objective, model.matrix->pattern());
  if (model.version == scalar_version_) return true;
  scalar_version_ = 0;
  if (!update(objective, *model.matrix)) return false;
  scalar_version_ = model.version;
  return true;
}

bool ApproximateInverse::renew(Objective& objective) {
  if (!uses_hessian()) return renew_laplacian(objective);
  return renew(objective, objective.hessian(HessianKind::Projected));
}

bool ApproximateInverse::renew(Objective& objective, const linalg::BlockMatrix& projected, bool doubtful) {
  if (!uses_hessian()) return renew_laplacian(objective);
  if (made_for_ != projected.pattern().id()) make(objective, projected.pattern());
  return update(objective, projected, doubtful);
}

}  // namespace lope::optimize
