#include <lope/base/parallel.h>
#include <lope/linalg/masked_inverse.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 8192;
constexpr std::size_t range_rows = 32768;
constexpr double first_shift = 1e-3;
constexpr double largest_shift = 10;
// Parts of the diagonal entry. The matrix of enclosed liquid is singular, so that its last pivot is a
// rounding error (of single precision) of either sign: such a pivot is raised to the smallest one that is
// worth dividing by.
constexpr double rounding = 1e-4;
constexpr double smallest_pivot = 1e-3;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

bool MaskedJacobi::set_matrix(const CsrMatrix& a) {
  diagonal_ = diagonal(a);
  return set_fixed({});
}

bool MaskedJacobi::set_fixed(RowFlags fixed) {
  inverse_.resize(diagonal_.size());
  for (std::size_t i = 0; i < diagonal_.size(); ++i) {
    const bool free = fixed.empty() || fixed[i] == 0;
    if (free && !(diagonal_[i] > 0)) return false;
    inverse_[i] = free ? 1 / diagonal_[i] : 0;
  }
  return true;
}

void MaskedJacobi::apply(ConstVector r, Vector z) {
  parallel_for(r.size(), grain, [&](std::size_t i) { z[i] = inverse_[i] * r[i]; });
}

bool MaskedIncompleteCholesky::set_matrix(const CsrMatrix& a) {
  a_ = &a;
  const std::size_t rows = index(a.rows);
  start_.assign(rows + 1, 0);
  diagonal_.assign(rows, -1);
  const auto for_left = [&](std::size_t i, const auto& visit) {
    const int first = static_cast<int>(i / range_rows * range_rows);
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const int column = a.column[index(k)];
      if (index(column) >= i) {
        if (index(column) == i) diagonal_[i] = k;
        break;
      }
      if (column >= first) visit(column, k);
    }
  };
  parallel_for(rows, grain, [&](std::size_t i) {
    std::int64_t count = 0;
    for_left(i, [&](int, std::int64_t) { ++count; });
    start_[i + 1] = count;
  });
  for (std::size_t i = 0; i < rows; ++i) start_[i + 1] += start_[i];
  column_.resize(index(start_.back()));
  slot_.resize(column_.size());
  lower_.resize(column_.size());
  inverse_.resize(rows);
  parallel_for(rows, grain, [&](std::size_t i) {
    std::int64_t next = start_[i];
    for_left(i, [&](int column, std::int64_t slot) {
      column_[index(next)] = column;
      slot_[index(next++)] = slot;
    });
  });
  return set_fixed({});
}

bool MaskedIncompleteCholesky::set_fixed(RowFlags fixed) {
  for (double shift = 0; shift <= largest_shift; shift = std::max(first_shift, 4 * shift)) {
    if (factorize(fixed, shift)) return true;
  }
  return false;
}

bool MaskedIncompleteCholesky::factorize(RowFlags fixed, double shift) {
  std::atomic<bool> definite{true};
  parallel_chunks(inverse_.size(), range_rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && definite; ++i) {
      const std::int64_t first = start_[i];
      const std::int64_t last = start_[i + 1];
      if (!fixed.empty() && fixed[i] != 0) {
        inverse_[i] = 0;
        std::fill(lower_.begin() + first, lower_.begin() + last, 0.0f);
        continue;
      }
      if (diagonal_[i] < 0) {
        definite = false;
        return;
      }
      const double own = a_->value[index(diagonal_[i])] * (1 + shift);
      double pivot = own;
      for (std::int64_t k = first; k < last; ++k) {
        const auto j = index(column_[index(k)]);
        // l_ij d_j = a_ij − Σ_{l<j} l_il d_l l_jl over the columns that both rows have. Entries to the left
        // of k hold l_il d_l until the row is finished.
        double sum = inverse_[j] == 0 ? 0 : a_->value[index(slot_[index(k)])];
        for (std::int64_t s = first, t = start_[j]; s < k && t < start_[j + 1];) {
          const int left = column_[index(s)];
          const int right = column_[index(t)];
          if (left == right) sum -= double(lower_[index(s)]) * double(lower_[index(t)]);
          s += left <= right;
          t += right <= left;
        }
        lower_[index(k)] = static_cast<float>(sum);
      }
      for (std::int64_t k = first; k < last; ++k) {
        const double product = lower_[index(k)];
        const double entry = product * inverse_[index(column_[index(k)])];
        pivot -= product * entry;
        lower_[index(k)] = static_cast<float>(entry);
      }
      if (!(pivot > -rounding * own)) {
        definite = false;
        return;
      }
      inverse_[i] = static_cast<float>(1 / std::max(pivot, smallest_pivot * own));
    }
  });
  return definite;
}

void MaskedIncompleteCholesky::apply(ConstVector r, Vector z) {
  parallel_chunks(inverse_.size(), range_rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double sum = inverse_[i] == 0 ? 0 : r[i];
      for (std::int64_t k = start_[i]; k < start_[i + 1]; ++k) {
        sum -= double(lower_[index(k)]) * z[index(column_[index(k)])];
      }
      z[i] = sum;
    }
    for (std::size_t i = end; i-- > begin;) z[i] *= inverse_[i];
    for (std::size_t i = end; i-- > begin;) {
      const double own = z[i];
      for (std::int64_t k = start_[i]; k < start_[i + 1]; ++k) {
        z[index(column_[index(k)])] -= double(lower_[index(k)]) * own;
      }
    }
  });
}

}  // namespace lope::linalg
