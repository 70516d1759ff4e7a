#include <lope/geometry/partition.h>
#include <lope/linalg/cholesky.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/space.h>
#include <lope/matter/step_objective.h>
#include <lope/optimize/line_search.h>
#include <lope/optimize/recorder.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <papers/decomposition.h>

namespace lope::bench {
namespace {

using optimize::Outcome;
using Set = std::vector<int>;

constexpr double in_doubt = 4;  // directions this many accuracies long are worth an estimate

// The principal submatrix on a set of rows, factorised.
class LocalFactor {
 public:
  bool update(const linalg::BlockMatrix& matrix, const Set& rows) {
    const auto b = static_cast<std::size_t>(matrix.block_size());
    if (!local_) {
      const Set sets[] = {rows};
      auto sum = matrix.pattern().direct_sum(sets);
      local_.emplace(sum.pattern, matrix.block_size());
      slots_ = std::move(sum.slot);
    }
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      std::copy_n(matrix.block(slots_[k]), b * b, local_->block(static_cast<std::int64_t>(k)));
    }
    right_.resize(rows.size() * b);
    solution_.resize(right_.size());
    return factor_.update(*local_);
  }
  std::span<double> right() { return right_; }
  const std::vector<double>& solve() {
    factor_.apply(right_, solution_);
    return solution_;
  }

 private:
  std::optional<linalg::BlockMatrix> local_;
  std::vector<std::int64_t> slots_;
  linalg::Cholesky factor_;
  std::vector<double> right_, solution_;
};

void gather(const Set& rows, std::size_t b, std::span<const double> from, std::span<double> to) {
  for (std::size_t k = 0; k < rows.size(); ++k)
    std::copy_n(from.data() + static_cast<std::size_t>(rows[k]) * b, b, to.data() + k * b);
}

// Whether the minimisation is over, for methods that know a gradient and the length of their last movement.
class Test {
 public:
  Test(optimize::Objective& objective, const optimize::MinimizerOptions& options)
      : objective_(objective),
        options_(options),
        tolerance_(optimize::resolved_tolerance(options.stopping, objective)),
        gradient(objective.size()),
        recorder(options, tolerance_),
        error_(objective.size()) {}

  void evaluate(std::span<const double> x) {
    const ScopedTimer timer(recorder.timings().evaluate);
    objective_.move_to(x);
    value = objective_.value();
    objective_.gradient(gradient);
    gradient_norm = linalg::norm(gradient);
  }

  bool done(double movement) {
    if (options_.stopping.test != optimize::StoppingTest::Displacement) {
      measure = optimize::gradient_measure(options_.stopping.test, objective_, gradient);
      return measure <= tolerance_;
    }
    measure = gradient_norm == 0 ? 0 : movement;
    if (measure > in_doubt * tolerance_ || recorder.iterations() < next_estimate_) return gradient_norm == 0;
    const ScopedTimer timer(recorder.timings().solve);
    next_estimate_ = recorder.iterations() + std::max(1, recorder.iterations() / 4);
    jacobi_.update(objective_.hessian(optimize::HessianKind::Projected));
    const auto estimate =
        optimize::estimate_displacement(objective_.hessian(optimize::HessianKind::Raw), jacobi_, cg_,
                                        gradient, error_, options_.max_linear_iterations);
    recorder.count_solve(estimate.iterations);
    if (!estimate.trustworthy) return false;
    measure = estimate.largest;
    return measure <= tolerance_;
  }

  // Records the iterate; true when it is the last one.
  bool ends(std::span<const double> x, bool done_here, optimize::MinimizerSummary& summary) {
    recorder.record(value, gradient_norm, measure, x);
    if (done_here) {
      summary = recorder.finish(Outcome::Converged, "");
    } else if (recorder.iterations() >= options_.max_iterations) {
      summary = recorder.finish(Outcome::IterationLimit,
                                fmt::format("not converged after {} iterations", options_.max_iterations));
    } else {
      return false;
    }
    return true;
  }

 private:
  optimize::Objective& objective_;
  const optimize::MinimizerOptions& options_;
  double tolerance_;

 public:
  std::vector<double> gradient;
  optimize::Recorder recorder;
  double value = 0, gradient_norm = 0, measure = 0;

 private:
  linalg::BlockJacobi jacobi_;
  linalg::ConjugateGradient cg_;
  std::vector<double> error_;
  int next_estimate_ = 0;
};

class Decomposition final : public optimize::Minimizer {
 public:
  Decomposition(Sweep sweep, int subdomains) : sweep_(sweep), subdomains_(subdomains) {}

  optimize::MinimizerSummary minimize(optimize::Objective& objective, std::span<double> x,
                                      const optimize::MinimizerOptions& options) override {
    Test test(objective, options);
    optimize::MinimizerSummary summary;
    test.evaluate(x);
    if (!take_matrix(objective, test))
      return test.recorder.finish(Outcome::Failed, "a subdomain's matrix is not positive definite");
    std::vector<double> direction(x.size()), trial(x.size());
    while (true) {
      objective.begin_iteration();
      {
        const ScopedTimer timer(test.recorder.timings().solve);
        sweep_ == Sweep::Jacobi ? jacobi(test.gradient, direction) : gauss_seidel(test.gradient, direction);
        test.recorder.count_solve(0);
      }
      if (test.ends(x, test.done(linalg::max_block_norm(direction, objective.block_size())), summary))
        return summary;
      const ScopedTimer timer(test.recorder.timings().evaluate);
      const optimize::LineSearchStart from{x, direction, test.value, linalg::dot(test.gradient, direction)};
      if (!(from.slope < 0))
        return test.recorder.finish(Outcome::LineSearchStalled, "the sweep is not a direction of descent");
      const auto found = line_search_.backtrack(objective, from, {}, trial);
      if (!found.success)
        return test.recorder.finish(Outcome::LineSearchStalled,
                                    "no step along the direction lowers the energy");
      test.recorder.count_step(found.step, found.evaluations);
      linalg::copy(trial, x);
      test.value = found.value;
      objective.gradient(test.gradient);
      test.gradient_norm = linalg::norm(test.gradient);
    }
  }

 private:
  bool take_matrix(optimize::Objective& objective, Test& test) {
    block_ = static_cast<std::size_t>(objective.block_size());
    if (sets_.empty()) {
      sets_ = objective.cover(subdomains_);
      factors_.resize(sets_.size());
      copies_.assign(objective.size() / block_, 0);
      for (const Set& set : sets_) {
        for (const int row : set) ++copies_[static_cast<std::size_t>(row)];
      }
    }
    const linalg::BlockMatrix* hessian = nullptr;
    {
      const ScopedTimer timer(test.recorder.timings().hessian);
      hessian = &objective.hessian(optimize::HessianKind::Projected);
    }
    matrix_.emplace(*hessian);
    const ScopedTimer timer(test.recorder.timings().factorize);
    bool good = !sets_.empty();
    for (std::size_t j = 0; j < sets_.size(); ++j) good = factors_[j].update(*matrix_, sets_[j]) && good;
    return good;
  }

  void jacobi(const std::vector<double>& gradient, std::vector<double>& direction) {
    linalg::fill(direction, 0);
    for (std::size_t j = 0; j < sets_.size(); ++j) {
      gather(sets_[j], block_, gradient, factors_[j].right());
      const std::vector<double>& answer = factors_[j].solve();
      for (std::size_t k = 0; k < sets_[j].size(); ++k) {
        const auto row = static_cast<std::size_t>(sets_[j][k]);
        for (std::size_t c = 0; c < block_; ++c)
          direction[row * block_ + c] -= answer[k * block_ + c] / copies_[row];
      }
    }
  }

  // The residual of H d = −g, kept up to date while the subdomains answer one after another.
  void gauss_seidel(const std::vector<double>& gradient, std::vector<double>& direction) {
    linalg::fill(direction, 0);
    residual_.resize(gradient.size());
    linalg::combine(-1, gradient, 0, residual_);
    for (std::size_t j = 0; j < sets_.size(); ++j) {
      gather(sets_[j], block_, residual_, factors_[j].right());
      const std::vector<double>& answer = factors_[j].solve();
      for (std::size_t k = 0; k < sets_[j].size(); ++k)
        add_answer(static_cast<std::size_t>(sets_[j][k]), answer.data() + k * block_, direction);
    }
  }

  void add_answer(std::size_t row, const double* answer, std::vector<double>& direction) {
    for (std::size_t c = 0; c < block_; ++c) direction[row * block_ + c] += answer[c];
    const auto& pattern = matrix_->pattern();
    for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
      const double* block = matrix_->block(slot);  // of (row, column); (column, row) is its transpose
      double* r = residual_.data() +
                  static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)]) * block_;
      for (std::size_t a = 0; a < block_; ++a) {
        for (std::size_t c = 0; c < block_; ++c) r[a] -= block[c * block_ + a] * answer[c];
      }
    }
  }

  Sweep sweep_;
  int subdomains_;
  std::size_t block_ = 0;
  std::vector<Set> sets_;
  std::vector<LocalFactor> factors_;
  std::vector<int> copies_;
  std::optional<linalg::BlockMatrix> matrix_;
  std::vector<double> residual_;
  optimize::LineSearch line_search_;
};

// One subdomain of the penalty-weighted ADMM: its own elements and masses, copies of its nodes.
struct Part {
  geometry::Mesh mesh;  // must outlive the objective
  Set nodes;            // global numbers, ascending
  std::unique_ptr<matter::StepObjective> objective;
  std::vector<double> target;  // x̂ of its nodes
  std::vector<std::uint8_t> fixed;
  LocalFactor factor;        // H_j + K_j: the principal submatrix of the whole H
  std::vector<double> x, u;  // copies, scaled multipliers (0 away from the interface)
  std::vector<double> gap, force, trial, gradient;
  std::optional<linalg::BlockMatrix> neighbours;  // K_j on its nodes: H − H_j at pairs of interface nodes
};

class PenaltyAdmm final : public optimize::Minimizer {
 public:
  PenaltyAdmm(const step::Model& model, const step::State& state, std::span<const std::uint8_t> fixed,
              double h, int subdomains)
      : solid_(model.solids[0]), inertia_(1 / (h * h)), fixed_(fixed.begin(), fixed.end()) {
    target_ = state.bodies[0].x;
    for (std::size_t k = 0; k < target_.size(); ++k) {
      target_[k] += h * state.bodies[0].v[k] + h * h * model.gravity[static_cast<Eigen::Index>(k % 3)];
    }
    divide(subdomains);
  }

  optimize::MinimizerSummary minimize(optimize::Objective& objective, std::span<double> x,
                                      const optimize::MinimizerOptions& options) override {
    Test test(objective, options);
    optimize::MinimizerSummary summary;
    test.evaluate(x);
    if (parts_.empty() || !start(objective, x, test)) {
      return test.recorder.finish(Outcome::Failed, "a subdomain's matrix is not positive definite");
    }
    double movement = std::numeric_limits<double>::infinity();
    std::vector<double> next(x.size());
    while (true) {
      objective.begin_iteration();
      if (test.ends(x, test.done(movement), summary)) return summary;
      {
        const ScopedTimer timer(test.recorder.timings().solve);
        linalg::copy(x, next);
        for (Part& part : parts_) advance(part, x);  // each in parallel within itself
        join(next);
        test.recorder.count_solve(0);
      }
      test.recorder.count_step(1, 1);
      linalg::add_scaled(next, -1, x, difference_);
      movement = linalg::max_block_norm(difference_, 3);
      linalg::copy(next, x);
      test.evaluate(x);
    }
  }

 private:
  void divide(int subdomains) {
    const auto part_of = geometry::partition_elements(solid_.mesh, subdomains);
    if (!part_of) return;
    copies_.assign(solid_.mesh.vertices.size(), 0);
    difference_.resize(target_.size());
    parts_ = std::vector<Part>(static_cast<std::size_t>(subdomains));
    for (std::size_t e = 0; e < solid_.mesh.tetrahedra.size(); ++e) {
      Part& part = parts_[static_cast<std::size_t>((*part_of)[e])];
      part.mesh.tetrahedra.push_back(solid_.mesh.tetrahedra[e]);
      part.nodes.insert(part.nodes.end(), solid_.mesh.tetrahedra[e].begin(), solid_.mesh.tetrahedra[e].end());
    }
    std::erase_if(parts_, [](const Part& part) { return part.nodes.empty(); });
    for (Part& part : parts_) number(part);
  }

  // Local numbers, the part's own objective.
  void number(Part& part) {
    std::sort(part.nodes.begin(), part.nodes.end());
    part.nodes.erase(std::unique(part.nodes.begin(), part.nodes.end()), part.nodes.end());
    for (const int node : part.nodes) {
      const auto i = static_cast<std::size_t>(node);
      part.mesh.vertices.push_back(solid_.mesh.vertices[i]);
      part.target.insert(part.target.end(), target_.begin() + 3 * node, target_.begin() + 3 * node + 3);
      part.fixed.push_back(fixed_[i]);
      ++copies_[i];
    }
    for (auto& tetrahedron : part.mesh.tetrahedra) {
      for (int& node : tetrahedron) {
        node = static_cast<int>(std::lower_bound(part.nodes.begin(), part.nodes.end(), node) -
                                part.nodes.begin());
      }
    }
    matter::SolidDescription description;
    description.mesh = &part.mesh;
    description.materials = solid_.materials;
    description.density_of_material = solid_.density_of_material;
    part.objective = matter::make_solid_objective(description);
    for (auto* work : {&part.x, &part.u, &part.gap, &part.force, &part.trial, &part.gradient})
      work->assign(3 * part.nodes.size(), 0.0);
  }

  bool on_interface(int node) const {
    return copies_[static_cast<std::size_t>(node)] > 1 && !fixed_[static_cast<std::size_t>(node)];
  }

  // Takes all matrices at x.
  bool start(optimize::Objective& objective, std::span<const double> x, Test& test) {
    const linalg::BlockMatrix whole = objective.hessian(optimize::HessianKind::Projected);
    const ScopedTimer timer(test.recorder.timings().factorize);
    bool good = true;
    for (Part& part : parts_) {
      gather(part.nodes, 3, x, part.x);
      linalg::fill(part.u, 0);
      part.objective->begin_step({inertia_, part.target, 0, part.target, part.x, part.fixed});
      part.objective->move_to(part.x);
      take_neighbours(part, whole);
      good = part.factor.update(whole, part.nodes) && good;
    }
    return good && factorize_interface(whole);
  }

  // K_j (eq. 9).
  void take_neighbours(Part& part, const linalg::BlockMatrix& whole) {
    const linalg::BlockMatrix& own = part.objective->hessian(optimize::HessianKind::Projected);
    part.neighbours.emplace(own);
    const auto& pattern = own.pattern();
    for (int row = 0; row < pattern.rows(); ++row) {
      const int global = part.nodes[static_cast<std::size_t>(row)];
      for (std::int64_t slot = pattern.row_start()[static_cast<std::size_t>(row)];
           slot < pattern.row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
        const int other =
            part.nodes[static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)])];
        double* block = part.neighbours->block(slot);
        const bool counts = on_interface(global) && on_interface(other);
        const double* all = counts ? whole.block(whole.pattern().slot(global, other)) : nullptr;
        for (int k = 0; k < 9; ++k) block[k] = counts ? all[k] - own.block(slot)[k] : 0.0;
      }
    }
  }

  // Σ K_j over the interface; the identity elsewhere.
  bool factorize_interface(const linalg::BlockMatrix& whole) {
    if (!interface_) interface_.emplace(whole);
    interface_->set_zero();
    for (const Part& part : parts_) {
      const auto& pattern = part.neighbours->pattern();
      for (int row = 0; row < pattern.rows(); ++row) {
        for (std::int64_t slot = pattern.row_start()[static_cast<std::size_t>(row)];
             slot < pattern.row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
          const int other =
              part.nodes[static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)])];
          double* block =
              interface_->block(interface_->pattern().slot(part.nodes[static_cast<std::size_t>(row)], other));
          for (int k = 0; k < 9; ++k) block[k] += part.neighbours->block(slot)[k];
        }
      }
    }
    std::vector<std::uint8_t> elsewhere(copies_.size());
    for (std::size_t i = 0; i < copies_.size(); ++i) elsewhere[i] = on_interface(static_cast<int>(i)) ? 0 : 1;
    double largest = 0;
    for (const double v : interface_->values()) largest = std::max(largest, std::abs(v));
    interface_->make_identity(elsewhere, largest > 0 ? largest : 1);
    return interface_factor_.update(*interface_);
  }

  // E_j(x_j) + ½|x_j − x_Γ + u|²_{K_j}; leaves K_j(x_j − x_Γ + u) in part.force.
  static double value(Part& part, const std::vector<double>& point, std::span<const double> common) {
    for (std::size_t k = 0; k < point.size(); ++k) {
      part.gap[k] = point[k] - common[static_cast<std::size_t>(part.nodes[k / 3]) * 3 + k % 3] + part.u[k];
    }
    part.neighbours->multiply(part.gap, part.force);
    part.objective->move_to(point);
    return part.objective->value() + 0.5 * linalg::dot(part.gap, part.force);
  }

  // One Newton step of the subdomain's problem.
  static void advance(Part& part, std::span<const double> common) {
    const double before = value(part, part.x, common);
    part.objective->gradient(part.gradient);
    const std::span<double> right = part.factor.right();
    for (std::size_t k = 0; k < right.size(); ++k)
      right[k] = part.fixed[k / 3] ? 0.0 : -part.gradient[k] - part.force[k];
    const std::vector<double>& step = part.factor.solve();
    const double slope = -linalg::dot(right, step);
    double length = 1;
    for (int halving = 0; halving < 20; ++halving, length /= 2) {
      linalg::add_scaled(part.x, length, step, part.trial);
      if (value(part, part.trial, common) <= before + 1e-4 * length * slope) {
        part.x.swap(part.trial);
        return;
      }
    }
  }

  // x_Γ from (Σ K_j) x_Γ = Σ K_j (x_j + u_j); inside, a node is where its only copy is; then the multipliers.
  void join(std::vector<double>& next) {
    std::vector<double> right(next.size(), 0.0), answer(next.size());
    for (Part& part : parts_) {
      linalg::add_scaled(part.x, 1, part.u, part.gap);
      part.neighbours->multiply(part.gap, part.force);
      for (std::size_t k = 0; k < part.force.size(); ++k)
        right[static_cast<std::size_t>(part.nodes[k / 3]) * 3 + k % 3] += part.force[k];
    }
    interface_factor_.apply(right, answer);
    for (Part& part : parts_) {
      for (std::size_t k = 0; k < part.x.size(); ++k) {
        const int node = part.nodes[k / 3];
        const std::size_t at = static_cast<std::size_t>(node) * 3 + k % 3;
        if (on_interface(node)) {
          next[at] = answer[at];
          part.u[k] += part.x[k] - answer[at];
        } else if (!part.fixed[k / 3]) {
          next[at] = part.x[k];
        }
      }
    }
  }

  const step::SolidBody& solid_;
  double inertia_;
  std::vector<std::uint8_t> fixed_;
  std::vector<double> target_;
  std::vector<int> copies_;
  std::vector<Part> parts_;
  std::optional<linalg::BlockMatrix> interface_;
  linalg::Cholesky interface_factor_;
  std::vector<double> difference_;
};

}  // namespace

std::unique_ptr<optimize::Minimizer> make_penalty_admm(const step::Model& model, const step::State& state,
                                                       std::span<const std::uint8_t> fixed, double h,
                                                       int subdomains) {
  return std::make_unique<PenaltyAdmm>(model, state, fixed, h, subdomains);
}

std::unique_ptr<optimize::Minimizer> make_decomposition(Sweep sweep, int subdomains) {
  return std::make_unique<Decomposition>(sweep, subdomains);
}

}  // namespace lope::bench
