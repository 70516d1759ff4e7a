#include <lope/geometry/drawable.h>
#include <lope/geometry/full_turns.h>
#include <lope/geometry/partition.h>
#include <lope/geometry/topology.h>
#include <lope/matter/solid/solid.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace lope::matter {
namespace {

std::unique_ptr<StepObjective> make_objective(const SolidBody& solid) {
  SolidDescription description;
  description.dimension = solid.dimension;
  description.mesh = &solid.mesh;
  description.materials = solid.materials;
  description.material_of_element = solid.material_of_element;
  description.density_of_material = solid.density_of_material;
  description.mass_damping = solid.mass_damping;
  description.stiffness_damping = solid.stiffness_damping;
  return make_solid_objective(description);
}

template <std::size_t corners>
std::vector<std::int32_t> flat(const std::vector<std::array<int, corners>>& elements) {
  std::vector<std::int32_t> result;
  result.reserve(elements.size() * corners);
  for (const auto& element : elements) result.insert(result.end(), element.begin(), element.end());
  return result;
}

}  // namespace

std::unique_ptr<Matter> SolidBody::make(const World& world) const {
  return std::make_unique<SolidMatter>(*this, world);
}

SelfContactBody SolidBody::contact_body() const {
  double stiffness = 0;
  for (const material::Parameters& m : materials) {
    const double young = m.mu * (3 * m.lambda + 2 * m.mu) / (m.lambda + m.mu);
    stiffness = std::max(stiffness, default_self_contact_stiffness(young));
  }
  return {&mesh, stiffness, self_contact};
}

std::vector<std::array<int, 3>> surface_faces(const SolidBody& body) {
  std::vector<std::array<int, 3>> faces;
  if (body.dimension == 3) {
    for (const auto& t : geometry::boundary_triangles(body.mesh.tetrahedra)) faces.push_back({t[0], t[1], t[2]});
  } else {
    for (const auto& edge : geometry::boundary_edges(body.mesh.triangles)) faces.push_back({edge[0], edge[1], -1});
  }
  return faces;
}

SolidMatter::SolidMatter(const SolidBody& body, const World& world)
    : NodalMatter(body, world, make_objective(body)), solid_(body) {}

SolidMatter::Tangle SolidMatter::tangle(const NodalState& state) {
  Tangle result{geometry::vertices_in_full_turns(solid_.mesh, dimension(), state.x), 0};
  if (result.vertices.empty()) return result;
  const std::vector<double> shape = fitted_rest_shape(state.x);
  const auto d = static_cast<std::size_t>(dimension());
  double distance = 0;  // Σ m |s − x|²
  for (std::size_t k = 0; k < state.x.size(); ++k)
    distance += objective().masses()[k / d] * std::pow(shape[k] - state.x[k], 2);
  objective().move_to(state.x);
  result.rescue_step = std::sqrt(distance / (2 * objective().potential()));
  return result;
}

void SolidMatter::draw_once(const FieldFilter& wanted, geometry::Drawable& drawable) const {
  const geometry::Mesh& mesh = solid_.mesh;
  geometry::DrawnSurface& surface = drawable.surface;
  surface.triangles = flat(solid_.dimension == 3 ? geometry::boundary_triangles(mesh.tetrahedra) : mesh.triangles);
  if (solid_.dimension == 3) surface.tetrahedra = flat(mesh.tetrahedra);
  if (!wanted("partition")) return;
  const std::vector<int> parts = geometry::partition_for_colouring(mesh);
  surface.element_fields.push_back({"partition", "", 1, std::vector<float>(parts.begin(), parts.end())});
}

// Bodies whose steps all converge may still end in a shape that is not theirs.
std::vector<std::string> SolidMatter::closing_remarks(const BodyState& state) {
  const Tangle tangled = tangle(dynamic_cast<const NodalState&>(state));
  if (tangled.vertices.empty()) return {};
  return {fmt::format(
      "body '{}' ends tangled: its elements make a full turn around lines through {} of its vertices (the first: {}), "
      "which no small motion undoes. A finer mesh may let go, and so may steps longer than {:.2g} s that may start from "
      "the rest shape (solver.start = \"rescue\")",
      solid_.name, tangled.vertices.size(), tangled.vertices.front(), tangled.rescue_step)};
}

}  // namespace lope::matter
