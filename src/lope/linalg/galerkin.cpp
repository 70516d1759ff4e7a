#include <lope/base/parallel.h>
#include <lope/linalg/galerkin.h>
#include <lope/linalg/with_block_size.h>

#include <algorithm>
#include <cassert>

namespace lope::linalg {
namespace {

constexpr std::size_t mark_grain = 4096;
constexpr std::size_t product_grain = 512;
constexpr std::size_t coarse_grain = 32;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// body(begin, end, worker) for chunks of `grain` rows.
template <class Body>
void for_chunks(std::size_t rows, std::size_t grain, const Body& body) {
  parallel_tasks((rows + grain - 1) / grain, [&](std::size_t task, std::size_t worker) {
    body(task * grain, std::min(rows, (task + 1) * grain), worker);
  });
}

// out = N A (left) or A N.
template <int b>
void multiply_blocks(const double* left, const double* right, double* out) {
  for (int i = 0; i < b; ++i) {
    for (int j = 0; j < b; ++j) {
      double sum = 0;
      for (int k = 0; k < b; ++k) sum += left[i * b + k] * right[k * b + j];
      out[i * b + j] = sum;
    }
  }
}

// The block N_i A N_j, in `work` if a projector changes it.
template <int b>
const double* projected(const double* block, const RowProjector* row, const RowProjector* column, double* work) {
  if (row == nullptr && column == nullptr) return block;
  double half[b * b];
  if (row != nullptr) {
    multiply_blocks<b>(row->block.data(), block, half);
  } else {
    std::copy_n(block, b * b, half);
  }
  if (column != nullptr) {
    multiply_blocks<b>(half, column->block.data(), work);
  } else {
    std::copy_n(half, b * b, work);
  }
  return work;
}

}  // namespace

void find_coupled_rows(const BlockMatrix& matrix, std::vector<std::uint8_t>& marks) {
  const BlockPattern& pattern = matrix.pattern();
  const auto b2 = index(matrix.block_size() * matrix.block_size());
  const auto any = [](const double* begin, std::size_t count) {
    return std::any_of(begin, begin + count, [](double value) { return value != 0; });
  };
  marks.resize(index(pattern.rows()));
  parallel_for(marks.size(), mark_grain, [&](std::size_t i) {
    marks[i] = 0;
    for (std::int64_t slot = pattern.row_start()[i]; slot < pattern.row_start()[i + 1] && !marks[i]; ++slot) {
      if (slot != pattern.diagonal(static_cast<int>(i))) marks[i] = any(matrix.block(slot), b2);
    }
    for (const Coupling& coupling : matrix.couplings(static_cast<int>(i))) {
      if (marks[i] == 0) marks[i] = any(coupling.block.data(), b2);
    }
  });
}

void GalerkinProduct::set(const Prolongation& prolongation) {
  prolongation_ = &prolongation;
  pattern_id_ = 0;
}

void GalerkinProduct::make_scratch() {
  scratch_.resize(std::max(scratch_.size(), worker_count()));
  for (std::vector<int>& place : scratch_) place.resize(index(prolongation_->columns));
}

void GalerkinProduct::transpose() {
  const Prolongation& p = *prolongation_;
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
}

// Compressed rows, of which collect(row, seen_by, list) appends the columns in any order, each once: a column is new to the
// row where seen_by[column] is not the row. Chunk by chunk, in parallel.
template <class Collect>
void GalerkinProduct::compress(std::size_t rows, std::size_t grain, std::vector<std::int64_t>& start,
                               std::vector<int>& column, const Collect& collect) {
  const std::size_t chunks = (rows + grain - 1) / grain;
  std::vector<std::vector<int>> columns(chunks);
  start.assign(rows + 1, 0);
  for (std::vector<int>& seen_by : scratch_) std::fill(seen_by.begin(), seen_by.end(), -1);
  for_chunks(rows, grain, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    std::vector<int>& list = columns[begin / grain];
    for (std::size_t row = begin; row < end; ++row) {
      const auto first = static_cast<std::ptrdiff_t>(list.size());
      collect(row, scratch_[worker], list);
      std::sort(list.begin() + first, list.end());
      start[row + 1] = static_cast<std::int64_t>(list.size()) - first;
    }
  });
  for (std::size_t row = 0; row < rows; ++row) start[row + 1] += start[row];
  column.resize(index(start[rows]));
  parallel_for(chunks, 1, [&](std::size_t c) {
    std::copy(columns[c].begin(), columns[c].end(), column.begin() + start[c * grain]);
  });
}

void GalerkinProduct::prepare(const BlockMatrix& fine) {
  assert(prolongation_->rows() == fine.pattern().rows());
  const Prolongation& p = *prolongation_;
  const BlockPattern& pattern = fine.pattern();
  block_size_ = fine.block_size();
  transpose();
  // Of rows that have entries in P; the others are not needed.
  compress(index(pattern.rows()), product_grain, product_start_, product_column_,
           [&](std::size_t i, std::vector<int>& seen_by, std::vector<int>& list) {
             if (p.start[i] == p.start[i + 1]) return;
             for (std::int64_t slot = pattern.row_start()[i]; slot < pattern.row_start()[i + 1]; ++slot) {
               const auto j = index(pattern.column()[index(slot)]);
               for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
                 const int column = p.column[index(k)];
                 if (seen_by[index(column)] == static_cast<int>(i)) continue;
                 seen_by[index(column)] = static_cast<int>(i);
                 list.push_back(column);
               }
             }
           });
  product_.resize(product_column_.size() * index(block_size_) * index(block_size_));
  std::vector<std::int64_t> start;
  std::vector<int> columns;
  compress(index(p.columns), coarse_grain, start, columns,
           [&](std::size_t a, std::vector<int>& seen_by, std::vector<int>& list) {
             list.push_back(static_cast<int>(a));
             seen_by[a] = static_cast<int>(a);
             for (int c = child_start_[a]; c < child_start_[a + 1]; ++c) {
               const auto i = index(child_[index(c)]);
               for (std::int64_t k = product_start_[i]; k < product_start_[i + 1]; ++k) {
                 const int column = product_column_[index(k)];
                 if (seen_by[index(column)] == static_cast<int>(a)) continue;
                 seen_by[index(column)] = static_cast<int>(a);
                 list.push_back(column);
               }
             }
           });
  coarse_.emplace(BlockPattern::from_compressed(std::move(start), std::move(columns)), block_size_);
  pattern_id_ = pattern.id();
}

template <int b>
void GalerkinProduct::multiply_rows(const BlockMatrix& fine, std::span<const std::uint8_t> active,
                                    std::span<const RowProjector> projectors) {
  const Prolongation& p = *prolongation_;
  const BlockPattern& pattern = fine.pattern();
  const auto projector = [&](std::size_t i) {
    return projectors.empty() || projector_of_[i] < 0 ? nullptr : &projectors[index(projector_of_[i])];
  };
  for_chunks(index(pattern.rows()), product_grain, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    std::vector<int>& place = scratch_[worker];  // of a column in the row at hand
    double work[b * b];
    for (std::size_t i = begin; i < end; ++i) {
      if (product_start_[i] == product_start_[i + 1] || (!active.empty() && !active[i])) continue;
      double* row = product_.data() + product_start_[i] * b * b;
      const std::int64_t count = product_start_[i + 1] - product_start_[i];
      for (std::int64_t k = 0; k < count; ++k) {
        place[index(product_column_[index(product_start_[i] + k)])] = static_cast<int>(k);
      }
      std::fill(row, row + count * b * b, 0.0);
      for (std::int64_t slot = pattern.row_start()[i]; slot < pattern.row_start()[i + 1]; ++slot) {
        const auto j = index(pattern.column()[index(slot)]);
        if (!active.empty() && !active[j]) continue;
        const double* block = projected<b>(fine.block(slot), projector(i), projector(j), work);
        for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
          const double weight = p.weight[index(k)];
          double* target = row + static_cast<std::ptrdiff_t>(place[index(p.column[index(k)])]) * b * b;
          for (int e = 0; e < b * b; ++e) target[e] += weight * block[e];
        }
      }
    }
  });
}

template <int b>
void GalerkinProduct::assemble(std::span<const std::uint8_t> active) {
  const BlockPattern& pattern = coarse_->pattern();
  for_chunks(index(pattern.rows()), coarse_grain, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    std::vector<int>& place = scratch_[worker];  // of a column in the row at hand
    for (std::size_t a = begin; a < end; ++a) {
      const std::int64_t first = pattern.row_start()[a];
      for (std::int64_t slot = first; slot < pattern.row_start()[a + 1]; ++slot) {
        place[index(pattern.column()[index(slot)])] = static_cast<int>(slot - first);
        std::fill_n(coarse_->block(slot), b * b, 0.0);
      }
      double* row = coarse_->block(first);
      for (int c = child_start_[a]; c < child_start_[a + 1]; ++c) {
        const auto i = index(child_[index(c)]);
        if (!active.empty() && !active[i]) continue;
        const double weight = child_weight_[index(c)];
        for (std::int64_t k = product_start_[i]; k < product_start_[i + 1]; ++k) {
          const double* block = product_.data() + k * b * b;
          double* target = row + static_cast<std::ptrdiff_t>(place[index(product_column_[index(k)])]) * b * b;
          for (int e = 0; e < b * b; ++e) target[e] += weight * block[e];
        }
      }
    }
  });
}

// Few, one after another. Each stands for itself and its transpose.
template <int b>
void GalerkinProduct::take_couplings(const BlockMatrix& fine, std::span<const std::uint8_t> active,
                                     std::span<const RowProjector> projectors) {
  const Prolongation& p = *prolongation_;
  const BlockPattern& pattern = coarse_->pattern();
  const auto projector = [&](std::size_t i) {
    return projectors.empty() || projector_of_[i] < 0 ? nullptr : &projectors[index(projector_of_[i])];
  };
  const auto add = [](double* target, const std::array<double, 9>& block, bool transposed) {
    for (int i = 0; i < b; ++i) {
      for (int j = 0; j < b; ++j) target[i * b + j] += block[index(transposed ? j * b + i : i * b + j)];
    }
  };
  couplings_.clear();
  for (const Coupling& c : fine.couplings()) {
    const auto i = index(c.row), j = index(c.column);
    if (c.row > c.column || (!active.empty() && (!active[i] || !active[j]))) continue;
    double work[b * b];
    const double* block = projected<b>(c.block.data(), projector(i), projector(j), work);
    for (int k = p.start[i]; k < p.start[i + 1]; ++k) {
      for (int l = p.start[j]; l < p.start[j + 1]; ++l) {
        Coupling next{p.column[index(k)], p.column[index(l)], {}};
        for (std::size_t e = 0; e < b * b; ++e) {
          next.block[e] = p.weight[index(k)] * p.weight[index(l)] * block[e];
        }
        const std::int64_t slot = pattern.slot(next.row, next.column);
        if (slot < 0) {
          if (next.row > next.column) {
            std::array<double, 9> turned = {};
            add(turned.data(), next.block, true);
            next = {next.column, next.row, turned};
          }
          couplings_.push_back(next);
        } else {
          add(coarse_->block(slot), next.block, false);
          add(coarse_->block(pattern.slot(next.column, next.row)), next.block, true);
        }
      }
    }
  }
  std::stable_sort(couplings_.begin(), couplings_.end(), [](const Coupling& s, const Coupling& t) {
    return std::pair(s.row, s.column) < std::pair(t.row, t.column);
  });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < couplings_.size(); ++k) {
    if (kept > 0 && couplings_[kept - 1].row == couplings_[k].row &&
        couplings_[kept - 1].column == couplings_[k].column) {
      for (std::size_t e = 0; e < b * b; ++e) couplings_[kept - 1].block[e] += couplings_[k].block[e];
    } else {
      couplings_[kept++] = couplings_[k];
    }
  }
  couplings_.resize(kept);
  coarse_->set_couplings(couplings_);
}

BlockMatrix& GalerkinProduct::compute(const BlockMatrix& fine, std::span<const std::uint8_t> active,
                                      std::span<const RowProjector> projectors, Couplings couplings) {
  make_scratch();
  if (pattern_id_ != fine.pattern().id() || block_size_ != fine.block_size()) prepare(fine);
  projector_of_.clear();
  if (!projectors.empty()) {
    projector_of_.assign(index(fine.pattern().rows()), -1);
    for (std::size_t k = 0; k < projectors.size(); ++k) {
      projector_of_[index(projectors[k].row)] = static_cast<int>(k);
    }
  }
  with_block_size(block_size_, [&]<int b>() {
    multiply_rows<b>(fine, active, projectors);
    assemble<b>(active);
    coarse_->clear_couplings();
    if (couplings == Couplings::Taken && !fine.couplings().empty())
      take_couplings<b>(fine, active, projectors);
  });
  return *coarse_;
}

}  // namespace lope::linalg
