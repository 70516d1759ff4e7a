// The surface of a liquid that is known by its particles, as a sparse level set and as triangles (OpenVDB).
//
// Zhu & Bridson, "Animating sand as a fluid" (2005), §6: with x̄ the mean of the particles around x, weighted
// by the kernel (1 − d²/R²)³, φ is a function of |x − x̄|. Our deviations:
//  - φ = f⁻¹(|x − x̄|) in place of |x − x̄| − r, where f(s) is the value of |x − x̄| at the height s above a
//  half
//    space evenly filled with particles, known in closed form: φ is the distance wherever the surface is flat
//    at the scale of R, on both sides, so no radius is to be tuned and a flat surface lies where it is,
//    without bias;
//  - points farther than `reach` from every particle are outside: the mean of two separate bodies of liquid
//    makes no drop between them;
//  - a few passes of a binomial filter over φ where the kernel is well filled (drops and thin sheets stay),
//  before
//  - walls are taken in: closer to a wall than 0.75 spacings φ is continued along its normal, so that the
//    liquid lies upon the wall as it would in a glass, and nothing is left inside the wall (but `overlap`).
//
// Memory and time are proportional to the particles. The same bits for any number of threads.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/motion.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lope::geometry {

// A rigid shape at the time of the picture: the level set at rest and where it has moved.
struct PlacedWall {
  LevelSetPtr shape;
  RigidPose pose;
};

// φ of all of them together, with the gradient but without second derivatives; 1e300 where there is none.
LevelSetSample nearest_wall(std::span<const PlacedWall> walls, const Vec3& x);

struct ParticleSurfaceOptions {
  double spacing = 0;   // metres: the liquid has about eight particles in a cube of this side; positive
  double voxel = 0;     // metres, a fifth to three fifths of the spacing; 0: half the spacing
  double radius = 1.6;  // R, in spacings, 1 to 3: larger is smoother
  double reach = 0.9;   // in spacings
  int smoothing = 2;    // passes of the filter with voxels of half a spacing; smaller ones take more
  std::vector<PlacedWall> walls = {};
  double overlap = 0;  // metres by which the surface enters the walls: pictures hide it there
};

class ParticleSurface {
 public:
  // No particles give an empty surface. Fails for options out of range, a position that is not finite (the
  // error names the particle) or farther than a million spacings from the others' lattice, and without
  // memory.
  static Expected<ParticleSurface> create(std::span<const Vec3> particles,
                                          const ParticleSurfaceOptions& options);

  ParticleSurface(ParticleSurface&&) noexcept;
  ParticleSurface& operator=(ParticleSurface&&) noexcept;
  ~ParticleSurface();

  // Closed, counter-clockwise seen from the air.
  Mesh mesh() const;

  // Vectors of the particles carried to any points: means with the same kernel; 0 where no particle is within R.
  std::vector<Vec3> carry(std::span<const Vec3> values, std::span<const Vec3> points) const;

 private:
  struct State;
  explicit ParticleSurface(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lope::geometry
