// Obstacles as signed distances φ [m]: negative inside the obstacle, zero on its surface, positive where
// matter may be (OPT §5.1). Points are in space; scenes in the plane use z = 0 and ignore what happens across
// it.
//
// Constness is thread safety: any number of threads may ask one level set.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/math/types.h>

#include <memory>
#include <span>
#include <vector>

namespace lope::geometry {

// φ with its derivatives at a point. Where φ has a kink (medial axes, sharp edges) they are those of one
// side, the same one every time.
struct LevelSetSample {
  double value = 0;
  Vec3 gradient = Vec3::Zero();
  Mat3 hessian = Mat3::Zero();

  LevelSetSample negated() const { return {-value, -gradient, -hessian}; }
};

// What to draw.
struct SurfaceOptions {
  int segments = 64;  // around a full circle
  // Unbounded surfaces (half-spaces, boxes without end) are cut off around this box.
  Bounds region = {Vec3::Constant(-1), Vec3::Constant(1)};
};

class LevelSet {
 public:
  virtual ~LevelSet() = default;

  virtual double value(const Vec3& x) const = 0;
  virtual LevelSetSample sample(const Vec3& x) const = 0;

  // True: φ is the exact distance to the surface outside the obstacle (inside it: to the surface of the part
  // that is deepest), its gradient has length 1, and closest_point is idempotent: such a level set can be a
  // constraint (OPT §5.1). False for interpolated grids.
  virtual bool is_exact() const { return true; }

  // Contains the obstacle; infinite where it is unbounded.
  virtual Bounds bounds() const = 0;

  // The point of the surface at x − φ∇φ, to a few rounding errors: one more Newton step removes those that
  // grow with the distance.
  Vec3 closest_point(const Vec3& x) const;

  // The smooth constraints f ≥ 0 whose intersection is, near x, the free side {φ ≥ 0}; those with f ≤ reach
  // are appended. One where the surface is smooth, two or three in the edges and corners of a container, one
  // per part where obstacles of a union meet. At edges where the free side is not convex (outside a box) it
  // is the one constraint that φ itself stands for: nothing can rest on such an edge but by one of its faces.
  virtual void free_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const;
  // The same for the obstacle's side {φ ≤ 0}, with signs such that it is {f ≥ 0}: what a complement needs.
  virtual void obstacle_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const;

  // Triangles with outward normals (out of the obstacle), for drawing.
  virtual Mesh surface(const SurfaceOptions& options = {}) const = 0;
};

using LevelSetPtr = std::shared_ptr<const LevelSet>;

// The point nearest to x that satisfies all constraints n·y + offset ≥ 0, |n| = 1; exact up to rounding. At
// most three are active at a vertex of their intersection, so subsets are simply tried (meant for a handful
// of constraints). Where they contradict each other: the point of least largest violation among those tried.
struct LinearConstraint {
  Vec3 normal = Vec3::Zero();
  double offset = 0;
};
Vec3 nearest_feasible(std::span<const LinearConstraint> constraints, const Vec3& x);

// A point of {φ_b ≥ 0 for all b} next to x: x itself if it is one, P(x) where one smooth constraint is
// violated, and in edges and corners, of one obstacle or between several, the limit of nearest points of the
// linearised constraints (sequential quadratic programming): the nearest point locally, exactly so for flat
// faces. Returns the largest remaining violation max(−φ_b, 0); positive beyond rounding only where obstacles
// leave no room.
struct FeasiblePoint {
  Vec3 x;
  double violation = 0;
};
FeasiblePoint project_to_free_side(std::span<const LevelSet* const> obstacles, const Vec3& x);

}  // namespace lope::geometry
