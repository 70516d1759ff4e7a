// Bodies against each other and against themselves: penalty self-collisions (OPT §5.3).
//
// A surface vertex inside an element of which it is no vertex collides; its energy is that of pair_energy.h
// with the closest surface primitive of the body it is in. Both are found anew at every point x, so that the
// energy is one function of x: a vertex that enters during a line search counts from the moment it enters,
// with no jump (its depth starts at 0), and one that leaves through the surface counts no more. The price is
// a detection per evaluation; OPT §3.3 spares it where the other terms already exceed the value to beat, and
// so does whoever asks for value() last.
//
// Deviations from OPT, which does not say how it tells the two sides of a fold apart:
// - only vertices of the surface are tested, not the interior ones: these cannot enter before their surface;
// - against another body: the closest primitive of that body. Against the vertex's own body, whose nearest
//   surface is always its own neighbourhood: the vertex x_p is at the material point X of the element it is
//   in (barycentric; of several, the one whose X is farthest from its own rest position X_p), and only
//   primitives whose rest position is nearer to X than to X_p take part: the side that it came through. That
//   excludes the vertex's own ring without a threshold;
// - the estimate of the distance that bounds the search is that to the primitive which is nearest, at rest,
// to
//   the element the vertex is in (found once); the primitive of the last collision is not remembered: no
//   state is kept from point to point, and a resumed run has the same bits.
// For one vertex in its own body these choices can jump from one point to the next, and with them the energy:
// a line search may find nothing. hold() then keeps the pairs: the point of the surface that was the closest
// to the vertex, as a point of the material, and the direction to it. The depth along that direction is a linear
// function of the positions, and the energy convex and smooth, 0 once the depth is negative. What enters while
// partners are held is not pushed out before the next step, and forces that do not turn with the bodies
// conserve angular momentum only about.
//
// A vertex is found in every body it is in (not only in one). Elements may be inverted: inside is inside.
//
// In 2D the same with triangles and boundary edges. Coordinates interleaved; metres, joules, newtons.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/matter/contact/contact_term.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

struct SelfContactBody {
  // At rest; its tetrahedra (2D: its triangles) count; barriers (barrier.h) take the triangles of a mesh without tetrahedra,
  // which may be an open sheet. Read during construction only.
  const geometry::Mesh* mesh = nullptr;
  // k [N/m²]; between two bodies the larger one. See default_self_contact_stiffness.
  double stiffness = 0;
  bool with_itself = true;  // otherwise it meets the others only
  // Of a sheet whose middle the mesh is, metres: barriers keep middles half the sum of two thicknesses apart, and more.
  double thickness = 0;
};

// Ten times Young's modulus. With an edge length l, a pressure p on the surface then sinks a vertex in by
// about l√(p/(30E)): two per cent of an edge at one per cent of strain.
double default_self_contact_stiffness(double young_modulus);

// A vertex and the primitive that pushes it out.
struct SelfContactPair {
  std::array<int, 4> node = {0, 0, 0, 0};        // of the island: the vertex, then the primitive's
  std::array<double, 4> weight = {-1, 0, 0, 0};  // −1, then those of the closest point; 0 where unused
  int count = 0;                                 // nodes of the primitive: 1 vertex, 2 edge, 3 face
  double stiffness = 0;
  double depth = 0;            // metres
  Vec3 normal = Vec3::Zero();  // unit, from the vertex to the surface: it is pushed this way
  double force = 0;            // ‖∂Φ/∂x₀‖, newtons
};

class SelfContact : public ContactTerm {
 public:
  // At the current point; detection happens at the first question about it. In a fixed order.
  virtual const std::vector<SelfContactPair>& pairs() = 0;
  // The largest depth of a vertex below the surface, metres.
  double deepest();
};

// `dimension` 2 or 3. The bodies' nodes are numbered one body after another, in the order of their meshes.
// `length` scales ε = 10⁻¹⁵·length².
std::unique_ptr<SelfContact> make_self_contact(int dimension, std::span<const SelfContactBody> bodies,
                                               double length);

}  // namespace lope::matter
