#include <lope/base/parallel.h>
#include <lope/linalg/block_multigrid.h>
#include <lope/linalg/coarsest_solve.h>
#include <lope/linalg/coloured_rows.h>
#include <lope/linalg/galerkin.h>
#include <lope/linalg/multigrid_cycle.h>
#include <lope/linalg/row_groups.h>
#include <lope/linalg/smoothing.h>
#include <lope/linalg/with_block_size.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>

namespace lope::linalg {
namespace {

constexpr std::size_t fine_grain = 4096;
constexpr std::size_t coarse_grain = 512;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

// Hides the precision and the block size.
class BlockMultigrid::Levels {
 public:
  virtual ~Levels() = default;
  virtual void set_hierarchy(HierarchyPtr hierarchy) = 0;
  virtual void set_smoother(const SmootherOptions& smoother) = 0;
  virtual Skipped take_skipped() = 0;
  virtual bool update(const BlockMatrix& matrix, std::span<const RowProjector> projectors) = 0;
  virtual bool factorizes() const = 0;
  virtual int level_count() const = 0;
  virtual std::size_t rows(std::size_t level) const = 0;
  virtual int colours(std::size_t level) const = 0;
  virtual const BlockMatrix& matrix(std::size_t level) const = 0;
  virtual void smooth(std::size_t level, ConstVector f, Vector x, int sweeps, Start start) = 0;
  virtual void residual(std::size_t level, ConstVector f, ConstVector x, Vector r) = 0;
  virtual void restrict_vector(std::size_t level, ConstVector r, Vector coarse) = 0;
  virtual void prolong_vector(std::size_t level, ConstVector coarse, Vector fine) = 0;
  virtual void coarse_solve(ConstVector f, Vector x) = 0;
  virtual void cycle(int level, ConstVector f, Vector x) = 0;
};

// b: components of the vectors. numbers: the matrix has one number for all of them.
template <class T, int b, bool numbers>
class BlockMultigrid::LevelsOf final : public Levels {
 public:
  explicit LevelsOf(const BlockMultigridOptions& options) : options_(options) {}

  // Memory is used again: where unknowns change in every step, getting it anew would cost as much as a few cycles.
  void set_hierarchy(HierarchyPtr hierarchy) override {
    hierarchy_ = std::move(hierarchy);
    std::size_t used = 0;
    for (const Prolongation& p : hierarchy_->prolongations()) {
      if (p.empty() || (options_.most_levels > 0 && static_cast<int>(used) + 1 >= options_.most_levels)) break;
      if (used == products_.size()) products_.emplace_back();
      products_[used++].set(p);
    }
    products_.resize(used);
    levels_.resize(used + 1);
  }

  void set_smoother(const SmootherOptions& smoother) override { smoother_ = smoother; }
  Skipped take_skipped() override { return std::exchange(skipped_, {}); }

  bool update(const BlockMatrix& matrix, std::span<const RowProjector> projectors) override {
    assert(!numbers || projectors.empty());
    projectors_.assign(projectors.begin(), projectors.end());
    find_coupled_rows(matrix, active_);
    const BlockMatrix* at = &matrix;
    bool definite = true;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      Level& level = levels_[l];
      level.rows = index(at->pattern().rows());
      level.allocate();
      if (l + 1 == levels_.size()) break;
      definite = level.matrix.update(*at, l > 0) && definite;
      const bool finest = l == 0;
      if constexpr (!numbers) {
        if (finest && options_.groups) groups_.update(matrix);
      }
      at = &products_[l].compute(*at, finest ? std::span<const std::uint8_t>(active_) : std::span<const std::uint8_t>(),
                                 finest ? projectors : std::span<const RowProjector>(),
                                 GalerkinProduct::Couplings::Taken);
    }
    if (!definite) return false;
    for (auto* work : {&right_, &solution_}) work->resize(b * levels_.back().rows);
    if (products_.empty()) {
      own_ = *at;
    } else {
      shift_diagonal(products_.back().coarse());
    }
    return coarsest_.update(products_.empty() ? *own_ : *at, factorizes());
  }

  bool factorizes() const override { return numbers || levels_.back().rows <= index(options_.most_factored); }

  int level_count() const override { return static_cast<int>(levels_.size()); }
  std::size_t rows(std::size_t level) const override { return levels_[level].rows; }
  int colours(std::size_t level) const override { return levels_[level].matrix.colours(); }
  const BlockMatrix& matrix(std::size_t level) const override { return products_[level - 1].coarse(); }

  void smooth(std::size_t l, ConstVector f, Vector x, int sweeps, Start start) override {
    Level& level = levels_[l];
    pack(f, level.f);
    if (start == Start::X) pack(x, level.x);
    level.skips = false;
    if (start == Start::Zero) decide_what_to_skip(level);
    sweep(level, sweeps, start == Start::Zero);
    unpack(level.x, x);
  }

  void residual(std::size_t l, ConstVector f, ConstVector x, Vector r) override {
    Level& level = levels_[l];
    pack(f, level.f);
    pack(x, level.x);
    level.matrix.residual(level.f.data(), level.x.data(), level.r.data());
    unpack(level.r, r);
  }

  void restrict_vector(std::size_t l, ConstVector r, Vector coarse) override {
    pack(r, levels_[l].r);
    restrict_packed(l);
    unpack(levels_[l + 1].f, coarse);
  }

  void prolong_vector(std::size_t l, ConstVector coarse, Vector fine) override {
    pack(coarse, levels_[l + 1].x);
    fill_packed(levels_[l].x);
    add_prolonged(l);
    unpack(levels_[l].x, fine);
  }

  void coarse_solve(ConstVector f, Vector x) override { coarsest_.solve(f, x); }

  // In single precision right-hand sides are scaled by a power of two, so that nothing is too small for it.
  void cycle(int top, ConstVector f, Vector x) override {
    double scale = 1;
    if constexpr (std::is_same_v<T, float>) {
      const double largest = local_space().max_block_norm(f, 1);
      if (largest > 0 && std::isfinite(largest)) scale = std::ldexp(1.0, -std::ilogb(largest));
    }
    Level& level = levels_[index(top)];
    pack(f, level.f, scale);
    v_cycle(*this, top);
    unpack(level.x, x, 1 / scale);
  }

  // As MultigridLevels.
  void smooth_before(int l) {
    decide_what_to_skip(levels_[index(l)]);
    sweep(levels_[index(l)], options_.sweeps, true);
    if (l == 0) relax_groups(Groups::Order::Forward);
  }
  void restrict_residual(int l) {
    Level& level = levels_[index(l)];
    if ((l == 0 && has_groups()) || !smoother_.is_plain()) {
      level.matrix.residual(level.f.data(), level.x.data(), level.r.data());
    } else if (options_.sweeps > 0) {
      level.matrix.residual_after_sweep(level.f.data(), level.t.data(), level.x.data(), level.r.data());
    } else {
      level.r = level.f;
    }
    restrict_packed(index(l));
  }
  void prolong_correction(int l) { add_prolonged(index(l)); }
  void smooth_after(int l) {
    if (l == 0) relax_groups(Groups::Order::Backward);
    sweep(levels_[index(l)], options_.sweeps, false);
  }
  void solve_coarsest() {
    Level& level = levels_.back();
    unpack(level.f, right_);
    coarsest_.solve(right_, solution_);
    pack(solution_, level.x);
  }

 private:
  using Packed = std::vector<T>;
  using Groups = RowGroups<T, b>;  // empty with numbers
  struct Level {
    ColouredRows<T, numbers ? 0 : b> matrix;  // empty on the coarsest
    std::size_t rows = 0;
    Packed x, f, t, r;
    bool skips = false;  // the rows that are marked
    std::vector<std::uint8_t> skipped;
    SmoothingWork<T> smoothing;
    void allocate() {
      for (Packed* work : {&x, &f, &t, &r}) work->resize(packed * rows);
    }
  };

  static void pack(ConstVector from, Packed& to, double scale = 1) {
    assert(from.size() * packed == to.size() * b);
    parallel_for(from.size() / b, fine_grain, [&](std::size_t i) {
      for (std::size_t k = 0; k < b; ++k) to[packed * i + k] = static_cast<T>(scale * from[b * i + k]);
    });
  }
  static void unpack(const Packed& from, Vector to, double scale = 1) {
    assert(to.size() * packed == from.size() * b);
    parallel_for(to.size() / b, fine_grain, [&](std::size_t i) {
      for (std::size_t k = 0; k < b; ++k) to[b * i + k] = scale * static_cast<double>(from[packed * i + k]);
    });
  }
  static void fill_packed(Packed& x) { std::fill(x.begin(), x.end(), T{0}); }

  void sweep(Level& level, int sweeps, bool from_zero) {
    smooth_rows(level.matrix, sweeps, smoother_.radius, level.f.data(), level.t.data(), level.x, from_zero,
                level.skips ? level.skipped.data() : nullptr, level.smoothing);
  }

  // By the level's right-hand side.
  void decide_what_to_skip(Level& level) {
    level.skips = smoother_.skip_below > 0;
    if (!level.skips) return;
    const auto square = [&](std::size_t row) {
      double sum = 0;
      for (std::size_t k = packed * row; k < packed * row + b; ++k) sum += static_cast<double>(level.f[k]) * level.f[k];
      return sum;
    };
    const auto sum_of = [&](const auto& term) {
      return parallel_sum(level.rows, fine_grain, [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += term(i);
        return sum;
      });
    };
    const double least = smoother_.skip_below * smoother_.skip_below * sum_of(square) / static_cast<double>(level.rows);
    level.skipped.resize(level.rows);
    parallel_for(level.rows, fine_grain, [&](std::size_t i) { level.skipped[i] = square(i) < least ? 1 : 0; });
    skipped_.rows += static_cast<std::int64_t>(sum_of([&](std::size_t i) { return static_cast<double>(level.skipped[i]); }));
    skipped_.of += static_cast<std::int64_t>(level.rows);
  }

  bool has_groups() const { return !numbers && !groups_.empty(); }
  void relax_groups(typename Groups::Order order) {
    if constexpr (!numbers) {
      Level& finest = levels_.front();
      if (has_groups()) groups_.sweep(finest.matrix, finest.f.data(), finest.x.data(), order);
    }
  }

  // The right-hand side of level l + 1 from the residual of level l, which is overwritten on the finest.
  void restrict_packed(std::size_t l) {
    Packed& r = levels_[l].r;
    if (l == 0) {
      for (const RowProjector& n : projectors_) project(n, r.data() + packed * index(n.row));
      parallel_for(active_.size(), fine_grain, [&](std::size_t i) {
        if (!active_[i]) std::fill_n(r.data() + packed * i, b, T{0});
      });
    }
    const auto start = products_[l].child_start(), child = products_[l].child();
    const auto weight = products_[l].child_weight();
    Packed& coarse = levels_[l + 1].f;
    parallel_for(levels_[l + 1].rows, coarse_grain, [&](std::size_t a) {
      T sum[b] = {};
      for (auto c = index(start[a]); c < index(start[a + 1]); ++c) {
        const T w = static_cast<T>(weight[c]);
        const T* from = r.data() + packed * index(child[c]);
        for (int k = 0; k < b; ++k) sum[k] += w * from[k];
      }
      std::copy_n(sum, b, coarse.data() + packed * a);
    });
  }

  // x of level l += P x of level l + 1.
  void add_prolonged(std::size_t l) {
    const Prolongation& p = products_[l].prolongation();
    const Packed& coarse = levels_[l + 1].x;
    Packed& x = levels_[l].x;
    Packed& change = levels_[l].r;
    parallel_for(levels_[l].rows, fine_grain, [&](std::size_t i) {
      T sum[b] = {};
      if (l > 0 || active_[i] != 0) {
        for (auto k = index(p.start[i]); k < index(p.start[i + 1]); ++k) {
          const T w = static_cast<T>(p.weight[k]);
          const T* from = coarse.data() + packed * index(p.column[k]);
          for (int e = 0; e < b; ++e) sum[e] += w * from[e];
        }
      }
      std::copy_n(sum, b, change.data() + packed * i);
    });
    if (l == 0) {
      for (const RowProjector& n : projectors_) project(n, change.data() + packed * index(n.row));
    }
    parallel_for(x.size(), packed * fine_grain, [&](std::size_t i) { x[i] += change[i]; });
  }

  static void project(const RowProjector& n, T* v) {
    T result[b] = {};
    for (std::size_t i = 0; i < b; ++i) {
      for (std::size_t j = 0; j < b; ++j) result[i] += static_cast<T>(n.block[i * b + j]) * v[j];
    }
    std::copy_n(result, b, v);
  }

  HierarchyPtr hierarchy_;
  BlockMultigridOptions options_;
  SmootherOptions smoother_;
  Skipped skipped_;
  std::deque<GalerkinProduct> products_;  // from level l to l + 1
  std::deque<Level> levels_;
  Groups groups_;                     // of the finest level
  std::vector<std::uint8_t> active_;  // rows of the finest level that have coarse ones
  std::vector<RowProjector> projectors_;
  CoarsestSolve coarsest_;
  std::optional<BlockMatrix> own_;  // a copy of the matrix, if there is one level
  std::vector<double> right_, solution_;
};

BlockMultigrid::BlockMultigrid(const BlockMultigridOptions& options) : options_(options) {}
BlockMultigrid::~BlockMultigrid() = default;

void BlockMultigrid::set_hierarchy(HierarchyPtr hierarchy) { hierarchy_ = std::move(hierarchy); }

void BlockMultigrid::set_projectors(std::span<const RowProjector> projectors) {
  projectors_.assign(projectors.begin(), projectors.end());
}

void BlockMultigrid::set_smoother(const SmootherOptions& smoother) {
  smoother_ = smoother;
  if (levels_) levels_->set_smoother(smoother);
}

BlockMultigrid::Skipped BlockMultigrid::take_skipped() { return levels_ ? levels_->take_skipped() : Skipped{}; }

template <class T>
void BlockMultigrid::make_levels() {
  with_block_size(block_size_, [&]<int b>() {
    if (options_.components > 0) {
      levels_ = std::make_unique<LevelsOf<T, b, true>>(options_);
    } else {
      levels_ = std::make_unique<LevelsOf<T, b, false>>(options_);
    }
  });
  levels_->set_smoother(smoother_);
}

bool BlockMultigrid::update(const BlockMatrix& matrix) {
  assert(hierarchy_);
  assert(options_.components == 0 || matrix.block_size() == 1);
  const int block_size = options_.components > 0 ? options_.components : matrix.block_size();
  if (!levels_ || block_size_ != block_size) {
    made_for_ = 0;
    block_size_ = block_size;
    if (options_.single_precision) {
      make_levels<float>();
    } else {
      make_levels<double>();
    }
  }
  if (made_for_ != hierarchy_->id()) {
    levels_->set_hierarchy(hierarchy_);
    made_for_ = hierarchy_->id();
  }
  return levels_->update(matrix, projectors_);
}

void BlockMultigrid::apply(ConstVector r, Vector z) { cycle(0, r, z); }
bool BlockMultigrid::is_linear() const { return levels_->factorizes() && !(smoother_.skip_below > 0); }
int BlockMultigrid::levels() const { return levels_->level_count(); }
std::size_t BlockMultigrid::size(int level) const { return levels_->rows(index(level)) * index(block_size_); }
int BlockMultigrid::colours(int level) const { return levels_->colours(index(level)); }

const BlockMatrix& BlockMultigrid::matrix(int level) const {
  assert(level > 0);
  return levels_->matrix(index(level));
}

void BlockMultigrid::smooth(int level, ConstVector f, Vector x, int sweeps, Start start) {
  assert(level + 1 < levels());
  levels_->smooth(index(level), f, x, sweeps, start);
}

void BlockMultigrid::residual(int level, ConstVector f, ConstVector x, Vector r) {
  assert(level + 1 < levels());
  levels_->residual(index(level), f, x, r);
}

void BlockMultigrid::restrict_residual(int level, ConstVector r, Vector coarse) {
  levels_->restrict_vector(index(level), r, coarse);
}

void BlockMultigrid::prolong(int level, ConstVector coarse, Vector fine) {
  levels_->prolong_vector(index(level), coarse, fine);
}

void BlockMultigrid::coarse_solve(ConstVector f, Vector x) { levels_->coarse_solve(f, x); }
void BlockMultigrid::cycle(int level, ConstVector f, Vector x) { levels_->cycle(level, f, x); }

}  // namespace lope::linalg
