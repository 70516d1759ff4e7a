#include <lope/base/identity.h>
#include <lope/linalg/hierarchy.h>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace lope::linalg {

Prolongation identity_prolongation(int rows) {
  Prolongation p;
  p.columns = rows;
  p.start.resize(static_cast<std::size_t>(rows) + 1);
  p.column.resize(static_cast<std::size_t>(rows));
  std::iota(p.start.begin(), p.start.end(), 0);
  std::iota(p.column.begin(), p.column.end(), 0);
  p.weight.assign(static_cast<std::size_t>(rows), 1.0);
  return p;
}

Prolongation empty_prolongation(int rows) {
  Prolongation p;
  p.start.assign(static_cast<std::size_t>(rows) + 1, 0);
  return p;
}

Prolongation block_diagonal(std::span<const Prolongation> parts) {
  Prolongation all;
  all.start.push_back(0);
  for (const Prolongation& part : parts) {
    const int first = all.start.back();
    for (std::size_t i = 1; i < part.start.size(); ++i) all.start.push_back(first + part.start[i]);
    for (const int column : part.column) all.column.push_back(all.columns + column);
    all.weight.insert(all.weight.end(), part.weight.begin(), part.weight.end());
    all.columns += part.columns;
  }
  return all;
}

Hierarchy::Hierarchy(std::vector<Prolongation> prolongations)
    : prolongations_(std::move(prolongations)), id_(new_identity()) {
  for (std::size_t l = 0; l + 1 < prolongations_.size(); ++l) {
    assert(prolongations_[l].columns == prolongations_[l + 1].rows());
  }
}

HierarchyPtr side_by_side(std::span<const HierarchyPtr> parts, std::span<const int> rows) {
  std::size_t levels = 0;
  for (const HierarchyPtr& part : parts) {
    if (part) levels = std::max(levels, part->prolongations().size());
  }
  if (levels == 0) return nullptr;
  std::vector<Prolongation> all;
  for (std::size_t l = 0; l < levels; ++l) {
    std::vector<Prolongation> level;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const auto own = parts[k] ? parts[k]->prolongations() : std::span<const Prolongation>();
      if (l < own.size()) {
        level.push_back(own[l]);
      } else if (own.empty()) {
        level.push_back(empty_prolongation(l == 0 ? rows[k] : 0));
      } else {
        level.push_back(identity_prolongation(own.back().columns));
      }
    }
    all.push_back(block_diagonal(level));
  }
  return std::make_shared<const Hierarchy>(std::move(all));
}

}  // namespace lope::linalg
