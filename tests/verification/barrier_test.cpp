// Barriers in whole steps: nothing ever crosses, counted exactly after every step; what is conserved stays so; states and threads give the
// same bits.
#include <lope/base/parallel.h>
#include <lope/geometry/crossings.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/topology.h>
#include <lope/geometry/transform.h>
#include <lope/matter/contact/contact_surface.h>

#include <verification/models.h>

namespace lope::verification {
namespace {

step::Model barrier_model(double h) {
  step::Model model;
  model.step = h;
  model.body_contact.model = step::BodyContactModel::Barrier;
  return model;
}

matter::SolidBody at(geometry::Mesh mesh, const Vec3& place, const Vec3& velocity, double young, int dimension = 3) {
  for (Vec3& v : mesh.vertices) v += place;
  const std::size_t count = mesh.vertices.size();
  matter::SolidBody body = solid(std::move(mesh), dimension, young, 0.4);
  body.initial_velocities.assign(count, velocity);
  body.self_contact = true;
  return body;
}

// All surfaces of a state, the bodies' and the obstacles'.
std::size_t crossings(const step::Simulation& simulation) {
  const step::Model& model = simulation.model();
  std::vector<matter::SelfContactBody> bodies;
  std::vector<matter::SurfaceObstacle> obstacles;
  std::vector<Vec3> points;
  int dimension = 3;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const auto& body = as<matter::SolidBody>(model.bodies[b]);
    bodies.push_back(body.contact_body());
    dimension = body.dimension;
    const std::vector<double>& x = simulation.state().nodes(b).x;
    for (std::size_t i = 0; i < body.mesh.vertices.size(); ++i) points.push_back(matter::node(x, i, dimension));
  }
  for (const step::Obstacle& o : model.obstacles) {
    if (!o.surface) continue;
    obstacles.push_back({o.surface.get(), 0});
    const geometry::RigidPose pose = o.pose(simulation.state().time);
    for (const Vec3& v : o.surface->vertices) points.push_back(pose.place(v));
  }
  const matter::ContactSurface surface = matter::make_contact_surface(dimension, bodies, obstacles, 0);
  if (dimension == 2) return geometry::find_planar_crossings(points, surface.edges).size();
  return geometry::find_crossings(points, surface.edges, surface.triangles).size();
}

struct Motion {
  double kinetic = 0;
  Vec3 momentum = Vec3::Zero(), angular = Vec3::Zero();
};

Motion motion_of(step::Simulation& simulation) {
  Motion sum;
  for (std::size_t b = 0; b < simulation.model().bodies.size(); ++b) {
    const matter::BodyReport report = simulation.report(b);
    sum.kinetic += report.energy.kinetic;
    sum.momentum += report.momentum;
    sum.angular += report.angular_momentum;
  }
  return sum;
}

step::StepReport advance(step::Simulation& simulation) {
  const step::StepReport report = simulation.advance();
  EXPECT_TRUE(report.converged()) << "step " << report.step << ": " << (report.culprit() ? report.culprit()->solve.reason : "");
  EXPECT_EQ(crossings(simulation), 0u) << "step " << report.step;
  return report;
}

// Two soft boxes thrown at each other faster than they are long per step.
step::Model colliding_boxes(double h, double speed, double young) {
  step::Model model = barrier_model(h);
  model.gravity = Vec3::Zero();
  geometry::Mesh turned = box({0.4, 0.4, 0.4}, {4, 4, 4});
  geometry::rotate(turned, Vec3(1, 2, 0.5).normalized(), 0.6);
  model.add(at(box({0.4, 0.4, 0.4}, {4, 4, 4}), Vec3(-0.45, 0, 0), Vec3(speed, 0, 0), young));
  model.add(at(turned, Vec3(0.45, 0.05, 0.03), Vec3(-speed, 0, 0), young));
  return model;
}

TEST(Barrier, BoxesThatCollideNeverCross) {
  for (const double speed : {2.0, 20.0}) {
    step::Simulation simulation(colliding_boxes(1.0 / 24, speed, 1e5));
    bool touched = false;
    for (int i = 0; i < 12; ++i) touched = advance(simulation).islands[0].contact.body_pairs > 0 || touched;
    EXPECT_TRUE(touched);
  }
}

}  // namespace
}  // namespace lope::verification
