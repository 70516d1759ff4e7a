#include <lope/geometry/crossings.h>
#include <lope/matter/contact/contact_surface.h>
#include <lope/matter/nodal_matter.h>
#include <lope/scene/tangles.h>

#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// All surfaces that barriers see, of one dimension.
struct Surfaces {
  std::vector<matter::SelfContactBody> bodies;
  std::vector<const geometry::Mesh*> obstacles;
  std::vector<Vec3> points;
  std::vector<std::string> names;
  std::vector<bool> with_itself, with_others, is_obstacle;
};

// `positions` of a body by its number in the model, obstacles at `time`; bodies meet each other only if `between_bodies`.
template <class Positions>
Surfaces gather(const step::Model& model, int dimension, bool between_bodies, double time, const Positions& positions) {
  Surfaces all;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const auto* body = dynamic_cast<const matter::NodalBody*>(model.bodies[b].get());
    if (!body || body->dimension != dimension || !body->contact_body().mesh) continue;
    all.bodies.push_back(body->contact_body());
    const std::vector<Vec3> points = positions(b, *body);
    all.points.insert(all.points.end(), points.begin(), points.end());
    all.names.push_back(body->called());
    all.with_itself.push_back(between_bodies && body->self_contact);
    all.with_others.push_back(between_bodies && body->touches_others);
    all.is_obstacle.push_back(false);
  }
  for (const step::Obstacle& obstacle : model.obstacles) {
    if (!obstacle.surface) continue;
    all.obstacles.push_back(obstacle.surface.get());
    const geometry::RigidPose pose = obstacle.pose(time);
    for (const Vec3& v : obstacle.surface->vertices) all.points.push_back(pose.place(v));
    all.names.push_back(fmt::format("obstacle '{}'", obstacle.name));
    all.with_itself.push_back(false);
    all.with_others.push_back(false);
    all.is_obstacle.push_back(true);
  }
  return all;
}

std::vector<Tangle> tangles_of(const Surfaces& all, int dimension) {
  const bool may_meet = std::any_of(all.with_itself.begin(), all.with_itself.end(), [](bool itself) { return itself; }) ||
                        std::any_of(all.with_others.begin(), all.with_others.end(), [](bool others) { return others; });
  if (all.bodies.empty() || (!may_meet && all.obstacles.empty())) return {};
  const matter::ContactSurface surface = matter::make_contact_surface(dimension, all.bodies, all.obstacles, 0);
  std::map<std::array<int, 2>, Tangle> found;
  const auto add = [&](int edge_node, int other_node) {
    int a = surface.owner[static_cast<std::size_t>(edge_node)], b = surface.owner[static_cast<std::size_t>(other_node)];
    if (a > b) std::swap(a, b);
    const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
    const bool matters = a == b ? all.with_itself[first]
                                : all.is_obstacle[first] != all.is_obstacle[second] ||
                                      (all.with_others[first] && all.with_others[second]);
    if (!matters) return;
    Tangle& tangle = found[{a, b}];
    if (tangle.crossings++ > 0) return;
    tangle.first = all.names[first];
    tangle.second = all.names[second];
    tangle.place = all.points[static_cast<std::size_t>(edge_node)];
  };
  if (dimension == 3) {
    for (const geometry::Crossing& c : geometry::find_crossings(all.points, surface.edges, surface.triangles))
      add(surface.edges[static_cast<std::size_t>(c.edge)][0], surface.triangles[static_cast<std::size_t>(c.triangle)][0]);
  } else {
    for (const auto& [a, b] : geometry::find_planar_crossings(all.points, surface.edges))
      add(surface.edges[static_cast<std::size_t>(a)][0], surface.edges[static_cast<std::size_t>(b)][0]);
  }
  std::vector<Tangle> result;
  for (auto& [owners, tangle] : found) result.push_back(std::move(tangle));
  return result;
}

}  // namespace

std::vector<Tangle> find_tangles(const step::Model& model) {
  const bool between_bodies = model.body_contact.model == step::BodyContactModel::Barrier;
  const auto at_start = [](std::size_t, const matter::NodalBody& body) {
    return body.initial_positions.empty() ? body.rest_positions() : body.initial_positions;
  };
  std::vector<Tangle> result;
  for (const int dimension : {3, 2}) {
    const std::vector<Tangle> found = tangles_of(gather(model, dimension, between_bodies, 0, at_start), dimension);
    result.insert(result.end(), found.begin(), found.end());
  }
  return result;
}

std::vector<Tangle> find_tangles(const step::Simulation& simulation) {
  const auto now = [&](std::size_t b, const matter::NodalBody& body) {
    std::vector<Vec3> points;
    for (std::size_t i = 0; i < body.rest_positions().size(); ++i)
      points.push_back(matter::node(simulation.state().nodes(b).x, i, body.dimension));
    return points;
  };
  std::vector<Tangle> result;
  for (const int dimension : {3, 2}) {
    const std::vector<Tangle> found =
        tangles_of(gather(simulation.model(), dimension, true, simulation.state().time, now), dimension);
    result.insert(result.end(), found.begin(), found.end());
  }
  return result;
}

std::string describe(const Tangle& tangle) {
  const std::string with = tangle.first == tangle.second ? "itself" : tangle.second;
  return fmt::format(
      "{} starts tangled with {}: {} edges pass through its surface, one of them near ({:.4g}, {:.4g}, {:.4g}); barriers keep apart "
      "what starts apart: move one of them, or say contact.model = \"penalty\"",
      tangle.first, with, tangle.crossings, tangle.place[0], tangle.place[1], tangle.place[2]);
}

}  // namespace lope::scene
