#include <lope/base/parallel.h>
#include <lope/matter/mpm/boundary.h>

#include <algorithm>

namespace lope::matter::mpm {
namespace {

constexpr double same_direction = 1e-3;  // what is left of a normal that adds nothing to those before it

}  // namespace

template <int Dim>
void Conditions<Dim>::set(const Grid<Dim>& grid, const World& world, std::span<const Boundary> kinds,
                          std::span<const ScriptedNode<Dim>> scripted, double time, double h) {
  const std::size_t count = grid.nodes();
  fixed_.assign(count, 0);
  sticky_.clear();
  contacts_.clear();
  largest_ = 0;
  for (const ScriptedNode<Dim>& node : scripted) {
    fixed_[static_cast<std::size_t>(node.number)] = 1;
    sticky_.emplace_back(node.number, node.displacement);
    largest_ = std::max(largest_, node.displacement.norm());
  }
  std::vector<double> depth(count);
  for (std::size_t k = 0; k < world.obstacles.size(); ++k) {
    const Obstacle& obstacle = world.obstacles[k];
    const geometry::RigidPose before = obstacle.pose(time), after = obstacle.pose(time + h);
    parallel_for(count, 1024, [&](std::size_t i) {
      depth[i] = obstacle.shape->value(before.unplace(in_space<Dim>(grid.position(i))));
    });
    for (std::size_t i = 0; i < count; ++i) {
      if (!(depth[i] < 0) || fixed_[i]) continue;
      const Vec3 x = in_space<Dim>(grid.position(i)), resting = before.unplace(x);
      const Vec<Dim> motion = (after.place(resting) - x).template head<Dim>();
      largest_ = std::max(largest_, motion.norm());
      if (kinds[k] == Boundary::Sticky) {
        fixed_[i] = 1;
        sticky_.emplace_back(static_cast<int>(i), motion);
        continue;
      }
      const Vec<Dim> normal = (after.rotation * obstacle.shape->sample(resting).gradient).template head<Dim>();
      const double size = normal.norm();
      if (!(size > same_direction)) continue;
      contacts_.push_back({static_cast<int>(i), static_cast<int>(k), normal / size, motion, kinds[k] == Boundary::Separating,
                           obstacle.friction, true, false, Vec<Dim>::Zero()});
    }
  }
  std::erase_if(contacts_, [&](const NodeContact<Dim>& c) { return fixed_[static_cast<std::size_t>(c.node)] != 0; });
  std::stable_sort(contacts_.begin(), contacts_.end(),
                   [](const NodeContact<Dim>& a, const NodeContact<Dim>& b) { return a.node < b.node; });
  std::sort(sticky_.begin(), sticky_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  update();
}

// One direction more in which a node follows its obstacle, made orthogonal to those before it.
template <int Dim>
void Conditions<Dim>::fix(const NodeContact<Dim>& contact, const Vec<Dim>& direction, std::size_t first, Mat<Dim>& Q) {
  Vec<Dim> q = direction;
  double value = direction.dot(contact.target);
  for (std::size_t k = first; k < steps_.size(); ++k) {
    const double along = direction.dot(steps_[k].q);
    q -= along * steps_[k].q;
    value -= along * steps_[k].value;
  }
  const double size = q.norm();
  if (size < same_direction) return;
  q /= size;
  steps_.push_back({contact.node, q, value / size});
  Q -= q * q.transpose();
}

// The normals of a node's held contacts are made orthogonal one after another; each fixes one direction more.
template <int Dim>
void Conditions<Dim>::update() {
  steps_.clear();
  projectors_.clear();
  which_.assign(fixed_.size(), -1);
  auto contact = contacts_.begin();
  auto sticky = sticky_.begin();
  while (contact != contacts_.end() || sticky != sticky_.end()) {
    const bool is_sticky = contact == contacts_.end() || (sticky != sticky_.end() && sticky->first < contact->node);
    const int node = is_sticky ? sticky->first : contact->node;
    Mat<Dim> Q = Mat<Dim>::Identity();
    if (is_sticky) {
      for (int a = 0; a < Dim; ++a) steps_.push_back({node, Vec<Dim>::Unit(a), sticky->second[a]});
      Q.setZero();
      ++sticky;
    } else {
      const std::size_t first = steps_.size();
      for (; contact != contacts_.end() && contact->node == node; ++contact) {
        if (!contact->held) continue;
        fix(*contact, contact->normal, first, Q);
        for (int a = 0; contact->stuck && a < Dim; ++a) fix(*contact, Vec<Dim>::Unit(a), first, Q);
      }
      if (steps_.size() == first) continue;
    }
    which_[static_cast<std::size_t>(node)] = static_cast<int>(projectors_.size());
    projectors_.push_back({node, Q});
  }
}

template <int Dim>
void Conditions<Dim>::add_drag(std::span<double> g) const {
  for (const NodeContact<Dim>& contact : contacts_)
    Eigen::Map<Vec<Dim>>(g.data() + static_cast<std::ptrdiff_t>(Dim) * contact.node) -= contact.drag;
}

template <int Dim>
double Conditions<Dim>::drag_energy(std::span<const double> u) const {
  double sum = 0;
  for (const NodeContact<Dim>& contact : contacts_)
    sum -= contact.drag.dot(Eigen::Map<const Vec<Dim>>(u.data() + static_cast<std::ptrdiff_t>(Dim) * contact.node));
  return sum;
}

template <int Dim>
void Conditions<Dim>::apply(std::span<double> u) const {
  for (const Step& step : steps_) {
    Eigen::Map<Vec<Dim>> at(u.data() + static_cast<std::ptrdiff_t>(Dim) * step.node);
    at += step.q * (step.value - step.q.dot(at));
  }
}

template <int Dim>
void Conditions<Dim>::project(std::span<double> g) const {
  for (const Projector& projector : projectors_) {
    Eigen::Map<Vec<Dim>> at(g.data() + static_cast<std::ptrdiff_t>(Dim) * projector.node);
    at = (projector.Q * at).eval();
  }
}

template <int Dim>
void Conditions<Dim>::project_product(std::span<const double> p, std::span<const double> scale, std::span<double> y) const {
  for (const Projector& projector : projectors_) {
    const auto first = static_cast<std::ptrdiff_t>(Dim) * projector.node;
    const Eigen::Map<const Vec<Dim>> along(p.data() + first);
    Eigen::Map<Vec<Dim>> at(y.data() + first);
    at = (projector.Q * at + scale[static_cast<std::size_t>(projector.node)] * (along - projector.Q * along)).eval();
  }
}

template class Conditions<2>;
template class Conditions<3>;

}  // namespace lope::matter::mpm
