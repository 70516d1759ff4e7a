// What a run's frames hold (docs/formats.md): bodies, of whatever kind, and the obstacles that are drawn.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/io/drawable_frame.h>
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>

#include <vector>

namespace lope::scene {

class FrameWriter {
 public:
  // Both outlive it.
  FrameWriter(const Scene& scene, step::Simulation& simulation);

  // What never changes.
  io::Frame topology() const;
  // The simulation's state.
  io::Frame snapshot(std::int64_t number) const;

 private:
  // The surface of an obstacle at time 0. Floors are not drawn: the picture's ground is there.
  struct DrawnSurface {
    std::size_t obstacle = 0;  // in the model
    bool bounded = true;
    geometry::Mesh mesh;
  };
  void choose_obstacles();
  matter::FieldFilter wanted() const;

  const Scene& scene_;
  step::Simulation& simulation_;
  std::vector<DrawnSurface> obstacles_;
};

}  // namespace lope::scene
