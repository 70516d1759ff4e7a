// Pictures of a run's frames, all with the same camera, colours and scale.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/io/run_frames.h>
#include <lope/render/frame_surface.h>
#include <lope/render/picture.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lope::render {

struct PainterOptions {
  PictureOptions picture;
  std::string color_by = "body";  // "body", "partition" or a field
  bool edges = false;             // of the meshes
  bool points = false;            // draws points where there is a surface too
  // The camera; what is not given shows the whole motion.
  std::optional<Vec3> eye, target;
  Vec3 up = Vec3::UnitY();
  double field_of_view = 0.6;  // vertical, radians
  bool ground = true;
  std::optional<double> ground_height;         // y; none: just below everything
  std::optional<Vec3> ground_color;  // sRGB; none: the usual one
  std::optional<Vec3> background;    // sRGB; none: the usual one
  // Rigid walls at a time, for plots of cells in the plane, which draw them exactly.
  std::function<std::vector<geometry::PlacedWall>(double time)> walls;
};

class Painter {
 public:
  // Looks at (a sample of) all frames for the camera and the range of values. The run outlives the painter. Fails where no
  // body has the field.
  static Expected<Painter> create(const io::RunFrames& run, PainterOptions options);

  Expected<Image> paint(const io::RunFrames::Data& data) const;

 private:
  Painter(const io::RunFrames& run, PainterOptions options);
  Expected<void> survey();
  Expected<void> survey_field(const io::RunFrames::Data& data, std::vector<double>& values);
  void place_camera(const geometry::Bounds& all);
  bool coloured() const;
  Expected<void> add_surface(const geometry::Drawable& drawable, std::size_t thing, Scene& picture) const;
  void add_skins(const geometry::Drawable& drawable, const Surface& whole, Scene& picture) const;
  // `shown`: numbers of points.
  void add_parts(const geometry::Drawable& drawable, std::span<const std::size_t> shown,
                 Scene& picture) const;
  Expected<void> add_points(const geometry::Drawable& drawable, std::span<const std::size_t> shown,
                            Scene& picture) const;
  Expected<std::optional<SurfaceField>> field_of(std::size_t vertices, std::size_t triangles,
                                                 const std::vector<double>& values) const;
  Expected<Image> paint_cells(const geometry::Drawable& drawable, double time) const;
  void remove_hiding_walls(Surface& surface) const;
  void annotate(Image& image, double time) const;

  const io::RunFrames& run_;
  PainterOptions options_;
  std::string legend_, unit_;
  std::vector<SurfaceField> partitions_;  // per thing, where that is what the colours show
  bool flat_ = false;
  geometry::Bounds bounds_;
  double extent_ = 1;
  ColourMap map_ = ColourMap::Tide;
  ValueRange range_;
  Camera camera_;
  double ground_height_ = 0;
};

// The frame in which bodies are farthest from their shape at the start, or points move fastest.
Expected<std::int64_t> most_dramatic(const io::RunFrames& run);

}  // namespace lope::render
