// Whether a run may go on: what is simulated must be what it was.
#pragma once

#include <lope/base/expected.h>
#include <lope/scene/scene.h>
#include <lope/step/model.h>

#include <span>
#include <vector>

namespace lope::scene {

// Fails, with the first key that differs and both its values, where the scenes do not describe the same physics. Free to
// change: how long and how exactly is simulated, what is written and drawn, and where mesh files are. (The step and the
// frames are looked at where the state is known.)
Expected<void> check_same_physics(const Scene& before, const Scene& now);

// A few numbers that stand for the meshes, materials, handles and files of a model: what a checkpoint keeps of them.
// Sums with random weights, which may differ in their last digits between processors.
std::vector<double> fingerprint(const Scene& scene, const step::Model& model);

// Fails with the body or the file that a fingerprint was not taken of.
Expected<void> check_fingerprint(std::span<const double> saved, const Scene& scene, const step::Model& model);

}  // namespace lope::scene
