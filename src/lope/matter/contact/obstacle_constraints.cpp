#include <lope/base/parallel.h>
#include <lope/math/decompositions.h>
#include <lope/math/positive_part.h>
#include <lope/matter/contact/obstacle_constraints.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include <Eigen/Geometry>

namespace lope::matter {
namespace {

// Cosine of the angle by which the normal of a held pair may turn within one line search.
constexpr double largest_turn = 0.5;

// Normals whose part perpendicular to the others is shorter than this add no direction of their own.
constexpr double independent = 1e-6;

// What a direction was to lead onto a surface touches it within this many times the distance at which others do then: the surface is curved.
constexpr double arrival = 1e5;

// Sine of the angle by which what is held may turn and be the same.
constexpr double another_direction = 0.5;

// Of one active node among the choices: its number, Q and Σ(g′·n)∇²φ.
constexpr std::size_t numbers_per_choice = 1 + 9 + 9;

// The projector onto the directions perpendicular to all normals.
Mat3 tangent_projector(std::span<const ActivePair> pairs) {
  Mat3 tangent = Mat3::Identity();
  for (const ActivePair& pair : pairs) {
    const Vec3 rest = tangent * pair.normal;
    const double length = rest.norm();
    if (length > independent) tangent -= rest * rest.transpose() / (length * length);
  }
  return tangent;
}

}  // namespace

bool ObstacleConstraints::contains(const geometry::Bounds& bounds, const Vec3& x, double margin) {
  return ((x - bounds.min).array() >= -margin).all() && ((bounds.max - x).array() >= -margin).all();
}

ObstacleConstraints::ObstacleConstraints(int dimension, std::size_t nodes, Closeness closeness)
    : dimension_(dimension), nodes_(nodes), closeness_(closeness), touching_(closeness.touching), active_of_node_(nodes, -1), foreseen_(nodes, 0), caught_(nodes, 0) {}

void ObstacleConstraints::begin_step(std::span<const PlacedObstacle> obstacles,
                                     std::span<const std::uint8_t> fixed) {
  assert(fixed.size() == nodes_);
  obstacles_ = obstacles;
  fixed_ = fixed;
  bounds_.clear();
  for (const PlacedObstacle& obstacle : obstacles) bounds_.push_back(obstacle.shape->bounds());
  cautious_ = false;
  revised_ = false;
  std::fill(foreseen_.begin(), foreseen_.end(), std::uint8_t{0});
  clear();
}

void ObstacleConstraints::clear() {
  for (const ActiveNode& active : active_) active_of_node_[static_cast<std::size_t>(active.node)] = -1;
  active_.clear();
  pairs_.clear();
}

std::vector<double> ObstacleConstraints::choices() const {
  std::vector<double> result;
  result.reserve(active_.size() * numbers_per_choice);
  for (const ActiveNode& active : active_) {
    result.push_back(active.node);
    for (const Mat3* matrix : {&active.tangent, &active.curvature})
      result.insert(result.end(), matrix->data(), matrix->data() + 9);
  }
  return result;
}

bool ObstacleConstraints::fits(std::span<const double> choices) const {
  if (choices.size() % numbers_per_choice != 0) return false;
  for (std::size_t k = 0; k < choices.size(); k += numbers_per_choice) {
    if (!(choices[k] >= 0 && choices[k] < static_cast<double>(nodes_))) return false;
  }
  return true;
}

void ObstacleConstraints::choose(std::span<const double> choices) {
  assert(fits(choices));
  clear();
  for (std::size_t k = 0; k < choices.size(); k += numbers_per_choice) {
    ActiveNode& active = active_.emplace_back();
    active.node = static_cast<int>(choices[k]);
    active.tangent = Eigen::Map<const Mat3>(choices.data() + k + 1);
    active.curvature = Eigen::Map<const Mat3>(choices.data() + k + 10);
    active_of_node_[static_cast<std::size_t>(active.node)] = static_cast<int>(active_.size()) - 1;
  }
}

bool ObstacleConstraints::frees_more_than(std::span<const double> choices) const {
  for (std::size_t k = 0; k < choices.size(); k += numbers_per_choice) {
    const Mat3 held = Mat3::Identity() - Eigen::Map<const Mat3>(choices.data() + k + 1);
    const int active = active_of_node_[static_cast<std::size_t>(choices[k])];
    const Mat3 freed = active < 0 ? held : Mat3(active_[static_cast<std::size_t>(active)].tangent * held);
    if (freed.norm() > another_direction) return true;
  }
  return false;
}

Vec3 ObstacleConstraints::point(std::span<const double> x, std::size_t node) const {
  const auto d = static_cast<std::size_t>(dimension_);
  return {x[node * d], x[node * d + 1], dimension_ == 3 ? x[node * d + 2] : 0.0};
}

// The obstacles whose surface or inside may be within `reach` of x.
void ObstacleConstraints::nearby(const Vec3& x, double reach,
                                 std::vector<const geometry::LevelSet*>& out) const {
  out.clear();
  for (std::size_t b = 0; b < obstacles_.size(); ++b) {
    if (contains(bounds_[b], x, reach)) out.push_back(obstacles_[b].shape.get());
  }
}

// What of the obstacles is within `reach` of x, and of which one.
void ObstacleConstraints::gather(const Vec3& x, double reach, std::vector<geometry::LevelSetSample>& features, std::vector<int>& owner) const {
  features.clear();
  owner.clear();
  for (std::size_t b = 0; b < obstacles_.size(); ++b) {
    if (!contains(bounds_[b], x, reach)) continue;
    obstacles_[b].shape->free_features(x, reach, features);
    owner.resize(features.size(), static_cast<int>(b));
  }
}

// Of the touching constraints, those against which −g presses: where the point of the cone of feasible
// directions that is nearest to −g lies on them. Their forces are the multipliers g = Σ force·n in the
// least-squares sense.
void ObstacleConstraints::register_node(std::size_t node, const Vec3& x, const Vec3& g, bool keep,
                                        Registered& out) const {
  const double touching = foreseen_[node] ? arrival * closeness_.revised : touching_;
  thread_local std::vector<geometry::LevelSetSample> features;
  thread_local std::vector<int> owner;
  thread_local std::vector<geometry::LinearConstraint> cone;
  gather(x, touching, features, owner);
  if (features.empty()) return;
  cone.clear();
  for (const auto& feature : features) cone.push_back({feature.gradient.normalized(), 0});
  const double size = g.norm();
  const Vec3 descent = size > 0 ? geometry::nearest_feasible(cone, -g / size) : Vec3::Zero();

  thread_local std::vector<geometry::LevelSetSample> chosen;
  thread_local std::vector<int> chosen_owner;
  chosen.clear();
  chosen_owner.clear();
  for (std::size_t k = 0; k < features.size(); ++k) {
    const bool leaves = cone[k].normal.dot(descent) > 1e-9;
    if (leaves && !keep) continue;
    chosen.push_back(features[k]);
    chosen_owner.push_back(owner[k]);
  }
  if (!chosen.empty()) hold_on(node, x, x, chosen, chosen_owner, g, out);
}

void ObstacleConstraints::hold_on(std::size_t node, const Vec3& x, const Vec3& foot,
                                  std::span<const geometry::LevelSetSample> features, std::span<const int> owner, const Vec3& g,
                                  Registered& out) const {
  ActiveNode active;
  active.node = static_cast<int>(node);
  active.first = out.pairs.size();
  active.point = x;
  Eigen::Matrix<double, 3, Eigen::Dynamic> normals(3, static_cast<Eigen::Index>(features.size()));
  for (std::size_t k = 0; k < features.size(); ++k)
    normals.col(static_cast<Eigen::Index>(k)) = features[k].gradient.normalized();
  const Eigen::VectorXd force = math::least_norm_solution(Eigen::MatrixXd(normals), Eigen::VectorXd(g));
  for (std::size_t k = 0; k < features.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    out.pairs.push_back({active.node, owner[k], normals.col(column), std::max(0.0, force[column]), features[k].hessian});
  }
  active.last = out.pairs.size();
  if (foot != x) {
    active.gap = math::least_norm_solution(Eigen::MatrixXd(normals.transpose()), Eigen::VectorXd(normals.transpose() * (foot - x)));
    active.distance = (foot - x).norm();
  }
  finish(active, out);
}

// What follows from the pairs of a node, the last ones of `out`.
void ObstacleConstraints::finish(ActiveNode active, Registered& out) const {
  const std::span<const ActivePair> pairs = std::span(out.pairs).subspan(active.first);
  active.curvature.setZero();
  for (const ActivePair& pair : pairs) active.curvature += pair.force * pair.curvature;
  active.tangent = tangent_projector(pairs);
  active.last = out.pairs.size();
  out.nodes.push_back(active);
}

std::vector<ObstacleConstraints::Registered> ObstacleConstraints::register_all(std::span<const double> x,
                                                                               std::span<const double> g,
                                                                               bool keep) const {
  std::vector<Registered> parts((nodes_ + nodes_at_once - 1) / nodes_at_once);
  parallel_chunks(nodes_, nodes_at_once, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!fixed_[i]) register_node(i, point(x, i), point(g, i), keep || foreseen_[i], parts[begin / nodes_at_once]);
    }
  });
  return parts;
}

// ‖Qg‖² for the active pairs of `parts`.
double ObstacleConstraints::squared_free_gradient(std::span<const double> g,
                                                  const std::vector<Registered>& parts) const {
  double sum = 0;
  for (const double value : g) sum += value * value;
  for (const Registered& part : parts) {
    for (const ActiveNode& active : part.nodes) {
      const Vec3 all = point(g, static_cast<std::size_t>(active.node));
      sum += (active.tangent * all).squaredNorm() - all.squaredNorm();
    }
  }
  return std::max(sum, 0.0);
}

bool ObstacleConstraints::settle() {
  if (cautious_ || obstacles_.empty()) return false;
  cautious_ = true;
  return true;
}

void ObstacleConstraints::register_active(std::span<const double> x, std::span<const double> g) {
  touching_ = revised_ ? closeness_.revised : closeness_.touching;
  std::vector<Registered> parts = register_all(x, g, false);
  if (cautious_) {
    std::vector<Registered> kept = register_all(x, g, true);
    const double free = squared_free_gradient(g, kept);
    if (squared_free_gradient(g, parts) - free <= free) parts = std::move(kept);
  }
  take(parts);
  revised_ = false;
  std::fill(foreseen_.begin(), foreseen_.end(), std::uint8_t{0});
  std::fill(caught_.begin(), caught_.end(), std::uint8_t{0});
}

void ObstacleConstraints::take(const std::vector<Registered>& parts) {
  clear();
  for (const Registered& part : parts) {
    const std::size_t offset = pairs_.size();
    for (ActiveNode active : part.nodes) {
      active_of_node_[static_cast<std::size_t>(active.node)] = static_cast<int>(active_.size());
      active.first += offset;
      active.last += offset;
      active_.push_back(active);
    }
    pairs_.insert(pairs_.end(), part.pairs.begin(), part.pairs.end());
  }
}

// Newton's method onto the intersection of the held surfaces: one step is exact for one smooth obstacle, the
// second removes its rounding.
Vec3 ObstacleConstraints::hold(const ActiveNode& active, const Vec3& x) const {
  thread_local std::vector<geometry::LevelSetSample> features;
  Vec3 y = x;
  for (int iteration = 0; iteration < 8; ++iteration) {
    Eigen::Matrix<double, 3, Eigen::Dynamic> normals(3, 0);
    std::vector<double> gaps;
    for (std::size_t k = active.first; k < active.last; ++k) {
      const ActivePair& pair = pairs_[k];
      const double reach = active.distance + (y - active.point).norm() * (1 + 1e-9) + 2 * std::max(touching_, arrival * closeness_.revised);
      features.clear();
      obstacles_[static_cast<std::size_t>(pair.obstacle)].shape->free_features(y, reach, features);
      const auto turned = [&](const auto& feature) { return feature.gradient.dot(pair.normal); };
      const auto same = std::max_element(features.begin(), features.end(),
                                         [&](const auto& a, const auto& b) { return turned(a) < turned(b); });
      if (same == features.end() || turned(*same) < largest_turn) continue;
      normals.conservativeResize(Eigen::NoChange, normals.cols() + 1);
      normals.col(normals.cols() - 1) = same->gradient;
      gaps.push_back(same->value);
    }
    if (gaps.empty()) return y;
    const Eigen::Map<const Eigen::VectorXd> gap(gaps.data(), static_cast<Eigen::Index>(gaps.size()));
    const Vec3 change = normals.cols() == 1
                            ? Vec3(normals.col(0) * gap[0])
                            : Vec3(math::least_norm_solution(Eigen::MatrixXd(normals.transpose()), Eigen::VectorXd(gap)));
    y -= change;
    if (change.norm() <= 1e-15 * (y.norm() + touching_)) break;
  }
  return y;
}

Vec3 ObstacleConstraints::project_node(std::size_t node, const Vec3& x, bool& moved) const {
  thread_local std::vector<const geometry::LevelSet*> near;
  Vec3 y = x;
  const int active = active_of_node_[node];
  moved = false;
  if (active >= 0 && active_[static_cast<std::size_t>(active)].touches()) {
    y = hold(active_[static_cast<std::size_t>(active)], x);
    moved = true;
  }
  double worst = 0;
  for (std::size_t b = 0; b < obstacles_.size(); ++b) {
    if (contains(bounds_[b], y, 0)) worst = std::max(worst, -obstacles_[b].shape->value(y));
  }
  if (worst <= 1e-15 * y.cwiseAbs().maxCoeff()) return y;
  moved = true;
  nearby(y, std::numeric_limits<double>::infinity(), near);
  Vec3 feasible = geometry::project_to_free_side(near, y).x;
  if (dimension_ == 2) feasible[2] = 0;
  return feasible;
}

void ObstacleConstraints::project(std::span<double> x) const {
  if (obstacles_.empty()) return;
  parallel_for(nodes_, nodes_at_once, [&](std::size_t i) {
    if (fixed_[i]) return;
    bool moved = false;
    const Vec3 y = project_node(i, point(x, i), moved);
    if (moved) std::copy_n(y.data(), dimension_, x.data() + i * static_cast<std::size_t>(dimension_));
  });
}

// DP at x: I − nnᵀ − φ∇²φ for one violated or held smooth constraint; the tangent space of the surfaces at
// P(x) where there are several.
Mat3 ObstacleConstraints::derivative(std::size_t node, const Vec3& x) const {
  thread_local std::vector<geometry::LevelSetSample> features;
  bool moved = false;
  const Vec3 y = project_node(node, x, moved);
  if (!moved) return Mat3::Identity();
  features.clear();
  int owner = -1, owners = 0;
  for (std::size_t b = 0; b < obstacles_.size(); ++b) {
    if (!contains(bounds_[b], y, touching_)) continue;
    const std::size_t before = features.size();
    obstacles_[b].shape->free_features(y, touching_, features);
    if (features.size() == before) continue;
    owner = static_cast<int>(b);
    ++owners;
  }
  if (owners == 1 && features.size() == 1) {
    const geometry::LevelSetSample at = obstacles_[static_cast<std::size_t>(owner)].shape->sample(x);
    if (std::abs(at.gradient.dot(features[0].gradient)) > 1 - 1e-6) {
      return Mat3::Identity() - at.gradient * at.gradient.transpose() - at.value * at.hessian;
    }
  }
  std::vector<ActivePair> pairs;
  pairs.reserve(features.size());
  for (const auto& feature : features)
    pairs.push_back({static_cast<int>(node), 0, feature.gradient.normalized(), 0, Mat3::Zero()});
  return tangent_projector(pairs);
}

void ObstacleConstraints::project_direction(std::span<const double> x, std::span<double> d) const {
  if (obstacles_.empty()) return;
  const auto b = static_cast<std::size_t>(dimension_);
  parallel_for(nodes_, nodes_at_once, [&](std::size_t i) {
    if (fixed_[i]) return;
    const Vec3 turned = derivative(i, point(x, i)) * point(d, i);
    std::copy_n(turned.data(), b, d.data() + i * b);
  });
}

void ObstacleConstraints::project_gradient(std::span<double> g) const {
  for (const ActiveNode& active : active_) {
    if (active.touches()) project_to_tangent(active, g);
  }
}

void ObstacleConstraints::project_to_tangents(std::span<double> d) const {
  for (const ActiveNode& active : active_) project_to_tangent(active, d);
}

void ObstacleConstraints::project_to_tangent(const ActiveNode& active, std::span<double> d) const {
  const auto i = static_cast<std::size_t>(active.node);
  const Vec3 tangential = active.tangent * point(d, i);
  std::copy_n(tangential.data(), dimension_, d.data() + i * static_cast<std::size_t>(dimension_));
}

Mat3 ObstacleConstraints::curvature(optimize::HessianKind kind, const ActiveNode& active) const {
  const Mat3 inside = -(active.tangent * active.curvature * active.tangent);
  return kind == optimize::HessianKind::Raw ? inside : math::positive_part(inside);
}

namespace {

constexpr std::size_t rows_at_once = 512;

template <int d>
void project_blocks(const std::vector<int>& active_of_node, const auto& tangent_of,
                    linalg::BlockMatrix& hessian) {
  using Block = Eigen::Matrix<double, d, d, Eigen::RowMajor>;
  const auto turn = [&](std::size_t row, std::size_t column, double* values) {
    const int left = active_of_node[row], right = active_of_node[column];
    if (left < 0 && right < 0) return;
    Eigen::Map<Block> block(values);
    if (left >= 0) block = (tangent_of(left).template topLeftCorner<d, d>() * block).eval();
    if (right >= 0) block = (block * tangent_of(right).template topLeftCorner<d, d>()).eval();
  };
  const auto start = hessian.pattern().row_start();
  const auto column = hessian.pattern().column();
  parallel_for(static_cast<std::size_t>(hessian.pattern().rows()), rows_at_once, [&](std::size_t row) {
    for (std::int64_t slot = start[row]; slot < start[row + 1]; ++slot) {
      turn(row, static_cast<std::size_t>(column[static_cast<std::size_t>(slot)]), hessian.block(slot));
    }
  });
  std::vector<linalg::Coupling> couplings;
  for (const linalg::Coupling& coupling : hessian.couplings()) {
    if (coupling.row < coupling.column) couplings.push_back(coupling);
  }
  if (couplings.empty()) return;
  for (linalg::Coupling& coupling : couplings) {
    turn(static_cast<std::size_t>(coupling.row), static_cast<std::size_t>(coupling.column),
         coupling.block.data());
  }
  hessian.set_couplings(couplings);
}

}  // namespace

void ObstacleConstraints::project_hessian(optimize::HessianKind kind, linalg::BlockMatrix& hessian) const {
  if (active_.empty()) return;
  const auto d = static_cast<Eigen::Index>(dimension_);
  using Block = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  const auto diagonal = [&](const ActiveNode& active) {
    return Block(hessian.block(hessian.pattern().diagonal(active.node)), d, d);
  };
  std::vector<double> scale;
  for (const ActiveNode& active : active_) scale.push_back(std::abs(diagonal(active).trace()) / dimension_);
  const auto tangent_of = [&](int k) -> const Mat3& { return active_[static_cast<std::size_t>(k)].tangent; };
  if (dimension_ == 3) {
    project_blocks<3>(active_of_node_, tangent_of, hessian);
  } else {
    project_blocks<2>(active_of_node_, tangent_of, hessian);
  }
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const Mat3 normal = Mat3::Identity() - active_[k].tangent;
    diagonal(active_[k]) += (curvature(kind, active_[k]) + scale[k] * normal).topLeftCorner(d, d);
  }
}

void ObstacleConstraints::add_projectors(std::vector<linalg::RowProjector>& projectors) const {
  if (active_.empty()) return;
  std::erase_if(projectors, [&](const linalg::RowProjector& projector) {
    return active_of_node_[static_cast<std::size_t>(projector.row)] >= 0;
  });
  const auto d = static_cast<std::size_t>(dimension_);
  for (const ActiveNode& active : active_) {
    linalg::RowProjector& projector = projectors.emplace_back();
    projector.row = active.node;
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        projector.block[i * d + j] = active.tangent(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      }
    }
  }
}

void ObstacleConstraints::project_product(optimize::HessianKind kind, std::span<const double> direction,
                                          std::span<const double> p, std::span<double> y) const {
  const auto b = static_cast<std::size_t>(dimension_);
  for (const ActiveNode& active : active_) {
    const auto i = static_cast<std::size_t>(active.node);
    const Vec3 along = point(p, i);
    const Vec3 result =
        active.tangent * point(y, i) + curvature(kind, active) * along + (point(direction, i) - along);
    std::copy_n(result.data(), b, y.data() + i * b);
  }
}

ObstacleConstraints::Penetration ObstacleConstraints::deepest(std::span<const double> x) const {
  Penetration worst;
  for (std::size_t i = 0; i < nodes_; ++i) {
    if (fixed_[i]) continue;
    const Vec3 p = point(x, i);
    for (std::size_t b = 0; b < obstacles_.size(); ++b) {
      if (!contains(bounds_[b], p, 0)) continue;
      const double depth = -obstacles_[b].shape->value(p);
      if (depth > worst.depth) worst = {depth, static_cast<int>(i), static_cast<int>(b)};
    }
  }
  return worst;
}

}  // namespace lope::matter
