// From the handles, loads, velocities, damping and contact of a validated [[body]] to those of a body of nodes.
#pragma once

#include <lope/base/expected.h>
#include <lope/matter/nodal_matter.h>
#include <lope/scene/document.h>
#include <lope/scene/selection.h>

#include <array>
#include <vector>

namespace lope::scene {

// Fails where a handle chooses nothing, or what another one holds at the same time.
Expected<void> read_handles(const Value& value, const Selector& selector, matter::NodalBody& body);

// `surface`: the outer faces; in 2D edges, with −1 as the third vertex. Fails where a pressure or a traction acts on no face.
Expected<void> read_loads(const Value& value, const Selector& selector, const std::vector<std::array<int, 3>>& surface,
                          matter::NodalBody& body);

// At the start, turning about `center`; nothing where there are none (static).
void read_velocities(const Value& value, const Vec3& center, matter::NodalBody& body);

// Where there are the words.
void read_damping(const Value& value, matter::NodalBody& body);
void read_contact(const Value& value, matter::NodalBody& body);

}  // namespace lope::scene
