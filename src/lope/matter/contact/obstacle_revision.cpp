// Which constraints are active where a direction leads (obstacle_constraints.h).
#include <lope/base/parallel.h>
#include <lope/math/decompositions.h>
#include <lope/matter/contact/obstacle_constraints.h>

#include <algorithm>
#include <limits>

namespace lope::matter {
namespace {

// A node that was caught on its way as many times in one iteration is not released again.
constexpr std::uint8_t most_catches = 3;

// Of the way to a surface, the part by which another one differs.
constexpr double another_way = 0.1;

}  // namespace

void ObstacleConstraints::forget() {
  revised_ = false;
  std::fill(foreseen_.begin(), foreseen_.end(), std::uint8_t{0});
}

// The pairs of an active node that g_end presses. False: there are none.
bool ObstacleConstraints::still_pressed(const ActiveNode& active, const Vec3& g_end, Registered& out) const {
  const std::span<const ActivePair> pairs = std::span(pairs_).subspan(active.first, active.last - active.first);
  Eigen::Matrix<double, 3, Eigen::Dynamic> normals(3, static_cast<Eigen::Index>(pairs.size()));
  for (std::size_t k = 0; k < pairs.size(); ++k) normals.col(static_cast<Eigen::Index>(k)) = pairs[k].normal;
  const Eigen::VectorXd force = math::least_norm_solution(Eigen::MatrixXd(normals), Eigen::VectorXd(g_end));
  const bool stays = caught_[static_cast<std::size_t>(active.node)] >= most_catches;
  ActiveNode next = active;
  next.first = out.pairs.size();
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const double pressed = force[static_cast<Eigen::Index>(k)];
    if (pressed < 0 && !stays) continue;
    out.pairs.push_back(pairs[k]);
    out.pairs.back().force = std::max(0.0, pressed);
  }
  if (out.pairs.size() == next.first) return false;
  finish(next, out);
  return true;
}

// A node on its way into an obstacle is led to where it would be pushed out. False: it does not enter any.
bool ObstacleConstraints::catch_node(std::size_t node, const Vec3& x, const Vec3& end, const Vec3& g_end, Registered& out) const {
  thread_local std::vector<const geometry::LevelSet*> near;
  double worst = 0;
  for (std::size_t b = 0; b < obstacles_.size(); ++b) {
    if (contains(bounds_[b], end, 0)) worst = std::max(worst, -obstacles_[b].shape->value(end));
  }
  if (worst <= touching_) return false;
  nearby(end, std::numeric_limits<double>::infinity(), near);
  Vec3 foot = geometry::project_to_free_side(near, end).x;
  if (dimension_ == 2) foot[2] = 0;
  return lead_to(node, x, foot, g_end, out);
}

// To the surfaces at a point of theirs. False: there are none.
bool ObstacleConstraints::lead_to(std::size_t node, const Vec3& x, const Vec3& foot, const Vec3& g_end, Registered& out) const {
  thread_local std::vector<geometry::LevelSetSample> features;
  thread_local std::vector<int> owner;
  gather(foot, touching_, features, owner);
  if (features.empty()) return false;
  hold_on(node, x, foot, features, owner, g_end, out);
  return true;
}

// One that was caught is led to where the surface is now that it goes elsewhere. True: that is another way.
bool ObstacleConstraints::lead_again(const ActiveNode& active, const Vec3& x, const Vec3& end, const Vec3& g_end, Registered& out) const {
  const ActiveNode before = out.nodes.back();
  const std::size_t first = before.first;
  const std::vector<ActivePair> pairs(out.pairs.begin() + static_cast<std::ptrdiff_t>(first), out.pairs.end());
  out.nodes.pop_back();
  out.pairs.resize(first);
  if (lead_to(static_cast<std::size_t>(active.node), x, hold(active, end), g_end, out))
    return (out.nodes.back().gap - before.gap).norm() > touching_ + another_way * before.gap.norm();
  out.pairs.insert(out.pairs.end(), pairs.begin(), pairs.end());
  out.nodes.push_back(before);
  return false;
}

bool ObstacleConstraints::revise(std::span<const double> x, std::span<const double> d, std::span<const double> g_end) {
  touching_ = closeness_.revised;
  revised_ = true;
  std::vector<Registered> parts((nodes_ + nodes_at_once - 1) / nodes_at_once);
  std::vector<std::uint8_t> changed(parts.size(), 0);
  parallel_chunks(nodes_, nodes_at_once, [&](std::size_t begin, std::size_t end) {
    Registered& out = parts[begin / nodes_at_once];
    std::uint8_t& other = changed[begin / nodes_at_once];
    for (std::size_t i = begin; i < end; ++i) {
      if (fixed_[i]) continue;
      const int active = active_of_node_[i];
      const Vec3 at = point(x, i), force = point(g_end, i);
      if (active >= 0) {
        const std::size_t before = out.pairs.size();
        const ActiveNode& node = active_[static_cast<std::size_t>(active)];
        const bool held = still_pressed(node, force, out);
        other |= out.pairs.size() - before != node.last - node.first;
        if (held && !node.touches()) other |= lead_again(node, at, at + point(d, i), force, out);
      } else if (catch_node(i, at, at + point(d, i), force, out)) {
        ++caught_[i];
        other = 1;
      }
    }
  });
  take(parts);
  std::fill(foreseen_.begin(), foreseen_.end(), std::uint8_t{0});
  for (const ActiveNode& active : active_) foreseen_[static_cast<std::size_t>(active.node)] = 1;
  return std::find(changed.begin(), changed.end(), 1) != changed.end();
}

void ObstacleConstraints::lead(std::span<double> d) const {
  project_to_tangents(d);
  for (const ActiveNode& active : active_) {
    for (int c = 0; c < dimension_; ++c)
      d[static_cast<std::size_t>(active.node) * static_cast<std::size_t>(dimension_) + static_cast<std::size_t>(c)] += active.gap[c];
  }
}

}  // namespace lope::matter
