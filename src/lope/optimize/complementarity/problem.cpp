#include <lope/base/parallel.h>
#include <lope/optimize/complementarity/problem.h>

#include <fmt/core.h>

namespace lope::optimize::complementarity {
namespace {

constexpr std::size_t grain = 8192;
// Of the diagonal: what counts as rounding in the sums of rows and in the symmetry.
constexpr double rounding = 1e-10;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// part[i]: the number of the connected part of A that row i belongs to. Returns how many there are.
int find_parts(const linalg::CsrMatrix& a, std::vector<int>& part) {
  part.assign(index(a.rows), -1);
  int parts = 0;
  std::vector<int> todo;
  for (int root = 0; root < a.rows; ++root) {
    if (part[index(root)] >= 0) continue;
    part[index(root)] = parts;
    todo.assign(1, root);
    while (!todo.empty()) {
      const auto row = index(todo.back());
      todo.pop_back();
      for (std::int64_t k = a.row_start[row]; k < a.row_start[row + 1]; ++k) {
        const int next = a.column[index(k)];
        if (part[index(next)] >= 0 || a.value[index(k)] == 0) continue;
        part[index(next)] = parts;
        todo.push_back(next);
      }
    }
    ++parts;
  }
  return parts;
}

// What a connected part of the system looks like as a whole.
struct Part {
  bool singular = true;
  bool bounded = false;
  std::size_t rows = 0;
  double sum_b = 0;
};

std::vector<Part> describe_parts(const MixedLcp& problem, const std::vector<int>& part, int parts) {
  std::vector<Part> result(index(parts));
  const linalg::CsrMatrix& a = problem.a;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Part& own = result[index(part[i])];
    double sum = 0;
    double size = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      sum += a.value[index(k)];
      size += std::abs(a.value[index(k)]);
    }
    own.singular = own.singular && std::abs(sum) <= rounding * size;
    own.bounded = own.bounded || problem.bounded[i] != 0;
    own.sum_b += problem.b[i];
    ++own.rows;
  }
  return result;
}

}  // namespace

double lcp_residual_of(const MixedLcp& problem, linalg::ConstVector p, linalg::ConstVector w) {
  if (problem.size() == 0) return 0;
  return problem.space().max(problem.size(), grain, [&](std::size_t begin, std::size_t end) {
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double residual = row_residual(problem.bounded[i] != 0, p[i], w[i]);
      if (std::isnan(p[i]) || std::isnan(w[i])) return std::numeric_limits<double>::quiet_NaN();
      largest = std::max(largest, residual);
    }
    return largest;
  });
}

double lcp_residual(const MixedLcp& problem, linalg::ConstVector p, linalg::Vector w) {
  linalg::multiply(problem.a, p, w);
  linalg::combine(1, problem.b, 1, w);
  return lcp_residual_of(problem, p, w);
}

double lcp_residual(const MixedLcp& problem, linalg::ConstVector p) {
  std::vector<double> w(problem.size());
  return lcp_residual(problem, p, w);
}

double lcp_objective(const MixedLcp& problem, linalg::ConstVector p, linalg::ConstVector w) {
  return 0.5 * problem.space().sum(problem.size(), grain, [&](std::size_t begin, std::size_t end) {
           double sum = 0;
           for (std::size_t i = begin; i < end; ++i) sum += p[i] * (w[i] + problem.b[i]);
           return sum;
         });
}

void make_feasible(const MixedLcp& problem, linalg::Vector p) {
  for (std::size_t i = 0; i < p.size(); ++i)
    if (problem.bounded[i] != 0) p[i] = std::max(p[i], 0.0);
}

double lcp_infeasibility(const MixedLcp& problem, linalg::ConstVector p) {
  return std::max(0.0, problem.space().max(problem.size(), grain, [&](std::size_t begin, std::size_t end) {
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (problem.bounded[i] != 0) largest = std::max(largest, -p[i]);
    }
    return largest;
  }));
}

std::vector<std::uint8_t> policy_at(const MixedLcp& problem, linalg::ConstVector p, linalg::ConstVector w) {
  std::vector<std::uint8_t> policy(problem.size());
  parallel_for(problem.size(), grain, [&](std::size_t i) {
    const int row = static_cast<int>(i);
    policy[i] = problem.bounded[i] != 0 && p[i] * problem.a.at(row, row) <= w[i];
  });
  return policy;
}

std::string fault_of(const MixedLcp& problem) {
  const linalg::CsrMatrix& a = problem.a;
  if (a.rows != a.columns)
    return fmt::format("the matrix has {} rows and {} columns: it must be square", a.rows, a.columns);
  if (problem.b.size() != index(a.rows)) {
    return fmt::format("the matrix has {} rows but b has {} numbers", a.rows, problem.b.size());
  }
  if (problem.bounded.size() != index(a.rows)) {
    return fmt::format("the matrix has {} rows but there are {} flags of bounded rows", a.rows,
                       problem.bounded.size());
  }
  if (std::string fault = linalg::structural_fault(a); !fault.empty()) return fault;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    if (!std::isfinite(problem.b[i])) return fmt::format("number {} of b is not finite", i + 1);
    const int row = static_cast<int>(i);
    const double diagonal = a.at(row, row);
    if (!(diagonal > 0))
      return fmt::format("the diagonal entry of row {} is {}: it must be positive", i + 1, diagonal);
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const int column = a.column[index(k)];
      const double other = a.at(column, row);
      if (std::abs(a.value[index(k)] - other) > rounding * std::abs(diagonal)) {
        return fmt::format("the matrix is not symmetric: ({0}, {1}) is {2} but ({1}, {0}) is {3}", i + 1,
                           column + 1, a.value[index(k)], other);
      }
      const double partner = a.at(column, column);
      if (column != row && partner > 0 && other * other > (1 + rounding) * diagonal * partner) {
        return fmt::format(
            "the matrix is not positive semidefinite: ({}, {}) is {}, more than the diagonal entries {} and "
            "{} "
            "allow",
            i + 1, column + 1, other, diagonal, partner);
      }
    }
  }
  return {};
}

Compatibility make_solvable(MixedLcp& problem) {
  std::vector<int> part;
  Compatibility result;
  result.components = find_parts(problem.a, part);
  std::vector<Part> parts = describe_parts(problem, part, result.components);
  std::vector<double> shift(parts.size(), 0.0);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (!parts[k].singular) continue;
    ++result.singular;
    const double mean = parts[k].sum_b / static_cast<double>(parts[k].rows);
    if (mean == 0 || (parts[k].bounded && mean > 0)) continue;
    ++result.projected;
    shift[k] = -mean;
    result.largest_shift = std::max(result.largest_shift, std::abs(mean));
  }
  if (result.projected > 0) {
    for (std::size_t i = 0; i < problem.size(); ++i) problem.b[i] += shift[index(part[i])];
  }
  return result;
}

}  // namespace lope::optimize::complementarity
