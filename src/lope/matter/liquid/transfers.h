// Velocities between particles and the staggered grid, by linear interpolation.
//
// APIC (Jiang et al. 2015): a particle carries its velocity v and the gradient C of the velocity; it gives
// the face at x_f along axis a the velocity v_a + C_a·(x_f − x_p), and receives v_a = Σ w u, C_a = Σ ∇w u.
// Angular momentum survives, noise does not. FLIP/PIC (Zhu & Bridson 2005): a particle receives the change of
// the grid's velocity, v ← α (v + Σ w (u − u_before)) + (1 − α) Σ w u; C is zero. Masses of particles are
// equal, so weights stand for them.
#pragma once

#include <lope/geometry/brick_halo.h>
#include <lope/matter/liquid/grid.h>
#include <lope/matter/particles/transfer_options.h>

#include <array>

namespace lope::matter::liquid {

template <class T, int Dim>
using PerAxis = std::array<T, static_cast<std::size_t>(Dim)>;

template <int Dim>
struct FaceField {
  PerAxis<std::vector<double>, Dim> velocity;  // normal to the lower face of each cell along each axis, m/s
  PerAxis<std::vector<double>, Dim> weight;    // particles that speak for it
};

// What the particles say about the grid. `mass`: particles around each cell's centre, weighted by the linear
// kernel of half-width dx. Bits do not depend on the number of threads.
template <int Dim>
void to_grid(const Grid<Dim>& grid, const Particles<Dim>& particles, FaceField<Dim>& faces,
             std::vector<double>& mass);

// Weights below this are rounding: such a face knows nothing.
inline constexpr double least_weight = 1e-8;

// New velocities of the particles from the grid's, `before` and after the forces have acted.
template <int Dim>
void to_particles(const Grid<Dim>& grid, const PerAxis<std::vector<double>, Dim>& before,
                  const PerAxis<std::vector<double>, Dim>& after, const TransferOptions& options,
                  Particles<Dim>& particles, std::vector<Vec<Dim>>& carried);

// Interpolates a staggered velocity field anywhere, fast in the brick it has entered. One per thread.
template <int Dim>
class FaceSampler {
 public:
  FaceSampler(const Grid<Dim>& grid, const PerAxis<std::vector<double>, Dim>& velocity)
      : grid_(grid), velocity_(velocity) {}
  // Brings the values of a brick and of the layer around it near.
  void enter(int brick);
  // False (and `v` untouched) where the grid has no bricks.
  bool sample(const Vec<Dim>& x, Vec<Dim>& v);

 private:
  using Bricks = geometry::BrickSet<Dim>;
  bool sample_anywhere(const Vec<Dim>& x, Vec<Dim>& v);

  const Grid<Dim>& grid_;
  const PerAxis<std::vector<double>, Dim>& velocity_;
  int home_ = -1;
  Vec<Dim> home_corner_ = Vec<Dim>::Zero();  // in cells
  PerAxis<geometry::Halo<Dim, double>, Dim> near_;
};

}  // namespace lope::matter::liquid
