#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/shapes.h>
#include <lope/geometry/topology.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <numeric>

#include <Eigen/LU>
#include <fmt/core.h>
#include <papers/bodies.h>
#include <papers/validation.h>
#include <papers/validation_runs.h>

namespace lope::bench {
namespace {

using std::numbers::pi;

void clamp_end(matter::SolidBody& body) { body.handles.push_back({end_vertices(body.mesh, 0, -1, 1e-9), {}}); }

// The tip of a clamped beam under its own weight, ρ g A L⁴ / (8 E I), after backward Euler has brought it to rest.
std::vector<Check> cantilevers(bool quick) {
  std::vector<Check> result;
  const Vec3 size(0.2, 0.01, 0.03);
  for (const int refine : quick ? std::vector{1} : std::vector{1, 2}) {
    for (const double young : {2e9, 2e11}) {
      for (const double h : {1.0 / 24, 0.01}) {
        step::Model model;
        model.step = h;
        model.bodies = {box_body(size, {40 * refine + 1, 4 * refine + 1, 4 * refine + 1}, young, 7850)};
        clamp_end(first_solid(model));
        Run run(model);
        run.steps(50 * h);
        const std::vector<int> tip = end_vertices(first_solid(model).mesh, 0, 1, 1e-9);
        double sag = 0;
        for (const int k : tip)
          sag -= (run.simulation.state().nodes(0).x[3 * static_cast<std::size_t>(k) + 1] -
                  first_solid(model).mesh.vertices[static_cast<std::size_t>(k)][1]) /
                 static_cast<double>(tip.size());
        const double inertia_over_area = size[1] * size[1] / 12;
        const double theory = 7850 * gravity * std::pow(size[0], 4) / (8 * young * inertia_over_area);
        result.push_back({"sag of a cantilever, 200 x 30 x 10 mm",
                          fmt::format("E = {:.0e} Pa, {} cells across, h = {}", young, 4 * refine, seconds(h)), "m", sag,
                          theory, 0, refine == 1 ? 0.25 : 0.1, run.unconverged});
      }
    }
  }
  return result;
}

// A model of one body in equilibrium, without gravity, in one step.
step::Model equilibrium(matter::SolidBody body) {
  step::Model model;
  model.step = 1;
  model.scheme = step::Scheme::Static;
  model.gravity = Vec3::Zero();
  model.bodies = {std::move(body)};
  return model;
}

// T L / (G J), of a shaft of steel that is clamped at one end.
Check twisted_shaft(double edge) {
  const double radius = 0.02, length = 0.2, young = 2e11, torque = 100;
  step::Model model = equilibrium(
      elastic_body(geometry::tetrahedralize(geometry::Cylinder{Vec3::Zero(), Vec3::UnitX(), radius, length}, edge).value(),
                   3, young, 0.3, 7850));
  matter::SolidBody& body = first_solid(model);
  clamp_end(body);
  matter::Load load;
  load.vertices = end_vertices(body.mesh, 0, 1, 1e-9);
  load.torque = Vec3(torque, 0, 0);
  matter::spread(body.mesh.vertices, matter::surface_faces(body), load);
  body.loads = {load};
  Run run(model);
  run.step();
  // The turn of the loaded end: the mean of (r × u)/r², weighted with r².
  double turn = 0, weight = 0;
  const std::vector<double>& x = run.simulation.state().nodes(0).x;
  for (const int k : load.vertices) {
    const Vec3& rest = body.mesh.vertices[static_cast<std::size_t>(k)];
    const std::size_t i = 3 * static_cast<std::size_t>(k);
    turn += rest[1] * (x[i + 2] - rest[2]) - rest[2] * (x[i + 1] - rest[1]);
    weight += rest[1] * rest[1] + rest[2] * rest[2];
  }
  const double shear = young / 2.6, polar = pi * std::pow(radius, 4) / 2;
  return {"turn of a shaft, 40 x 200 mm, steel, 100 N m", fmt::format("edge = {:.0f} mm", 1e3 * edge), "rad", turn / weight,
          torque * length / (shear * polar), 0, 0.1, run.unconverged};
}

// Lamé: u(a) = p a ((1 − 2ν) a³ + (1 + ν) b³/2) / (E (b³ − a³)) inside a thick sphere under pressure from within.
Check thick_sphere(double edge) {
  const double inner = 0.05, outer = 0.1, young = 1e9, poisson = 0.3, pressure = 1e6;
  step::Model model = equilibrium(elastic_body(
      geometry::tetrahedralize(geometry::hollow_sphere(Vec3::Zero(), outer, inner), edge).value(), 3, young, poisson));
  matter::SolidBody& body = first_solid(model);
  matter::Load load;
  for (const int i : geometry::boundary_vertices(body.mesh)) {
    if (body.mesh.vertices[static_cast<std::size_t>(i)].norm() < 0.5 * (inner + outer)) load.vertices.push_back(i);
  }
  load.pressure = pressure;
  matter::spread(body.mesh.vertices, matter::surface_faces(body), load);
  body.loads = {load};
  Run run(model);
  run.step();
  double widened = 0;
  const std::vector<double>& x = run.simulation.state().nodes(0).x;
  for (const int k : load.vertices) {
    const std::size_t i = 3 * static_cast<std::size_t>(k);
    widened += (Vec3(x[i], x[i + 1], x[i + 2]).norm() - body.mesh.vertices[static_cast<std::size_t>(k)].norm()) /
               static_cast<double>(load.vertices.size());
  }
  const double a = std::pow(inner, 3), b = std::pow(outer, 3);
  return {"widening of a thick sphere, radii 50 and 100 mm, 1 MPa within, E = 1 GPa",
          fmt::format("edge = {:.0f} mm", 1e3 * edge), "m", widened,
          pressure * inner * ((1 - 2 * poisson) * a + (1 + poisson) * b / 2) / (young * (b - a)), 0, 0.1, run.unconverged};
}

// F L³ / (3 E I) at the end of a beam that is pulled down there.
Check bent_beam(int across) {
  const Vec3 size(1, 0.1, 0.1);
  const double young = 1e9, force = 50;
  step::Model model = equilibrium(box_body(size, {10 * across + 1, across + 1, across + 1}, young));
  matter::SolidBody& body = first_solid(model);
  clamp_end(body);
  matter::Load load;
  load.vertices = end_vertices(body.mesh, 0, 1, 1e-9);
  load.force = Vec3(0, -force, 0);
  matter::spread(body.mesh.vertices, matter::surface_faces(body), load);
  body.loads = {load};
  Run run(model);
  const step::StepReport report = run.step();
  double sag = 0;
  for (const int k : load.vertices) {
    const std::size_t i = static_cast<std::size_t>(k);
    sag += (body.mesh.vertices[i][1] - run.simulation.state().nodes(0).x[3 * i + 1]) /
           static_cast<double>(load.vertices.size());
  }
  const double inertia = std::pow(size[1], 4) / 12;
  return {"sag of a beam, 1 m, 50 N at its end", fmt::format("{} cells across", across), "m", sag,
          force / (3 * young * inertia), 0, across < 6 ? 0.25 : 0.1, run.unconverged};
}

std::vector<Check> equilibria(bool quick) {
  std::vector<Check> result = {twisted_shaft(6e-3), thick_sphere(15e-3), bent_beam(4)};
  if (!quick) result.insert(result.end(), {twisted_shaft(3e-3), thick_sphere(8e-3), bent_beam(8)});
  return result;
}

// The same run, solved to 10⁻¹² m (or as near as rounding allows); the error is measured by how far the tip went.
std::vector<Check> step_lengths(bool quick) {
  std::vector<Check> result;
  const std::vector<double> lengths =
      quick ? std::vector{1.0 / 24, 2e-3, 1e-4} : std::vector{1.0 / 24, 1e-2, 2e-3, 1e-3, 1e-4, 1e-5};
  for (const double young : quick ? std::vector{1e5, 1e7, 2e11} : std::vector{1e3, 1e5, 1e7, 1e9, 2e11}) {
    for (const double h : lengths) {
      step::Model model;
      model.step = h;
      model.bodies = {box_body({1, 0.1, 0.1}, {21, 3, 3}, young)};
      clamp_end(first_solid(model));
      step::Model tight = model;
      tight.solver.stopping.tolerance = 1e-12;
      Run run(model), reference(tight);
      const double duration = 40 * h;
      run.steps(duration);
      reference.steps(duration);
      const std::vector<double>&x = run.simulation.state().nodes(0).x, &y = reference.simulation.state().nodes(0).x;
      double farthest = 0, error = 0;
      for (std::size_t k = 0; k < x.size(); ++k) {
        const double rest = first_solid(model).mesh.vertices[k / 3][static_cast<Eigen::Index>(k % 3)];
        farthest = std::max(farthest, std::abs(y[k] - rest));
        error = std::max(error, std::abs(x[k] - y[k]));
      }
      result.push_back({"way of a beam's tip in 40 steps, against the same solved to 10^-12 m",
                        fmt::format("E = {:.0e} Pa, h = {}", young, seconds(h)), "m", farthest + error, farthest, 0,
                        0.03, run.unconverged});
    }
  }
  return result;
}

// v = g (sin α − μ cos α) t: gravity is turned instead of the plane.
std::vector<Check> slopes(bool quick) {
  std::vector<Check> result;
  const double angle = 20 * pi / 180;
  for (const double friction : {0.0, 0.2}) {
    for (const step::Scheme scheme : schemes) {
      for (const double h : quick ? std::vector{1.0 / 24, 1.0 / 480} : std::vector{1.0 / 24, 1.0 / 120, 1.0 / 480, 1e-3}) {
        step::Model model;
        model.step = h;
        model.scheme = scheme;
        model.dissipation = 0.2;
        model.gravity = gravity * Vec3(std::sin(angle), -std::cos(angle), 0);
        model.bodies = {box_body(Vec3::Constant(0.5), {4, 4, 4}, 1e7)};
        model.obstacles = {plane(friction)};
        Run run(model);
        run.steps(1);
        const double theory = gravity * (std::sin(angle) - friction * std::cos(angle));
        result.push_back({fmt::format("speed down 20 degrees after 1 s, friction {}", friction),
                          fmt::format("{}, h = {}", name_of(scheme), seconds(h)), "m/s", run.center_velocity()[0],
                          theory, 0, 0.02, run.unconverged});
      }
    }
  }
  return result;
}

// v₀ − μ g t after 0.5 s.
std::vector<Check> stops(bool quick) {
  std::vector<Check> result;
  for (const step::Scheme scheme : schemes) {
    for (const double h : quick ? std::vector{1.0 / 24} : std::vector{1.0 / 24, 1.0 / 120, 1e-3}) {
      step::Model model;
      model.step = h;
      model.scheme = scheme;
      model.dissipation = 0.2;
      model.bodies = {box_body({0.5, 0.2, 0.5}, {4, 3, 4}, 1e7)};
      matter::SolidBody& body = first_solid(model);
      body.initial_velocities.assign(body.mesh.vertices.size(), Vec3(3, 0, 0));
      model.obstacles = {plane(0.3)};
      Run run(model);
      run.steps(0.5);
      result.push_back({"speed of a box that rubs for 0.5 s (3 m/s, friction 0.3)",
                        fmt::format("{}, h = {}", name_of(scheme), seconds(h)), "m/s", run.center_velocity()[0],
                        3 - 0.3 * gravity * 0.5, 3, 0.02, run.unconverged});
    }
  }
  return result;
}

// A box on 30 degrees with friction 1 must stay: no more than 1 mm in 10 s, from where it has settled in the first.
std::vector<Check> creeps(bool quick) {
  std::vector<Check> result;
  const double angle = 30 * pi / 180;
  for (const int nodes : quick ? std::vector{6} : std::vector{6, 12}) {
    for (const double h : quick ? std::vector{1.0 / 24} : std::vector{1.0 / 24, 1.0 / 120, 2e-3}) {
      for (const step::Scheme scheme : quick ? std::vector{schemes[0], schemes[2]} : std::vector(schemes.begin(), schemes.end())) {
        step::Model model;
        model.step = h;
        model.scheme = scheme;
        model.dissipation = 0.2;
        model.gravity = gravity * Vec3(std::sin(angle), -std::cos(angle), 0);
        model.bodies = {box_body(Vec3::Constant(0.5), {nodes, nodes, nodes}, 1e6)};
        first_solid(model).stiffness_damping = 0.01;
        model.obstacles = {plane(1)};
        Run run(model);
        run.steps(1);
        const double start = run.center()[0];
        run.steps(10);
        result.push_back({"creep in 10 s on 30 degrees, friction 1",
                          fmt::format("{}^3 nodes, {}, h = {}", nodes, name_of(scheme), seconds(h)), "m",
                          run.center()[0] - start, 0, 1e-3, 1, run.unconverged});
      }
    }
  }
  return result;
}

// Energy may only fall when a body meets the floor; gravity's included.
std::vector<Check> impacts(bool quick) {
  std::vector<Check> result;
  for (const step::ContactKind contact : {step::ContactKind::Constraint, step::ContactKind::Penalty}) {
    for (const step::Scheme scheme : schemes) {
      for (const double h : quick ? std::vector{5e-3} : std::vector{1.0 / 24, 5e-3, 1e-3}) {
        step::Model model;
        model.step = h;
        model.scheme = scheme;
        model.dissipation = 0.2;
        model.bodies = {box_body(Vec3::Ones(), {5, 5, 5}, 1e6)};
        for (Vec3& p : first_solid(model).mesh.vertices) p[1] += 0.05;
        model.obstacles = {plane(0)};
        model.obstacles[0].contact = contact;
        Run run(model);
        run.steps(2);
        const double height = run.mass * gravity * 0.05;
        result.push_back({"energy gained by a box that falls 5 cm, of the energy of the fall",
                          fmt::format("{}, {}, h = {}", contact == step::ContactKind::Constraint ? "constraint" : "penalty",
                                      name_of(scheme), seconds(h)),
                          "J", run.largest_energy - run.first_energy, 0, height, 0.01, run.unconverged});
      }
    }
  }
  return result;
}

// √(height of the rebound / height of the fall) of a rubber ball.
// A rubber ball that falls 1 m, steps with impacts divided into parts (0: not). From 0 to 1 is what steps as long as the contact
// can promise; short ones of second order come near 0.95.
Check bounce(step::Scheme scheme, double h, double impact_step) {
  step::Model model;
  model.step = h;
  model.impact_step = impact_step;
  model.scheme = scheme;
  model.dissipation = 0.2;
  model.bodies = {
      elastic_body(geometry::tetrahedralize(geometry::Sphere{Vec3(0, 1.1, 0), 0.1}, 0.04, {}).value(), 3, 1e6, 0.4)};
  model.obstacles = {plane(0)};
  Run run(model);
  double lowest = 10, highest_after = 0;
  run.steps(0.95, [&](const step::StepReport&) {  // until the first bounce is at its top, before the second contact
    const double y = run.center()[1];
    if (y < lowest) lowest = highest_after = y;
    highest_after = std::max(highest_after, y);
  });
  const double restitution = std::sqrt(std::max(0.0, highest_after - 0.1));
  const bool fine = scheme == step::Scheme::Trapezoid && (h < 0.01 || impact_step > 0);
  const std::string parts = impact_step > 0 ? fmt::format(", impacts in parts of {}", seconds(impact_step)) : "";
  return {"restitution of a rubber ball that falls 1 m",
          fmt::format("{}, h = {}{}", name_of(scheme), seconds(h), parts),
          "",
          restitution,
          fine ? 0.95 : 0.5,
          1,
          fine ? 0.15 : 0.5,
          run.unconverged};
}

std::vector<Check> bounces(bool quick) {
  std::vector<Check> result;
  for (const step::Scheme scheme : schemes) {
    for (const double h : quick ? std::vector{1.0 / 240} : std::vector{1.0 / 24, 1.0 / 60, 1.0 / 240, 1e-3})
      result.push_back(bounce(scheme, h, 0));
    result.push_back(bounce(scheme, 1.0 / 24, 1e-3));
  }
  return result;
}

// What the trapezoid rule with dissipation leaves of the energy of a free bar that spins and stretches evenly, as a part
// of what it had. The bar at rest, turned and stretched, is a complex number z = s exp(i angle) times its rest shape. Its inertia
// m L²/12 takes part in both, and its strain E A L (s − 1)²/2 acts along z alone, with the squared frequency k = 12 E/(ρ L²);
// so the step (time_scheme.h), min |z − p|²/(2 c h²) + k (|z| − 1)²/2 with p its target, has the solution
// z = p/|p| (|p| + c h² k)/(1 + c h² k). It starts without strain, hence without acceleration.
//
// In a long run the loss of spin is of third order, but the start costs one of second order in angular velocity times h:
// the scheme has to find the centripetal acceleration. A soft bar loses the energy of its stretch besides, about ω²/k.
double spin_left(double young, double h, double dissipation, double angular_velocity, double duration) {
  using Complex = std::complex<double>;
  const double alpha = -dissipation / (2 - dissipation), beta = 0.25 * (1 - alpha) * (1 - alpha), gamma = 0.5 - alpha;
  const double c = 0.25 * (1 - alpha), k = 12 * young / 1000;
  Complex z = 1, v = {0, angular_velocity}, a = 0;
  for (int left = static_cast<int>(std::lround(duration / h)); left > 0; --left) {
    const Complex target = z + h * v + h * h * (0.5 - beta - c * alpha) * a;
    const double length = std::abs(target);
    const Complex next = target / length * (length + c * h * h * k) / (1 + c * h * h * k);
    const Complex acceleration = ((next - z - h * v) / (h * h) - (0.5 - beta) * a) / beta;
    v += h * ((1 - gamma) * a + gamma * acceleration);
    z = next;
    a = acceleration;
  }
  return (std::norm(v) + k * std::pow(std::abs(z) - 1, 2)) / (angular_velocity * angular_velocity);
}

// A free bar that turns loses what its scheme takes, and never gains.
std::vector<Check> spins(bool quick) {
  std::vector<Check> result;
  const double duration = quick ? 2 : 5;
  for (const double young : {1e5, 1e7, 1e9}) {
    for (const double h : quick ? std::vector{0.025} : std::vector{1.0 / 24, 0.025, 5e-3, 1e-3}) {
      step::Model model;
      model.step = h;
      model.scheme = step::Scheme::Trapezoid;
      model.dissipation = 0.2;
      model.gravity = Vec3::Zero();
      model.bodies = {box_body({1, 0.2, 0.2}, {11, 3, 3}, young)};
      for (const Vec3& p : first_solid(model).mesh.vertices)
        first_solid(model).initial_velocities.emplace_back(-5 * (p[1] - 0.1), 5 * (p[0] - 0.5), 0);
      Run run(model);
      run.steps(duration);
      const std::string setting = fmt::format("E = {:.0e} Pa, trapezoid, h = {}", young, seconds(h));
      result.push_back({"energy of a bar that spins with 5 rad/s, at the end", setting, "J",
                        run.simulation.energies(0).total(),
                        run.first_energy * spin_left(young, h, model.dissipation, 5, duration), 0, 0.01,
                        run.unconverged});
      result.push_back({"energy of a bar that spins with 5 rad/s, at most", setting, "J", run.largest_energy,
                        run.first_energy, 0, 0.02, run.unconverged});
    }
  }
  return result;
}

// T = 2π √(I/(m g d)), of a bar of 1 m that hangs by an edge; the amplitude, 5 degrees, adds 0.05 %.
std::vector<Check> pendulums(bool quick) {
  std::vector<Check> result;
  const Vec3 size(0.1, 1, 0.1);
  const double angle = 5 * pi / 180;
  for (const double h : quick ? std::vector{1.0 / 100} : std::vector{1.0 / 24, 1.0 / 100, 1e-3}) {
    step::Model model;
    model.step = h;
    model.scheme = step::Scheme::Trapezoid;
    model.dissipation = 0.2;
    model.gravity = gravity * Vec3(std::sin(angle), -std::cos(angle), 0);
    model.bodies = {box_body(size, {3, 21, 3}, 1e9)};
    matter::Handle hinge;
    for (std::size_t i = 0; i < first_solid(model).mesh.vertices.size(); ++i) {
      const Vec3& p = first_solid(model).mesh.vertices[i];
      if (p[1] > 1 - 1e-9 && std::abs(p[0] - 0.05) < 1e-9) hinge.vertices.push_back(static_cast<int>(i));
    }
    first_solid(model).handles = {hinge};
    Run run(model);
    // The bar is at rest again after a whole period: half of it lies between the first two changes of direction.
    std::vector<double> turns;
    double before = 0, time_before = 0;
    run.steps(2.6, [&](const step::StepReport& report) {
      const double speed = run.center_velocity()[0];
      if (before * speed < 0) turns.push_back(time_before + (report.time - time_before) * before / (before - speed));
      before = speed;
      time_before = report.time;
    });
    const double inertia = (size[0] * size[0] + size[1] * size[1]) / 12 + 0.25 * size[1] * size[1];
    const double theory = 2 * pi * std::sqrt(inertia / (gravity * 0.5 * size[1]));
    const double measured = turns.size() < 2 ? 0 : 2 * (turns[1] - turns[0]);
    result.push_back({"period of a bar of 1 m that hangs by an edge", fmt::format("trapezoid, h = {}", seconds(h)), "s",
                      measured, theory, 0, 0.02, run.unconverged});
  }
  return result;
}

}  // namespace

double Check::error() const { return std::abs(measured - expected) / (scale > 0 ? scale : std::abs(expected)); }

const std::vector<CheckGroup>& check_groups() {
  static const std::vector<CheckGroup> groups = {
      {"cantilever",
       "beam theory: rho g A L^4 / (8 E I); linear tetrahedra are too stiff, less so when finer",
       cantilevers},
      {"equilibrium", "T L / (G J); Lame's thick sphere; F L^3 / (3 E I)", equilibria},
      {"step-length", "the same run, every step solved to rounding", step_lengths},
      {"slope", "v = g (sin a - mu cos a) t", slopes},
      {"block",
       "v = g (sin a - mu cos a) t; the slope presses with the weight's part along its normal in every step",
       stiff_blocks},
      {"stop", "v = v0 - mu g t", stops},
      {"creep", "what should stick stays where it is", creeps},
      {"impact", "energy never grows", impacts},
      {"bounce",
       "never more than 1; about 0.95 for the trapezoid below 10 ms, or with impacts in parts. Longer steps, "
       "and backward Euler, lose the bounce",
       bounces},
      {"spin",
       "what the scheme leaves of the energy of a bar that turns and stretches evenly; never more than at "
       "the start",
       spins},
      {"pendulum", "T = 2 pi sqrt(I / (m g d))", pendulums},
  };
  return groups;
}

}  // namespace lope::bench
