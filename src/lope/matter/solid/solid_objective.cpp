#include <lope/geometry/grid_embedding.h>
#include <lope/geometry/partition.h>
#include <lope/linalg/space.h>
#include <lope/material/evaluate.h>
#include <lope/matter/solid/solid_objective.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/LU>

namespace lope::matter {
namespace {

// Levels of the hierarchy: a coarsest one of at most this many nodes is factorised in no time; one that keeps more than
// this part of the nodes is not worth its while.
constexpr int coarsest_nodes = 300;
constexpr double worst_coarsening = 0.6;

// Plain arrays out of a mesh: coordinates and element indices.
template <int d>
std::vector<double> coordinates(const geometry::Mesh& mesh) {
  std::vector<double> x(mesh.vertices.size() * d);
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    for (int k = 0; k < d; ++k) x[i * d + static_cast<std::size_t>(k)] = mesh.vertices[i][k];
  }
  return x;
}

template <int d>
std::vector<int> element_nodes(const geometry::Mesh& mesh) {
  std::vector<int> nodes;
  if constexpr (d == 3) {
    for (const auto& t : mesh.tetrahedra) nodes.insert(nodes.end(), t.begin(), t.end());
  } else {
    for (const auto& t : mesh.triangles) nodes.insert(nodes.end(), t.begin(), t.end());
  }
  return nodes;
}

template <int d>
geometry::Mesh without_surface(const geometry::Mesh& mesh) {
  geometry::Mesh result;
  result.vertices = mesh.vertices;
  if constexpr (d == 3) {
    result.tetrahedra = mesh.tetrahedra;
  } else {
    result.triangles = mesh.triangles;
  }
  return result;
}

template <int d>
linalg::Prolongation prolongation(const geometry::GridEmbedding& grid) {
  linalg::Prolongation result;
  result.columns = grid.nodes;
  result.start.push_back(0);
  for (const geometry::GridEmbedding::Place& place : grid.places) {
    for (std::size_t k = 0; k <= d; ++k) {
      if (place.weight[k] == 0) continue;
      result.column.push_back(place.node[k]);
      result.weight.push_back(place.weight[k]);
    }
    result.start.push_back(static_cast<int>(result.column.size()));
  }
  return result;
}

std::size_t material_index(const SolidDescription& description, std::size_t element) {
  return description.material_of_element.empty()
             ? 0
             : static_cast<std::size_t>(description.material_of_element[element]);
}

// Measure of the face (3D: area, 2D: length) opposite local vertex a.
template <int d>
double opposite_face(const std::vector<double>& x, const int* nodes, int a) {
  std::array<Vec<d>, d> corner;
  int count = 0;
  for (int b = 0; b <= d; ++b) {
    if (b != a)
      corner[static_cast<std::size_t>(count++)] =
          Eigen::Map<const Vec<d>>(x.data() + std::ptrdiff_t{d} * nodes[b]);
  }
  if constexpr (d == 3) {
    const Vec3 u = corner[1] - corner[0], v = corner[2] - corner[0];
    return 0.5 * Vec3(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]).norm();
  } else {
    return (corner[1] - corner[0]).norm();
  }
}

template <int d>
std::vector<double> lumped_masses(const SolidDescription& description, const ElasticElements<d>& elements) {
  const std::vector<int> nodes = element_nodes<d>(*description.mesh);
  std::vector<double> masses(description.mesh->vertices.size(), 0.0);
  for (std::size_t e = 0; e < elements.volumes().size(); ++e) {
    const double mass =
        elements.volumes()[e] * description.density_of_material[material_index(description, e)];
    for (std::size_t a = 0; a <= d; ++a)
      masses[static_cast<std::size_t>(nodes[e * (d + 1) + a])] += mass / (d + 1);
  }
  return masses;
}

// ξ of every material.
template <int d>
std::vector<double> rest_stiffness(const SolidDescription& description) {
  std::vector<double> result;
  for (const auto& parameters : description.materials) {
    result.push_back(material::rest_stiffness_norm<d>(parameters));
  }
  return result;
}

// NUMERICS §6: ξ the Frobenius norm of ∂²ψ/∂F² at rest, ℓ_i the sum over the elements at i of the measure of
// the face opposite i; ⟨ξ⟩ is the volume average, ξ_i the mass-weighted average over the elements around i.
template <int d>
optimize::CharacteristicScales characteristic_scales(const SolidDescription& description,
                                                     const ElasticElements<d>& elements) {
  const std::vector<double> x = coordinates<d>(*description.mesh);
  const std::vector<int> nodes = element_nodes<d>(*description.mesh);
  const std::vector<double> stiffness = rest_stiffness<d>(description);

  const std::size_t n = description.mesh->vertices.size();
  std::vector<double> length(n, 0.0), weighted(n, 0.0), weight(n, 0.0);
  double volume = 0, total = 0;
  for (std::size_t e = 0; e < elements.volumes().size(); ++e) {
    const std::size_t m = material_index(description, e);
    const double element_volume = elements.volumes()[e],
                 mass = element_volume * description.density_of_material[m];
    volume += element_volume;
    total += element_volume * stiffness[m];
    for (int a = 0; a <= d; ++a) {
      const auto i = static_cast<std::size_t>(nodes[e * (d + 1) + static_cast<std::size_t>(a)]);
      length[i] += opposite_face<d>(x, nodes.data() + e * (d + 1), a);
      weighted[i] += mass * stiffness[m];
      weight[i] += mass;
    }
  }
  optimize::CharacteristicScales scales;
  scales.global = total / volume * linalg::local_space().norm(length);
  scales.per_block.resize(n);
  for (std::size_t i = 0; i < n; ++i) scales.per_block[i] = weighted[i] / weight[i] * length[i];
  scales.length = geometry::bounds(description.mesh->vertices).extent().maxCoeff();
  return scales;
}

}  // namespace

template <int d>
SolidObjective<d>::SolidObjective(const SolidDescription& description)
    : SolidObjective(description,
                     ElasticElements<d>(coordinates<d>(*description.mesh), element_nodes<d>(*description.mesh),
                                        description.materials, description.material_of_element)) {}

template <int d>
SolidObjective<d>::SolidObjective(const SolidDescription& description, ElasticElements<d> elements)
    : NodalObjective<d>({elements.pattern(), lumped_masses<d>(description, elements),
                         characteristic_scales<d>(description, elements), description.mass_damping,
                         description.stiffness_damping}),
      elements_(std::move(elements)),
      rest_(without_surface<d>(*description.mesh)) {
  const std::vector<double> stiffness = rest_stiffness<d>(description);
  double volume = 0;
  for (std::size_t e = 0; e < elements_.volumes().size(); ++e) {
    volume += elements_.volumes()[e];
    total_stiffness_ += elements_.volumes()[e] * stiffness[material_index(description, e)];
  }
  element_size_ = std::pow(volume / static_cast<double>(elements_.element_count()), 1.0 / d);
}

// Positions rounded by δ change F by δ/ℓ (ℓ the size of an element), and ψ ~ ½ξ|ε|² by |P| δ/ℓ = √(2ξψ) δ/ℓ
// to first order. Summed over the body: √(2ξVΦ) δ/ℓ + ξV(δ/ℓ)².
template <int d>
double SolidObjective<d>::potential_noise(double delta) const {
  const double change = delta / element_size_;
  return std::sqrt(2 * total_stiffness_ * elements_.value_magnitude()) * change +
         total_stiffness_ * change * change;
}

template <int d>
optimize::SplitObjective* SolidObjective<d>::split() {
  if (!split_) split_.emplace(elements_);
  return this;
}

template <int d>
void SolidObjective<d>::add_transposed(std::span<const double> p, std::span<double> g) const {
  split_->add_transposed(p, g);
  this->clear_fixed(g);  // g was 0 there
}

template <int d>
double SolidObjective<d>::largest_step(std::span<const double> direction) const {
  return elements_.largest_step(direction);
}

template <int d>
std::vector<std::vector<int>> SolidObjective<d>::cover(int parts) const {
  const auto part_of_element = geometry::partition_elements(rest_, parts);
  if (!part_of_element) return {};
  std::vector<std::vector<int>> sets(static_cast<std::size_t>(parts));
  const std::vector<int> nodes = element_nodes<d>(rest_);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    sets[static_cast<std::size_t>((*part_of_element)[k / (d + 1)])].push_back(nodes[k]);
  }
  for (std::vector<int>& set : sets) {
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  std::erase_if(sets, [](const std::vector<int>& set) { return set.empty(); });
  return sets;
}

template <int d>
linalg::Prolongation SolidObjective<d>::coarse_space(int functions) const {
  return prolongation<d>(geometry::embed_in_grid(rest_.vertices, d, functions));
}

template <int d>
linalg::HierarchyPtr SolidObjective<d>::hierarchy() {
  if (hierarchy_) return hierarchy_;
  std::vector<linalg::Prolongation> levels;
  std::vector<Vec3> points = rest_.vertices;
  while (static_cast<int>(points.size()) > coarsest_nodes) {
    const int wanted = static_cast<int>(points.size()) >> d;
    geometry::GridEmbedding grid = geometry::embed_in_grid(points, d, wanted);
    if (grid.nodes > worst_coarsening * static_cast<double>(points.size())) break;
    levels.push_back(prolongation<d>(grid));
    points = std::move(grid.positions);
  }
  if (levels.empty()) levels.push_back(linalg::identity_prolongation(static_cast<int>(points.size())));
  hierarchy_ = std::make_shared<const linalg::Hierarchy>(std::move(levels));
  return hierarchy_;
}

template <int d>
std::vector<Field> SolidObjective<d>::fields(const FieldFilter& wanted) const {
  using Elements = ElasticElements<d>;
  std::vector<Field> result;
  const auto add = [&](const char* name, const char* unit, std::vector<double> (Elements::*values)() const,
                       int components = 1) {
    if (wanted(name)) result.push_back({name, unit, Field::Place::Element, (elements_.*values)(), components});
  };
  add("von_mises", "Pa", &Elements::von_mises);
  add("stress", "Pa", &Elements::cauchy_stress, 6);
  add("stretch", "", &Elements::max_stretch);
  add("volume_ratio", "", &Elements::determinants);
  add("energy_density", "J/m^3", &Elements::energy_density);
  return result;
}

template class SolidObjective<2>;
template class SolidObjective<3>;

std::unique_ptr<StepObjective> make_solid_objective(const SolidDescription& description) {
  if (description.dimension == 2) return std::make_unique<SolidObjective<2>>(description);
  return std::make_unique<SolidObjective<3>>(description);
}

}  // namespace lope::matter
