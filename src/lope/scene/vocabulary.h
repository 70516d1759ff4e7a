// Groups of keys that kinds of matter, obstacles and emitters share. A kind takes those into its table that it understands
// (kind.h); what they mean is checked by rules.h and read by body_mesh.h, handle_motion.h, selection.h, nodal_words.h.
#pragma once

#include <lope/scene/schema.h>

#include <string>
#include <vector>

namespace lope::scene {

// A body's `shape`, `transform` and `copies`.
struct ShapeWords {
  bool lattices = true;  // regular meshes of boxes: `lattice`, `pattern`
};
void add_body_shape(std::vector<Key>& keys, const ShapeWords& words);
void add_body_transform(std::vector<Key>& keys);
void add_body_copies(std::vector<Key>& keys);
// `edge` of its elements.
void add_body_edge(std::vector<Key>& keys);
// `velocity` and `angular_velocity`.
void add_body_velocity(std::vector<Key>& keys);
// `color`.
void add_body_color(std::vector<Key>& keys);
// `contact` and `self_contact`.
void add_body_contact(std::vector<Key>& keys);
// `damping`: mass and stiffness.
void add_body_damping(std::vector<Key>& keys);
// [[body.handle]] and [[body.load]].
void add_body_handles(std::vector<Key>& keys);
void add_body_loads(std::vector<Key>& keys);

// An elastic material: a preset, or its constants.
void add_material(std::vector<Key>& keys, const std::string& path);

// How vertices (or, by their centroids, elements) are chosen, always in the undeformed body after its transform.
void add_selection(std::vector<Key>& keys, const std::string& path);

// Motion words: they add up. `centers`: the words for the centre of a rotation, the first is the default.
void add_motion(std::vector<Key>& keys, const std::string& path, const std::vector<std::string>& centers);

// Shapes that have a formula: what obstacles and emitters may be.
void add_formula_shapes(std::vector<Key>& keys, const std::string& path);
// Their transform: turned and moved.
void add_rigid_transform(std::vector<Key>& keys, const std::string& path);

}  // namespace lope::scene
