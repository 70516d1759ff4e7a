#include <lope/matter/liquid/cut_cells.h>

#include <algorithm>
#include <utility>

namespace lope::matter::liquid {
namespace {

// Of a simplex whose corner k alone is open: every edge from it is cut at its own zero.
template <std::size_t n>
double corner_part(const std::array<double, n>& v, std::size_t k) {
  double part = 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (i != k) part *= v[k] / (v[k] - v[i]);
  }
  return part;
}

template <std::size_t n>
std::array<double, n> negated(const std::array<double, n>& v) {
  std::array<double, n> result;
  for (std::size_t i = 0; i < n; ++i) result[i] = -v[i];
  return result;
}

// Of a tetrahedron with two open corners (a, b) and two closed ones (c, d): the prism between the cuts.
double wedge_part(double a, double b, double c, double d) {
  const double ac = a / (a - c), ad = a / (a - d), bc = b / (b - c), bd = b / (b - d);
  return ac * ad + bc * ad * (1 - ac) + bc * bd * (1 - ad);
}

template <std::size_t n>
double open_part_of_simplex(const std::array<double, n>& v) {
  std::array<std::size_t, n> open{}, closed{};
  std::size_t opens = 0, closes = 0;
  for (std::size_t i = 0; i < n; ++i) (v[i] > 0 ? open[opens++] : closed[closes++]) = i;
  if (opens == 0) return 0;
  if (closes == 0) return 1;
  if (opens == 1) return corner_part(v, open[0]);
  if (closes == 1) return 1 - corner_part(negated(v), closed[0]);
  return wedge_part(v[open[0]], v[open[1]], v[closed[0]], v[closed[1]]);
}

// −1: all closed, 1: all open, 0: cut.
template <std::size_t n>
int side(const std::array<double, n>& v) {
  const auto [least, most] = std::minmax_element(v.begin(), v.end());
  if (*most <= 0) return -1;
  return *least > 0 ? 1 : 0;
}

}  // namespace

double open_part_of_edge(double a, double b) { return open_part_of_simplex(std::array<double, 2>{a, b}); }

double open_part_of_square(const std::array<double, 4>& v) {
  if (const int s = side(v); s != 0) return s > 0 ? 1 : 0;
  const double centre = 0.25 * (v[0] + v[1] + v[2] + v[3]);
  constexpr std::array<std::pair<int, int>, 4> edges{{{0, 1}, {1, 3}, {3, 2}, {2, 0}}};
  double part = 0;
  for (const auto& [i, j] : edges) part += open_part_of_simplex(std::array<double, 3>{v[i], v[j], centre});
  return 0.25 * part;
}

double open_part_of_cube(const std::array<double, 8>& v) {
  if (const int s = side(v); s != 0) return s > 0 ? 1 : 0;
  double centre = 0;
  for (const double value : v) centre += 0.125 * value;
  constexpr std::array<std::array<int, 4>, 6> faces{
      {{0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 5, 7, 6}}};
  double part = 0;
  for (const auto& face : faces) {
    const double middle = 0.25 * (v[face[0]] + v[face[1]] + v[face[2]] + v[face[3]]);
    for (std::size_t k = 0; k < 4; ++k) {
      part += open_part_of_simplex(std::array<double, 4>{v[face[k]], v[face[(k + 1) % 4]], middle, centre});
    }
  }
  return part / 24;
}

}  // namespace lope::matter::liquid
