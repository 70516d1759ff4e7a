// Small objectives with known minimisers, for the tests of this room.
#pragma once

#include <lope/optimize/objective.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace lope::optimize {

// A chain of 2-vectors p₀ … p_{n−1} joined by springs of rest length 1 with a quartic stretch energy, each
// pulled towards (i, 0) by a weak quadratic, p₀ fixed at the origin: E = Σ k/4 (|p_{i+1} − p_i|² − 1)² + Σ
// w/2 |p_i − (i, 0)|². Minimum 0 at p_i = (i, 0); the raw Hessian is indefinite where springs are compressed.
class SpringChain final : public Objective {
 public:
  SpringChain(int nodes, double stiffness, double pull) : nodes_(nodes), k_(stiffness), w_(pull) {
    std::vector<int> springs;
    for (int i = 0; i + 1 < nodes; ++i) springs.insert(springs.end(), {i, i + 1});
    matrix_.emplace_back(linalg::BlockPattern::from_groups(nodes, springs, 2), 2);
    fixed_.assign(static_cast<std::size_t>(nodes), 0);
    fixed_[0] = 1;
    scales_.global = stiffness;
    scales_.per_block.assign(static_cast<std::size_t>(nodes), stiffness);
    scales_.length = nodes - 1;
  }
  std::size_t size() const override { return static_cast<std::size_t>(2 * nodes_); }
  int block_size() const override { return 2; }
  std::span<const std::uint8_t> fixed_blocks() const override { return fixed_; }
  const CharacteristicScales& scales() const override { return scales_; }
  void move_to(std::span<const double> x) override { x_.assign(x.begin(), x.end()); }

  double value(double) override {
    double sum = 0;
    for (int i = 1; i < nodes_; ++i) {
      const auto [dx, dy, s] = spring(i);
      sum += k_ / 4 * s * s + w_ / 2 * (std::pow(at(i, 0) - i, 2) + std::pow(at(i, 1), 2));
    }
    return sum;
  }
  double value_noise() override { return 1e-15 * (1 + std::abs(value(0))); }

  void gradient(std::span<double> g) override {
    std::fill(g.begin(), g.end(), 0.0);
    for (int i = 1; i < nodes_; ++i) {
      const auto [dx, dy, s] = spring(i);
      const auto k = static_cast<std::size_t>(2 * i);
      g[k] += k_ * s * dx + w_ * (at(i, 0) - i);
      g[k + 1] += k_ * s * dy + w_ * at(i, 1);
      g[k - 2] -= k_ * s * dx;
      g[k - 1] -= k_ * s * dy;
    }
    g[0] = g[1] = 0;
  }

  const linalg::BlockMatrix& hessian(HessianKind kind) override {
    linalg::BlockMatrix& h = matrix_.front();
    h.set_zero();
    for (int i = 1; i < nodes_; ++i) {
      const auto [dx, dy, s] = spring(i);
      // 2 k d dᵀ + k s I; projected: the second term only where s > 0.
      const double isotropic = kind == HessianKind::Projected ? std::max(s, 0.0) : s;
      const double block[4] = {k_ * (2 * dx * dx + isotropic), 2 * k_ * dx * dy, 2 * k_ * dx * dy,
                               k_ * (2 * dy * dy + isotropic)};
      for (int c = 0; c < 4; ++c) {
        h.block(h.pattern().slot(i, i))[c] += block[c] + (c % 3 == 0 ? w_ : 0.0);
        h.block(h.pattern().slot(i - 1, i - 1))[c] += block[c];
        h.block(h.pattern().slot(i, i - 1))[c] -= block[c];
        h.block(h.pattern().slot(i - 1, i))[c] -= block[c];
      }
    }
    h.make_identity(fixed_, k_);
    return h;
  }
  void hessian_times(HessianKind kind, std::span<const double> d, std::span<double> y) override {
    hessian(kind).multiply(d, y);
  }
  // From now on no cover, coarse levels, scalar model or the like are known.
  void forget_structure() { forgetful_ = true; }
  // Hat functions on every second node, twice.
  linalg::HierarchyPtr hierarchy() override {
    if (forgetful_) return nullptr;
    if (!hierarchy_) {
      std::vector<linalg::Prolongation> levels;
      for (int n = nodes_; levels.size() < 2; n = n / 2 + 1) {
        linalg::Prolongation p;
        p.columns = n / 2 + 1;
        p.start.push_back(0);
        for (int i = 0; i < n; ++i) {
          for (int k = i / 2; k <= (i + 1) / 2; ++k) {
            p.column.push_back(k);
            p.weight.push_back(i % 2 == 0 ? 1.0 : 0.5);
          }
          p.start.push_back(static_cast<int>(p.column.size()));
        }
        levels.push_back(std::move(p));
      }
      hierarchy_ = std::make_shared<const linalg::Hierarchy>(std::move(levels));
    }
    return hierarchy_;
  }
  // Runs of nodes that share their ends.
  std::vector<std::vector<int>> cover(int parts) const override {
    if (forgetful_) return {};
    std::vector<std::vector<int>> sets(static_cast<std::size_t>(parts));
    for (int i = 0; i + 1 < nodes_; ++i) {
      std::vector<int>& set = sets[static_cast<std::size_t>(i * parts / (nodes_ - 1))];
      if (set.empty()) set.push_back(i);
      set.push_back(i + 1);
    }
    return sets;
  }
  // The scalar model is this many times what bounds the Hessian near the minimum.
  void scale_model(double factor) { model_scale_ = factor; }
  ScalarModel scalar_model() override {
    if (forgetful_) return {};
    if (scalar_.empty()) {
      linalg::BlockMatrix& l = scalar_.emplace_back(
          std::make_shared<const linalg::BlockPattern>(matrix_.front().pattern()), 1);
      for (int i = 1; i < nodes_; ++i) {
        *l.block(l.pattern().slot(i, i)) += 2 * k_ + w_;
        *l.block(l.pattern().slot(i - 1, i - 1)) += 2 * k_;
        *l.block(l.pattern().slot(i, i - 1)) -= 2 * k_;
        *l.block(l.pattern().slot(i - 1, i)) -= 2 * k_;
      }
      for (double& value : l.values()) value *= model_scale_;
      l.make_identity(fixed_, k_);
    }
    return {&scalar_.front(), 1};
  }

 private:
  struct Spring {
    double dx, dy, s;
  };
  double at(int i, int c) const { return x_[static_cast<std::size_t>(2 * i + c)]; }
  Spring spring(int i) const {
    const double dx = at(i, 0) - at(i - 1, 0), dy = at(i, 1) - at(i - 1, 1);
    return {dx, dy, dx * dx + dy * dy - 1};
  }
  int nodes_;
  double k_, w_;
  std::vector<linalg::BlockMatrix> matrix_, scalar_;
  std::vector<std::uint8_t> fixed_;
  CharacteristicScales scales_;
  std::vector<double> x_;
  bool forgetful_ = false;
  double model_scale_ = 1;
  linalg::HierarchyPtr hierarchy_;
};

}  // namespace lope::optimize
