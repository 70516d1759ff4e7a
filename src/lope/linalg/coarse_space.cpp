#include <lope/base/parallel.h>
#include <lope/linalg/coarse_space.h>

#include <algorithm>

namespace lope::linalg {
namespace {

constexpr std::size_t coarse_grain = 8;
constexpr std::size_t row_grain = 4096;
constexpr std::size_t product_grain = 1024;
constexpr double relative_shift = 1e-8;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void CoarseSpace::set(Prolongation prolongation) {
  prolongation_ = std::move(prolongation);
  pattern_id_ = 0;
}

void CoarseSpace::prepare(const BlockMatrix& matrix) {
  const Prolongation& p = prolongation_;
  const auto columns = index(p.columns);
  child_start_.assign(columns + 1, 0);
  for (const int column : p.column) ++child_start_[index(column) + 1];
  for (std::size_t a = 0; a < columns; ++a) child_start_[a + 1] += child_start_[a];
  child_.resize(p.column.size());
  child_weight_.resize(p.column.size());
  std::vector<int> next(child_start_.begin(), child_start_.end() - 1);
  for (std::size_t i = 0; i + 1 < p.start.size(); ++i) {
    for (int k = p.start[i]; k < p.start[i + 1]; ++k) {
      const auto at = index(next[index(p.column[index(k)])]++);
      child_[at] = static_cast<int>(i);
      child_weight_[at] = p.weight[index(k)];
    }
  }
  // The columns of A P.
  const BlockPattern& fine = matrix.pattern();
  product_start_.assign(1, 0);
  product_column_.clear();
  std::vector<int> row;
  for (std::size_t i = 0; i + 1 < p.start.size(); ++i) {
    row.clear();
    for (std::int64_t slot = fine.row_start()[i]; slot < fine.row_start()[i + 1]; ++slot) {
      const auto j = index(fine.column()[index(slot)]);
      row.insert(row.end(), p.column.begin() + p.start[j], p.column.begin() + p.start[j + 1]);
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    product_column_.insert(product_column_.end(), row.begin(), row.end());
    product_start_.push_back(static_cast<std::int64_t>(product_column_.size()));
  }
  const auto b2 = index(matrix.block_size()) * index(matrix.block_size());
  product_.resize(product_column_.size() * b2);

  std::vector<std::vector<int>> rows(columns);
  parallel_for(columns, coarse_grain, [&](std::size_t coarse_row) {
    std::vector<int>& list = rows[coarse_row];
    list.push_back(static_cast<int>(coarse_row));
    for (int c = child_start_[coarse_row]; c < child_start_[coarse_row + 1]; ++c) {
      const auto i = index(child_[index(c)]);
      list.insert(list.end(), product_column_.begin() + product_start_[i],
                  product_column_.begin() + product_start_[i + 1]);
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  });
  coarse_.emplace(BlockPattern::from_rows(rows), matrix.block_size());
  coupled_.resize(index(fine.rows()));
  right_.resize(coarse_->size());
  solution_.resize(coarse_->size());
  pattern_id_ = fine.id();
}

void CoarseSpace::find_coupled_rows(const BlockMatrix& matrix) {
  const BlockPattern& fine = matrix.pattern();
  const auto b2 = matrix.block_size() * matrix.block_size();
  parallel_for(coupled_.size(), row_grain, [&](std::size_t i) {
    coupled_[i] = 0;
    for (std::int64_t slot = fine.row_start()[i]; slot < fine.row_start()[i + 1] && !coupled_[i]; ++slot) {
      if (slot == fine.diagonal(static_cast<int>(i))) continue;
      const double* block = matrix.block(slot);
      coupled_[i] = std::any_of(block, block + b2, [](double value) { return value != 0; });
    }
  });
}

template <int b>
void CoarseSpace::multiply_rows(const BlockMatrix& matrix) {
  const Prolongation& p = prolongation_;
  const BlockPattern& fine = matrix.pattern();
  parallel_chunks(coupled_.size(), product_grain, [&](std::size_t begin, std::size_t end) {
    std::vector<double*> place(index(p.columns), nullptr);  // of a column in the row at hand
    for (std::size_t i = begin; i < end; ++i) {
      if (!coupled_[i]) continue;
      double* row = product_.data() + product_start_[i] * b * b;
      for (std::int64_t k = product_start_[i]; k < product_start_[i + 1]; ++k) {
        place[index(product_column_[index(k)])] = row + (k - product_start_[i]) * b * b;
      }
      std::fill(row, row + (product_start_[i + 1] - product_start_[i]) * b * b, 0.0);
      for (std::int64_t slot = fine.row_start()[i]; slot < fine.row_start()[i + 1]; ++slot) {
        const auto j = index(fine.column()[index(slot)]);
        if (!coupled_[j]) continue;
        const double* block = matrix.block(slot);
        for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
          const double weight = p.weight[index(k)];
          double* target = place[index(p.column[index(k)])];
          for (int e = 0; e < b * b; ++e) target[e] += weight * block[e];
        }
      }
    }
  });
}

template <int b>
void CoarseSpace::assemble() {
  const BlockPattern& coarse = coarse_->pattern();
  parallel_chunks(index(prolongation_.columns), coarse_grain, [&](std::size_t begin, std::size_t end) {
    std::vector<double*> place(index(prolongation_.columns), nullptr);  // of a column in the row at hand
    for (std::size_t a = begin; a < end; ++a) {
      for (std::int64_t slot = coarse.row_start()[a]; slot < coarse.row_start()[a + 1]; ++slot) {
        place[index(coarse.column()[index(slot)])] = coarse_->block(slot);
        std::fill_n(coarse_->block(slot), b * b, 0.0);
      }
      for (int c = child_start_[a]; c < child_start_[a + 1]; ++c) {
        const auto i = index(child_[index(c)]);
        if (!coupled_[i]) continue;
        const double weight = child_weight_[index(c)];
        for (std::int64_t k = product_start_[i]; k < product_start_[i + 1]; ++k) {
          const double* block = product_.data() + k * b * b;
          double* target = place[index(product_column_[index(k)])];
          for (int e = 0; e < b * b; ++e) target[e] += weight * block[e];
        }
      }
    }
  });
}

void CoarseSpace::regularise() {
  const int b = coarse_->block_size();
  for (int a = 0; a < coarse_->pattern().rows(); ++a) {
    double* block = coarse_->block(coarse_->pattern().diagonal(a));
    for (std::ptrdiff_t k = 0; k < b; ++k) {
      double& entry = block[k * (b + 1)];
      entry = entry > 0 ? entry * (1 + relative_shift) : 1.0;  // no coupled child: the function is not used
    }
  }
}

bool CoarseSpace::update(const BlockMatrix& matrix) {
  if (pattern_id_ != matrix.pattern().id()) prepare(matrix);
  find_coupled_rows(matrix);
  if (matrix.block_size() == 3) {
    multiply_rows<3>(matrix);
    assemble<3>();
  } else {
    multiply_rows<2>(matrix);
    assemble<2>();
  }
  regularise();
  return factor_.update(*coarse_);
}

void CoarseSpace::add_correction(ConstVector r, Vector z) {
  const auto b = index(coarse_->block_size());
  const Prolongation& p = prolongation_;
  parallel_for(index(p.columns), coarse_grain, [&](std::size_t a) {
    double sum[3] = {};
    for (int c = child_start_[a]; c < child_start_[a + 1]; ++c) {
      const auto i = index(child_[index(c)]);
      if (!coupled_[i]) continue;
      for (std::size_t k = 0; k < b; ++k) sum[k] += child_weight_[index(c)] * r[i * b + k];
    }
    for (std::size_t k = 0; k < b; ++k) right_[a * b + k] = sum[k];
  });
  factor_.apply(right_, solution_);
  parallel_for(coupled_.size(), row_grain, [&](std::size_t i) {
    if (!coupled_[i]) return;
    for (int k = p.start[i]; k < p.start[i + 1]; ++k) {
      const double* from = solution_.data() + index(p.column[index(k)]) * b;
      for (std::size_t c = 0; c < b; ++c) z[i * b + c] += p.weight[index(k)] * from[c];
    }
  });
}

}  // namespace lope::linalg
