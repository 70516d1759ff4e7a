#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/linalg/aggregation.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace lope::linalg {
namespace {

constexpr std::size_t grain = 4096;
constexpr int none = -1;
constexpr int power_steps = 8;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// A_F: strong couplings and the diagonal, which takes the weak ones.
CsrMatrix filtered(const CsrMatrix& a, const std::vector<double>& diagonal, double strength) {
  CsrMatrix f{a.rows, a.columns, std::vector<std::int64_t>(index(a.rows) + 1, 0), {}, {}};
  const auto keeps = [&](std::size_t i, std::int64_t k) {
    const auto j = index(a.column[index(k)]);
    const double value = a.value[index(k)];
    return i == j || value * value > strength * strength * diagonal[i] * diagonal[j];
  };
  parallel_for(index(a.rows), grain, [&](std::size_t i) {
    std::int64_t count = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) count += keeps(i, k);
    f.row_start[i + 1] = count;
  });
  for (std::size_t i = 0; i < index(a.rows); ++i) f.row_start[i + 1] += f.row_start[i];
  f.column.resize(index(f.row_start.back()));
  f.value.resize(f.column.size());
  parallel_for(index(a.rows), grain, [&](std::size_t i) {
    std::int64_t next = f.row_start[i];
    std::int64_t own = -1;
    double weak = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      if (!keeps(i, k)) {
        weak += a.value[index(k)];
        continue;
      }
      if (index(a.column[index(k)]) == i) own = next;
      f.column[index(next)] = a.column[index(k)];
      f.value[index(next++)] = a.value[index(k)];
    }
    // A diagonal that the weak couplings would make tiny or negative is left as it is.
    double& target = f.value[index(own)];
    if (target + weak > 0.1 * target) target += weak;
  });
  return f;
}

// Three passes: whole neighbourhoods that are still free, then rows next to an aggregate, then what is left.
std::vector<int> aggregate(const CsrMatrix& strong, int& count) {
  const int rows = strong.rows;
  std::vector<int> owner(index(rows), none);
  const auto neighbours = [&](int row) {
    const auto begin = strong.column.data() + strong.row_start[index(row)];
    return std::span<const int>(begin, strong.column.data() + strong.row_start[index(row) + 1]);
  };
  count = 0;
  for (int row = 0; row < rows; ++row) {
    const auto near = neighbours(row);
    if (near.size() < 2) continue;
    if (!std::all_of(near.begin(), near.end(), [&](int j) { return owner[index(j)] == none; })) continue;
    for (const int j : near) owner[index(j)] = count;
    ++count;
  }
  const std::vector<int> first = owner;
  for (int row = 0; row < rows; ++row) {
    if (first[index(row)] != none) continue;
    double strongest = 0;
    for (std::int64_t k = strong.row_start[index(row)]; k < strong.row_start[index(row) + 1]; ++k) {
      const int candidate = first[index(strong.column[index(k)])];
      if (candidate == none || std::abs(strong.value[index(k)]) <= strongest) continue;
      strongest = std::abs(strong.value[index(k)]);
      owner[index(row)] = candidate;
    }
  }
  for (int row = 0; row < rows; ++row) {
    const auto near = neighbours(row);
    if (owner[index(row)] != none || near.size() < 2) continue;
    for (const int j : near) {
      if (owner[index(j)] == none) owner[index(j)] = count;
    }
    ++count;
  }
  return owner;
}

// Largest eigenvalue of D⁻¹ A by the power method from a rough vector, raised a little because it comes from
// below.
double largest_eigenvalue(const CsrMatrix& a, const std::vector<double>& diagonal) {
  std::vector<double> x(index(a.rows));
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = random_unit(7, i) - 0.5;
  double estimate = 1;
  for (int step = 0; step < power_steps; ++step) {
    const double size = local_space().norm(x);
    if (!(size > 0)) break;
    combine(0, x, 1 / size, x);
    multiply(a, x, y);
    parallel_for(x.size(), grain, [&](std::size_t i) { y[i] /= diagonal[i]; });
    estimate = local_space().norm(y);
    x.swap(y);
  }
  return 1.1 * estimate;
}

}  // namespace

CsrMatrix smoothed_aggregation(const CsrMatrix& a, const AggregationOptions& options) {
  const std::vector<double> diagonal_of_a = diagonal(a);
  assert(std::all_of(diagonal_of_a.begin(), diagonal_of_a.end(), [](double d) { return d > 0; }));
  CsrMatrix smoother = filtered(a, diagonal_of_a, options.strength);
  int count = 0;
  const std::vector<int> owner = aggregate(smoother, count);

  CsrMatrix tentative{a.rows, count, std::vector<std::int64_t>(index(a.rows) + 1, 0), {}, {}};
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] != none) tentative.column.push_back(owner[i]);
    tentative.row_start[i + 1] = tentative.entries();
  }
  tentative.value.assign(tentative.column.size(), 1.0);

  // The filtered matrix becomes I − ω D⁻¹ A_F in place.
  const std::vector<double> inner_diagonal = diagonal(smoother);
  const double omega = 4 / (3 * largest_eigenvalue(smoother, inner_diagonal));
  parallel_for(index(a.rows), grain, [&](std::size_t i) {
    for (std::int64_t k = smoother.row_start[i]; k < smoother.row_start[i + 1]; ++k) {
      const double own = index(smoother.column[index(k)]) == i ? 1 : 0;
      smoother.value[index(k)] = own - omega * smoother.value[index(k)] / inner_diagonal[i];
    }
  });
  return multiply(smoother, tentative);
}

}  // namespace lope::linalg
