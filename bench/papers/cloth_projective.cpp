// `lope bench cloth --only projective`: CLOTH Figs. 9 and 10. A square cloth of 1.6 m on a round table, a corotated membrane without Poisson's effect and quadratic
// bending, so that projective dynamics is that to the letter (optimize/projective_dynamics.h), steps of 1/30 s. Newton's method and L-BFGS minimise the
// same energy.
#include <lope/geometry/level_set/analytic.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/optimize/projective_dynamics.h>

#include <cmath>

#include <fmt/core.h>
#include <papers/cloth_courses.h>
#include <papers/cloth_parts.h>

namespace lope::bench {
namespace {

using Choice = optimize::ProjectiveDynamicsOptions;
using Global = Choice::Global;

constexpr double time_limit = 10;  // processor seconds

step::Model table_model(int vertices) {
  constexpr double side = 1.6;
  step::Model model;
  model.gravity = Vec3(0, 0, -9.81);
  model.step = 1.0 / 30;
  matter::ClothBody body;
  body.name = "cloth";
  body.sheet = geometry::rectangle_sheet(side, side, side * std::sqrt(2 / (std::sqrt(3.0) * vertices)));
  body.material.membrane = material::isotropic_membrane(2000, 0);
  body.material.bending = {matter::BendingModel::Quadratic, 2e-5, 2e-5};
  body.material.area_density = 0.15;
  body.mass_damping = 0.5;
  model.add(std::move(body));
  matter::Obstacle table;
  table.name = "table";
  table.shape = geometry::level_set(geometry::Cylinder{Vec3(0, 0, -0.04), Vec3(0, 0, 1), 0.5, 0.06}).value();
  table.contact = matter::ContactKind::Constraint;
  table.friction = 0;
  model.obstacles = {table};
  return model;
}

}  // namespace

Expected<void> cloth_projective(const BenchOptions& options, int size) {
  const auto simulation = after_steps(options, table_model(size), size);
  const auto vertices = simulation->state().nodes(0).x.size() / 3;
  Courses courses(options, *simulation, fmt::format("Projective dynamics, {} vertices", vertices),
                  time_limit);
  const auto variant = [&](const char* name, const Choice& choice) {
    courses.add(name, [&](std::size_t) { return std::make_unique<optimize::ProjectiveDynamics>(choice); });
  };
  courses.add(optimize::Method::Pd);
  variant("pd, Chebyshev between", {.global = Global::Direct, .accelerates = true});
  courses.add(optimize::Method::PdGs);
  courses.add(optimize::Method::PdGsChebyshev);
  variant("pd-gs, 20 sweeps, Chebyshev inside",
          {.global = Global::GaussSeidel, .sweeps = 20, .radius = 0.99});
  variant("pd, linear full cycle as global step",
          {.global = Global::FullMultigrid, .residual = optimize::FullMultigrid::Residual::Never});
  courses.add(optimize::Method::PdNfmg);
  courses.add(optimize::Method::PdNfmgChebyshev);
  variant("pd-nfmg, 3 sweeps", {.global = Global::FullMultigrid, .sweeps = 3});
  variant("pd-nfmg, 3 sweeps, Chebyshev inside",
          {.global = Global::FullMultigrid, .sweeps = 3, .radius = 0.7});
  variant("pd-nfmg-chebyshev, local step on every level",
          {.global = Global::FullMultigrid,
           .accelerates = true,
           .residual = optimize::FullMultigrid::Residual::EveryLevel});
  courses.add(optimize::Method::LbfgsPd);
  courses.add(optimize::Method::Nfmg);
  courses.add(optimize::Method::Newton);
  return courses.draw(fmt::format("projective_{}", size));
}

}  // namespace lope::bench
