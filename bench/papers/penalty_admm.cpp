#include <lope/base/parallel.h>
#include <lope/geometry/partition.h>
#include <lope/linalg/cholesky.h>
#include <lope/linalg/space.h>
#include <lope/matter/step_objective.h>
#include <lope/optimize/recorder.h>
#include <lope/optimize/split_objective.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <papers/penalty_admm.h>

namespace lope::bench {
namespace {

using optimize::HessianKind;
using optimize::Outcome;
using Vector = std::vector<double>;

constexpr std::size_t d = 3;
constexpr double local_tolerance = 1e-3;  // of a subdomain's gradient before its first Newton step
constexpr int most_halvings = 12;
constexpr double sufficient_decrease = 1e-4;
// Iterates whose residual has grown this much are lost.
constexpr double lost = 1e12;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// One subdomain: its elements as a body of their own.
class Part {
 public:
  Part(const matter::SolidBody& body, const std::vector<int>& part_of, int number) {
    std::vector<int> local(body.mesh.vertices.size(), -1);
    for (std::size_t e = 0; e < part_of.size(); ++e) {
      if (part_of[e] != number) continue;
      for (const int v : body.mesh.tetrahedra[e]) local[at(v)] = 0;
    }
    for (std::size_t v = 0; v < local.size(); ++v) {
      if (local[v] < 0) continue;
      local[v] = static_cast<int>(nodes.size());
      nodes.push_back(static_cast<int>(v));
      mesh_.vertices.push_back(body.mesh.vertices[v]);
    }
    for (std::size_t e = 0; e < part_of.size(); ++e) {
      if (part_of[e] != number) continue;
      auto element = body.mesh.tetrahedra[e];
      for (int& v : element) v = local[at(v)];
      mesh_.tetrahedra.push_back(element);
      if (!body.material_of_element.empty()) material_of_element_.push_back(body.material_of_element[e]);
    }
    matter::SolidDescription made;
    made.mesh = &mesh_;
    made.materials = body.materials;
    made.material_of_element = material_of_element_;
    made.density_of_material = body.density_of_material;
    objective_ = matter::make_solid_objective(made);
    const std::size_t size = d * nodes.size();
    for (Vector* v :
         {&x, &multiplier, &target_, &shared_, &gap_, &pull_, &gradient_, &step_, &trial_, &product_})
      v->assign(size, 0.0);
    fixed_.resize(nodes.size());
    interface.resize(nodes.size());
  }

  // At the beginning of a step; x̂ and fixed nodes of the whole mesh.
  void begin(const Vector& whole, const Vector& predicted, double inertia,
             std::span<const std::uint8_t> fixed) {
    gather(whole, x);
    start_ = x;
    gather(predicted, target_);
    for (std::size_t k = 0; k < nodes.size(); ++k) fixed_[k] = fixed[at(nodes[k])];
    std::fill(multiplier.begin(), multiplier.end(), 0.0);
    matter::StepSetup setup;
    setup.inertia = inertia;
    setup.target = target_;
    setup.start = start_;
    setup.fixed = fixed_;
    objective_->begin_step(setup);
  }

  // K_j on the pattern of the principal submatrix: that of the whole mesh less its own.
  void take_weights(const linalg::BlockMatrix& whole, double weight) {
    if (!penalty_) {
      const std::vector<int> sets[] = {nodes};
      auto sum = whole.pattern().direct_sum(sets);
      penalty_.emplace(sum.pattern, static_cast<int>(d));
      augmented_.emplace(sum.pattern, static_cast<int>(d));
      slots_ = std::move(sum.slot);
    }
    objective_->move_to(x);
    augmented_->set_zero();
    const linalg::BlockMatrix& own = objective_->hessian(HessianKind::Projected);
    add(own, *augmented_);
    penalty_->set_zero();
    const auto pattern = penalty_->pattern().row_start();
    for (std::size_t row = 0; row < nodes.size(); ++row) {
      for (std::int64_t slot = pattern[row]; slot < pattern[row + 1]; ++slot) {
        const int column = penalty_->pattern().column()[static_cast<std::size_t>(slot)];
        if (!interface[row] || !interface[at(column)] || fixed_[row] || fixed_[at(column)]) continue;
        const double* all = whole.block(slots_[static_cast<std::size_t>(slot)]);
        const double* mine = augmented_->block(slot);
        double* to = penalty_->block(slot);
        for (std::size_t c = 0; c < d * d; ++c) to[c] = weight * (all[c] - mine[c]);
      }
    }
  }

  // Newton with halved steps on the augmented potential; false where a matrix has no factor.
  bool minimize(const Vector& whole, int newton_steps) {
    gather(whole, shared_);
    double first = 0;
    for (int k = 0; k < newton_steps; ++k) {
      objective_->move_to(x);
      const double value = evaluate(x);
      gradient(x);
      const double norm = linalg::local_space().norm(gradient_);
      if (k == 0) first = norm;
      if (norm <= local_tolerance * first || norm == 0) return true;
      std::copy(penalty_->values().begin(), penalty_->values().end(), augmented_->values().begin());
      add(objective_->hessian(HessianKind::Projected), *augmented_);
      if (!factor_.update(*augmented_)) return false;
      factor_.apply(gradient_, step_);
      const double slope = -linalg::local_space().dot(gradient_, step_);
      if (!(slope < 0)) return true;
      double length = 1;
      bool lower = false;
      for (int h = 0; h < most_halvings && !lower; ++h, length *= 0.5) {
        for (std::size_t i = 0; i < x.size(); ++i) trial_[i] = x[i] - length * step_[i];
        objective_->move_to(trial_);
        lower = evaluate(trial_) <= value + sufficient_decrease * length * slope;
      }
      if (!lower) return true;
      x = trial_;
    }
    return true;
  }

  // right += Rᵀ(K z + λ).
  void add_pull(Vector& right) {
    penalty_->multiply(x, product_);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (!interface[k]) continue;
      for (std::size_t c = 0; c < d; ++c)
        right[d * at(nodes[k]) + c] += product_[d * k + c] + multiplier[d * k + c];
    }
  }
  // C += RᵀK R.
  void add_weights(linalg::BlockMatrix& whole) const {
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      double* to = whole.block(slots_[s]);
      const double* from = penalty_->block(static_cast<std::int64_t>(s));
      for (std::size_t c = 0; c < d * d; ++c) to[c] += from[c];
    }
  }
  void update_multiplier(const Vector& whole) {
    gather(whole, shared_);
    find_gap(x);
    penalty_->multiply(gap_, product_);
    for (std::size_t i = 0; i < multiplier.size(); ++i) multiplier[i] += product_[i];
  }
  void give_inside(Vector& whole) const {
    for (std::size_t k = 0; k < nodes.size(); ++k)
      if (!interface[k]) std::copy_n(&x[d * k], d, &whole[d * at(nodes[k])]);
  }
  // The largest distance between a copy and its shared position.
  double largest_gap(const Vector& whole) {
    gather(whole, shared_);
    find_gap(x);
    return linalg::local_space().max_block_norm(gap_, static_cast<int>(d));
  }

  std::vector<int> nodes;               // of the whole mesh, ascending
  std::vector<std::uint8_t> interface;  // per node
  Vector x, multiplier;

 private:
  void gather(const Vector& from, Vector& to) const {
    for (std::size_t k = 0; k < nodes.size(); ++k) std::copy_n(&from[d * at(nodes[k])], d, &to[d * k]);
  }
  void find_gap(const Vector& point) {
    for (std::size_t k = 0; k < nodes.size(); ++k)
      for (std::size_t c = d * k; c < d * (k + 1); ++c) gap_[c] = interface[k] ? point[c] - shared_[c] : 0;
  }
  // The augmented potential at the objective's point.
  double evaluate(const Vector& point) {
    find_gap(point);
    penalty_->multiply(gap_, pull_);
    return objective_->value() + linalg::local_space().dot(multiplier, gap_) +
           0.5 * linalg::local_space().dot(gap_, pull_);
  }
  void gradient(const Vector&) {
    objective_->gradient(gradient_);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (fixed_[k]) continue;
      for (std::size_t c = d * k; c < d * (k + 1); ++c) gradient_[c] += multiplier[c] + pull_[c];
    }
  }
  static void add(const linalg::BlockMatrix& from, linalg::BlockMatrix& to) {
    const auto& pattern = from.pattern();
    for (int row = 0; row < pattern.rows(); ++row) {
      for (std::int64_t slot = pattern.row_start()[at(row)]; slot < pattern.row_start()[at(row) + 1];
           ++slot) {
        double* target = to.block(to.pattern().slot(row, pattern.column()[static_cast<std::size_t>(slot)]));
        const double* block = from.block(slot);
        for (std::size_t c = 0; c < d * d; ++c) target[c] += block[c];
      }
    }
  }

  geometry::Mesh mesh_;
  std::vector<int> material_of_element_;
  std::unique_ptr<matter::StepObjective> objective_;
  std::vector<std::uint8_t> fixed_;
  std::optional<linalg::BlockMatrix> penalty_, augmented_;
  std::vector<std::int64_t> slots_;
  linalg::Cholesky factor_;
  Vector start_, target_, shared_, gap_, pull_, gradient_, step_, trial_, product_;
};

class PenaltyAdmm final : public optimize::Minimizer {
 public:
  PenaltyAdmm(const matter::SolidBody& body, double h, const PenaltyAdmmOptions& options)
      : body_(body), inertia_(1 / (h * h)), options_(options) {}

  optimize::MinimizerSummary minimize(optimize::Objective& objective, std::span<double> x,
                                      const optimize::MinimizerOptions& options) override {
    optimize::Recorder recorder(options);
    optimize::SplitObjective* split = objective.split();
    if (split == nullptr || !divide())
      return recorder.finish(Outcome::Failed, "not one elastic body that can be divided");
    Vector whole(x.begin(), x.end());
    begin(objective, *split, whole);
    Vector gradient(whole.size());
    const double tolerance = optimize::resolved_tolerance(options.stopping, objective);
    double first = 0;
    while (true) {
      objective.begin_iteration();
      objective.move_to(whole);
      const double value = objective.value();
      objective.gradient(gradient);
      const double norm = objective.space().norm(gradient);
      if (recorder.iterations() == 0) first = norm;
      double gap = 0;
      for (Part& part : parts_) gap = std::max(gap, part.largest_gap(whole));
      recorder.record(value, norm, gap, tolerance, whole);
      linalg::copy(whole, x);
      if (!std::isfinite(norm) || norm > lost * first) return recorder.finish(Outcome::Failed, "diverged");
      if (optimize::tests_gradient(options.stopping.test) &&
          optimize::gradient_measure(options.stopping.test, objective, gradient) <= tolerance)
        return recorder.finish(Outcome::Converged, "");
      if (auto end = recorder.must_end()) return recorder.finish(std::move(*end));
      for (Part& part : parts_)
        if (!part.minimize(whole, options_.newton_steps))
          return recorder.finish(Outcome::Failed, "a subdomain's matrix is not positive definite");
      share(whole);
      for (Part& part : parts_) {
        part.update_multiplier(whole);
        part.give_inside(whole);
      }
      recorder.count_step(1, 1);
    }
  }

 private:
  bool divide() {
    if (!parts_.empty()) return true;
    const auto part_of = geometry::partition_elements(body_.mesh, options_.subdomains);
    if (!part_of) return false;
    parts_.reserve(at(options_.subdomains));
    for (int j = 0; j < options_.subdomains; ++j) parts_.emplace_back(body_, *part_of, j);
    std::vector<int> copies(body_.mesh.vertices.size());
    for (const Part& part : parts_)
      for (const int node : part.nodes) ++copies[at(node)];
    for (Part& part : parts_)
      for (std::size_t k = 0; k < part.nodes.size(); ++k) part.interface[k] = copies[at(part.nodes[k])] > 1;
    shared_.resize(copies.size());
    for (std::size_t v = 0; v < copies.size(); ++v) shared_[v] = copies[v] > 1;
    return true;
  }

  // x̂ follows from the gradient of the inertia, w M (x − x̂).
  void begin(optimize::Objective& objective, optimize::SplitObjective& split, const Vector& whole) {
    Vector predicted(whole.size());
    split.quadratic_gradient(whole, predicted);
    const auto masses = lumped_masses();
    for (std::size_t i = 0; i < predicted.size(); ++i)
      predicted[i] = whole[i] - predicted[i] / (inertia_ * masses[i / d]);
    const auto fixed = objective.fixed_blocks();
    for (Part& part : parts_) part.begin(whole, predicted, inertia_, fixed);
    objective.move_to(whole);
    const linalg::BlockMatrix& hessian = objective.hessian(HessianKind::Projected);
    for (Part& part : parts_) part.take_weights(hessian, options_.weight);
    linalg::BlockMatrix weights = hessian;
    weights.set_zero();
    for (const Part& part : parts_) part.add_weights(weights);
    // Other nodes keep their places.
    for (int v = 0; v < weights.pattern().rows(); ++v) {
      if (shared_[at(v)] && !fixed[at(v)]) continue;
      shared_[at(v)] = 0;
      for (std::size_t c = 0; c < d; ++c) weights.block(weights.pattern().diagonal(v))[c * d + c] = 1;
    }
    consensus_.update(weights);
  }

  void share(Vector& whole) {
    Vector right(whole.size()), places(whole.size());
    for (Part& part : parts_) part.add_pull(right);
    for (std::size_t v = 0; v < shared_.size(); ++v)
      if (!shared_[v]) std::fill_n(&right[d * v], d, 0.0);
    consensus_.apply(right, places);
    for (std::size_t v = 0; v < shared_.size(); ++v)
      if (shared_[v]) std::copy_n(&places[d * v], d, &whole[d * v]);
  }

  std::vector<double> lumped_masses() const {
    matter::SolidDescription made;
    made.mesh = &body_.mesh;
    made.materials = body_.materials;
    made.material_of_element = body_.material_of_element;
    made.density_of_material = body_.density_of_material;
    const auto masses = matter::make_solid_objective(made);
    return {masses->masses().begin(), masses->masses().end()};
  }

  const matter::SolidBody& body_;
  double inertia_;
  PenaltyAdmmOptions options_;
  std::vector<Part> parts_;
  std::vector<std::uint8_t> shared_;  // nodes of interfaces that are free
  linalg::Cholesky consensus_;
};

}  // namespace

std::unique_ptr<optimize::Minimizer> make_penalty_admm(const matter::SolidBody& body, double h,
                                                       const PenaltyAdmmOptions& options) {
  return std::make_unique<PenaltyAdmm>(body, h, options);
}

}  // namespace lope::bench
