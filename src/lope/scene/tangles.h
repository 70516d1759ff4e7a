// Which surfaces pass through each other. Barriers keep apart what starts apart, and nothing else.
#pragma once

#include <lope/step/simulation.h>

#include <string>
#include <vector>

namespace lope::scene {

struct Tangle {
  std::string first, second;  // what messages call them; the same one twice: with itself
  std::size_t crossings = 0;  // edges through triangles (2D: through edges), exactly counted
  Vec3 place = Vec3::Zero();  // of one of them
};

// At the start, in the order of bodies and obstacles; none without barriers.
std::vector<Tangle> find_tangles(const step::Model& model);
// At the current state, between all bodies that touch, whatever keeps them apart, and obstacles that have a surface.
std::vector<Tangle> find_tangles(const step::Simulation& simulation);
std::string describe(const Tangle& tangle);

}  // namespace lope::scene
