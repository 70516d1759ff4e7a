// What nodes at obstacles do in the next round of a substep, from where they went in the last one (boundary.h).
#pragma once

#include <lope/matter/mpm/boundary.h>

#include <cstdint>
#include <span>

namespace lope::matter::mpm {

template <int Dim>
Vec<Dim> node_value(std::span<const double> values, int node) {
  return Eigen::Map<const Vec<Dim>>(values.data() + static_cast<std::ptrdiff_t>(Dim) * node);
}

// At u, where the nodes would go without contact in a step of length h: separating nodes that would move into their obstacle are
// held, and those slide that friction by their own weight alone could not stop.
template <int Dim>
void hold_approaching(std::span<const double> u, std::span<const double> masses, double h,
                      Conditions<Dim>& conditions);

// With the solution u of a round and the whole gradient g there: what is pulled is let go, what has gone inside is held (and stays so,
// `returned`); what sticks slides where that takes more than friction gives, and sticks where friction would push it on. `largest`:
// of the forces along normals. True if anything changed; the conditions are to be updated then.
template <int Dim>
bool change_contact(std::span<const double> u, std::span<const double> g, double largest, int round,
                    double dx, NodeContact<Dim>& contact, std::uint8_t& returned);

}  // namespace lope::matter::mpm
