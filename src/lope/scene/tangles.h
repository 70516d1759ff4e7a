// Which surfaces pass through each other at the start of a scene whose contact is by barriers: these keep apart what starts apart, and
// nothing else.
#pragma once

#include <lope/step/model.h>

#include <string>
#include <vector>

namespace lope::scene {

struct Tangle {
  std::string first, second;  // what messages call them; the same one twice: with itself
  std::size_t crossings = 0;  // edges through triangles (2D: through edges), exactly counted
  Vec3 place = Vec3::Zero();  // of one of them
};

// In the order of bodies and obstacles; none without barriers.
std::vector<Tangle> find_tangles(const step::Model& model);
std::string describe(const Tangle& tangle);

}  // namespace lope::scene
