#include <lope/matter/liquid/galerkin_stencils.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <numbers>

namespace lope::matter::multigrid {
namespace {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

Offset sum(const Offset& a, const Offset& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

// The finest level's offsets as the kernels order them.
template <int Dim>
std::vector<Offset> finest_offsets() {
  std::vector<Offset> offsets = {{0, 0, 0}};
  for (std::size_t a = 0; a < Dim; ++a) {
    for (const int side : {-1, 1}) {
      Offset offset{};
      offset[a] = side;
      offsets.push_back(offset);
    }
  }
  return offsets;
}

// The fine cells from which a coarse cell takes its right-hand side: position relative to the first child,
// and the field of weights that belongs to this coarse cell.
struct Support {
  Offset position;
  int field;
};
template <int Dim>
std::vector<Support> support_of_a_coarse_cell() {
  std::vector<Support> support;
  const int last = Dim == 3 ? 2 : 0;
  for (int z = Dim == 3 ? -1 : 0; z <= last; ++z) {
    for (int y = -1; y <= 2; ++y) {
      for (int x = -1; x <= 2; ++x) {
        const Offset u = {x, y, z};
        int outside = 0, field = 0;
        for (int a = 0; a < Dim; ++a) {
          if (u[at(a)] == 0 || u[at(a)] == 1) continue;
          ++outside;
          field = a + 1;
        }
        if (outside <= 1) support.push_back({u, outside ? field : 0});
      }
    }
  }
  return support;
}

// The coarse cells that give a fine cell (relative to the first child of the origin) its value, own parent
// first.
template <int Dim>
std::array<Offset, Dim + 1> donors(const Offset& fine) {
  Offset parent{};
  for (std::size_t a = 0; a < Dim; ++a) parent[a] = fine[a] >> 1;
  std::array<Offset, Dim + 1> result;
  result.fill(parent);
  for (std::size_t a = 0; a < Dim; ++a) result[a + 1][a] += fine[a] & 1 ? 1 : -1;
  return result;
}

template <int Dim>
int place(int field, const Offset& o) {
  return galerkin_place<Dim>(field, o[0] & 1, o[0] >> 1, o[1], o[2]);
}

// As the kernel orders the fine rows.
template <int Dim>
int row_of(const Offset& u) {
  const int y = u[1], z = u[2];
  const bool y_inside = y == 0 || y == 1, z_inside = z == 0 || z == 1;
  if constexpr (Dim == 2) return y_inside ? y : y < 0 ? 2 : 3;
  if (y_inside && z_inside) return y + 2 * z;
  if (z_inside) return 4 + (y > 0) + 2 * z;
  return 8 + y + 2 * (z > 0);
}
int variant_of(int x) { return x == 0 ? 0 : x == 1 ? 1 : x < 0 ? 2 : 3; }

// Of D⁻¹A on the infinite grid, over the waves of eight cells and shorter.
template <int Dim>
double largest_eigenvalue(const std::vector<Offset>& offsets, const std::vector<double>& row, int centre) {
  double largest = 0;
  for (int wave = 0; wave < (Dim == 3 ? 125 : 25); ++wave) {
    const int number[3] = {wave % 5, wave / 5 % 5, wave / 25};
    double value = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const int phase = offsets[k][0] * number[0] + offsets[k][1] * number[1] + offsets[k][2] * number[2];
      value += row[k] * std::cos(std::numbers::pi / 4 * phase);
    }
    largest = std::max(largest, value / row[at(centre)]);
  }
  return largest;
}

}  // namespace

template <int Dim>
std::span<const DonorWeights<Dim>> donor_weights() {
  static const auto table = [] {
    std::array<DonorWeights<Dim>, Dim == 3 ? 27 : 9> result{};
    for (std::size_t kind = 0; kind < result.size(); ++kind) {
      const unsigned link[3] = {static_cast<unsigned>(kind % 3), static_cast<unsigned>(kind / 3 % 3),
                                static_cast<unsigned>(kind / 9)};
      double total = own_weight<Dim>;
      for (int a = 0; a < Dim; ++a) total += link[a] == Closed ? 0 : neighbour_weight;
      result[kind][0] = static_cast<float>(own_weight<Dim> / total);
      for (std::size_t a = 0; a < Dim; ++a)
        result[kind][a + 1] = link[a] == Open ? static_cast<float>(neighbour_weight / total) : 0.0f;
    }
    return result;
  }();
  return table;
}

template <int Dim>
GalerkinStencil<Dim>::GalerkinStencil(const std::vector<Offset>& fine, std::span<const float> fine_uniform) {
  std::map<Offset, int> number;
  const auto support = support_of_a_coarse_cell<Dim>();
  for (const auto& u : support)
    for (const Offset& o : fine)
      for (const Offset& donor : donors<Dim>(sum(u.position, o))) number.emplace(donor, 0);
  for (auto& [offset, index] : number) {
    index = static_cast<int>(offsets.size());
    offsets.push_back(offset);
    for (const int x : offset) reach = std::max(reach, std::abs(x));
  }
  centre = number.at({0, 0, 0});
  std::vector<double> row(offsets.size());
  const auto weight = [](int field) { return field == 0 ? own_weight<Dim> : neighbour_weight; };
  for (const auto& u : support) {
    cells.push_back({place<Dim>(u.field, u.position), row_of<Dim>(u.position), variant_of(u.position[0])});
    for (std::size_t k = 0; k < fine.size(); ++k) {
      const Offset column = sum(u.position, fine[k]);
      const auto donor = donors<Dim>(column);
      for (int d = 0; d <= Dim; ++d) {
        const int target = number.at(donor[at(d)]);
        terms.push_back({place<Dim>(d, column), target});
        row[at(target)] += weight(u.field) * double{fine_uniform[k]} * weight(d);
      }
    }
  }
  for (const double value : row) {
    uniform.push_back(static_cast<float>(value));
    row_sum += std::abs(value) / row[at(centre)];
  }
  lambda = largest_eigenvalue<Dim>(offsets, row, centre);
}

template <int Dim>
const GalerkinStencil<Dim>& stencil_below(int level) {
  static const std::vector<GalerkinStencil<Dim>> stencils = [] {
    std::vector<GalerkinStencil<Dim>> result;
    std::vector<float> finest(2 * Dim + 1, -1.0f);
    finest[0] = 2 * Dim;
    result.emplace_back(finest_offsets<Dim>(), finest);
    for (int l = 1; l < stencil_count; ++l) result.emplace_back(result.back().offsets, result.back().uniform);
    return result;
  }();
  return stencils[at(std::min(level, stencil_count - 1))];
}

template std::span<const DonorWeights<2>> donor_weights<2>();
template std::span<const DonorWeights<3>> donor_weights<3>();
template struct GalerkinStencil<2>;
template struct GalerkinStencil<3>;
template const GalerkinStencil<2>& stencil_below<2>(int);
template const GalerkinStencil<3>& stencil_below<3>(int);

}  // namespace lope::matter::multigrid
