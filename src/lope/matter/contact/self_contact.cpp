#include <lope/base/parallel.h>
#include <lope/matter/contact/pair_blocks.h>
#include <lope/matter/contact/pair_energy.h>
#include <lope/matter/contact/self_contact.h>
#include <lope/matter/contact/self_contact_search.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace lope::matter {

namespace {

constexpr std::size_t pair_grain = 64;
constexpr double relative_epsilon = 1e-15;

template <int d>
Vec<d> from_space(const Vec3& x) {
  return x.head<d>();
}

// The second derivative of one pair, row-major; the first d(count + 1) rows and columns count.
template <int d>
using LocalHessian = Eigen::Matrix<double, d*(d + 1), d*(d + 1), Eigen::RowMajor>;

template <int d>
class SelfContactIn final : public SelfContact {
 public:
  SelfContactIn(std::span<const SelfContactBody> bodies, double length)
      : epsilon_(relative_epsilon * length * length), search_(bodies) {}

  void move_to(std::span<const double> x) override {
    x_.assign(x.begin(), x.end());
    detected_ = false;
    has_locals_ = false;
  }

  bool hold() override {
    if (holds_) return false;
    held_ = pairs();
    holds_ = true;
    has_locals_ = false;
    return true;
  }

  void let_go() override {
    if (holds_) detected_ = has_locals_ = false;
    holds_ = false;
  }

  const std::vector<SelfContactPair>& pairs() override {
    if (!detected_) holds_ ? measure_held() : detect();
    detected_ = true;
    return pairs_;
  }

  double value() override {
    double sum = 0;
    for (const SelfContactPair& pair : pairs()) {
      sum += pair_energy(pair.stiffness, epsilon_, pair.depth * pair.depth).value;
    }
    return sum;
  }

  double value_noise() override {
    constexpr double unit = 0x1.0p-52;
    double largest = 0, force = 0, sum = 0;
    for (const SelfContactPair& pair : pairs()) {
      force += pair.force;
      sum += pair_energy(pair.stiffness, epsilon_, pair.depth * pair.depth).value;
      largest = std::max(largest, position(pair.node[0]).cwiseAbs().maxCoeff());
    }
    return 8 * unit * (force * largest + sum);
  }

  void add_gradient(std::span<double> g) override {
    for (const SelfContactPair& pair : pairs()) {
      for (int i = 0; i <= pair.count; ++i) {
        // ∂Φ/∂x_i = c_i ∂Φ/∂x₀ with c = −weight, and ∂Φ/∂x₀ = −force·normal.
        const Vec<d> part = pair.weight[i] * pair.force * from_space<d>(pair.normal);
        for (int a = 0; a < d; ++a) g[static_cast<std::size_t>(pair.node[i]) * d + a] += part[a];
      }
    }
  }

  void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& hessian) override {
    assert(hessian.block_size() == d);
    const std::vector<LocalHessian<d>>& local = locals(kind);
    blocks_.begin(hessian);
    for (std::size_t p = 0; p < local.size(); ++p) {
      const SelfContactPair& pair = pairs_[p];
      blocks_.add(std::span(pair.node).first(static_cast<std::size_t>(pair.count) + 1), 1, [&](std::size_t i, std::size_t j) {
        return local[p].template block<d, d>(d * static_cast<Eigen::Index>(i), d * static_cast<Eigen::Index>(j));
      });
    }
    blocks_.finish();
  }

  void add_hessian_times(optimize::HessianKind kind, std::span<const double> direction,
                         std::span<double> y) override {
    const std::vector<LocalHessian<d>>& local = locals(kind);
    for (std::size_t p = 0; p < local.size(); ++p) {
      const SelfContactPair& pair = pairs_[p];
      for (int i = 0; i <= pair.count; ++i) {
        Vec<d> sum = Vec<d>::Zero();
        for (int j = 0; j <= pair.count; ++j) {
          const auto at = static_cast<std::size_t>(pair.node[j]) * d;
          sum +=
              local[p].template block<d, d>(d * i, d * j) * Eigen::Map<const Vec<d>>(direction.data() + at);
        }
        for (int a = 0; a < d; ++a) y[static_cast<std::size_t>(pair.node[i]) * d + a] += sum[a];
      }
    }
  }

 private:
  Vec<d> position(int node) const {
    return Eigen::Map<const Vec<d>>(x_.data() + static_cast<std::size_t>(node) * d);
  }
  void detect() {
    search_.find(x_, pairs_);
    for (SelfContactPair& pair : pairs_) pair.force = force_at(pair);
  }

  // The held pairs' depths along their normals, which stay as they were, as do their weights.
  void measure_held() {
    pairs_.clear();
    for (SelfContactPair pair : held_) {
      Vec<d> way = Vec<d>::Zero();  // from the vertex to the point that was the closest
      for (int i = 1; i <= pair.count; ++i) {
        way += pair.weight[i] * (position(pair.node[i]) - position(pair.node[0]));
      }
      pair.depth = way.dot(from_space<d>(pair.normal));
      if (!(pair.depth > 0)) continue;
      pair.force = force_at(pair);
      pairs_.push_back(pair);
    }
  }

  double force_at(const SelfContactPair& pair) const {
    return 2 * pair.depth * pair_energy(pair.stiffness, epsilon_, pair.depth * pair.depth).first;
  }

  template <int n>
  void fill_local(optimize::HessianKind kind, const SelfContactPair& pair, LocalHessian<d>& out) const {
    std::array<Vec<d>, n + 1> x;
    for (int i = 0; i <= n; ++i) x[i] = position(pair.node[i]);
    const PairPlace<d, n> at = pair_place<d, n>(x);
    constexpr int size = d * (n + 1);
    out.template topLeftCorner<size, size>() =
        kind == optimize::HessianKind::Projected ? projected_pair_hessian<d, n>(at, pair.stiffness, epsilon_)
                                                 : pair_hessian<d, n>(at, pair.stiffness, epsilon_);
  }

  // Φ″ of the depth, a linear function of the positions; never indefinite.
  void fill_held(const SelfContactPair& pair, LocalHessian<d>& out) const {
    const double squared = pair.depth * pair.depth;
    const PairEnergyOfDistance energy = pair_energy(pair.stiffness, epsilon_, squared);
    const Vec<d> normal = from_space<d>(pair.normal);
    const Mat<d> across = (2 * energy.first + 4 * squared * energy.second) * normal * normal.transpose();
    for (int i = 0; i <= pair.count; ++i) {
      for (int j = 0; j <= pair.count; ++j) {
        out.template block<d, d>(d * i, d * j) = pair.weight[i] * pair.weight[j] * across;
      }
    }
  }

  const std::vector<LocalHessian<d>>& locals(optimize::HessianKind kind) {
    const std::vector<SelfContactPair>& all = pairs();
    if (has_locals_ && locals_kind_ == kind) return locals_;
    locals_.resize(all.size());
    parallel_for(all.size(), pair_grain, [&](std::size_t p) {
      if (holds_) return fill_held(all[p], locals_[p]);
      switch (all[p].count) {
        case 1:
          fill_local<1>(kind, all[p], locals_[p]);
          break;
        case 2:
          fill_local<2>(kind, all[p], locals_[p]);
          break;
        default:
          if constexpr (d == 3) fill_local<3>(kind, all[p], locals_[p]);
      }
    });
    has_locals_ = true;
    locals_kind_ = kind;
    return locals_;
  }

  double epsilon_;
  SelfContactSearch<d> search_;
  std::vector<double> x_;
  bool detected_ = false;
  std::vector<SelfContactPair> pairs_;
  bool holds_ = false;  // held_ instead of what is at the current point
  std::vector<SelfContactPair> held_;
  bool has_locals_ = false;
  optimize::HessianKind locals_kind_ = optimize::HessianKind::Raw;
  std::vector<LocalHessian<d>> locals_;
  PairBlocks blocks_;
};

}  // namespace

double default_self_contact_stiffness(double young_modulus) { return 10 * young_modulus; }

double SelfContact::deepest() {
  double depth = 0;
  for (const SelfContactPair& pair : pairs()) depth = std::max(depth, pair.depth);
  return depth;
}

std::unique_ptr<SelfContact> make_self_contact(int dimension, std::span<const SelfContactBody> bodies,
                                               double length) {
  assert(dimension == 2 || dimension == 3);
  if (dimension == 2) return std::make_unique<SelfContactIn<2>>(bodies, length);
  return std::make_unique<SelfContactIn<3>>(bodies, length);
}

}  // namespace lope::matter
