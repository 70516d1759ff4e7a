#include <lope/base/log.h>
#include <lope/base/memory.h>
#include <lope/base/parallel.h>
#include <lope/base/subnormals.h>
#include <lope/linalg/dense_kernels.h>
#include <lope/linalg/sparse_cholesky.h>
#include <lope/linalg/sparse_cholesky_plan.h>
#include <lope/linalg/uncleared_memory.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <vector>

namespace lope::linalg {
namespace {

// Columns of a panel that are factorised together; a multiple of every sliver.
constexpr int column_block = 96;
// Slivers in a side of the tiles that parallel loops inside a front work on.
constexpr int tile_slivers = 8;
// Numbers that are worth a task of their own in memory-bound loops.
constexpr Offset memory_grain = 32768;
// Rows that are worth one when a vector is reordered.
constexpr std::size_t row_grain = 4096;

}  // namespace

template <class T>
struct SparseCholesky<T>::Implementation {
  explicit Implementation(Isa isa) : kernels(dense_kernels<T>(isa)), layout(kernels) {}

  // What a task needs for itself.
  struct Workspace {
    UnclearedMemory<T> stack;
    UnclearedMemory<T> below;    // the part of a solution that multiplies L21ᵀ
    UnclearedMemory<T> scratch;  // of the backward kernels
    std::vector<Offset>
        offset;  // of every row of a front in its panel: entry (i, j) is at offset[i] + j·stride[i]
    std::vector<Offset> stride;
    std::vector<Segment> segments;
  };

  // ---- symbolic ----

  void prepare(const BlockMatrix& matrix) {
    pattern_id = 0;
    block_size = matrix.block_size();
    const BlockPattern& pattern = instead ? *instead : matrix.pattern();
    symbolic = analyze(pattern, block_size, order);
    if (instead) {
      for (SymbolicCholesky::Entry& entry : symbolic.entry) {
        entry.slot = slots[static_cast<std::size_t>(entry.slot)];
      }
    }
    unknowns = Offset(pattern.rows()) * block_size;
    plan = plan_fronts(symbolic, block_size, layout);
    // Systems that promise more memory than they have end a program that takes it: ask before.
    if (const double free = available_memory(); free > 0 && bytes() > free) throw std::bad_alloc();
    factor.resize(plan.factor_size);
    inverse.resize(unknowns);
    vectors.resize(plan.vectors_size);
    solution.resize(unknowns);
    kept_updates.resize(plan.kept_size);
    pattern_id = matrix.pattern().id();
  }

  // Of the factor and the work space, but for what grows with the right-hand sides.
  double bytes() const {
    const Offset stacks = plan.stack_size * static_cast<Offset>(worker_count());
    const Offset numbers = plan.factor_size + plan.vectors_size + 2 * unknowns + plan.kept_size + stacks;
    return static_cast<double>(numbers) * sizeof(T);
  }

  void prepare_workspaces() {
    if (workspaces.size() < worker_count()) workspaces.resize(worker_count());
    for (Workspace& workspace : workspaces) {
      workspace.offset.resize(plan.largest_n);
      workspace.stride.resize(plan.largest_n);
      workspace.segments.reserve(plan.largest_n);
      workspace.below.resize(layout.padded(plan.largest_n));
      workspace.scratch.resize(Offset(plan.largest_w) * backward_chains<T>);
      workspace.stack.resize(plan.stack_size);
    }
  }

  // ---- numeric ----

  Panel<T> panel(int s) {
    const Front& front = plan.fronts[s];
    T* data = factor.data() + front.panel;
    return {data, data + layout.diagonal_size(front.w),
            inverse.data() + Offset(symbolic.first_column[s]) * block_size, front.w, front.m};
  }
  T* update_matrix(int s, Workspace& workspace) {
    return (plan.fronts[s].kept ? kept_updates.data() : workspace.stack.data()) + plan.fronts[s].update;
  }

  // body(begin, end) over [0, count), in parallel chunks for the fronts above the cut.
  template <class Body>
  static void loop(bool parallel, int count, int grain, const Body& body) {
    if (count <= 0) return;
    if (!parallel || count <= grain) return body(0, count);
    parallel_chunks(
        static_cast<std::size_t>(count), static_cast<std::size_t>(grain),
        [&](std::size_t begin, std::size_t end) {
          const WithoutSubnormals in_this_thread;
          body(static_cast<int>(begin), static_cast<int>(end));
        });
  }

  // Where the rows of front s are in its panel.
  void find_rows(int s, Workspace& workspace) {
    const Front& front = plan.fronts[s];
    const auto fill = [&](int rows, Offset* offset, Offset* stride, const auto& start) {
      for (int i = 0, row = 0; row < rows; ++i) {
        const Offset height = layout.height(rows, i), first = start(i);
        for (Offset k = 0; k < layout.sliver && row < rows; ++k, ++row) {
          offset[row] = first + k;
          stride[row] = height;
        }
      }
    };
    fill(front.w, workspace.offset.data(), workspace.stride.data(),
         [&](int i) { return layout.diagonal_offset(i); });
    fill(front.m, workspace.offset.data() + front.w, workspace.stride.data() + front.w,
         [&](int i) { return layout.diagonal_size(front.w) + layout.below_offset(front.w, i); });
  }

  void add_matrix(const BlockMatrix& matrix, int s, Workspace& workspace) {
    const int b = block_size;
    T* target = factor.data() + plan.fronts[s].panel;
    for (const SymbolicCholesky::Entry& entry : symbolic.entries(s)) {
      const double* block = matrix.block(entry.slot);
      for (int i = 0; i < b; ++i) {
        const int row = entry.row * b + i;
        T* to = target + workspace.offset[row] + entry.column * b * workspace.stride[row];
        const int columns = entry.row == entry.column ? i + 1 : b;
        for (int j = 0; j < columns; ++j) to[j * workspace.stride[row]] = static_cast<T>(block[j * b + i]);
      }
    }
  }

  // Child columns [begin, end) counted from the first row of `runs`: body(first, last, parent column of the
  // first).
  template <class Body>
  void for_columns(std::span<const SymbolicCholesky::Run> runs, int begin, int end, const Body& body) const {
    for (const SymbolicCholesky::Run& run : runs) {
      const int child = run.child * block_size;
      const int first = std::max(child, begin), last = std::min(child + run.length * block_size, end);
      if (first < last) body(first, last, run.parent * block_size + (first - child));
    }
  }

  void add_child_to_panel(int s, int child, Workspace& workspace, bool parallel) {
    const auto runs = symbolic.runs(child);
    const auto in_columns = runs.first(symbolic.run_below[child] - symbolic.run_start[child]);
    if (in_columns.empty()) return;
    // Cut the runs where the slivers of the panel end.
    auto& segments = workspace.segments;
    segments.clear();
    for (const SymbolicCholesky::Run& run : runs) {
      const int rows = run.length * block_size, child_row = run.child * block_size;
      const int parent_row = run.parent * block_size;
      for (int k = 0; k < rows;) {
        const int row = parent_row + k, in_part = row < plan.fronts[s].w ? row : row - plan.fronts[s].w;
        const auto left = static_cast<int>(layout.sliver - in_part % layout.sliver);
        const int length = std::min(rows - k, left);
        segments.push_back({child_row + k, length, workspace.offset[row], workspace.stride[row]});
        k += length;
      }
    }
    const int columns = in_columns.back().child * block_size + in_columns.back().length * block_size;
    loop(parallel, columns, 24, [&](int begin, int end) {
      for_columns(in_columns, begin, end, [&](int first, int last, int parent) {
        kernels.add_to_panel({update_matrix(child, workspace), plan.fronts[child].m, first, last, parent},
                             segments.data(), static_cast<int>(segments.size()),
                             factor.data() + plan.fronts[s].panel);
      });
    });
  }
  void add_child_to_update(int s, int child, Workspace& workspace, bool parallel) {
    const auto below = symbolic.runs(child).subspan(symbolic.run_below[child] - symbolic.run_start[child]);
    if (below.empty()) return;
    const int w = plan.fronts[s].w, m = plan.fronts[child].m;
    auto& segments = workspace.segments;
    segments.clear();
    for (const SymbolicCholesky::Run& run : below) {
      segments.push_back({run.child * block_size, run.length * block_size, run.parent * block_size - w, 0});
    }
    const int start = below.front().child * block_size;
    loop(parallel, m - start, 24, [&](int begin, int end) {
      for_columns(below, start + begin, start + end, [&](int first, int last, int parent) {
        kernels.add_to_update({update_matrix(child, workspace), m, first, last, parent - w}, segments.data(),
                              static_cast<int>(segments.size()), update_matrix(s, workspace), plan.fronts[s].m);
      });
    });
  }

  // The column of the panel whose pivot is not positive, or −1.
  int factor_panel(const Panel<T>& panel, bool parallel) {
    const auto sliver = static_cast<int>(layout.sliver);
    const int rows = layout.slivers(panel.w) + layout.slivers(panel.m);
    for (int c0 = 0; c0 < panel.w; c0 += column_block) {
      const int c1 = std::min(c0 + column_block, panel.w);
      if (c0 > 0) {
        const int first = c0 / sliver;
        loop(parallel, rows - first, tile_slivers,
             [&](int begin, int end) { kernels.update(panel, c0, c1, first + begin, first + end); });
      }
      const int failed = kernels.diagonal(panel, c0, c1);
      if (failed >= 0) return failed;
      const int below = layout.slivers(c1);
      loop(parallel, rows - below, tile_slivers,
           [&](int begin, int end) { kernels.solve(panel, c0, c1, below + begin, below + end); });
    }
    return -1;
  }

  void form_update(const Panel<T>& panel, T* u, bool parallel) {
    const int slivers = layout.slivers(panel.m);
    const int tiles = (slivers + tile_slivers - 1) / tile_slivers;
    // Tiles of the lower triangle, numbered by columns.
    loop(parallel, tiles * (tiles + 1) / 2, 1, [&](int begin, int end) {
      int tile = 0;
      for (int j = 0; j < tiles && tile < end; tile += tiles - j, ++j) {
        for (int i = std::max(j, j + begin - tile); i < tiles && tile + i - j < end; ++i) {
          kernels.outer_product(panel, u, i * tile_slivers, std::min((i + 1) * tile_slivers, slivers),
                                j * tile_slivers, std::min((j + 1) * tile_slivers, slivers));
        }
      }
    });
  }

  // The number of the first column whose pivot is not positive, or −1.
  int factor_front(const BlockMatrix& matrix, int s, Workspace& workspace, bool parallel) {
    const Panel<T> part = panel(s);
    const auto size = layout.diagonal_size(part.w) + layout.below_size(part.w, part.m);
    loop(parallel, static_cast<int>((size + memory_grain - 1) / memory_grain), 1, [&](int begin, int end) {
      std::fill(part.diagonal + begin * memory_grain, part.diagonal + std::min(end * memory_grain, size),
                T(0));
    });
    find_rows(s, workspace);
    add_matrix(matrix, s, workspace);
    for (const int child : symbolic.children(s)) add_child_to_panel(s, child, workspace, parallel);
    const int failed = factor_panel(part, parallel);
    if (failed >= 0) return symbolic.first_column[s] * block_size + failed;
    if (part.m == 0) return -1;
    form_update(part, update_matrix(s, workspace), parallel);
    for (const int child : symbolic.children(s)) add_child_to_update(s, child, workspace, parallel);
    return -1;
  }

  // The row of the matrix whose pivot is not positive, or −1.
  std::int64_t factorize(const BlockMatrix& matrix) {
    // Every subtree is tried, even after another one has failed, so that the answer does not depend on the
    // threads.
    failures.assign(plan.subtrees.size(), -1);
    const WithoutSubnormals here;
    parallel_tasks(plan.subtrees.size(), [&](std::size_t task, std::size_t worker) {
      const WithoutSubnormals in_this_thread;
      int& failed = failures[task];
      for (int s = plan.subtrees[task].first; s <= plan.subtrees[task].last && failed < 0; ++s) {
        failed = factor_front(matrix, s, workspaces[worker], false);
      }
    });
    int failed = -1;
    for (const int column : failures) {
      if (column >= 0 && (failed < 0 || column < failed)) failed = column;
    }
    for (std::size_t k = 0; k < plan.top.size() && failed < 0; ++k) {
      failed = factor_front(matrix, plan.top[k], workspaces[0], true);
    }
    if (failed < 0) return -1;
    return std::int64_t(symbolic.order[failed / block_size]) * block_size + failed % block_size;
  }

  // ---- solves ----

  // Right-hand side c of those that are solved together begins at c · unknowns in `solution`, at
  // c · plan.vectors_size in `vectors`.
  T* columns_of(int s, int c) {
    return solution.data() + c * unknowns + Offset(symbolic.first_column[s]) * block_size;
  }

  // Every panel is used for all right-hand sides while it is in the cache.
  void forward(int s, bool parallel) {
    for (int c = 0; c < sides; ++c) forward(s, c, parallel);
  }
  void backward(int s, Workspace& workspace, bool parallel) {
    for (int c = 0; c < sides; ++c) backward(s, c, workspace, parallel);
  }

  void forward(int s, int c, bool parallel) {
    const Panel<T> part = panel(s);
    T* x = columns_of(s, c);
    T* y = vectors.data() + c * plan.vectors_size + plan.fronts[s].vector;
    std::fill(y, y + layout.padded(part.m), T(0));
    for (const int child : symbolic.children(s)) {
      const T* from = vectors.data() + c * plan.vectors_size + plan.fronts[child].vector;
      for (const SymbolicCholesky::Run& run : symbolic.runs(child)) {
        const int at = run.parent * block_size;
        T* to = at < part.w ? x + at : y + (at - part.w);
        for (int k = 0; k < run.length * block_size; ++k) to[k] += from[run.child * block_size + k];
      }
    }
    kernels.forward_diagonal(part, x);
    const auto grain = static_cast<int>(std::max<Offset>(1, memory_grain / (layout.sliver * part.w)));
    loop(parallel, layout.slivers(part.m), grain,
         [&](int begin, int end) { kernels.forward_below(part, x, y, begin, end); });
  }

  void backward(int s, int c, Workspace& workspace, bool parallel) {
    const Panel<T> part = panel(s);
    T* x = columns_of(s, c);
    T* y = workspace.below.data();
    const auto rows = symbolic.rows(s);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const T* from = solution.data() + c * unknowns + Offset(rows[i]) * block_size;
      std::copy(from, from + block_size, y + static_cast<Offset>(i) * block_size);
    }
    std::fill(y + part.m, y + layout.padded(part.m), T(0));
    const auto grain = static_cast<int>(std::max<Offset>(layout.sliver, memory_grain / (part.m + 1)));
    T* scratch = workspace.scratch.data();
    if (part.m > 0) {
      loop(parallel, part.w, grain, [&](int begin, int end) {
        kernels.backward_below(part, y, x, begin, end, scratch + Offset(begin) * backward_chains<T>);
      });
    }
    kernels.backward_diagonal(part, x, scratch);
  }

  // r and z hold `count` right-hand sides: entry i of side c is number (i · count + c).
  void solve(ConstVector r, Vector z, int count) {
    sides = count;
    vectors.resize(sides * plan.vectors_size);
    solution.resize(sides * unknowns);
    prepare_workspaces();
    const int b = block_size;
    parallel_for(symbolic.order.size(), row_grain, [&](std::size_t k) {
      for (int i = 0; i < b; ++i) {
        const double* from = r.data() + (Offset(symbolic.order[k]) * b + i) * sides;
        for (int c = 0; c < sides; ++c) solution.data()[c * unknowns + Offset(k) * b + i] = static_cast<T>(from[c]);
      }
    });
    substitute();
    copy_solution(z);
  }

  // Forward and backward, in `solution`.
  void substitute() {
    const WithoutSubnormals here;
    // A subtree that is a whole tree is solved to the end while its panels are in the cache.
    const auto whole = [&](const Subtree& subtree) { return symbolic.parent[subtree.last] < 0; };
    const auto return_through = [&](const Subtree& subtree, std::size_t worker) {
      for (int s = subtree.last; s >= subtree.first; --s) backward(s, workspaces[worker], false);
    };
    parallel_tasks(plan.subtrees.size(), [&](std::size_t task, std::size_t worker) {
      const WithoutSubnormals in_this_thread;
      const Subtree& subtree = plan.subtrees[task];
      for (int s = subtree.first; s <= subtree.last; ++s) forward(s, false);
      if (whole(subtree)) return_through(subtree, worker);
    });
    if (plan.top.empty()) return;
    for (const int s : plan.top) forward(s, true);
    for (auto s = plan.top.rbegin(); s != plan.top.rend(); ++s) backward(*s, workspaces[0], true);
    parallel_tasks(plan.subtrees.size(), [&](std::size_t task, std::size_t worker) {
      const WithoutSubnormals in_this_thread;
      if (!whole(plan.subtrees[task])) return_through(plan.subtrees[task], worker);
    });
  }

  void copy_solution(Vector z) {
    const int b = block_size;
    parallel_for(symbolic.order.size(), row_grain, [&](std::size_t k) {
      for (int i = 0; i < b; ++i) {
        double* to = z.data() + (Offset(symbolic.order[k]) * b + i) * sides;
        for (int c = 0; c < sides; ++c) to[c] = solution.data()[c * unknowns + Offset(k) * b + i];
      }
    });
  }

  const DenseKernels<T>& kernels;
  FrontLayout<T> layout;
  std::shared_ptr<const BlockPattern> instead;  // if set: what is factorised in place of the matrix given
  std::vector<std::int64_t> slots;              // of the given matrix, per block of `instead`
  std::vector<int> order;                       // of elimination; empty: found for each pattern
  std::uint64_t pattern_id = 0;
  int block_size = 0;
  SymbolicCholesky symbolic;
  FrontPlan plan;
  std::vector<int> failures;
  std::vector<Workspace> workspaces;
  UnclearedMemory<T> factor, inverse, vectors, solution, kept_updates;
  Offset unknowns = 0;
  int sides = 1;  // right-hand sides of the solve at hand
  bool ready = false;
  std::int64_t failed_pivot = -1;
};

template <class T>
SparseCholesky<T>::SparseCholesky(Isa isa) : implementation_(std::make_unique<Implementation>(isa)) {}
template <class T>
SparseCholesky<T>::~SparseCholesky() = default;
template <class T>
SparseCholesky<T>::SparseCholesky(SparseCholesky&&) noexcept = default;
template <class T>
SparseCholesky<T>& SparseCholesky<T>::operator=(SparseCholesky&&) noexcept = default;

template <class T>
bool SparseCholesky<T>::prepare(const BlockMatrix& matrix) {
  Implementation& m = *implementation_;
  m.ready = false;
  try {
    if (m.pattern_id != matrix.pattern().id() || m.block_size != matrix.block_size()) m.prepare(matrix);
    m.prepare_workspaces();
  } catch (const std::bad_alloc&) {
    log_warning("not enough memory for a Cholesky factor: it needs {:.1f} GB, {:.1f} GB are free", m.bytes() * 1e-9,
                available_memory() * 1e-9);
    m.pattern_id = 0;
    return false;
  }
  return true;
}

template <class T>
bool SparseCholesky<T>::update(const BlockMatrix& matrix) {
  Implementation& m = *implementation_;
  m.failed_pivot = -1;
  if (!prepare(matrix)) return false;
  m.failed_pivot = m.factorize(matrix);
  m.ready = m.failed_pivot < 0;
  return m.ready;
}

template <class T>
// NOLINTNEXTLINE(performance-unnecessary-value-param): both are moved from
void SparseCholesky<T>::factorize_instead(std::shared_ptr<const BlockPattern> pattern,
                                          // NOLINTNEXTLINE(performance-unnecessary-value-param)
                                          std::vector<std::int64_t> slots) {
  implementation_->instead = std::move(pattern);
  implementation_->slots = std::move(slots);
  implementation_->pattern_id = 0;
  implementation_->ready = false;
}

template <class T>
void SparseCholesky<T>::eliminate_in(std::vector<int> order) {
  implementation_->order = std::move(order);
  implementation_->pattern_id = 0;
  implementation_->ready = false;
}

template <class T>
void SparseCholesky<T>::apply(ConstVector r, Vector z) {
  apply(r, z, 1);
}

template <class T>
void SparseCholesky<T>::apply(ConstVector r, Vector z, int sides) {
  assert(implementation_->ready && r.size() == z.size());
  implementation_->solve(r, z, sides);
}

template <class T>
std::int64_t SparseCholesky<T>::failed_pivot() const {
  return implementation_->failed_pivot;
}
template <class T>
double SparseCholesky<T>::factor_bytes() const {
  return static_cast<double>(implementation_->plan.factor_size) * sizeof(T);
}
template <class T>
double SparseCholesky<T>::factor_flops() const {
  return implementation_->plan.flops;
}

template class SparseCholesky<double>;
template class SparseCholesky<float>;

}  // namespace lope::linalg
