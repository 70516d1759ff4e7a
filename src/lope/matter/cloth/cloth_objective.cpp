#include <lope/geometry/partition.h>
#include <lope/geometry/sheet_hierarchy.h>
#include <lope/linalg/space.h>
#include <lope/matter/cloth/cloth_objective.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace lope::matter {
namespace {

// Of interpolation: less is rounding.
constexpr double smallest_weight = 1e-12;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// Nodes of common triangles and of common hinges.
std::shared_ptr<const linalg::BlockPattern> sheet_pattern(const geometry::Sheet& sheet) {
  std::vector<std::vector<int>> rows(sheet.vertices.size());
  for (const geometry::Triangle& t : sheet.triangles) {
    for (const int a : t) rows[index(a)].insert(rows[index(a)].end(), t.begin(), t.end());
  }
  for (const geometry::Hinge& hinge : geometry::hinges(sheet)) {
    rows[index(hinge.nodes[2])].push_back(hinge.nodes[3]);
    rows[index(hinge.nodes[3])].push_back(hinge.nodes[2]);
  }
  for (std::vector<int>& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return linalg::BlockPattern::from_rows(rows);
}

std::vector<double> lumped_masses(const geometry::Sheet& sheet, const Membrane& membrane, double density) {
  std::vector<double> masses(sheet.vertices.size(), 0.0);
  for (std::size_t t = 0; t < sheet.triangles.size(); ++t) {
    for (const int node : sheet.triangles[t]) masses[index(node)] += membrane.volumes()[t] * density / 3;
  }
  return masses;
}

// NUMERICS §6: ξ of the 6×6 membrane Hessian, ℓ the perimeter of the one-ring at rest.
optimize::CharacteristicScales characteristic_scales(const geometry::Sheet& sheet, const Membrane& membrane) {
  std::vector<double> length(sheet.vertices.size(), 0.0);
  for (std::size_t t = 0; t < sheet.triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec2& a = sheet.flat[index(sheet.flat_triangles[t][(k + 1) % 3])];
      const Vec2& b = sheet.flat[index(sheet.flat_triangles[t][(k + 2) % 3])];
      length[index(sheet.triangles[t][k])] += (b - a).norm();
    }
  }
  const double stiffness = membrane.rest_stiffness();
  optimize::CharacteristicScales scales;
  scales.global = stiffness * linalg::local_space().norm(length);
  for (const double l : length) scales.per_block.push_back(stiffness * l);
  scales.length = geometry::bounds(sheet.vertices).extent().maxCoeff();
  return scales;
}

linalg::Prolongation prolongation(const geometry::SheetLevel& level) {
  linalg::Prolongation result;
  result.columns = static_cast<int>(level.kept.size());
  result.start.push_back(0);
  for (std::size_t i = 0; i < level.parents.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (std::abs(level.weights[i][k]) < smallest_weight) continue;
      result.column.push_back(level.parents[i][k]);
      result.weight.push_back(level.weights[i][k]);
    }
    result.start.push_back(static_cast<int>(result.column.size()));
  }
  return result;
}

// A B.
linalg::Prolongation product(const linalg::Prolongation& A, const linalg::Prolongation& B) {
  linalg::Prolongation result;
  result.columns = B.columns;
  result.start.push_back(0);
  std::map<int, double> row;
  for (int i = 0; i < A.rows(); ++i) {
    row.clear();
    for (int k = A.start[index(i)]; k < A.start[index(i) + 1]; ++k) {
      const int j = A.column[index(k)];
      for (int l = B.start[index(j)]; l < B.start[index(j) + 1]; ++l)
        row[B.column[index(l)]] += A.weight[index(k)] * B.weight[index(l)];
    }
    for (const auto& [column, weight] : row) {
      result.column.push_back(column);
      result.weight.push_back(weight);
    }
    result.start.push_back(static_cast<int>(result.column.size()));
  }
  return result;
}

}  // namespace

ClothObjective::ClothObjective(const geometry::Sheet& sheet, const ClothMaterial& material, const Air& air,
                               double mass_damping, double stiffness_damping, Isa isa)
    : ClothObjective(sheet, material, air, mass_damping, stiffness_damping,
                     Membrane(sheet, material.membrane, material.grain, sheet_pattern(sheet), isa)) {}

ClothObjective::ClothObjective(const geometry::Sheet& sheet, const ClothMaterial& material, const Air& air,
                               double mass_damping, double stiffness_damping, Membrane membrane)
    : NodalObjective<3>({membrane.pattern(), lumped_masses(sheet, membrane, material.area_density),
                         characteristic_scales(sheet, membrane), mass_damping, stiffness_damping}),
      sheet_(sheet),
      membrane_(std::move(membrane)),
      bending_(sheet, material.bending, material.grain, pattern()) {
  if (air.drag > 0) air_.emplace(sheet, air, pattern());
  double area = 0;
  for (const double a : membrane_.volumes()) area += a;
  total_stiffness_ = area * membrane_.rest_stiffness();
  triangle_size_ = std::sqrt(area / membrane_.element_count());
  held_.resize(size());
}

void ClothObjective::sew(double duration) {
  sewing_.emplace(membrane_, duration);
  sewing_->set_rest(0, membrane_);
}

void ClothObjective::set_time(double time) {
  if (sewing_ && sewing_->set_rest(time, membrane_)) membrane_.move_to(point());
}

void ClothObjective::begin_step(const StepSetup& setup) {
  membrane_.project_partly(1);
  NodalObjective::begin_step(setup);
  if (air_) air_->begin_step(setup);
}

double ClothObjective::value(double give_up_above) {
  return NodalObjective::value(give_up_above) + (air_ ? air_->value(point()) : 0.0);
}

void ClothObjective::gradient(std::span<double> g) {
  NodalObjective::gradient(g);
  if (!air_) return;
  air_->add_gradient(point(), g);
  clear_fixed(g);
}

void ClothObjective::add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& H) const {
  NodalObjective::add_hessian(kind, H);
  if (air_) air_->add_hessian(H);
}

void ClothObjective::hessian_times(optimize::HessianKind kind, std::span<const double> direction, std::span<double> y) {
  NodalObjective::hessian_times(kind, direction, y);
  if (!air_) return;
  linalg::copy(direction, held_);
  clear_fixed(held_);
  air_->add_hessian_times(held_, y);
  const auto fixed = fixed_blocks();
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (fixed[i]) std::copy_n(direction.data() + 3 * i, 3, y.data() + 3 * i);
  }
}

void ClothObjective::add_damping_gradient(std::span<double> g) const {
  NodalObjective::add_damping_gradient(g);
  if (air_) air_->add_gradient(point(), g);
}

void ClothObjective::move_potential(std::span<const double> x) {
  membrane_.move_to(x);
  bending_.move_to(x);
}

void ClothObjective::add_potential_gradient(std::span<double> g) const {
  membrane_.add_gradient(g);
  bending_.add_gradient(g);
}

void ClothObjective::add_potential_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const {
  membrane_.add_hessian(kind, scale, H);
  bending_.add_hessian(kind, scale, H);
}

void ClothObjective::add_potential_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p,
                                                 std::span<double> y) const {
  membrane_.add_hessian_times(kind, scale, p, y);
  bending_.add_hessian_times(kind, scale, p, y);
}

// As for solids (solid_objective.cpp), and the hinges.
double ClothObjective::potential_noise(double delta) const {
  const double change = delta / triangle_size_;
  return std::sqrt(2 * total_stiffness_ * membrane_.value_magnitude()) * change +
         total_stiffness_ * change * change + bending_.noise(delta);
}

void ClothObjective::add_laplacian(double scale, linalg::BlockAssembler& L) const {
  membrane_.add_laplacian(scale, L);
  bending_.add_laplacian(scale, L);
}

std::vector<std::vector<int>> ClothObjective::cover(int parts) const {
  geometry::Mesh mesh;
  mesh.vertices = sheet_.vertices;
  mesh.triangles = sheet_.triangles;
  const auto part_of_triangle = geometry::partition_elements(mesh, parts);
  if (!part_of_triangle) return {};
  std::vector<std::vector<int>> sets(index(parts));
  for (std::size_t t = 0; t < sheet_.triangles.size(); ++t) {
    std::vector<int>& set = sets[index((*part_of_triangle)[t])];
    set.insert(set.end(), sheet_.triangles[t].begin(), sheet_.triangles[t].end());
  }
  for (std::vector<int>& set : sets) {
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  std::erase_if(sets, [](const std::vector<int>& set) { return set.empty(); });
  return sets;
}

linalg::HierarchyPtr ClothObjective::levels() const {
  if (hierarchy_) return hierarchy_;
  std::vector<linalg::Prolongation> prolongations;
  for (const geometry::SheetLevel& level : geometry::coarsen_sheet(sheet_)) prolongations.push_back(prolongation(level));
  if (prolongations.empty()) prolongations.push_back(linalg::identity_prolongation(static_cast<int>(sheet_.vertices.size())));
  hierarchy_ = std::make_shared<const linalg::Hierarchy>(std::move(prolongations));
  return hierarchy_;
}

linalg::Prolongation ClothObjective::coarse_space(int functions) const {
  const auto prolongations = levels()->prolongations();
  linalg::Prolongation result = prolongations[0];
  for (std::size_t l = 1; l < prolongations.size() && prolongations[l].columns >= functions; ++l)
    result = product(result, prolongations[l]);
  return result;
}

std::vector<Field> ClothObjective::fields(const FieldFilter& wanted) const {
  std::vector<Field> result;
  const auto add = [&](const char* name, const char* unit, std::vector<double> (Membrane::*values)() const) {
    if (wanted(name)) result.push_back({name, unit, Field::Place::Element, (membrane_.*values)(), 1});
  };
  add("von_mises", "N/m", &Membrane::von_mises);
  add("stretch", "", &Membrane::largest_stretch);
  add("compression", "", &Membrane::smallest_stretch);
  add("energy_density", "J/m^2", &Membrane::energy_density);
  return result;
}

}  // namespace lope::matter
