#include <lope/base/parallel.h>
#include <lope/matter/cloth/membrane.h>
#include <lope/matter/element_clusters.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include <Eigen/LU>

namespace lope::matter {

namespace membrane {

const Kernels& kernels([[maybe_unused]] Isa isa) {
  assert(cpu_supports(isa));
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return avx512_kernels();
  if (isa == Isa::Avx2) return avx2_kernels();
#endif
  return baseline_kernels();
}

}  // namespace membrane

namespace {

constexpr std::size_t triangle_grain = 1024;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<int> flat_list(const std::vector<geometry::Triangle>& triangles) {
  std::vector<int> result;
  result.reserve(3 * triangles.size());
  for (const geometry::Triangle& t : triangles) result.insert(result.end(), t.begin(), t.end());
  return result;
}

}  // namespace

Membrane::Membrane(const geometry::Sheet& sheet, const material::MembraneParameters& material, double grain,
                   std::shared_ptr<const linalg::BlockPattern> pattern, Isa isa)
    : node_count_(sheet.vertices.size()),
      kernels_(membrane::kernels(isa)),
      material_(material),
      pattern_(std::move(pattern)),
      areas_(sheet.triangles.size()),
      place_(sheet.triangles.size()) {
  std::vector<Vec3> centroids;
  centroids.reserve(sheet.triangles.size());
  for (const geometry::Triangle& t : sheet.triangles) {
    centroids.emplace_back((sheet.vertices[index(t[0])] + sheet.vertices[index(t[1])] + sheet.vertices[index(t[2])]) / 3);
  }
  const std::vector<std::vector<int>> members =
      bisected_clusters<3>(centroids, cluster_size(triangle_count(), lanes));
  std::vector<int> load;
  int batch = 0;
  for (const std::vector<int>& cluster : members) {
    const Cluster range = {batch, batch + (static_cast<int>(cluster.size()) + lanes - 1) / lanes};
    for (std::size_t k = 0; k < cluster.size(); ++k) place_[index(cluster[k])] = batch * lanes + static_cast<int>(k);
    for (; batch < range.end; ++batch) {
      const int left = static_cast<int>(cluster.size()) - (batch - range.begin) * lanes;
      filled_.push_back(std::min(left, lanes));
    }
    clusters_.push_back(range);
    load.push_back(range.end - range.begin);
  }
  const auto batch_count = index(batch);
  model_.assign(batch_count, material.model);
  nodes_.resize(batch_count * 3);
  slots_.resize(batch_count * 9);
  rest_.resize(batch_count * Layout::rest_rows);
  state_.resize(batch_count * Layout::state_rows);
  tangent_.resize(batch_count * Layout::tangent_rows);
  cluster_energy_.resize(clusters_.size());
  parallel_for(members.size(), 1, [&](std::size_t cluster) {
    for (const int triangle : members[cluster]) {
      const int at = place_[index(triangle)] / lanes, lane = place_[index(triangle)] % lanes;
      fill_lane(at, lane, triangle, sheet, grain, false);
      // Padding repeats the last triangle of its batch, with no area.
      if (lane != filled_[index(at)] - 1) continue;
      for (int empty = lane + 1; empty < lanes; ++empty) fill_lane(at, empty, triangle, sheet, grain, true);
    }
  });
  colours_ = coloured_clusters(static_cast<int>(node_count_), flat_list(sheet.triangles), 3, members, load);
  std::vector<double> x;
  x.reserve(3 * node_count_);
  for (const Vec3& p : sheet.vertices) x.insert(x.end(), p.data(), p.data() + 3);
  move_to(x);
}

void Membrane::fill_lane(int batch, int lane, int triangle, const geometry::Sheet& sheet, double grain, bool padding) {
  const geometry::Triangle& flat = sheet.flat_triangles[index(triangle)];
  const Vec2 origin = sheet.flat[index(flat[0])];
  Mat2 edges, turn;
  edges.col(0) = sheet.flat[index(flat[1])] - origin;
  edges.col(1) = sheet.flat[index(flat[2])] - origin;
  turn << std::cos(grain), std::sin(grain), -std::sin(grain), std::cos(grain);
  edges = turn * edges;  // along warp and weft
  const double area = 0.5 * edges.determinant();
  assert(area > 0);
  if (!padding) areas_[index(triangle)] = area;
  const Mat2 inverse = edges.inverse();
  Row* rows = rest_.data() + std::ptrdiff_t{batch} * Layout::rest_rows;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) rows[2 * i + j].lane[lane] = inverse(i, j);
  }
  rows[Layout::area].lane[lane] = padding ? 0 : area;
  rows[Layout::warp].lane[lane] = material_.warp;
  rows[Layout::weft].lane[lane] = material_.weft;
  rows[Layout::coupling].lane[lane] = material_.coupling;
  rows[Layout::shear].lane[lane] = material_.shear;
  rows[Layout::largest_stretch].lane[lane] = material_.largest_stretch;
  rows[Layout::limit_stiffness].lane[lane] = material_.limit_stiffness;
  const geometry::Triangle& node = sheet.triangles[index(triangle)];
  for (int a = 0; a < 3; ++a) {
    nodes_[index(std::int64_t{batch} * 3 + a)].lane[lane] = node[index(a)];
    for (int b = 0; b < 3; ++b) {
      const std::int64_t slot = pattern_->slot(node[index(a)], node[index(b)]);
      assert(slot >= 0);
      slots_[index((std::int64_t{batch} * 3 + a) * 3 + b)].lane[lane] = static_cast<int>(slot);
    }
  }
}

double Membrane::rest_stiffness() const {
  return std::sqrt(material_.warp * material_.warp + material_.weft * material_.weft +
                   2 * material_.coupling * material_.coupling + 4 * material_.shear * material_.shear);
}

membrane::Batches Membrane::batches() const {
  // Kernels write state only from move_to and tangent only into its cache.
  return {model_.data(), filled_.data(),  nodes_.data(), slots_.data(), rest_.data(), const_cast<Row*>(state_.data()),
          tangent_.data()};
}

template <class Body>
void Membrane::for_each_by_colour(const Body& body) const {
  for (const std::vector<int>& colour : colours_) {
    parallel_for(colour.size(), 1, [&](std::size_t i) { body(clusters_[index(colour[i])]); });
  }
}

void Membrane::move_to(std::span<const double> x) {
  assert(x.size() == 3 * node_count_);
  const membrane::Batches data = batches();
  parallel_for(clusters_.size(), 1,
               [&](std::size_t c) { kernels_.decompose(data, clusters_[c].begin, clusters_[c].end, x.data()); });
  energy_known_ = false;
  tangent_state_ = TangentState::Stale;
}

void Membrane::evaluate_energy() const {
  if (energy_known_) return;
  const membrane::Batches data = batches();
  parallel_for(clusters_.size(), 1, [&](std::size_t c) {
    cluster_energy_[c] = kernels_.energy(data, clusters_[c].begin, clusters_[c].end);
  });
  energy_ = {};
  for (const membrane::EnergySums& sums : cluster_energy_) {
    energy_.value += sums.value;
    energy_.magnitude += sums.magnitude;
  }
  energy_known_ = true;
}

double Membrane::value() const {
  evaluate_energy();
  return energy_.value;
}

double Membrane::value_magnitude() const {
  evaluate_energy();
  return energy_.magnitude;
}

void Membrane::add_gradient(std::span<double> g) const {
  const membrane::Batches data = batches();
  for_each_by_colour([&](const Cluster& c) { kernels_.gradient(data, c.begin, c.end, g.data()); });
}

template <class Body>
void Membrane::with_tangent(optimize::HessianKind kind, const Body& body) const {
  const bool projected = kind == optimize::HessianKind::Projected;
  const TangentState wanted = projected ? TangentState::Projected : TangentState::Raw;
  const bool stale = tangent_state_ != wanted;
  const membrane::Batches data = batches();
  for_each_by_colour([&](const Cluster& c) {
    if (stale) kernels_.tangent(data, c.begin, c.end, projected);
    body(data, c);
  });
  tangent_state_ = wanted;
}

void Membrane::add_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const {
  assert(H.pattern().id() == pattern_->id() && H.block_size() == 3);
  double* blocks = H.blocks();
  with_tangent(kind, [&](const membrane::Batches& data, const Cluster& c) {
    kernels_.hessian(data, c.begin, c.end, scale, blocks);
  });
}

void Membrane::add_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p,
                                 std::span<double> y) const {
  assert(p.size() == 3 * node_count_ && y.size() == p.size());
  with_tangent(kind, [&](const membrane::Batches& data, const Cluster& c) {
    kernels_.product(data, c.begin, c.end, scale, p.data(), y.data());
  });
}

void Membrane::add_laplacian(double scale, linalg::BlockAssembler& L) const {
  double* entries = L.blocks();
  const double stiffness = std::max(material_.warp, material_.weft);
  for (int triangle = 0; triangle < triangle_count(); ++triangle) {
    const int batch = place_[index(triangle)] / lanes, lane = place_[index(triangle)] % lanes;
    Eigen::Matrix<double, 3, 2> gradient;
    gradient.row(0).setZero();
    for (int a = 0; a < 2; ++a) {
      for (int j = 0; j < 2; ++j) gradient(a + 1, j) = lane_value(rest_, Layout::rest_rows, 2 * a + j, triangle);
      gradient.row(0) -= gradient.row(a + 1);
    }
    const double weight = scale * areas_[index(triangle)] * stiffness;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        const int slot = slots_[index((std::int64_t{batch} * 3 + a) * 3 + b)].lane[lane];
        entries[slot] += weight * gradient.row(a).dot(gradient.row(b));
      }
    }
  }
}

double Membrane::lane_value(const std::vector<Row>& rows, int rows_per_batch, int row, int triangle) const {
  const int place = place_[index(triangle)];
  return rows[index(std::int64_t{place / lanes} * rows_per_batch + row)].lane[place % lanes];
}

template <class Function>
std::vector<double> Membrane::per_triangle(const Function& function) const {
  std::vector<double> result(place_.size());
  parallel_for(place_.size(), triangle_grain, [&](std::size_t t) { result[t] = function(static_cast<int>(t)); });
  return result;
}

material::MembraneStress<double> Membrane::stress(int triangle) const {
  const auto state = [&](int row) { return lane_value(state_, Layout::state_rows, row, triangle); };
  const material::PrincipalFrame<double> frame = {state(Layout::c), state(Layout::s), state(Layout::first),
                                                  state(Layout::second)};
  const material::MembraneConstants<double> m = {material_.warp,  material_.weft,           material_.coupling,
                                                 material_.shear, material_.largest_stretch, material_.limit_stiffness};
  material::MembraneStress<double> result;
  if (material_.model == material::MembraneModel::Corotated) {
    material::membrane_stress<material::MembraneModel::Corotated>(m, frame, result);
  } else {
    material::membrane_stress<material::MembraneModel::StVenantKirchhoff>(m, frame, result);
  }
  return result;
}

std::vector<double> Membrane::largest_stretch() const {
  return per_triangle([&](int t) { return lane_value(state_, Layout::state_rows, Layout::first, t); });
}

std::vector<double> Membrane::smallest_stretch() const {
  return per_triangle([&](int t) { return lane_value(state_, Layout::state_rows, Layout::second, t); });
}

std::vector<double> Membrane::energy_density() const {
  return per_triangle([&](int t) { return stress(t).energy; });
}

// σ = F S Fᵀ/J in the principal frame. Triangles flatter than J = 10⁻⁶ are treated as if they had that J.
std::vector<double> Membrane::von_mises() const {
  return per_triangle([&](int t) {
    const material::MembraneStress<double> s = stress(t);
    const double l1 = lane_value(state_, Layout::state_rows, Layout::first, t);
    const double l2 = lane_value(state_, Layout::state_rows, Layout::second, t);
    const double J = std::max(l1 * l2, 1e-6);
    const double s11 = s.p11 * l1 / J, s22 = s.p22 * l2 / J, s12 = s.p12 * l2 / J;
    return std::sqrt(std::max(0.0, s11 * s11 - s11 * s22 + s22 * s22 + 3 * s12 * s12));
  });
}

}  // namespace lope::matter
