#include <lope/geometry/full_turns.h>
#include <lope/geometry/rigid_fit.h>

#include <algorithm>
#include <array>
#include <tuple>

#include <Eigen/Geometry>
#include <Eigen/LU>

namespace lope::geometry {
namespace {

// The rotation nearest to an element's deformation gradient.
template <int d>
Eigen::Quaterniond rotation(const std::array<int, d + 1>& element, const std::vector<Vec3>& rest,
                            std::span<const double> x) {
  const auto now = [&](int vertex) {
    return Eigen::Map<const Vec<d>>(x.data() + static_cast<std::size_t>(vertex) * d);
  };
  Mat<d> before, after;
  for (int a = 0; a < d; ++a) {
    const int first = element[0], other = element[static_cast<std::size_t>(a) + 1];
    before.col(a) =
        (rest[static_cast<std::size_t>(other)] - rest[static_cast<std::size_t>(first)]).template head<d>();
    after.col(a) = now(other) - now(first);
  }
  Mat3 F = Mat3::Identity();
  F.topLeftCorner<d, d>() = after * before.inverse();
  return Eigen::Quaterniond(nearest_rotation(d, F));
}

// A face of an element; the two sides of one face follow one another when sorted.
template <int d>
struct Side {
  std::array<int, d> vertices;
  int element;
  auto key() const { return std::tie(vertices, element); }
};

template <int d>
std::vector<Side<d>> sorted_sides(const std::vector<std::array<int, d + 1>>& elements) {
  std::vector<Side<d>> sides;
  sides.reserve(elements.size() * (d + 1));
  for (std::size_t e = 0; e < elements.size(); ++e) {
    for (int left_out = 0; left_out <= d; ++left_out) {
      Side<d> side{{}, static_cast<int>(e)};
      for (int a = 0, k = 0; a <= d; ++a) {
        if (a != left_out)
          side.vertices[static_cast<std::size_t>(k++)] = elements[e][static_cast<std::size_t>(a)];
      }
      std::sort(side.vertices.begin(), side.vertices.end());
      sides.push_back(side);
    }
  }
  std::sort(sides.begin(), sides.end(), [](const auto& a, const auto& b) { return a.key() < b.key(); });
  return sides;
}

// What a face means to one of the edges (2D: vertices) on it: the surface is open, a change of sign counts.
template <int d>
struct Crossing {
  std::array<int, d - 1> hinge;
  bool open, changes_sign;
};

template <int d>
std::vector<Crossing<d>> sorted_crossings(const std::vector<std::array<int, d + 1>>& elements,
                                          const std::vector<Eigen::Quaterniond>& rotations) {
  const std::vector<Side<d>> sides = sorted_sides<d>(elements);
  std::vector<Crossing<d>> crossings;
  for (std::size_t i = 0, next = 0; i < sides.size(); i = next) {
    next = i + 1;
    while (next < sides.size() && sides[next].vertices == sides[i].vertices) ++next;
    const bool open = next != i + 2;
    const auto of = [&](std::size_t k) { return rotations[static_cast<std::size_t>(sides[k].element)]; };
    const bool changes_sign = !open && of(i).dot(of(i + 1)) < 0;
    if (!open && !changes_sign) continue;
    for (std::size_t left_out = 0; left_out < d; ++left_out) {
      Crossing<d> crossing{{}, open, changes_sign};
      for (std::size_t a = 0, k = 0; a < d; ++a) {
        if (a != left_out) crossing.hinge[k++] = sides[i].vertices[a];
      }
      crossings.push_back(crossing);
    }
  }
  std::sort(crossings.begin(), crossings.end(),
            [](const auto& a, const auto& b) { return a.hinge < b.hinge; });
  return crossings;
}

template <int d>
std::vector<int> in_full_turns(const std::vector<std::array<int, d + 1>>& elements,
                               const std::vector<Vec3>& rest, std::span<const double> x) {
  std::vector<Eigen::Quaterniond> rotations;
  rotations.reserve(elements.size());
  for (const auto& element : elements) rotations.push_back(rotation<d>(element, rest, x));
  const std::vector<Crossing<d>> crossings = sorted_crossings<d>(elements, rotations);
  std::vector<int> result;
  for (std::size_t i = 0, next = 0; i < crossings.size(); i = next) {
    bool open = false, odd = false;
    for (; next < crossings.size() && crossings[next].hinge == crossings[i].hinge; ++next) {
      open = open || crossings[next].open;
      odd = odd != crossings[next].changes_sign;
    }
    if (!open && odd) result.insert(result.end(), crossings[i].hinge.begin(), crossings[i].hinge.end());
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace

std::vector<int> vertices_in_full_turns(const Mesh& mesh, int dimension, std::span<const double> x) {
  return dimension == 3 ? in_full_turns<3>(mesh.tetrahedra, mesh.vertices, x)
                        : in_full_turns<2>(mesh.triangles, mesh.vertices, x);
}

}  // namespace lope::geometry
