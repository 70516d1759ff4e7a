// Where surfaces that barriers keep apart cross, told exactly.
#pragma once

#include <lope/geometry/crossings.h>
#include <lope/matter/contact/contact_surface.h>
#include <lope/matter/nodal_matter.h>
#include <lope/step/simulation.h>

#include <vector>

namespace lope {

// Edges that pass through triangles (in the plane: edges that cross) of all bodies and obstacles that have surfaces; obstacles may
// lie in each other.
inline std::size_t count_crossings(const step::Simulation& simulation) {
  const step::Model& model = simulation.model();
  std::vector<matter::SelfContactBody> bodies;
  std::vector<const geometry::Mesh*> obstacles;
  std::vector<Vec3> points;
  int dimension = 3;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const auto& body = as<matter::NodalBody>(model.bodies[b]);
    const matter::SelfContactBody surface = body.contact_body();
    if (!surface.mesh) continue;
    bodies.push_back(surface);
    dimension = body.dimension;
    const std::vector<double>& x = simulation.state().nodes(b).x;
    for (std::size_t i = 0; i < surface.mesh->vertices.size(); ++i)
      points.push_back(matter::node(x, i, dimension));
  }
  for (const step::Obstacle& o : model.obstacles) {
    if (!o.surface) continue;
    obstacles.push_back(o.surface.get());
    const geometry::RigidPose pose = o.pose(simulation.state().time);
    for (const Vec3& v : o.surface->vertices) points.push_back(pose.place(v));
  }
  const matter::ContactSurface surface = matter::make_contact_surface(dimension, bodies, obstacles, 0);
  const auto of_obstacle = [&](int node) { return node >= surface.body_nodes; };
  const auto edge_of_obstacle = [&](int edge) {
    return of_obstacle(surface.edges[static_cast<std::size_t>(edge)][0]);
  };
  std::size_t count = 0;
  if (dimension == 2) {
    for (const auto& [one, other] : geometry::find_planar_crossings(points, surface.edges))
      count += edge_of_obstacle(one) && edge_of_obstacle(other) ? 0 : 1;
  } else {
    for (const geometry::Crossing& crossing :
         geometry::find_crossings(points, surface.edges, surface.triangles)) {
      const int node = surface.triangles[static_cast<std::size_t>(crossing.triangle)][0];
      count += edge_of_obstacle(crossing.edge) && of_obstacle(node) ? 0 : 1;
    }
  }
  return count;
}

}  // namespace lope
