// How much of a scene fits into this machine at all. Used before anything is meshed: what is refused here would end in minutes
// of silence and then without memory. What is merely large is for `lope check` to tell.
#pragma once

namespace lope::scene {

// Vertices of all solid bodies.
double most_vertices(int dimension);

// Voxels of a mesh file's grid.
double most_voxels();

// Twice the memory there is: estimates are good to a factor of two or so.
double affordable_bytes();

}  // namespace lope::scene
