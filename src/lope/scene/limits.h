// How much of a scene fits into this machine at all. Used before anything is meshed: what is refused here would end in minutes
// of silence and then without memory. What is merely large is for `lope check` to tell.
#pragma once

namespace lope::scene {

// Vertices of all solid bodies.
double most_vertices(int dimension);

// Voxels of a mesh file's grid.
double most_voxels();

// Cells that are full of liquid, with so many particles per axis.
double most_liquid_cells(int dimension, int particles_per_axis);

}  // namespace lope::scene
