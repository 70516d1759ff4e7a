#include <lope/optimize/full_multigrid.h>

namespace lope::optimize {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

bool FullMultigrid::renew(const linalg::BlockMatrix& matrix, linalg::HierarchyPtr hierarchy,
                          std::span<const linalg::RowProjector> projectors) {
  grid_.set_hierarchy(std::move(hierarchy));
  grid_.set_projectors(projectors);
  const bool definite = grid_.update(matrix);
  levels_.resize(index(grid_.levels()));
  for (int l = 0; l < grid_.levels(); ++l) {
    LevelWork& work = levels_[index(l)];
    for (auto* vector : {&work.f, &work.x, &work.r, &work.c}) vector->resize(grid_.size(l));
  }
  return definite;
}

std::vector<FullMultigrid::Correction> FullMultigrid::plan(Residual residual) const {
  using Kind = Correction::Kind;
  std::vector<Correction> plan;
  const int coarsest = grid_.levels() - 1;
  switch (residual) {
    case Residual::EveryLevel:
      for (int top = coarsest; top >= 0; --top) {
        for (int l = top; l <= coarsest; ++l) plan.push_back({Kind::Smoothing, l});
        for (int l = coarsest - 1; l >= top; --l) plan.push_back({Kind::Smoothing, l});
      }
      break;
    case Residual::EveryCycle:
      for (int top = coarsest; top >= 0; --top) plan.push_back({Kind::Cycle, top});
      break;
    case Residual::LastCycle:
      if (coarsest >= 1) plan.push_back({Kind::FullCycle, 1});
      if (coarsest >= 2) plan.push_back({Kind::Cycle, (coarsest + 1) / 2});
      plan.push_back({Kind::Cycle, 0});
      break;
    case Residual::Never:
      plan.push_back({Kind::FullCycle, 0});
      break;
  }
  return plan;
}

void FullMultigrid::correct(const Correction& correction, linalg::ConstVector r, linalg::Vector c) {
  linalg::copy(r, levels_[0].f);
  const int deepest = correction.kind == Correction::Kind::FullCycle ? grid_.levels() - 1 : correction.level;
  for (int l = 0; l < deepest; ++l) grid_.restrict_residual(l, levels_[index(l)].f, levels_[index(l) + 1].f);
  LevelWork& at = levels_[index(correction.level)];
  switch (correction.kind) {
    case Correction::Kind::Smoothing:
      if (correction.level == grid_.levels() - 1) {
        grid_.coarse_solve(at.f, at.x);
      } else {
        grid_.smooth(correction.level, at.f, at.x, sweeps_, linalg::BlockMultigrid::Start::Zero);
      }
      break;
    case Correction::Kind::Cycle:
      grid_.cycle(correction.level, at.f, at.x);
      break;
    case Correction::Kind::FullCycle:
      full_cycle(correction.level);
      break;
  }
  for (int l = correction.level; l > 0; --l)
    grid_.prolong(l - 1, levels_[index(l)].x, levels_[index(l) - 1].x);
  linalg::copy(levels_[0].x, c);
}

// From the coarsest level to `top`, one V-cycle each, started from the result of the one before.
void FullMultigrid::full_cycle(int top) {
  int l = grid_.levels() - 1;
  grid_.coarse_solve(levels_[index(l)].f, levels_[index(l)].x);
  while (--l >= top) {
    LevelWork& at = levels_[index(l)];
    // A V-cycle leaves corrections of coarser levels in their x, which are not needed any more.
    grid_.prolong(l, levels_[index(l) + 1].x, at.x);
    grid_.residual(l, at.f, at.x, at.r);
    grid_.cycle(l, at.r, at.c);
    linalg::combine(1, at.c, 1, at.x);
  }
}

}  // namespace lope::optimize
