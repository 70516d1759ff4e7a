// What the walls are to the liquid at one time: distances, velocities, and the open parts of the cells of a
// brick.
//
// Distances φ [m] are negative inside a wall, as in geometry/level_set. The velocity of a wall is that of a rigid body
// whose motion over the substep is x → R x + t about the same axis:
//   v(x) = (½ (R − Rᵀ) x + ½ (1 + Rᵀ) t) / Δt.
// Its divergence is zero, exactly: the mean velocity of the points, (R − 1) x / Δt, has −ω² Δt, which would pump liquid into
// containers that turn or out of them.
//
// Thin walls: a plate that lies between two faces of the grid touches neither, and open fractions from
// corner values alone would let the liquid through. A face is therefore also closed where the line through it
// along its normal meets a wall shorter than a cell whose middle is nearer to this face than to the
// next. Every plate, however thin, closes one layer of faces.
//
// The velocity of a face's closed part is that of the moving wall beside it, weighted by what this wall
// adds to what those that stand still close already. So a cell that is nearly filled by a wall gets from a
// vane that sweeps along the wall only the flux that the vane pushes into its open part; with the vane's
// velocity for all that is closed, all of it would have to leave through the little that is open.
#pragma once

#include <lope/geometry/bricks.h>
#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/motion.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace lope::matter::liquid {

struct Wall {
  geometry::LevelSetPtr at_rest;      // in the pose of time 0
  geometry::RigidPose before, after;  // of the substep
  double duration = 0;                // of the substep, s
  bool displaced = false;             // not in the pose of time 0, or moving

  bool moving() const { return before.rotation != after.rotation || before.translation != after.translation; }
};

// The walls in their places at the beginning or at the end of a substep. Thread safe.
class Walls {
 public:
  enum class Moment { Begin, End };
  Walls() = default;
  explicit Walls(std::vector<Wall> walls, Moment moment = Moment::End);
  // The same ones at the other moment.
  Walls at(Moment moment) const { return Walls(walls_, moment); }

  bool empty() const { return walls_.empty(); }
  bool any_displaced() const { return any_displaced_; }
  bool any_moving() const { return any_moving_; }
  // Those that stand still in this substep, and the nearest of the others.
  Walls standing() const;
  int nearest_moving(const Vec3& x) const;
  std::vector<bool> displaced() const;

  struct Nearest {
    double distance = 0;
    int wall = -1;
  };
  Nearest nearest(const Vec3& x) const;
  double distance(const Vec3& x) const { return nearest(x).distance; }
  // Whether a displaced wall is within `reach` of x.
  bool displaced_within(const Vec3& x, double reach) const;
  geometry::LevelSetSample sample(const Vec3& x, int wall) const { return placed_[index(wall)]->sample(x); }
  Vec3 velocity(const Vec3& x, int wall) const;

  // A point with at least `distance` from all walls next to x, where there is room for one.
  Vec3 push_out(const Vec3& x, double distance) const;
  // The first point of the way from a to b that is nearer than `distance` to a wall, as a fraction of the
  // way (1: none). The start is taken as free.
  double first_hit(const Vec3& a, const Vec3& b, double distance) const;
  // Where something that is at a when the substep begins and would be at b when it ends is stopped by a wall
  // in its way: at `distance` from it, at the end of the substep, where the walls must be. Walls may move: the way
  // that counts is the one relative to each of them.
  Vec3 stopped(const Vec3& a, const Vec3& b, double distance) const;

 private:
  static std::size_t index(int wall) { return static_cast<std::size_t>(wall); }
  // v(x) = turn·x + shift.
  struct Velocity {
    Mat3 turn = Mat3::Zero();
    Vec3 shift = Vec3::Zero();
  };
  std::vector<Wall> walls_;
  Moment moment_ = Moment::End;
  std::vector<geometry::LevelSetPtr> placed_;
  std::vector<Velocity> velocities_;
  bool any_displaced_ = false, any_moving_ = false;
};

// The cells of one brick; x fastest, faces: the lower one of each cell along each axis.
template <int Dim>
struct BrickWalls {
  static constexpr std::size_t cells = geometry::BrickSet<Dim>::cells;
  bool free = true;   // no wall nearer than two cells: everything is open, the arrays are not filled
  bool thin = false;  // some face is closed by a wall that ends within a cell on both sides
  std::array<std::array<double, cells>, Dim> open;           // part of the face
  std::array<std::array<double, cells>, Dim> face_velocity;  // of the closed part, m/s; 0 where there is none
  std::array<double, cells> volume;                          // open part of the cell
  std::array<double, cells> distance;                        // least φ at the corners of the cell, m
  // The closed faces not deeper than a cell and a half in a wall, and the direction out of it there.
  struct ClosedFace {
    std::uint16_t cell, axis;
    int wall;
    Vec<Dim> normal;
  };
  std::vector<ClosedFace> closed;
};

// How far below the least φ at its corners φ may be in a cell.
template <int Dim>
double corner_reach(double dx) {
  return 0.5 * std::sqrt(1.0 * Dim) * dx;
}

// Walls farther than this from a brick's middle leave it free.
template <int Dim>
double brick_reach(double dx);

// `corner`: the lowest corner of the brick; `dx`: side of a cell.
template <int Dim>
std::shared_ptr<const BrickWalls<Dim>> sample_brick(const Walls& walls, const Vec<Dim>& corner, double dx);

}  // namespace lope::matter::liquid
