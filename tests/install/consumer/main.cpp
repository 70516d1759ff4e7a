// A user of the installed library: a model made by hand, one step.
#include <lope/geometry/shapes.h>
#include <lope/matter/solid/solid.h>
#include <lope/step/simulation.h>

int main() {
  lope::step::Model model;
  lope::matter::SolidBody cube;
  const auto mesh =
      lope::geometry::tetrahedralize(lope::geometry::Box{lope::Vec3(0, 0, 0), lope::Vec3(1, 1, 1)}, 0.5);
  if (!mesh) return 1;
  cube.mesh = *mesh;
  cube.materials = {lope::material::from_young_poisson(lope::material::Density::FixedCorotated, 1e5, 0.4)};
  cube.density_of_material = {1000};
  model.add(std::move(cube));
  lope::step::Simulation simulation(model);
  return simulation.advance().converged() && simulation.state().nodes(0).v[1] < 0 ? 0 : 1;
}
