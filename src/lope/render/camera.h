// Where a picture is taken from.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/math/types.h>

namespace lope::render {

// Right-handed; lengths in the scene's unit (metres). The vertical field of view is the whole angle; an
// orthographic camera shows `ortho_height` of the scene from top to bottom instead.
struct Camera {
  Vec3 eye = Vec3(3, 2, 4);
  Vec3 target = Vec3::Zero();
  Vec3 up = Vec3::UnitY();
  double fov_degrees = 32;
  bool orthographic = false;
  double ortho_height = 1;
};

struct FramingOptions {
  Vec3 up = Vec3::UnitY();
  double azimuth_degrees = 32;    // turn of the eye about `up`, from the front
  double elevation_degrees = 17;  // above the horizon
  double fov_degrees = 32;
  double aspect = 16.0 / 9.0;  // width over height of the picture
  double margin = 0.10;        // free part of the half-width or half-height, on each side
  double legend_room = 0;      // part of the width to leave free at the right, say 0.15
};

// The nearest camera of the asked direction that sees the whole box with the margin: exact, from the four
// planes of the frustum that just touch the box's corners. Give it the bounds of a whole sequence and no
// frame of it leaves the picture. The front is +z for an up of y or x, and −y for an up of z.
Camera frame_bounds(const geometry::Bounds& bounds, const FramingOptions& options = {});

// Looks straight down −z upon a flat body in the xy-plane, orthographically.
Camera frame_flat(const geometry::Bounds& bounds, double aspect, double margin = 0.08,
                  double legend_room = 0);

// Right, up and forward unit vectors of a camera. An `up` along the view is replaced by some perpendicular
// one.
struct CameraAxes {
  Vec3 right, up, forward;
};
CameraAxes axes(const Camera& camera);

// Picture coordinates of a point: x and y in [−1, 1] inside the picture (y upwards), z the distance along the
// view, negative behind a perspective camera.
Vec3 project(const Camera& camera, double aspect, const Vec3& point);

}  // namespace lope::render
