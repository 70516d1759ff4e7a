// A kind of matter that the library does not know: nodes along a line, springs between neighbours, one of which may be plastic.
// What a new kind of matter has to give (docs/extending.md), in as few lines as possible.
//
//   Φ = Σ_i k/2 (|x_{i+1} − x_i| − l_i)²
//
// A plastic link whose strain exceeds the yield strain at the end of a step takes a new rest length, at which it has just the
// yield strain.
#pragma once

#include <lope/base/errors.h>
#include <lope/geometry/drawable.h>
#include <lope/linalg/space.h>
#include <lope/matter/nodal_matter.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace lope::chain {

// What the chain is. Constant.
class ChainBody final : public matter::NodalBody {
 public:
  std::vector<Vec3> nodes;  // at rest
  double node_mass = 1;     // kg
  double stiffness = 1e3;   // k, N/m
  int plastic_link = -1;    // none
  double yield = 0.1;       // strain

  std::string_view kind() const override { return "chain"; }
  std::unique_ptr<matter::Matter> make(const matter::World& world) const override;
  const std::vector<Vec3>& rest_positions() const override { return nodes; }
};

// All that changes: beside the motion of the nodes, the rest lengths.
struct ChainState final : matter::NodalState {
  std::vector<double> lengths;

  std::vector<ArrayView> arrays() const override {
    std::vector<ArrayView> all = NodalState::arrays();
    all.push_back(view("lengths", lengths));
    return all;
  }
  void read(ArrayReader& reader) override {
    NodalState::read(reader);
    lengths = reader.numbers("lengths");
  }
};

// The function that a step minimises.
class ChainObjective final : public matter::StepObjective {
 public:
  explicit ChainObjective(const ChainBody& body) : body_(body), masses_(body.nodes.size(), body.node_mass) {
    std::vector<int> pairs;
    for (int i = 0; i + 1 < static_cast<int>(body.nodes.size()); ++i) pairs.insert(pairs.end(), {i, i + 1});
    pattern_ = linalg::BlockPattern::from_groups(static_cast<int>(body.nodes.size()), pairs, 2);
    hessian_.emplace(pattern_, 3);
    const double length = (body.nodes.back() - body.nodes.front()).norm();
    scales_.length = length;
    scales_.per_block.assign(body.nodes.size(), body.stiffness * length);
    scales_.global = body.stiffness * length * std::sqrt(static_cast<double>(body.nodes.size()));
  }

  std::vector<double> lengths;  // at rest, in the step to come

  std::size_t size() const override { return 3 * masses_.size(); }
  int block_size() const override { return 3; }
  int dimension() const override { return 3; }
  std::span<const double> masses() const override { return masses_; }
  std::shared_ptr<const linalg::BlockPattern> pattern() const override { return pattern_; }
  std::span<const std::uint8_t> fixed_blocks() const override { return setup_.fixed; }
  const optimize::CharacteristicScales& scales() const override { return scales_; }

  void begin_step(const matter::StepSetup& setup) override { setup_ = setup; }
  void move_to(std::span<const double> x) override { x_.assign(x.begin(), x.end()); }
  double potential() const override {
    double sum = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      sum += 0.5 * body_.stiffness * std::pow(link(i).norm() - lengths[i], 2);
    return sum;
  }
  void potential_gradient(std::span<double> g) const override {
    std::fill(g.begin(), g.end(), 0.0);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const Vec3 d = link(i), pull = body_.stiffness * (1 - lengths[i] / d.norm()) * d;
      for (std::size_t c = 0; c < 3; ++c) {
        g[3 * i + c] -= pull[static_cast<Eigen::Index>(c)];
        g[3 * i + 3 + c] += pull[static_cast<Eigen::Index>(c)];
      }
    }
  }
  double value(double /*give_up_above*/) override {
    double sum = potential();
    for (std::size_t k = 0; k < size(); ++k) {
      if (!setup_.fixed[k / 3])
        sum += 0.5 * setup_.inertia * masses_[k / 3] * std::pow(x_[k] - setup_.target[k], 2);
      if (!setup_.force.empty()) sum -= setup_.force[k] * (x_[k] - setup_.start[k]);
    }
    return sum;
  }
  double value_noise() override { return 1e-14 * (1 + std::abs(value(0))); }
  void gradient(std::span<double> g) override {
    potential_gradient(g);
    for (std::size_t k = 0; k < size(); ++k) {
      g[k] += setup_.inertia * masses_[k / 3] * (x_[k] - setup_.target[k]);
      if (!setup_.force.empty()) g[k] -= setup_.force[k];
      if (setup_.fixed[k / 3]) g[k] = 0;
    }
  }
  // k (nnᵀ + (1 − l/|d|)(I − nnᵀ)) between neighbours; projected: without the negative part, of links under pressure.
  void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& H) const override {
    double* blocks = H.blocks();
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const Vec3 d = link(i), n = d.normalized();
      double across = 1 - lengths[i] / d.norm();
      if (kind == optimize::HessianKind::Projected) across = std::max(across, 0.0);
      const Mat3 k = body_.stiffness * (n * n.transpose() + across * (Mat3::Identity() - n * n.transpose()));
      const auto a = static_cast<int>(i);
      for (const auto& [row, column, sign] :
           {std::tuple{a, a, 1.0}, {a, a + 1, -1.0}, {a + 1, a, -1.0}, {a + 1, a + 1, 1.0}}) {
        double* block = blocks + 9 * pattern_->slot(row, column);
        for (Eigen::Index e = 0; e < 9; ++e) block[e] += sign * k(e / 3, e % 3);
      }
    }
    for (std::size_t i = 0; i < masses_.size(); ++i) {
      double* block = blocks + 9 * pattern_->diagonal(static_cast<int>(i));
      for (const int e : {0, 4, 8}) block[e] += setup_.inertia * masses_[i];
    }
  }
  const linalg::BlockMatrix& hessian(optimize::HessianKind kind) override {
    hessian_->set_zero();
    add_hessian(kind, *hessian_);
    hessian_->make_identity(setup_.fixed, matter::largest_diagonal(*hessian_));
    return *hessian_;
  }
  void hessian_times(optimize::HessianKind kind, std::span<const double> d, std::span<double> y) override {
    hessian(kind).multiply(d, y);
  }
  void add_damping_gradient(std::span<double> /*g*/) const override {}
  int inverted_elements() const override { return 0; }
  std::vector<matter::Field> fields(const matter::FieldFilter& wanted) const override {
    if (!wanted("strain")) return {};
    matter::Field strain{"strain", "", matter::Field::Place::Element, {}, 1};
    for (std::size_t i = 0; i < lengths.size(); ++i) strain.values.push_back(link(i).norm() / lengths[i] - 1);
    return {strain};
  }

 private:
  Vec3 link(std::size_t i) const { return matter::node(x_, i + 1, 3) - matter::node(x_, i, 3); }

  const ChainBody& body_;
  std::vector<double> masses_;
  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::optional<linalg::BlockMatrix> hessian_;
  optimize::CharacteristicScales scales_;
  matter::StepSetup setup_;
  std::vector<double> x_;
};

// What the chain does.
class ChainMatter final : public matter::NodalMatter {
 public:
  ChainMatter(const ChainBody& body, const matter::World& world)
      : NodalMatter(body, world, std::make_unique<ChainObjective>(body)), chain_(body) {
    for (std::size_t i = 0; i + 1 < body.nodes.size(); ++i)
      chain_objective().lengths.push_back((body.nodes[i + 1] - body.nodes[i]).norm());
  }

  Polymorphic<matter::BodyState> start() override {
    ChainState state;
    static_cast<matter::NodalState&>(state) = first_state();
    state.lengths = chain_objective().lengths;
    return state;
  }
  Expected<void> fits(const matter::BodyState& saved) const override {
    const auto* state = dynamic_cast<const ChainState*>(&saved);
    if (!state || state->lengths.size() + 1 != chain_.nodes.size())
      return input_error("chain '{}' has other links in the saved state", chain_.name);
    return NodalMatter::fits(saved);
  }
  void begin_step(const matter::NodalState& from, const matter::StepTimes& step, bool falls_back) override {
    chain_objective().lengths = trial_ = dynamic_cast<const ChainState&>(from).lengths;
    NodalMatter::begin_step(from, step, falls_back);
  }
  void end_step(std::span<const double> x) override {
    NodalMatter::end_step(x);
    if (chain_.plastic_link < 0) return;
    const auto i = static_cast<std::size_t>(chain_.plastic_link);
    const double length = (matter::node(x, i + 1, 3) - matter::node(x, i, 3)).norm();
    const double strain = length / trial_[i] - 1;
    if (std::abs(strain) > chain_.yield) trial_[i] = length / (1 + std::copysign(chain_.yield, strain));
  }
  void commit(matter::BodyState& state) override {
    NodalMatter::commit(state);
    dynamic_cast<ChainState&>(state).lengths.swap(trial_);
  }
  void take_back(matter::BodyState& state) override {
    NodalMatter::take_back(state);
    dynamic_cast<ChainState&>(state).lengths.swap(trial_);
  }
  std::vector<matter::Field> fields(const matter::BodyState& state,
                                    const matter::FieldFilter& wanted) override {
    chain_objective().lengths = dynamic_cast<const ChainState&>(state).lengths;
    return NodalMatter::fields(state, wanted);
  }
  matter::BodyReport report(const matter::BodyState& state, const matter::StepTimes& last) override {
    const auto& lengths = chain_objective().lengths = dynamic_cast<const ChainState&>(state).lengths;
    matter::BodyReport made = NodalMatter::report(state, last);
    made.add("longest_link", "m", *std::max_element(lengths.begin(), lengths.end()));
    return made;
  }
  // Nodes are balls; the strain of a node is the mean of its links'.
  void draw_once(const matter::FieldFilter& /*wanted*/, geometry::Drawable& drawable) const override {
    drawable.points.radius = 0.2 * (chain_.nodes[1] - chain_.nodes[0]).norm();
  }
  void draw(const matter::BodyState& state, double time, const matter::FieldFilter& wanted,
            geometry::Drawable& drawable) override {
    geometry::Drawable nodes;
    NodalMatter::draw(state, time, wanted, nodes);
    drawable.points.positions = std::move(nodes.surface.positions);
    drawable.points.fields = std::move(nodes.surface.vertex_fields);
    for (const geometry::DrawnField& of_links : nodes.surface.element_fields) {
      geometry::DrawnField on_nodes{of_links.name, of_links.unit, 1, std::vector<float>(chain_.nodes.size())};
      for (std::size_t i = 0; i < on_nodes.values.size(); ++i) {
        const std::size_t last = of_links.values.size() - 1;
        on_nodes.values[i] = 0.5F * (of_links.values[i > 0 ? i - 1 : 0] + of_links.values[std::min(i, last)]);
      }
      drawable.points.fields.push_back(std::move(on_nodes));
    }
  }

 private:
  ChainObjective& chain_objective() { return static_cast<ChainObjective&>(objective()); }

  const ChainBody& chain_;
  std::vector<double> trial_;  // rest lengths at the end of the step, or of the one before
};

inline std::unique_ptr<matter::Matter> ChainBody::make(const matter::World& world) const {
  return std::make_unique<ChainMatter>(*this, world);
}

}  // namespace lope::chain
