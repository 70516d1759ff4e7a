// The second derivative of the step's energy: products, the diagonal, the matrix.
#include <lope/base/parallel.h>
#include <lope/base/timer.h>
#include <lope/linalg/space.h>
#include <lope/matter/mpm/mpm_objective.h>

#include <array>

namespace lope::matter::mpm {
namespace {
constexpr std::size_t grain = 2048;

// On which line of a row's window another node stands.
template <int Dim>
std::size_t line_between(const Grid<Dim>& grid, std::size_t row, std::size_t other) {
  const auto &from = grid.node_indices()[row], &to = grid.node_indices()[other];
  const auto along = [&](std::size_t axis) {
    return static_cast<std::size_t>(to[axis] - from[axis] + window / 2);
  };
  if constexpr (Dim == 2)
    return along(0);
  else
    return window * along(0) + along(1);
}
}  // namespace

template <int Dim>
void MpmObjective<Dim>::make_tangent(optimize::HessianKind kind) {
  const Have wanted = kind == optimize::HessianKind::Raw ? Have::Raw : Have::Projected;
  if (tangent_kind_ == wanted) return;
  parallel_for(grid_->blocks().size(), 4, [&](std::size_t b) {
    kernels_.tangent(batches(), batch_start_[b], batch_start_[b + 1], wanted == Have::Projected);
  });
  tangent_kind_ = wanted;
}

template <int Dim>
void MpmObjective<Dim>::hessian_times(optimize::HessianKind kind, std::span<const double> d,
                                      std::span<double> y) {
  make_tangent(kind);
  linalg::copy(d, work_);
  conditions_->project(work_);
  grid_->scatter(
      Dim,
      [&](std::size_t b, double* local) {
        std::array<double, static_cast<std::size_t>(Dim) * Grid<Dim>::reach> p;
        grid_->gather(b, Dim, work_, p.data());
        kernels_.product(batches(), batch_start_[b], batch_start_[b + 1], p.data(), local);
      },
      y);
  parallel_for(nodes(), grain, [&](std::size_t i) {
    for (std::size_t k = Dim * i; k < Dim * (i + 1); ++k) y[k] += weights_[i] * work_[k];
  });
  conditions_->project_product(d, weights_, y);
}

template <int Dim>
const linalg::BlockMatrix& MpmObjective<Dim>::hessian(optimize::HessianKind kind) {
  const Have wanted = kind == optimize::HessianKind::Raw ? Have::Raw : Have::Projected;
  if (matrix_kind_ == wanted) return *matrix_;
  const ScopedTimer timer(assembly_seconds_);
  make_tangent(kind);
  if (!matrix_ || matrix_->pattern().id() != grid_->pattern()->id()) matrix_.emplace(grid_->pattern(), Dim);
  matrix_->set_zero();
  assemble(*matrix_);
  finish_rows();
  matrix_kind_ = wanted;
  return *matrix_;
}

// The upper triangle.
template <int Dim>
void MpmObjective<Dim>::assemble(linalg::BlockAssembler& H) {
  double* blocks = H.blocks();
  constexpr std::size_t scratch_rows = static_cast<std::size_t>(hessian_scratch<Dim>) / lanes;
  for (const std::vector<int>& colour : grid_->colours()) {
    parallel_tasks(colour.size(), [&](std::size_t task, std::size_t worker) {
      std::vector<Row>& scratch = scratch_[worker];
      if (scratch.empty()) scratch.resize(scratch_rows);  // zero, and zero again whenever a block is done
      const auto b = static_cast<std::size_t>(colour[task]);
      kernels_.hessian(batches(), batch_start_[b], batch_start_[b + 1],
                       {grid_->numbers(b), grid_->shifts().data(), blocks, scratch.front().lane});
    });
  }
}

template <int Dim>
void MpmObjective<Dim>::finish_diagonal(std::size_t node, Eigen::Ref<Block> block) const {
  block.diagonal().array() += weights_[node];
  if (const int own = conditions_->projector_of(node); own >= 0) {
    const Mat<Dim>& Q = conditions_->projectors()[static_cast<std::size_t>(own)].Q;
    const Block inner = Q * block * Q;
    block = 0.5 * (inner + inner.transpose()) + weights_[node] * (Mat<Dim>::Identity() - Q);
  }
}

template <int Dim>
void MpmObjective<Dim>::hessian_diagonal(optimize::HessianKind kind, std::span<double> blocks) {
  make_tangent(kind);
  grid_->scatter(
      Dim * Dim,
      [&](std::size_t b, double* local) {
        kernels_.diagonal(batches(), batch_start_[b], batch_start_[b + 1], local);
      },
      blocks);
  parallel_for(nodes(), grain,
               [&](std::size_t i) { finish_diagonal(i, Eigen::Map<Block>(blocks.data() + Dim * Dim * i)); });
}

// Masses, the lower triangle, and the conditions: block (i, j) becomes Q_i B Q_j, and the diagonal keeps m/h² (I − Q).
template <int Dim>
void MpmObjective<Dim>::finish_rows() {
  const linalg::BlockPattern& pattern = matrix_->pattern();
  parallel_for(nodes(), 64, [&](std::size_t i) {
    const auto row = static_cast<int>(i);
    Eigen::Map<Block> diagonal(matrix_->block(pattern.diagonal(row)));
    diagonal = diagonal.template selfadjointView<Eigen::Upper>();
    for (std::int64_t slot = pattern.diagonal(row) + 1; slot < pattern.row_start()[i + 1]; ++slot) {
      const auto column = static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)]);
      const int left = conditions_->projector_of(i), right = conditions_->projector_of(column);
      Eigen::Map<Block> block(matrix_->block(slot));
      if (left >= 0) block = (conditions_->projectors()[static_cast<std::size_t>(left)].Q * block).eval();
      if (right >= 0) block = (block * conditions_->projectors()[static_cast<std::size_t>(right)].Q).eval();
    }
    finish_diagonal(i, diagonal);
  });
  const std::int64_t* shift = grid_->shifts().data();
  parallel_for(nodes(), 64, [&](std::size_t i) {
    const auto row = static_cast<int>(i);
    for (std::int64_t slot = pattern.row_start()[i]; slot < pattern.diagonal(row); ++slot) {
      const auto column = static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)]);
      const double* from =
          matrix_->block(shift[column * Grid<Dim>::lines + line_between<Dim>(*grid_, column, i)] + row);
      double* to = matrix_->block(slot);
      for (int a = 0; a < Dim; ++a) {
        for (int b = 0; b < Dim; ++b) to[Dim * a + b] = from[Dim * b + a];
      }
    }
  });
}

template void MpmObjective<2>::make_tangent(optimize::HessianKind);
template void MpmObjective<2>::hessian_times(optimize::HessianKind, std::span<const double>,
                                             std::span<double>);
template void MpmObjective<2>::hessian_diagonal(optimize::HessianKind, std::span<double>);
template const linalg::BlockMatrix& MpmObjective<2>::hessian(optimize::HessianKind);
template void MpmObjective<2>::assemble(linalg::BlockAssembler&);
template void MpmObjective<2>::finish_diagonal(std::size_t, Eigen::Ref<Block>) const;
template void MpmObjective<2>::finish_rows();
template void MpmObjective<3>::make_tangent(optimize::HessianKind);
template void MpmObjective<3>::hessian_times(optimize::HessianKind, std::span<const double>,
                                             std::span<double>);
template void MpmObjective<3>::hessian_diagonal(optimize::HessianKind, std::span<double>);
template const linalg::BlockMatrix& MpmObjective<3>::hessian(optimize::HessianKind);
template void MpmObjective<3>::assemble(linalg::BlockAssembler&);
template void MpmObjective<3>::finish_diagonal(std::size_t, Eigen::Ref<Block>) const;
template void MpmObjective<3>::finish_rows();

}  // namespace lope::matter::mpm
