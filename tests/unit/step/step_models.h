// Small models with everything that a step may meet, and how states are compared.
#pragma once

#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>

#include <cstring>

#include <support/kinds.h>
#include <verification/models.h>

namespace lope::step {

using kinds::liquid;
using kinds::nodes;
using matter::Handle;
using matter::SolidBody;
using verification::box;
using verification::solid;

inline geometry::Motion sliding(const Vec3& velocity) {
  geometry::Motion motion;
  motion.displacement = {{0, 1}, {Vec3::Zero(), velocity}, geometry::AfterLastKey::Extend};
  return motion;
}

inline Obstacle obstacle(geometry::LevelSetPtr shape, ContactKind contact, double friction) {
  Obstacle made;
  made.name = "obstacle";
  made.shape = std::move(shape);
  made.contact = contact;
  made.friction = friction;
  return made;
}

inline geometry::LevelSetPtr ground(double height) {
  return geometry::level_set(geometry::HalfSpace{Vec3(0, height, 0), Vec3::UnitY()}).value();
}

inline std::vector<int> vertices_left_of(const geometry::Mesh& mesh, double x) {
  std::vector<int> result;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (mesh.vertices[i][0] < x) result.push_back(static_cast<int>(i));
  }
  return result;
}

// A bar whose left end is held at first; from 0.07 s on its right end is held as well.
inline Model held_bar() {
  Model model;
  model.step = 0.02;
  model.bodies = {solid(box({1, 0.3, 0.3}, {6, 3, 3}), 3, 5e4, 0.4)};
  SolidBody& bar = kinds::solid(model);
  Handle left, right;
  left.vertices = vertices_left_of(bar.mesh, -0.49);
  left.end = 0.11;
  for (int i = 0; i < static_cast<int>(bar.mesh.vertices.size()); ++i) {
    if (bar.mesh.vertices[static_cast<std::size_t>(i)][0] > 0.49) right.vertices.push_back(i);
  }
  right.begin = 0.07;
  right.motion = sliding({1, 0, 0});
  bar.handles = {left, right};
  return model;
}

// A soft block thrown upon the ground, and a ball that is pushed through beneath it.
inline Model thrown_block(ContactKind contact) {
  Model model;
  model.step = 1.0 / 48;
  model.bodies = {solid(box({0.6, 0.6, 0.6}, {4, 4, 4}), 3, 4e4, 0.4)};
  SolidBody& block = kinds::solid(model);
  block.initial_velocities.assign(block.mesh.vertices.size(), Vec3(0.5, -4, 0));
  model.obstacles = {
      obstacle(ground(-0.36), contact, 0.3),
      obstacle(geometry::level_set(geometry::Sphere{Vec3(-0.7, -0.3, 0), 0.2}).value(), contact, 0.2)};
  model.obstacles[1].motion = sliding({3, 0, 0});
  return model;
}

// Two blocks that fall upon each other, the lower one upon the ground.
inline Model stacked_blocks() {
  Model model;
  model.step = 1.0 / 48;
  model.body_contact.friction = 0.3;
  for (const double height : {0.0, 0.45}) {
    auto& block = model.add(solid(box({0.4, 0.4, 0.4}, {3, 3, 3}), 3, 1e5, 0.3));
    block.self_contact = true;
    for (Vec3& p : block.mesh.vertices) p += Vec3(0.3 * height, height, 0.1 * height);
    block.initial_velocities.assign(block.mesh.vertices.size(), Vec3(0, -3 * height, 0));
  }
  model.obstacles = {obstacle(ground(-0.21), ContactKind::Constraint, 0.4)};
  return model;
}

// Water in the left half of a box, a paddle that moves through it; and a bar apart from both.
inline Model water_and_bar() {
  Model model = held_bar();
  auto& body = model.add(matter::LiquidBody());
  body.name = "water";
  matter::liquid::Description& water = body.description;
  body.dimension = water.dimension = 2;
  water.dx = 0.05;
  water.domain = {Vec3(-1, -1, -1), Vec3(1, 1, 1)};
  const auto rectangle = [](double left, double low, double right, double high) {
    return geometry::level_set(geometry::Box{Vec3((left + right) / 2, (low + high) / 2, 0),
                                             Vec3(right - left, high - low, 4)})
        .value();
  };
  water.sources.push_back({rectangle(-1, -1, 0, 0)});
  for (Vec3& p : kinds::solid(model).mesh.vertices) p += Vec3(0, 5, 0);
  model.obstacles = {obstacle(geometry::complement_of(rectangle(-1, -1, 1, 1)), ContactKind::Penalty, 0),
                     obstacle(rectangle(-0.55, -1.1, -0.45, -0.6), ContactKind::Penalty, 0)};
  model.obstacles[0].container = true;
  model.obstacles[1].motion = sliding({0.5, 0, 0});
  return model;
}

// Bit for bit: 0 and −0 differ.
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

inline void expect_same(const matter::NodalState& a, const matter::NodalState& b) {
  EXPECT_TRUE(same_bits(a.x, b.x)) << "positions differ by " << verification::distance(a.x, b.x);
  EXPECT_TRUE(same_bits(a.v, b.v)) << "velocities differ by " << verification::distance(a.v, b.v);
  EXPECT_TRUE(same_bits(a.previous_x, b.previous_x));
  EXPECT_TRUE(same_bits(a.previous_v, b.previous_v));
  EXPECT_TRUE(same_bits(a.a, b.a));
  EXPECT_EQ(a.anchors, b.anchors);
}

inline void expect_same(const optimize::KeptModelPtr& a, const optimize::KeptModelPtr& b) {
  ASSERT_EQ(a == nullptr, b == nullptr);
  if (!a) return;
  EXPECT_TRUE(same_bits(a->point, b->point));
  EXPECT_TRUE(same_bits(a->choices, b->choices));
  EXPECT_EQ(a->iterations, b->iterations);
  EXPECT_TRUE(same_bits(a->account, b->account));
}

inline void expect_same(const matter::liquid::State& a, const matter::liquid::State& b) {
  EXPECT_EQ(a.round, b.round);
  EXPECT_EQ(a.pressure_bricks, b.pressure_bricks);
  EXPECT_TRUE(same_bits(a.pressure, b.pressure));
  const auto &p = std::get<matter::liquid::Particles<2>>(a.particles),
             &q = std::get<matter::liquid::Particles<2>>(b.particles);
  EXPECT_EQ(p.x, q.x);
  EXPECT_EQ(p.v, q.v);
  EXPECT_EQ(p.affine, q.affine);
}

inline void expect_same(const State& a, const State& b) {
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.previous_h, b.previous_h);
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  for (std::size_t i = 0; i < a.bodies.size(); ++i) {
    const auto* liquid = dynamic_cast<const matter::LiquidState*>(a.bodies[i].get());
    if (liquid) expect_same(liquid->liquid, as<matter::LiquidState>(b.bodies[i]).liquid);
    else expect_same(a.nodes(i), b.nodes(i));
  }
  ASSERT_EQ(a.kept.size(), b.kept.size());
  for (std::size_t k = 0; k < a.kept.size(); ++k) expect_same(a.kept[k], b.kept[k]);
}

}  // namespace lope::step
