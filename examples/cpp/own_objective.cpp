// A function of one's own, minimised by the library's methods: the area of a soap film above the square [−1, 1]².
//
//   E(z) = Σ_t A_t √(1 + |∇z|²)        z: heights at the nodes of a grid, t: its triangles
//
// with the heights of Scherk's minimal surface, z = log(cos x / cos y), at the rim. Inside the film must find that surface: the
// distance from it is the error of linear triangles, a quarter of it with half the spacing.
//
// Sample run: own_objective 32        so many cells along each side
#include <lope/optimize/check_derivatives.h>
#include <lope/optimize/methods.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/core.h>

namespace {

using lope::optimize::HessianKind;

class SoapFilm final : public lope::optimize::Objective {
 public:
  explicit SoapFilm(int cells) : cells_(cells), spacing_(2.0 / cells) {
    std::vector<int> corners;
    for (int j = 0; j < cells; ++j) {
      for (int i = 0; i < cells; ++i) {
        const int a = node(i, j), b = node(i + 1, j), c = node(i + 1, j + 1), d = node(i, j + 1);
        triangles_.push_back({{b, a, c}});  // the right angle is at b, then at d
        triangles_.push_back({{d, c, a}});
        corners.insert(corners.end(), {a, b, c, a, c, d});
      }
    }
    const int nodes = (cells + 1) * (cells + 1);
    for (int k = 0; k < nodes; ++k) rim_.push_back(on_rim(k % (cells + 1)) || on_rim(k / (cells + 1)));
    // The pattern of the Hessian: nodes that share a triangle (groups of 3).
    hessian_.emplace_back(lope::linalg::BlockPattern::from_groups(nodes, corners, 3), 1);
    scales_.length = 2;
    scales_.global = spacing_;
    scales_.per_block.assign(size(), spacing_);
  }

  double exact(std::size_t k) const {
    const auto row = static_cast<std::size_t>(cells_) + 1;
    return std::log(std::cos(place(k % row)) / std::cos(place(k / row)));
  }

  std::size_t size() const override { return rim_.size(); }
  int block_size() const override { return 1; }
  std::span<const std::uint8_t> fixed_blocks() const override { return rim_; }
  const lope::optimize::CharacteristicScales& scales() const override { return scales_; }
  void move_to(std::span<const double> x) override { z_.assign(x.begin(), x.end()); }

  double value(double /*give_up_above*/) override {
    double sum = 0;
    for (const Triangle& t : triangles_) sum += area() * stretch(t);
    return sum;
  }
  double value_noise() override { return 1e-15 * value(0); }
  void gradient(std::span<double> g) override {
    std::fill(g.begin(), g.end(), 0.0);
    for (const Triangle& t : triangles_) {
      const auto [u, v] = slopes(t);
      const double weight = area() / stretch(t);
      for (int k = 0; k < 3; ++k) g[at(t, k)] += weight * (u * du[k] + v * dv[k]) / spacing_;
    }
    for (std::size_t k = 0; k < rim_.size(); ++k) {
      if (rim_[k]) g[k] = 0;
    }
  }
  // Convex: nothing to be projected.
  const lope::linalg::BlockMatrix& hessian(HessianKind /*kind*/) override {
    lope::linalg::BlockMatrix& h = hessian_.front();
    h.set_zero();
    for (const Triangle& t : triangles_) {
      const auto [u, v] = slopes(t);
      const double s = stretch(t), weight = area() / (s * spacing_ * spacing_);
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          const double along_a = u * du[a] + v * dv[a], along_b = u * du[b] + v * dv[b];
          *h.block(h.pattern().slot(t.nodes[a], t.nodes[b])) +=
              weight * (du[a] * du[b] + dv[a] * dv[b] - along_a * along_b / (s * s));
        }
      }
    }
    h.make_identity(rim_, 1);
    return h;
  }
  void hessian_times(HessianKind kind, std::span<const double> d, std::span<double> y) override {
    hessian(kind).multiply(d, y);
  }

 private:
  struct Triangle {
    int nodes[3];  // right angle, along x, along y
  };
  // Up to the spacing and a sign that no product sees: derivatives of the slopes by the heights of a triangle's nodes.
  static constexpr double du[3] = {-1, 1, 0}, dv[3] = {-1, 0, 1};

  int node(int i, int j) const { return i + (cells_ + 1) * j; }
  bool on_rim(int i) const { return i == 0 || i == cells_; }
  double place(std::size_t i) const { return -1 + spacing_ * static_cast<double>(i); }
  double area() const { return spacing_ * spacing_ / 2; }
  static std::size_t at(const Triangle& t, int k) { return static_cast<std::size_t>(t.nodes[k]); }
  std::array<double, 2> slopes(const Triangle& t) const {
    return {(z_[at(t, 1)] - z_[at(t, 0)]) / spacing_, (z_[at(t, 2)] - z_[at(t, 0)]) / spacing_};
  }
  double stretch(const Triangle& t) const {
    const auto [u, v] = slopes(t);
    return std::sqrt(1 + u * u + v * v);
  }

  int cells_;
  double spacing_;
  std::vector<Triangle> triangles_;
  std::vector<std::uint8_t> rim_;
  std::vector<lope::linalg::BlockMatrix> hessian_;
  lope::optimize::CharacteristicScales scales_;
  std::vector<double> z_;
};

double largest_error(const SoapFilm& film, const std::vector<double>& z) {
  double worst = 0;
  for (std::size_t k = 0; k < z.size(); ++k) worst = std::max(worst, std::abs(z[k] - film.exact(k)));
  return worst;
}

// The film is flat inside at first.
std::vector<double> start_of(const SoapFilm& film) {
  std::vector<double> z(film.size(), 0.0);
  for (std::size_t k = 0; k < z.size(); ++k) {
    if (film.fixed_blocks()[k]) z[k] = film.exact(k);
  }
  return z;
}

}  // namespace

int main(int argc, char** argv) {
  SoapFilm objective(argc > 1 ? std::atoi(argv[1]) : 32);
  const std::vector<double> x = start_of(objective);

  const auto errors = lope::optimize::check_derivatives(objective, x);
  fmt::print("errors of the derivatives: gradient {:.1e}, Hessian {:.1e}\n", errors.gradient, errors.hessian);
  if (errors.largest() > 1e-6) return 1;

  lope::optimize::MinimizerOptions options;
  options.stopping = {lope::optimize::StoppingTest::GradientNorm, 1e-10};
  double error = 0;
  for (const char* name : {"newton", "newton-pcg", "lbfgs-h"}) {
    std::vector<double> z = x;
    const auto minimizer =
        lope::optimize::make_minimizer(*lope::optimize::find_method(name), objective.size());
    const auto summary = minimizer->minimize(objective, z, options);
    error = largest_error(objective, z);
    fmt::print("{:12} {}: {} iterations, {:.1e} from Scherk's surface\n", name,
               summary.converged() ? "converged" : summary.reason, summary.iterations, error);
    if (!summary.converged()) return 2;
  }
  const double spacing = 2 / std::sqrt(static_cast<double>(objective.size()));
  return error < 0.2 * spacing * spacing ? 0 : 1;
}
