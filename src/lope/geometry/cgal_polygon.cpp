#include <lope/base/errors.h>
#include <lope/geometry/delaunay_meshing.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <list>
#include <optional>
#include <new>
#include <unordered_map>
#include <vector>

#include <CGAL/Constrained_Delaunay_triangulation_2.h>
#include <CGAL/Delaunay_mesh_face_base_2.h>
#include <CGAL/Delaunay_mesh_size_criteria_2.h>
#include <CGAL/Delaunay_mesh_vertex_base_2.h>
#include <CGAL/Delaunay_mesher_2.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Random.h>
#include <CGAL/lloyd_optimize_mesh_2.h>

namespace lope::geometry::delaunay {

namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;

// CGAL's smoothing visits vertices in the order of their handles, which is that of their addresses unless they carry
// the number of their creation. With it, the same polygon gives the same bits in every run.
template <class Base>
class Numbered : public Base {
 public:
  template <class Storage>
  struct Rebind_TDS {
    using Other = Numbered<typename Base::template Rebind_TDS<Storage>::Other>;
  };
  using Has_timestamp = CGAL::Tag_true;
  using Base::Base;
  std::size_t time_stamp() const { return number_; }
  void set_time_stamp(const std::size_t& number) { number_ = number; }

 private:
  std::size_t number_ = static_cast<std::size_t>(-1);
};

using VertexBase = Numbered<CGAL::Delaunay_mesh_vertex_base_2<Kernel>>;
using FaceBase = CGAL::Delaunay_mesh_face_base_2<Kernel>;
using Storage = CGAL::Triangulation_data_structure_2<VertexBase, FaceBase>;
using Triangulation =
    CGAL::Constrained_Delaunay_triangulation_2<Kernel, Storage,
                                               CGAL::No_constraint_intersection_requiring_constructions_tag>;
using Criteria = CGAL::Delaunay_mesh_size_criteria_2<Triangulation>;
using Point = Triangulation::Point;

// Loops with their edges cut to about the wanted length.
Expected<bool> insert_loops(Triangulation& triangulation, const std::vector<std::vector<Vec2>>& loops,
                            double edge) {
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const std::vector<Vec2>& loop = loops[l];
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const Vec2 &a = loop[i], &b = loop[(i + 1) % loop.size()];
      if (a == b) return input_error("points {} and {} of loop {} are the same", i, (i + 1) % loop.size(), l);
      const int pieces = std::max(1, static_cast<int>(std::lround((b - a).norm() / edge)));
      auto previous = triangulation.insert(Point(a.x(), a.y()));
      const auto touches = input_error(
          "the edge from point {} of loop {} touches or crosses another edge; loops "
          "must be simple and apart",
          i, l);
      for (int piece = 1; piece <= pieces; ++piece) {
        const double weight = static_cast<double>(piece) / pieces;
        const Vec2 p = piece == pieces ? b : Vec2((1 - weight) * a + weight * b);
        const std::size_t count = triangulation.number_of_vertices();
        const auto next = triangulation.insert(Point(p.x(), p.y()));
        // A vertex that is already there is the first of the loop, at its end, or one that another edge
        // passes.
        const bool closes = i + 1 == loop.size() && piece == pieces;
        if (!closes && triangulation.number_of_vertices() == count) return touches;
        try {
          triangulation.insert_constraint(previous, next);
        } catch (const Triangulation::Intersection_of_constraints_exception&) {
          return touches;
        }
        previous = next;
      }
    }
  }
  return true;
}

double area(const Triangulation& triangulation, Triangulation::Face_handle face) {
  return CGAL::to_double(triangulation.triangle(face).area());
}

// One point in each part of the polygon: a region that is reached from outside by crossing an odd number of
// constraints. The point is the centre of the region's largest triangle: that of a sliver along an edge that rounding
// has bent could count as being on the other side.
std::list<Point> points_inside(const Triangulation& triangulation) {
  using Face = Triangulation::Face_handle;
  std::unordered_map<Face, int> depth;
  std::vector<Face> front = {triangulation.infinite_face()};
  std::list<Point> seeds;
  for (int level = 0; !front.empty(); ++level) {
    std::vector<Face> next;
    for (const Face start : front) {
      if (!depth.try_emplace(start, level).second) continue;
      std::optional<Face> largest;
      std::vector<Face> stack = {start};
      while (!stack.empty()) {
        const Face face = stack.back();
        stack.pop_back();
        if (!triangulation.is_infinite(face) && (!largest || area(triangulation, face) > area(triangulation, *largest)))
          largest = face;
        for (int i = 0; i < 3; ++i) {
          const Face neighbour = face->neighbor(i);
          if (depth.contains(neighbour)) continue;
          if (triangulation.is_constrained({face, i})) {
            next.push_back(neighbour);
          } else {
            depth.emplace(neighbour, level);
            stack.push_back(neighbour);
          }
        }
      }
      if (level % 2 == 1 && largest) seeds.push_back(CGAL::centroid(triangulation.triangle(*largest)));
    }
    front = std::move(next);
  }
  return seeds;
}

Mesh to_mesh(const Triangulation& triangulation) {
  Mesh mesh;
  std::unordered_map<Triangulation::Vertex_handle, int> index;
  for (auto face = triangulation.finite_faces_begin(); face != triangulation.finite_faces_end(); ++face) {
    if (!face->is_in_domain()) continue;
    Triangle triangle;
    for (int i = 0; i < 3; ++i) {
      const auto [entry, is_new] = index.try_emplace(face->vertex(i), static_cast<int>(mesh.vertices.size()));
      if (is_new) mesh.vertices.emplace_back(face->vertex(i)->point().x(), face->vertex(i)->point().y(), 0);
      triangle[i] = entry->second;
    }
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

}  // namespace

Expected<Mesh> mesh_polygon(const std::vector<std::vector<Vec2>>& loops, double edge) {
  // The criterion bounds the longest edge; measured, this bound gives a mean edge length within 5% of `edge`.
  constexpr double longest_per_edge = 1.4;
  constexpr int smoothing_rounds = 20;
  try {
    CGAL::get_default_random() = CGAL::Random(0);
    Triangulation triangulation;
    if (const auto inserted = insert_loops(triangulation, loops, edge); !inserted)
      return forward_error(inserted);
    const std::list<Point> inside = points_inside(triangulation);
    CGAL::refine_Delaunay_mesh_2(triangulation, inside.begin(), inside.end(),
                                 Criteria(0.125, longest_per_edge * edge), true);
    CGAL::lloyd_optimize_mesh_2(triangulation, CGAL::parameters::max_iteration_number = smoothing_rounds,
                                CGAL::parameters::seeds_begin = inside.begin(),
                                CGAL::parameters::seeds_end = inside.end(),
                                CGAL::parameters::mark = true);
    Mesh mesh = to_mesh(triangulation);
    if (mesh.triangles.empty()) return input_error("the polygon has no area");
    return mesh;
  } catch (const std::bad_alloc&) {
    return environment_error("no memory for triangles of edge length {}; choose a larger one", edge);
  } catch (const std::exception& failure) {
    return input_error("the triangle mesher failed ({}); try another edge length", failure.what());
  }
}

}  // namespace lope::geometry::delaunay
