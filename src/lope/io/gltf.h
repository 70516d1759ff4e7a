// glTF 2.0, binary (STEM.glb): all bodies and frames in one file, for small cases. Browsers (three.js, model-viewer), Blender and game
// engines open it.
//
// A body is a node with its name. While its triangles stay the same, frames are morph targets, one for each place that it has been in,
// and their weights are animated from key to key. What has other triangles, or moving points, in every frame is a mesh for each, a child
// of the node; they are shown in turn, by an animated scale of 1 or 0. Points are POINTS, with their radius in `extras`. Such meshes carry
// the fields of their frame as `_NAME`; where targets move the vertices there is no place for fields. Colours are materials, in linear
// light; texture coordinates are metres, the second one turned around, as glTF has it.
//
// Units are metres and y points up: glTF knows no others. No normals: programs shade flat until told otherwise.
#pragma once

#include <lope/io/series.h>

#include <cstddef>
#include <vector>

namespace lope::io {

class GltfFile final : public SeriesWriter {
 public:
  // `frames`: how many there will be. Of data beyond `largest` bytes nothing is written: add_frame fails, and says how much it would be.
  GltfFile(std::filesystem::path folder, std::string stem, std::size_t frames,
           std::size_t largest = std::size_t{256} << 20)
      : folder_(std::move(folder)), stem_(std::move(stem)), frames_(frames), largest_(largest) {}
  Expected<void> add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) override;
  // Writes the file.
  Expected<void> finish() override;

  // A mesh during some frames.
  struct Shape {
    std::size_t first = 0;  // frame
    Surface surface;
    Corners corners;
    std::vector<std::vector<float>> places;  // of the corners: what they have been in, each once in a row
    std::vector<std::size_t> place;          // of each frame from the first one on
    std::vector<Field> fields;               // of the first frame, on the corners
    std::size_t end() const { return first + place.size(); }
  };
  struct Thing {
    std::string name, material;
    Vec3 color;
    bool closed = false;  // something fills it
    double point_radius = 0;
    std::vector<Shape> shapes;
  };

 private:
  void add(std::size_t frame, const SeriesBody& body);

  std::filesystem::path folder_;
  std::string stem_;
  std::size_t frames_, largest_, bytes_ = 0;
  std::vector<std::int64_t> numbers_;
  std::vector<double> times_;
  std::vector<Thing> things_;
};

}  // namespace lope::io
