#include <lope/base/errors.h>
#include <lope/geometry/thickness.h>
#include <lope/material/registry.h>
#include <lope/matter/mpm/sampling.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/checking.h>
#include <lope/scene/handle_motion.h>
#include <lope/scene/kinds/mpm_build.h>
#include <lope/scene/limits.h>
#include <lope/scene/particle_words.h>
#include <lope/scene/selection.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// A mesh file is turned into a grid finer than that of the points by this factor.
constexpr double voxels_per_cell = 4;

// within: steps may let it flow while they are solved.
matter::mpm::Material material_of(const Value& value, bool within) {
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
  made.flows_within = within && material::has_potential(made.elastic, made.plasticity);
  return made;
}

// The handles of the body that is this part, among its points as they are at the start.
template <int Dim>
Expected<void> read_scripts(const Value& value, int part, matter::mpm::Description& description) {
  const Value* handles = value.find("handle");
  if (!handles) return {};
  const matter::mpm::Filling<Dim> filling(description.parts[static_cast<std::size_t>(part)], part, description.dx, description.seed);
  geometry::Mesh points;
  for (const Vec<Dim>& x : filling.points()) points.vertices.push_back(in_space<Dim>(x));
  const Selector selector(points, "material point");
  const geometry::Bounds whole = geometry::bounds(points.vertices);
  const std::size_t first = description.scripts.size();
  for (const Value& item : handles->items) {
    const Expected<std::vector<int>> chosen = selector.vertices(item["where"]);
    if (!chosen) return forward_error(chosen);
    geometry::Bounds own;
    for (const int i : *chosen) own.add(points.vertices[static_cast<std::size_t>(i)]);
    matter::mpm::Script& made = description.scripts.emplace_back();
    made = {part, *chosen, handle_motion(item, whole, own), item.number_at("begin")};
    if (item.has("release")) made.end = item.number_at("release");
    for (std::size_t k = first; k + 1 < description.scripts.size(); ++k) {
      const matter::mpm::Script& other = description.scripts[k];
      if (std::max(made.begin, other.begin) >= std::min(made.end, other.end)) continue;
      std::vector<int> shared;
      std::set_intersection(chosen->begin(), chosen->end(), other.points.begin(), other.points.end(), std::back_inserter(shared));
      if (shared.empty()) continue;
      return input_error("{}: this handle of body '{}' claims {} material points that already belong to the handle at {}; make the "
                         "regions smaller or release one before the other begins",
                         to_string(item.at), value.text_at("name"), shared.size(), to_string(handles->items[k - first].at));
    }
  }
  return {};
}

matter::mpm::Boundary boundary_of(const std::string& word) {
  if (word == "sticky") return matter::mpm::Boundary::Sticky;
  return word == "slip" ? matter::mpm::Boundary::Slip : matter::mpm::Boundary::Separating;
}

// What is within these bounds; infinite where they have no end.
double thickness_of(const geometry::LevelSet& shape, const geometry::Bounds& bounds, int dimension) {
  if (!bounds.min.allFinite() || !bounds.max.allFinite()) return std::numeric_limits<double>::infinity();
  const double least = bounds.extent().head(dimension).minCoeff();
  if (dimension == 2) return least;
  const double across = geometry::thin_part(shape.surface(), false).extent;
  return across > 0 ? std::min(least, across) : least;
}

}  // namespace

Expected<matter::MpmBody> build_mpm(const Value& root, double duration) {
  const Value& table = root["mpm"];
  matter::MpmBody body;
  matter::mpm::Description& made = body.description;
  body.name = table.text_at("name");
  made.dx = table.number_at("cell");
  made.transfer = transfer_of(table);
  if (table.text_at("embedding") == "quadratic") made.embedding = matter::mpm::Embedding::Quadratic;
  if (table.text_at("positions") == "backward") made.positions = matter::mpm::Positions::Backward;
  made.stepping =
      table.text_at("scheme") == "implicit" ? matter::mpm::Stepping::Implicit : matter::mpm::Stepping::Explicit;
  made.method = *optimize::find_method(root["solver"].text_at("method"));
  made.cfl = table.number_at("cfl");
  if (table.has("largest_substep")) made.largest_substep = table.number_at("largest_substep");
  made.seed = static_cast<std::uint64_t>(table.integer_at("seed"));
  for (const Value& obstacle : root.items_at("obstacle"))
    made.boundaries.push_back(boundary_of(obstacle.text_at("boundary")));
  const bool within = made.stepping == matter::mpm::Stepping::Implicit && table.text_at("flow") == "within";
  for (const Value& value : root.items_at("body")) {
    if (value.text_at("kind") != "mpm") continue;
    body.dimension = made.dimension = value.integer_at("dimension");
    auto shape = body_level_set(value, made.dx / voxels_per_cell);
    if (!shape) return forward_error(shape);
    made.parts.push_back({value.text_at("name"), *shape, material_of(value["material"], within), value.vector_at("velocity"),
                          value.vector_at("angular_velocity"), value.number_at("particles")});
    made.parts.back().has_skin = value.text_at("shown") == "surface";
    if (const Value* jet = value.find("jet")) {
      made.parts.back().jet = {jet->number_at("begin"), duration};
      if (jet->has("end")) made.parts.back().jet->end = std::min(duration, jet->number_at("end"));
    }
  }
  const double bytes = matter::mpm::memory_estimate(made);
  if (bytes > affordable_bytes()) {
    return input_error("{}: mpm.cell: cells of {:.3g} m would take about {:.3g} GB, and {:.3g} are too many for this machine; give larger ones",
                       to_string(table["cell"].at), made.dx, bytes / 1e9, affordable_bytes() / 1e9);
  }
  int part = 0;
  for (const Value& value : root.items_at("body")) {
    if (value.text_at("kind") != "mpm") continue;
    const auto number = static_cast<std::int32_t>(part);
    if (!matter::mpm::has_points(made.parts[static_cast<std::size_t>(part)], number, body.dimension, made.dx, made.seed)) {
      return input_error("{}: body '{}' has no material points: its shape is empty, or so thin that none lies in it; points of cells of "
                         "{:.3g} m are {:.3g} m apart",
                         to_string(value.at), value.text_at("name"), made.dx,
                         body.dimension == 2 ? matter::mpm::sample_distance<2>(made.dx, value.number_at("particles"))
                                             : matter::mpm::sample_distance<3>(made.dx, value.number_at("particles")));
    }
    const auto read = body.dimension == 2 ? read_scripts<2>(value, part, made) : read_scripts<3>(value, part, made);
    if (!read) return forward_error(read);
    ++part;
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
    for (const matter::mpm::Part& part : description.parts) {
      const double thinnest = thickness_of(*part.shape, part.shape->bounds(), description.dimension);
      if (thinnest < description.dx)
        checking.warn("body '{}' is {:.3g} m thin, less than a cell of the material points ({:.3g} m): its mass and stiffness will be inexact",
                      part.name, thinnest, description.dx);
    }
    for (const step::Obstacle& obstacle : checking.model.obstacles) {
      if (obstacle.container) continue;
      const double thinnest = thickness_of(*obstacle.shape, obstacle.extent, description.dimension);
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
