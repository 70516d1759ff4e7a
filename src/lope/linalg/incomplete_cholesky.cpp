#include <lope/base/parallel.h>
#include <lope/linalg/block_kernels.h>
#include <lope/linalg/graph_partition.h>
#include <lope/linalg/incomplete_cholesky.h>
#include <lope/linalg/with_block_size.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include <Eigen/Cholesky>

namespace lope::linalg {
namespace {

// Rows of a subdomain, about. Ranges of 4096 rows of one breadth-first order take as many CG iterations and leave cores
// idle (docs/benchmarks/solver_options.md).
constexpr int subdomain_rows = 1024;
constexpr double first_shift = 1e-3;
constexpr double largest_shift = 10;
constexpr std::size_t stride = BlockKernels::stride;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

template <int b>
using Block = Eigen::Matrix<double, b, b, Eigen::RowMajor>;
template <int b>
using FloatBlock = Eigen::Matrix<float, b, b, Eigen::RowMajor>;

template <int b>
Block<b> block_at(const std::vector<float>& values, std::int64_t k) {
  return Eigen::Map<const FloatBlock<b>>(values.data() + k * b * b).template cast<double>();
}
template <int b>
void set_block(std::vector<float>& values, std::int64_t k, const Block<b>& block) {
  Eigen::Map<FloatBlock<b>>{values.data() + k* b* b} = block.template cast<float>();
}

// Appends the rows connected to `root` to `order` by breadth-first search; marks them with `mark`.
void search_from(const BlockPattern& pattern, int root, int mark, std::vector<int>& seen,
                 std::vector<int>& order) {
  std::size_t next = order.size();
  order.push_back(root);
  seen[index(root)] = mark;
  for (; next < order.size(); ++next) {
    const auto row = index(order[next]);
    for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
      const int column = pattern.column()[index(slot)];
      if (seen[index(column)] == mark) continue;
      seen[index(column)] = mark;
      order.push_back(column);
    }
  }
}

// Every connected part from an end of it: the row that a first search reaches last.
std::vector<int> breadth_first_order(const BlockPattern& pattern) {
  std::vector<int> order, first, seen(index(pattern.rows()), 0);
  order.reserve(seen.size());
  for (int row = 0; row < pattern.rows(); ++row) {
    if (seen[index(row)] != 0) continue;
    first.clear();
    search_from(pattern, row, 1, seen, first);
    search_from(pattern, first.back(), 2, seen, order);
  }
  return order;
}

// Sorts the rows of every part, which follow one another in `order`, by how many others they wait for one after another:
// those before them in their part that they are coupled with, and what these wait for.
void sort_by_waiting(const BlockPattern& pattern, std::span<const int> part, std::vector<int>& order) {
  std::vector<int> waiting(order.size(), -1);
  for (const int row : order) {
    int most = -1;
    for (std::int64_t slot = pattern.row_start()[index(row)]; slot < pattern.row_start()[index(row) + 1]; ++slot) {
      const auto column = index(pattern.column()[index(slot)]);
      if (part[column] == part[index(row)]) most = std::max(most, waiting[column]);
    }
    waiting[index(row)] = most + 1;
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(part[index(a)], waiting[index(a)]) < std::pair(part[index(b)], waiting[index(b)]);
  });
}

// body(first row, end row) for every subdomain, in parallel.
template <class Body>
void for_subdomains(const std::vector<int>& first, const Body& body) {
  parallel_for(first.size() - 1, 1, [&](std::size_t k) { body(first[k], first[k + 1]); });
}

}  // namespace

// The rows of a subdomain follow one another.
void IncompleteCholesky::divide(const BlockPattern& pattern) {
  const std::vector<int> part =
      partition_rows(pattern, std::max(1, (pattern.rows() + subdomain_rows / 2) / subdomain_rows));
  order_ = breadth_first_order(pattern);
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return part[index(a)] < part[index(b)]; });
  sort_by_waiting(pattern, part, order_);
  first_.assign(1, 0);
  for (int k = 1; k < pattern.rows(); ++k) {
    if (part[index(order_[index(k)])] != part[index(order_[index(k) - 1])]) first_.push_back(k);
  }
  if (pattern.rows() > 0) first_.push_back(pattern.rows());
}

void IncompleteCholesky::prepare(const BlockMatrix& matrix) {
  const BlockPattern& pattern = matrix.pattern();
  block_size_ = matrix.block_size();
  divide(pattern);
  std::vector<int> place(order_.size());
  for (std::size_t k = 0; k < order_.size(); ++k) place[index(order_[k])] = static_cast<int>(k);
  start_.assign(1, 0);
  column_.clear();
  slot_.clear();
  std::vector<std::pair<int, std::int64_t>> left;
  auto subdomain = first_.begin();
  for (int k = 0; k < pattern.rows(); ++k) {
    const auto row = index(order_[index(k)]);
    if (k == *(subdomain + 1)) ++subdomain;
    const int first = *subdomain;
    left.clear();
    for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
      const int column = place[index(pattern.column()[index(slot)])];
      if (column >= first && column < k) left.emplace_back(column, slot);
    }
    std::sort(left.begin(), left.end());
    for (const auto& [column, slot] : left) {
      column_.push_back(column);
      slot_.push_back(slot);
    }
    start_.push_back(static_cast<std::int64_t>(column_.size()));
  }
  const auto b2 = index(block_size_) * index(block_size_);
  lower_.assign(column_.size() * b2 + BlockKernels::padding, 0);
  inverse_.assign(order_.size() * b2 + BlockKernels::padding, 0);
  work_.assign(stride * order_.size(), 0);
  pattern_id_ = pattern.id();
}

template <int b>
bool IncompleteCholesky::factorize(const BlockMatrix& matrix, double shift) {
  std::atomic<bool> definite{true};
  for_subdomains(first_, [&](int begin, int end) {
    for (int i = begin; i < end && definite; ++i) {
      Block<b> pivot = Eigen::Map<const Block<b>>(matrix.block(matrix.pattern().diagonal(order_[index(i)])));
      pivot.diagonal() *= 1 + shift;
      for (std::int64_t k = start_[index(i)]; k < start_[index(i) + 1]; ++k) {
        const int j = column_[index(k)];
        // L_ij = (A_ij − Σ_{l<j} L_il L_jlᵀ) L_jj⁻ᵀ over the columns l that both rows have.
        Block<b> sum = Eigen::Map<const Block<b>>(matrix.block(slot_[index(k)]));
        for (std::int64_t p = start_[index(i)], q = start_[index(j)]; p < k && q < start_[index(j) + 1];) {
          if (column_[index(p)] < column_[index(q)]) {
            ++p;
          } else if (column_[index(p)] > column_[index(q)]) {
            ++q;
          } else {
            sum -= block_at<b>(lower_, p++) * block_at<b>(lower_, q++).transpose();
          }
        }
        const Block<b> entry = sum * block_at<b>(inverse_, j).transpose();
        set_block<b>(lower_, k, entry);
        pivot -= entry * entry.transpose();
      }
      const Eigen::LLT<Block<b>> cholesky(pivot);
      if (cholesky.info() != Eigen::Success) {
        definite = false;
        return;
      }
      set_block<b>(inverse_, i, cholesky.matrixL().solve(Block<b>::Identity()));
    }
    if (definite) scale<b>(begin, end);
  });
  return definite;
}

// From the Cholesky factors L_ij and L_ii⁻¹ of a subdomain to L_ij L_jj⁻¹ and L_ii⁻ᵀ L_ii⁻¹.
template <int b>
void IncompleteCholesky::scale(int begin, int end) {
  for (std::int64_t k = start_[index(begin)]; k < start_[index(end)]; ++k) {
    set_block<b>(lower_, k, block_at<b>(lower_, k) * block_at<b>(inverse_, column_[index(k)]));
  }
  for (int i = begin; i < end; ++i) {
    const Block<b> root = block_at<b>(inverse_, i);
    set_block<b>(inverse_, i, root.transpose() * root);
  }
}

bool IncompleteCholesky::update(const BlockMatrix& matrix) {
  if (pattern_id_ != matrix.pattern().id() || block_size_ != matrix.block_size()) prepare(matrix);
  for (double shift = 0; shift <= largest_shift; shift = std::max(first_shift, 4 * shift)) {
    if (with_block_size(block_size_, [&]<int b>() { return factorize<b>(matrix, shift); })) return true;
  }
  return false;
}

void IncompleteCholesky::apply(ConstVector r, Vector z) {
  const BlockKernels& kernels = block_kernels(isa_, block_size_);
  const BlockRows<float> lower = {start_.data(), column_.data(), lower_.data()};
  const auto b = index(block_size_);
  for_subdomains(first_, [&](int first, int last) {
    const auto begin = index(first), end = index(last);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t c = 0; c < b; ++c) work_[stride * i + c] = static_cast<float>(r[index(order_[i]) * b + c]);
    }
    kernels.forward(lower, work_.data(), begin, end);
    kernels.backward(lower, inverse_.data(), work_.data(), begin, end);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t c = 0; c < b; ++c) z[index(order_[i]) * b + c] = work_[stride * i + c];
    }
  });
}

}  // namespace lope::linalg
