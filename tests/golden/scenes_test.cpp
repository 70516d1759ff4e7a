// Every scene that comes with Lope, coarser and shorter: the same bits with any number of threads and every instruction
// set that has fused instructions, every step converged, and what the scene is about holds, with the others too. (Bits
// that must be the same on other machines: hashes_test.cpp.)
#include <lope/base/cpu.h>
#include <lope/base/parallel.h>
#include <lope/geometry/full_turns.h>
#include <lope/scene/run.h>
#include <lope/scene/scene.h>

#include <support/kinds.h>
#include <support/sanitized.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "hash.h"
#include <fmt/core.h>
#include <gtest/gtest.h>

namespace lope::golden {
namespace {

// What a run leaves: the hash over all states, and the reports and positions that the scene's property needs.
struct Trace {
  step::Model model;
  std::uint64_t hash = 0;
  std::vector<step::StepReport> reports;
  std::vector<std::vector<double>> positions;  // of the first body: at the start, then after every step
  std::vector<double> velocities;              // of the first body, at the end

  const matter::BodyReport& body(std::size_t step) const { return reports[step].bodies[0]; }
  const matter::BodyReport& last() const { return reports.back().bodies[0]; }
  int dimension() const { return kinds::solid(model).dimension; }
  // Mean over the nodes whose rest position has x at this end of the body.
  Vec3 mean_of_end(std::size_t state, bool far_end) const;
  // Distance between the centres of both end faces.
  double length(std::size_t state) const {
    return (mean_of_end(state, true) - mean_of_end(state, false)).norm();
  }
};

Vec3 Trace::mean_of_end(std::size_t state, bool far_end) const {
  const auto& vertices = kinds::solid(model).mesh.vertices;
  double end = vertices[0][0];
  for (const Vec3& p : vertices) end = far_end ? std::max(end, p[0]) : std::min(end, p[0]);
  Vec3 sum = Vec3::Zero();
  int count = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (std::abs(vertices[i][0] - end) > 1e-9) continue;
    const auto d = static_cast<std::size_t>(dimension());
    for (std::size_t k = 0; k < d; ++k) sum[static_cast<Eigen::Index>(k)] += positions[state][i * d + k];
    ++count;
  }
  return sum / count;
}

Trace simulate(const std::string& name, const std::vector<std::string>& overrides, int threads,
               Isa isa = selected_isa()) {
  const ThreadLimit limit(threads);
  const SelectedIsa selected(isa);
  Trace trace;
  const auto scene = scene::load_scene(LOPE_SOURCE_DIR "/scenes/" + name + ".toml", overrides);
  if (!scene) {
    ADD_FAILURE() << scene.error().message;
    return trace;
  }
  auto model = scene::build_model(*scene);
  if (!model) {
    ADD_FAILURE() << model.error().message;
    return trace;
  }
  trace.model = std::move(*model);
  step::Simulation simulation(trace.model);
  trace.positions.push_back(simulation.state().nodes(0).x);
  Hash hash;
  const auto steps = scene::step_count(*scene, trace.model);
  for (std::int64_t i = 0; i < steps; ++i) {
    trace.reports.push_back(simulation.advance());
    trace.positions.push_back(simulation.state().nodes(0).x);
    hash.add(simulation.state());
  }
  trace.velocities = simulation.state().nodes(0).v;
  trace.hash = hash.value();
  return trace;
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

// What each scene is about.
// ---------------------------------------------------------------------------------------------------------

// How far the tip is below its place at the start.
double sag(const Trace& trace) {
  return trace.mean_of_end(0, true)[1] - trace.mean_of_end(trace.positions.size() - 1, true)[1];
}

// The tip of a slender beam under its own weight, clamped at one end, at any deflection: the elastica E I θ''
// = −q (l − s) cos θ with θ(0) = θ'(l) = 0, by shooting from the clamp (midpoint rule), plus the deflection
// by shear of Timoshenko's theory, q l² / (2 κ G A) with κ = 5/6. `stiffness`: E, in plane strain E / (1 −
// ν²).
double beam_sag(double length, double height, double stiffness, double shear_modulus,
                double weight_per_volume) {
  constexpr int parts = 2000;
  const double s = length / parts, load = 12 * weight_per_volume / (stiffness * height * height);
  double below = 0, above = load * length * length * length, tip = 0;  // of θ'(0)
  for (int shot = 0; shot < 60; ++shot) {
    double angle = 0, slope = 0.5 * (below + above);
    tip = 0;
    for (int k = 0; k < parts; ++k) {
      const double middle = angle + 0.5 * s * slope;
      slope -= s * load * (length - (k + 0.5) * s) * std::cos(middle);
      tip += s * std::sin(middle);
      angle = middle + 0.5 * s * slope;
    }
    (slope > 0 ? above : below) = 0.5 * (below + above);
  }
  return tip + 0.6 * weight_per_volume * length * length / shear_modulus;
}

// The run comes to rest where a single step that is long against every vibration finds the equilibrium of the same
// mesh. Under refinement the equilibria sag more, towards the beam of theory: linear elements are too stiff, by an
// error of second order (docs/benchmarks/orders.md), so the two finest give the limit. It is 1.3 % (in the plane 1.0 %)
// below the theory: 5 cm are not yet fine enough for the order, and this clamp also keeps the section as it is.
void sags_like_a_beam(const Trace& trace) {
  EXPECT_LT(trace.last().energy.kinetic, 1e-3 * trace.last().energy.elastic) << "not at rest";
  const std::string name = trace.dimension() == 3 ? "cantilever" : "cantilever_2d";
  const auto at_rest = [&](const std::string& edge) {
    return sag(simulate(
        name, {"body.beam.edge=" + edge, "time.step=1e4", "time.duration=1e4", "solver.accuracy=1e-7"}, 1));
  };
  const double coarse = at_rest("5 cm"), fine = at_rest("2.5 cm"), finest = at_rest("1.25 cm");
  EXPECT_NEAR(sag(trace), coarse, 0.02 * coarse);

  const double young = 1e7, poisson = 0.3, weight = 1000 * 9.80665;  // those of the scene
  const double stiffness = trace.dimension() == 3 ? young : young / (1 - poisson * poisson);
  const double theory = beam_sag(1, 0.1, stiffness, young / (2 * (1 + poisson)), weight);
  EXPECT_LT(coarse, fine);
  EXPECT_LT(fine, finest);
  EXPECT_LT(finest, theory);
  EXPECT_NEAR(finest + (finest - fine) / 3, theory, 0.02 * theory);
}

// On a mesh as coarse as this a tangle can hold itself (docs/benchmarks/opt.md), and rounding decides whether
// it does. Whatever is not tangled finds back to its shape.
void recovers_unless_tangled(const Trace& trace) {
  EXPECT_GT(trace.body(0).count("inverted_elements"), 0) << "the torture was none";
  const matter::SolidBody& cube = kinds::solid(trace.model);
  if (!geometry::vertices_in_full_turns(cube.mesh, cube.dimension, trace.positions.back()).empty()) return;
  EXPECT_EQ(trace.last().count("inverted_elements"), 0);
  EXPECT_LT(trace.last().energy.elastic, 1e-3 * trace.body(0).energy.elastic);
}

void keeps_momenta(const Trace& trace) {
  const matter::BodyReport& first = trace.body(0);
  for (const step::StepReport& report : trace.reports) {
    const matter::BodyReport& now = report.bodies[0];
    ASSERT_LT((now.momentum - first.momentum).norm(), 1e-5 * first.momentum.norm()) << "step " << report.step;
    ASSERT_LT((*now.angular_momentum - *first.angular_momentum).norm(), 0.02 * first.angular_momentum->norm())
        << "step " << report.step;
    ASSERT_NEAR(now.energy.total(), first.energy.total(), 0.02 * first.energy.total())
        << "step " << report.step;
  }
}

// Wrung, the bar gathers energy and buckles; released, it gives the energy back and straightens.
void unwinds_after_release(const Trace& trace) {
  const double rest = trace.length(0), release = kinds::solid(trace.model).handles[0].end;
  double wrung = 0;
  for (const step::StepReport& report : trace.reports) {
    if (report.time < release) wrung = std::max(wrung, report.bodies[0].energy.elastic);
  }
  EXPECT_LT(trace.last().energy.elastic, 0.05 * wrung);
  EXPECT_NEAR(trace.length(trace.positions.size() - 1), rest, 0.2 * rest);
}

// Whatever was done to it: released, it gives the energy back and finds its length again.
void recovers_after_release(const Trace& trace) {
  const double rest = trace.length(0), release = kinds::solid(trace.model).handles[0].end;
  ASSERT_LT(release, trace.reports.back().time) << "never released";
  double held = 0, farthest = 0;
  for (std::size_t i = 0; i < trace.reports.size(); ++i) {
    if (trace.reports[i].time > release) break;
    held = std::max(held, trace.body(i).energy.elastic);
    farthest = std::max(farthest, std::abs(trace.length(i + 1) - rest));
  }
  EXPECT_GT(farthest, 0.2 * rest) << "hardly deformed";
  EXPECT_LT(trace.last().energy.elastic, 0.2 * held);
  EXPECT_NEAR(trace.length(trace.positions.size() - 1), rest, 0.25 * rest);
  EXPECT_EQ(trace.last().count("inverted_elements"), 0);
}

// The ends are as far apart as their scripts say, and the body between them is stretched.
void is_stretched_by(const Trace& trace, double expected) {
  EXPECT_NEAR(trace.length(trace.positions.size() - 1) - trace.length(0), expected, 1e-4 * expected);
  EXPECT_GT(trace.last().energy.elastic, trace.body(0).energy.elastic);
  EXPECT_EQ(trace.last().count("inverted_elements"), 0);
}
void is_pulled_apart(const Trace& trace) { is_stretched_by(trace, 2 * 0.5 * trace.reports.back().time); }
void is_stretched_after_the_pulse(const Trace& trace) { is_stretched_by(trace, 1.0); }
void is_stretched_while_twisted(const Trace& trace) {
  is_stretched_by(trace, 2 * 1.2 * trace.reports.back().time);
}

// Nose and tail are not on the axis of their rotation: they are compared along it.
void is_stretched_along_the_axis(const Trace& trace) {
  const auto along = [&](std::size_t state) {
    return trace.mean_of_end(state, true)[0] - trace.mean_of_end(state, false)[0];
  };
  const double expected = 2 * 0.9 * trace.reports.back().time;
  EXPECT_NEAR(along(trace.positions.size() - 1) - along(0), expected, 1e-4 * expected);
  EXPECT_GT(trace.last().energy.elastic, trace.body(0).energy.elastic);
  EXPECT_EQ(trace.last().count("inverted_elements"), 0);
}

// Nothing acts on it from outside once it is let go: it flies on with the momentum that the foot gave it.
void flies_on_after_release(const Trace& trace) {
  const double release = kinds::solid(trace.model).handles[0].end;
  ASSERT_LT(release + 0.3, trace.reports.back().time);
  double drawn = 0;
  const matter::BodyReport* free = nullptr;
  for (const step::StepReport& report : trace.reports) {
    drawn = std::max(drawn, report.bodies[0].energy.elastic);
    if (report.time < release + 0.5 * report.h) continue;
    if (free == nullptr) free = &report.bodies[0];
    ASSERT_LT((report.bodies[0].momentum - free->momentum).norm(), 0.01 * free->momentum.norm())
        << "step " << report.step;
  }
  EXPECT_LT(trace.last().energy.elastic, 0.5 * drawn);
  EXPECT_EQ(trace.last().count("inverted_elements"), 0);
}

// Turned a hundred times slower and without gravity, the bar is always in equilibrium: its energy grows with the square
// of the angle, to what the stopping test leaves (0.7 % measured). It is above Saint-Venant's G J θ² / (2 l), J = 0.1406
// a⁴ for a square, because the ends cannot warp and because any mesh is stiffer than the bar.
void gathers_energy_of_torsion(const Trace& trace) {
  EXPECT_NEAR(trace.length(trace.positions.size() - 1), trace.length(0), 1e-9);
  EXPECT_EQ(trace.last().count("inverted_elements"), 0);
  constexpr double slower = 100;
  step::Model slow = trace.model;
  slow.gravity.setZero();
  slow.step *= slower;
  for (matter::Handle& handle : kinds::solid(slow).handles) {
    for (double& time : handle.motion.angle.times) time *= slower;
  }
  step::Simulation simulation(slow);
  std::vector<double> energy;
  for (std::size_t k = 0; k < trace.reports.size(); ++k)
    energy.push_back(simulation.advance().bodies[0].energy.elastic);
  for (std::size_t k = 0; k < energy.size(); ++k) {
    const double share = static_cast<double>(k + 1) / static_cast<double>(energy.size());
    EXPECT_NEAR(energy[k], share * share * energy.back(), 0.02 * share * share * energy.back()) << k;
  }
  constexpr double pi = 3.14159265358979323846;
  const double shear = 1e5 / (2 * (1 + 0.4)), side = 0.25;  // those of the scene, 1 m long
  const double angle = 2 * 0.05 * 2 * pi * trace.reports.back().time;
  EXPECT_GT(energy.back(), 0.5 * shear * 0.1406 * std::pow(side, 4) * angle * angle);
}

// A pendulum started at rest loses potential energy to motion, and nothing adds to the sum.
void swings_down(const Trace& trace) {
  double lowest = trace.body(0).energy.gravity, fastest = 0;
  for (const step::StepReport& report : trace.reports) {
    lowest = std::min(lowest, report.bodies[0].energy.gravity);
    fastest = std::max(fastest, report.bodies[0].energy.kinetic);
    EXPECT_LT(report.bodies[0].energy.total(), trace.body(0).energy.total() + 0.02 * fastest);
  }
  const double fallen = trace.body(0).energy.gravity - lowest;
  EXPECT_GT(fastest, 0.3 * fallen);
  EXPECT_LT(fastest, fallen);
}

// Of every scene: what a handle holds from the start is, after every step until its release, where its script
// says.
void follows_its_scripts(const Trace& trace) {
  const matter::SolidBody& solid = kinds::solid(trace.model);
  const auto d = static_cast<std::size_t>(trace.dimension());
  for (const matter::Handle& handle : solid.handles) {
    if (handle.begin > 0) continue;
    for (const step::StepReport& report : trace.reports) {
      if (report.time > handle.end + 0.5 * report.h) break;
      for (const int vertex : handle.vertices) {
        const auto i = static_cast<std::size_t>(vertex);
        const Vec3 expected = handle.motion.position(solid.mesh.vertices[i], report.time);
        for (std::size_t k = 0; k < d; ++k) {
          ASSERT_NEAR(trace.positions[static_cast<std::size_t>(report.step)][i * d + k],
                      expected[static_cast<Eigen::Index>(k)], 1e-12)
              << "vertex " << i << ", step " << report.step;
        }
      }
    }
  }
}

// Contact.

double deepest(const step::StepReport& report) {
  double depth = 0;
  for (const step::IslandReport& island : report.islands) depth = std::max(depth, island.contact.deepest);
  return depth;
}

int most_touching(const Trace& trace) {
  int most = 0;
  for (const step::StepReport& report : trace.reports) {
    int now = 0;
    for (const step::IslandReport& island : report.islands)
      now += island.contact.obstacle_pairs + island.contact.body_pairs;
    most = std::max(most, now);
  }
  return most;
}

double size(const Trace& trace) {
  return geometry::bounds(kinds::solid(trace.model).mesh.vertices).extent().maxCoeff();
}

// Only constraints: nothing is ever inside, whatever happens.
void never_enters(const Trace& trace) {
  for (const step::StepReport& report : trace.reports)
    ASSERT_LE(deepest(report), 1e-12) << "step " << report.step;
  EXPECT_GT(most_touching(trace), 4);
}

// Boxes with friction below tan 30° slide, with g (sin 30° − μ cos 30°), the others stay.
void slides_or_stays(const Trace& trace) {
  never_enters(trace);
  for (std::size_t b = 0; b < 5; ++b) {
    const double friction = 0.2 * static_cast<double>(b);
    const matter::BodyReport& box = trace.reports.back().bodies[b];
    const double speed = box.momentum.norm() / (500 * 0.064);
    const double expected = std::max(0.0, 9.81 * (0.5 - friction * std::sqrt(0.75)) * trace.reports.back().time);
    EXPECT_NEAR(speed, expected, 0.02 * expected + 0.005) << box.name;
  }
}

// What the clamp does to the shaft balances the load.
void holds_the_torque(const Trace& trace) {
  const matter::BodyReport& shaft = trace.reports.back().bodies[0];
  const auto *force = shaft.find<Vec3>("handles/clamp/force"), *torque = shaft.find<Vec3>("handles/clamp/torque");
  ASSERT_TRUE(force && torque);
  EXPECT_NEAR((*torque)[0], -100, 0.1);
  EXPECT_LT(force->norm(), 1);
  EXPECT_NEAR(shaft.energy.elastic, 0.0513, 0.01);  // T² L / (2 G J)
}

// The ball is pressed flat, no element is inverted afterwards, and it jumps up again.
void bounces_without_inversion(const Trace& trace) {
  never_enters(trace);
  double lowest = 1e300;
  for (const auto& x : trace.positions) {
    double top = -1e300;
    for (std::size_t k = 1; k < x.size(); k += 3) top = std::max(top, x[k]);
    lowest = std::min(lowest, top);
  }
  EXPECT_LT(lowest, 0.8) << "it was not pressed";
  EXPECT_EQ(trace.last().count("inverted_elements"), 0);
  double momentum = -1e300;
  for (const step::StepReport& report : trace.reports)
    momentum = std::max(momentum, report.bodies[0].momentum[1]);
  EXPECT_GT(momentum, 0) << "it did not jump";
}

void is_through_the_hole(const Trace& trace) {
  never_enters(trace);
  const auto& x = trace.positions.back();
  double highest = -1e300;
  for (std::size_t k = 1; k < x.size(); k += 3) highest = std::max(highest, x[k]);
  EXPECT_LT(highest, -0.3);
  EXPECT_EQ(trace.last().count("inverted_elements"), 0);
}

void touches_with_little_penetration(const Trace& trace) {
  for (const step::StepReport& report : trace.reports)
    ASSERT_LT(deepest(report), 0.1 * size(trace)) << "step " << report.step;
  EXPECT_GT(most_touching(trace), 4);
  int body_pairs = 0;
  for (const step::StepReport& report : trace.reports)
    body_pairs = std::max(body_pairs, report.islands[0].contact.body_pairs);
  EXPECT_GT(body_pairs, 0);
}

struct SceneCase {
  std::string name;
  std::vector<std::string> overrides;
  void (*property)(const Trace&);
};
void PrintTo(const SceneCase& chosen, std::ostream* out) { *out << chosen.name; }

const std::vector<SceneCase>& cases() {
  static const std::vector<SceneCase> all = {
      {"bar_twist", {"body.bar.edge=8 cm", "time.duration=0.5 s"}, gathers_energy_of_torsion},
      {"box_stack", {sanitized ? "time.duration=0.25 s" : "time.duration=1.1 s"}, touches_with_little_penetration},
      {"cantilever", {"body.beam.edge=5 cm"}, sags_like_a_beam},
      {"cantilever_2d", {"body.beam.edge=5 cm"}, sags_like_a_beam},
      {"compressive_pulse", {"body.cube.shape.box.lattice=[6, 6, 6]"}, is_stretched_after_the_pulse},
      {"flagship", {"body.bar.edge=12 cm", "time.duration=3.5 s"}, recovers_after_release},
      {"ltss", {"body.body.edge=15 cm", "time.duration=0.4 s"}, is_stretched_while_twisted},
      {"slingshot", {"body.knot.edge=6 cm"}, flies_on_after_release},
      {"sphere_drop", {"body.ball.edge=20 cm", "time.duration=1 s"}, bounces_without_inversion},
      {"slope", {"time.duration=1 s"}, slides_or_stays},
      {"spinning_body", {"body.capsule.edge=12 cm", "time.duration=0.5 s"}, keeps_momenta},
      {"squeeze", {"body.knot.edge=8 cm"}, never_enters},
      {"stretched_cube", {"body.cube.shape.box.lattice=[6, 6, 6]", "time.duration=1.5 s"}, is_pulled_apart},
      {"swinging_disc_2d", {"body.disc.edge=5 cm", "time.duration=2 s"}, swings_down},
      {"tori_bowl",
       {"body.ring.copies.count=[2, 2, 2]", "time.duration=0.6 s"},
       touches_with_little_penetration},
      {"torture_point",
       {"body.cube.shape.box.lattice=[5, 5, 5]", "time.duration=10 s"},
       recovers_unless_tangled},
      {"torture_random",
       {"body.cube.shape.box.lattice=[5, 5, 5]", "time.duration=10 s"},
       recovers_unless_tangled},
      {"torus_drop", {"body.ring.edge=10 cm", "time.duration=0.7 s"}, touches_with_little_penetration},
      {"torus_hole", {"body.ring.edge=12 cm"}, is_through_the_hole},
      {"tss", {"body.creature.edge=6 cm", "time.duration=0.4 s"}, is_stretched_along_the_axis},
      {"twisted_bar", {"body.bar.shape.box.lattice=[21, 4, 4]"}, unwinds_after_release},
      {"twisted_shaft", {"body.shaft.edge=8 mm"}, holds_the_torque},
      {"two_spheres", {"body.lower.edge=20 cm", "body.upper.edge=20 cm"}, touches_with_little_penetration},
  };
  return all;
}

class GoldenScenes : public testing::TestWithParam<SceneCase> {};
INSTANTIATE_TEST_SUITE_P(All, GoldenScenes, testing::ValuesIn(cases()),
                         [](const auto& chosen) { return chosen.param.name; });

void expect_property(const SceneCase& chosen, const Trace& trace) {
  ASSERT_FALSE(trace.reports.empty());
  for (const step::StepReport& report : trace.reports) {
    for (const step::IslandReport& island : report.islands) {
      ASSERT_TRUE(island.solve.converged()) << "step " << report.step << ": " << island.solve.reason;
    }
  }
  for (const auto& x : trace.positions) ASSERT_TRUE(all_finite(x));
  ASSERT_TRUE(all_finite(trace.velocities));
  follows_its_scripts(trace);
  chosen.property(trace);
}

TEST_P(GoldenScenes, SameBitsForAnyNumberOfThreadsAndEveryStepConverges) {
  const SceneCase& chosen = GetParam();
  const Isa widest = supported_isas().back();
  const Trace trace = simulate(chosen.name, chosen.overrides, sanitized ? 2 : 1, widest);
  expect_property(chosen, trace);
  if (sanitized) return;  // the same code again, three times
  int threads = 2;  // then the default
  for (const Isa isa : supported_isas()) {
    SCOPED_TRACE(fmt::format("{} kernels, {} threads", name(isa), threads));
    const Trace other = simulate(chosen.name, chosen.overrides, threads, isa);
    if (is_fused(isa) == is_fused(widest)) {
      EXPECT_EQ(other.hash, trace.hash);
    } else {
      expect_property(chosen, other);
    }
    threads = threads == 2 ? 0 : 2;
  }
}

// Chaotic scenes, over perturbations that are far below what anybody could measure: what holds on every path.
class GoldenTorture : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, GoldenTorture,
                         testing::Values("gast15", "newton", "newton-pcg", "dot", "lbfgs-h", "lbfgs-pd"),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::erase(name, '-');
                           return name;
                         });

step::Model perturbed_cube(const std::string& scene, int k, const std::string& method) {
  const auto loaded =
      scene::load_scene(LOPE_SOURCE_DIR "/scenes/" + scene + ".toml",
                        {"body.cube.shape.box.lattice=[5, 5, 5]", "solver.method=" + method,
                         fmt::format("body.cube.material.young={:.17g}", 1e4 * (1 + k * 1e-7))});
  return scene::build_model(loaded.value()).value();
}

bool is_recovered(const matter::BodyReport& cube, double elastic_at_first) {
  return cube.count("inverted_elements") == 0 && cube.energy.elastic < 1e-3 * elastic_at_first;
}

// Every step converges, until the cube has its shape or its energy does not change any more. There it is tangled, and longer
// steps, which may start from the rest shape, bring it back.
void expect_a_lawful_end(step::Model model) {
  step::Simulation simulation(model);
  double first = 0, checked = 0;
  for (bool at_rest = false; !at_rest;) {
    const step::StepReport report = simulation.advance();
    ASSERT_TRUE(report.converged()) << "step " << report.step;
    ASSERT_LT(report.step, 1000) << "neither recovered nor at rest";
    const double elastic = report.bodies[0].energy.elastic;
    if (report.step == 1) first = elastic;
    if (is_recovered(report.bodies[0], first)) return;
    if (report.step % 48 != 0) continue;
    at_rest = std::abs(elastic - checked) < 0.01 * elastic;
    checked = elastic;
  }
  step::State state = simulation.state();
  std::vector<double>& v = kinds::nodes(state).v;
  std::fill(v.begin(), v.end(), 0.0);
  model.solver.initial_guess = step::InitialGuess::Rescue;
  step::Simulation rescue(model);
  ASSERT_TRUE(rescue.restore(state));
  auto& cube = dynamic_cast<matter::SolidMatter&>(rescue.matter(0));
  const matter::SolidMatter::Tangle tangle = cube.tangle(rescue.state().nodes(0));
  ASSERT_FALSE(tangle.vertices.empty()) << "at rest, neither recovered nor tangled";
  step::StepReport report;
  for (int i = 0; i < 10; ++i) report = rescue.advance(2 * tangle.rescue_step);
  EXPECT_TRUE(is_recovered(report.bodies[0], first)) << "not rescued";
}

TEST_P(GoldenTorture, EveryPathEndsInTheRestShapeOrInATangleThatLongStepsUndo) {
  const auto isas = supported_isas();
  for (const std::string scene : {"torture_point", "torture_random"}) {
    for (int k = 0; k < (sanitized ? 1 : 12); ++k) {
      const Isa isa = isas[static_cast<std::size_t>(k) % isas.size()];
      SCOPED_TRACE(fmt::format("{}, perturbation {}, {} kernels", scene, k, name(isa)));
      const SelectedIsa selected(isa);
      expect_a_lawful_end(perturbed_cube(scene, k, GetParam()));
      if (HasFatalFailure()) return;
    }
  }
}

// A mesh large enough for several chunks of every parallel loop, and every method, for a few steps: first the
// stretched and twisted motion, then free flight.
class GoldenMethods : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, GoldenMethods,
                         testing::Values("newton", "newton-pcg", "gast15", "lbfgs-h", "lbfgs-pd", "dot",
                                         "dot-printed", "lbfgs-schwarz", "lbfgs-ic", "auto"),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(GoldenMethods, SameBitsOnALargerMesh) {
  const std::vector<std::string> overrides = {"body.bar.edge=3.5 cm", "time.duration=0.1 s",
                                              "solver.method=" + GetParam()};
  const Trace once = simulate("flagship", overrides, 2);
  ASSERT_GT(kinds::solid(once.model).mesh.tetrahedra.size(), 10000u);
  ASSERT_TRUE(once.reports.back().converged());
  if (sanitized) return;
  EXPECT_EQ(once.hash, simulate("flagship", overrides, 1).hash);
}

TEST(GoldenFolder, EverySceneIsTested) {
  std::set<std::string> folder, covered;
  for (const auto& entry : std::filesystem::directory_iterator(LOPE_SOURCE_DIR "/scenes")) {
    if (entry.path().extension() != ".toml") continue;
    const auto scene = scene::load_scene(entry.path().string());
    // Other kinds have tests of their own (liquid_test.cpp, cloth_test.cpp).
    const bool solids = scene && !scene->resolved.items_at("body").empty() &&
                        scene->resolved.items_at("body")[0].text_at("kind") == "solid";
    if (solids) folder.insert(entry.path().stem().string());
  }
  for (const SceneCase& chosen : cases()) covered.insert(chosen.name);
  EXPECT_EQ(covered, folder);
}

}  // namespace
}  // namespace lope::golden
