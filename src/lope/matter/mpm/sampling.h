// Material points from shapes: Poisson-disc samples (Bridson 2007), no two nearer than r, without holes that would take
// another one.
//
// r = (13/18 dx³/n)^(1/3) for n points per cell, as HOT's programs take it, which gives about 0.8 n; in 2D
// r = (0.7 dx²/n)^(1/2). The samples depend on the shape, dx, n and the seed alone.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/math/types.h>

#include <cstdint>
#include <vector>

namespace lope::matter::mpm {

template <int Dim>
double sample_distance(double dx, double per_cell);

// Points of {φ < 0}, which must be bounded (2D: its section with z = 0).
template <int Dim>
std::vector<Vec<Dim>> sample(const geometry::LevelSet& shape, double distance, std::uint64_t seed);

// Whether there are any.
template <int Dim>
bool has_samples(const geometry::LevelSet& shape, double distance, std::uint64_t seed);

// The volume (2D: area of the section) of {φ < 0} by the midpoint rule on cells of this size, those at the surface by the
// part of them that a plane at the distance φ would cut off.
template <int Dim>
double volume(const geometry::LevelSet& shape, double cell);

}  // namespace lope::matter::mpm
