#include <lope/base/errors.h>
#include <lope/material/registry.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/checking.h>
#include <lope/scene/kinds/mpm_build.h>
#include <lope/scene/limits.h>
#include <lope/scene/particle_words.h>

#include <cmath>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// A mesh file is turned into a grid finer than that of the points by this factor.
constexpr double voxels_per_cell = 4;

matter::mpm::Material material_of(const Value& value) {
  matter::mpm::Material made;
  made.elastic = material::from_young_poisson(material::find_density(value.text_at("model"))->density,
                                              value.number_at("young"), value.number_at("poisson"));
  made.density = value.number_at("density");
  made.plasticity.flow = material::find_flow(value.text_at("flow"))->flow;
  const auto take = [&](const char* key, double& to) {
    if (value.has(key)) to = value.number_at(key);
  };
  take("yield", made.plasticity.yield);
  take("viscosity", made.plasticity.viscosity);
  take("compression", made.plasticity.compression);
  take("stretch", made.plasticity.stretch);
  take("hardening", made.plasticity.hardening);
  take("friction_angle", made.plasticity.friction_angle);
  return made;
}

matter::mpm::Boundary boundary_of(const std::string& word) {
  if (word == "sticky") return matter::mpm::Boundary::Sticky;
  return word == "slip" ? matter::mpm::Boundary::Slip : matter::mpm::Boundary::Separating;
}

}  // namespace

Expected<matter::MpmBody> build_mpm(const Value& root) {
  const Value& table = root["mpm"];
  matter::MpmBody body;
  matter::mpm::Description& made = body.description;
  body.name = table.text_at("name");
  made.dx = table.number_at("cell");
  made.transfer = transfer_of(table);
  if (table.text_at("embedding") == "quadratic") made.embedding = matter::mpm::Embedding::Quadratic;
  made.stepping =
      table.text_at("scheme") == "implicit" ? matter::mpm::Stepping::Implicit : matter::mpm::Stepping::Explicit;
  made.method = *optimize::find_method(root["solver"].text_at("method"));
  made.cfl = table.number_at("cfl");
  if (table.has("largest_substep")) made.largest_substep = table.number_at("largest_substep");
  made.seed = static_cast<std::uint64_t>(table.integer_at("seed"));
  for (const Value& obstacle : root.items_at("obstacle"))
    made.boundaries.push_back(boundary_of(obstacle.text_at("boundary")));
  for (const Value& value : root.items_at("body")) {
    if (value.text_at("kind") != "mpm") continue;
    body.dimension = made.dimension = value.integer_at("dimension");
    auto shape = body_level_set(value, made.dx / voxels_per_cell);
    if (!shape) return forward_error(shape);
    made.parts.push_back({value.text_at("name"), *shape, material_of(value["material"]), value.vector_at("velocity"),
                          value.vector_at("angular_velocity"), value.number_at("particles")});
  }
  const double bytes = matter::mpm::memory_estimate(made);
  if (bytes > affordable_bytes()) {
    return input_error("{}: mpm.cell: cells of {:.3g} m would take about {:.3g} GB, and {:.3g} are too many for this machine; give larger ones",
                       to_string(table["cell"].at), made.dx, bytes / 1e9, affordable_bytes() / 1e9);
  }
  return body;
}

void check_mpm(const Kind& kind, Checking& checking) {
  for (const matter::MpmBody& body : each<matter::MpmBody>(checking.model.bodies)) {
    const matter::mpm::Description& description = body.description;
    const auto matter = body.make(checking.model);
    const auto start = matter->start();
    for (const std::string& remark : matter->remarks()) checking.fail("{}", remark);
    std::size_t particles = 0;
    double mass = 0;
    std::visit(
        [&](const auto& points) {
          particles = points.size();
          for (const double m : points.mass) mass += m;
        },
        as<matter::MpmState>(start).particles);
    if (!each<matter::NodalBody>(checking.model.bodies).empty())
      checking.warn("the material points and the other bodies do not feel each other; use obstacles");
    for (const step::Obstacle& obstacle : checking.model.obstacles) {
      if (obstacle.container || !obstacle.extent.min.allFinite() || !obstacle.extent.max.allFinite()) continue;
      const double thinnest = obstacle.extent.extent().head(description.dimension).minCoeff();
      if (thinnest < 2 * description.dx)
        checking.warn("obstacle '{}' is {:.3g} m thin, less than two cells of the material points ({:.3g} m): they may pass through it",
                      obstacle.name, thinnest, description.dx);
    }
    CheckReport& report = checking.report;
    report.bodies.push_back({body.name,
                             fmt::format("material points '{}': {} particles of {:.4g} kg in all, in cells of {:.4g} m",
                                         body.name, particles, mass, description.dx),
                             fmt::format("{} material points", particles),
                             {{"particles", static_cast<double>(particles)}, {"mass", mass}}});
    report.memory.elements += matter::mpm::memory_estimate(description);
    checking.count_frame(kind, static_cast<double>(particles), 0);
    report.checkpoint += 30.0 * static_cast<double>(particles) * sizeof(double);
  }
}

}  // namespace lope::scene
