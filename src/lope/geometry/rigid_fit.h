// The rigid placement of one set of points that comes nearest to another: minimises Σ wᵢ |R aᵢ + t − bᵢ|²
// over rotations R (determinant 1) and translations t (Kabsch 1976), by the singular value decomposition of
// Σ wᵢ (bᵢ − b̄)(aᵢ − ā)ᵀ. In two dimensions (z = 0) the rotation is one about z, which no decomposition is
// needed for. Where the points leave the rotation open (all bᵢ equal, say) one of the minimisers is taken.
#pragma once

#include <lope/geometry/motion.h>

#include <span>

namespace lope::geometry {

// The rotation R of largest tr(Rᵀ c), which is nearest to c; in two dimensions one about z, for which only
// the upper left 2×2 entries count.
Mat3 nearest_rotation(int dimension, const Mat3& c);

// The spans are of the same size; the weights are positive.
RigidPose rigid_fit(int dimension, std::span<const Vec3> a, std::span<const Vec3> b,
                    std::span<const double> weights);

}  // namespace lope::geometry
