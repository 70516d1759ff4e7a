// Pictures of surfaces: a small path tracer over Embree. Area sun with soft shadows, sky light with occlusion
// and colour bleeding, a mild gloss, water and glass, and a studio ground that fades into the
// background.
//
// Every random number is a function of (seed, pixel, sample), so the picture has the same bits for any number
// of threads. Light is linear Rec. 709; `shoulder` and the sRGB curve bring it to the screen, and leave
// everything below 0.7 as it is: a field in even light has the very colours of its legend.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>
#include <lope/render/camera.h>
#include <lope/render/colour.h>
#include <lope/render/image.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace lope::render {

// Numbers on a surface, shown by a colour map in place of the base colour.
struct SurfaceField {
  enum class On { Vertices, Faces };
  On on = On::Vertices;
  std::vector<float> values;  // one per vertex (interpolated before the map) or per triangle; NaN: missing
  ColourMap map = ColourMap::Tide;
  double low = 0, high = 1;
};

// Edges of the triangles as thin lines; they fade where triangles shrink to a few pixels.
struct Wireframe {
  Colour colour = {0.02f, 0.022f, 0.028f};
  double pixels = 1.1;
  double strength = 0.55;  // opacity
};

// What light passes through. It is reflected and refracted without blur, by Fresnel's equations for a smooth
// boundary, and loses colour on its way (Beer's law); the sun's light goes straight on and is weakened by the
// same law (there are no caustics).
struct Clear {
  enum class Kind {
    Water,  // the closed surface of a volume, counter-clockwise seen from outside
    Glass,  // a thin wall: light goes straight on; invisible from inside water that wets it
  };
  Kind kind = Kind::Water;
  double index = 1.333;  // of refraction
  Colour tint = {0.42f, 0.75f,
                 0.88f};  // what is left of white light after `depth`; of glass, across the wall
  double depth = 0;       // metres; 0: the radius of the scene
};

// What is on a surface by coordinates of its own.
struct Pattern {
  enum class Kind { Stripes, Checks, Weave };  // geometry::Pattern
  Kind kind = Kind::Stripes;
  double width = 0;  // of a band or a thread, in units of the coordinates; positive
  Colour colour;
  std::vector<float> coordinates;  // two per corner of a triangle
};

// Triangles are seen from both sides.
struct Surface {
  std::vector<Vec3> positions;
  std::vector<geometry::Triangle> triangles;
  Colour colour = srgb(0x4F8FC0);
  std::optional<Colour> back;         // where triangles are clockwise; none: the same
  std::optional<Pattern> pattern;     // where they are not
  std::optional<SurfaceField> field;  // in place of all colours
  std::optional<Wireframe> wireframe;
  double roughness = 0.38;       // of the gloss: 0 a mirror, 1 dull
  double specular = 0.04;        // reflectance of the gloss seen straight on; 0 switches it off
  double crease_degrees = 38.0;  // edges sharper than this stay sharp; 0 draws every facet
  std::optional<Clear> clear;    // in place of colour, field and gloss
};

// Balls of one size, such as particles.
struct Balls {
  std::vector<Vec3> centers;
  double radius = 0;
  Colour colour = srgb(0x4F8FC0);
  std::optional<SurfaceField> field;  // one value per ball (on vertices)
};

enum class GroundPattern { Plain, Grid, Checker };

// A floor perpendicular to the scene's up, seen from above only. Its colour is the radiance it shows where
// nothing shades it, whatever the light; far away it becomes the horizon.
struct Ground {
  double height = 0;  // along up
  Colour colour = srgb(0xD3D7DC);
  GroundPattern pattern = GroundPattern::Grid;
  double spacing = 0;      // of the pattern; 0: a round number that suits the scene's size
  double contrast = 0.10;  // of the pattern
  double fade_radius = 0;  // where the floor has become the horizon; 0: from the scene's size
};

// A disc of light far away. Radiance of a white surface that faces it squarely: `colour` × `strength`.
struct Sun {
  Vec3 toward = Vec3::Zero();  // zero: high over the viewer's left shoulder
  Colour colour = {1.0f, 0.955f, 0.88f};
  double strength = 0.80;
  double radius_degrees = 5;  // half the angle of the disc: the softness of the shadows
};

// Radiance of the sky as light, straight up, at the horizon and (without a ground) from below.
struct Sky {
  Colour zenith = {0.50f, 0.54f, 0.60f};
  Colour horizon = {0.40f, 0.41f, 0.43f};
  Colour nadir = {0.22f, 0.22f, 0.22f};
};

// What is seen where nothing is, exactly as given; it sends no light.
struct Background {
  Colour top = srgb(0xD9E1EA);
  Colour horizon = srgb(0xF1F3F5);
};

// What clear bodies mirror and show behind them: the background's horizon, darker towards the zenith, a wide
// window of light beyond the scene as seen from the camera, and the sun.
struct Studio {
  Colour zenith = {0.16f, 0.30f, 0.47f};
  Colour window = {1.5f, 1.55f, 1.6f};
};

struct Scene {
  std::vector<Surface> surfaces;
  std::vector<Balls> balls;
  Vec3 up = Vec3::UnitY();
  Camera camera;
  std::optional<Ground> ground = Ground{};
  Sun sun;
  Sky sky;
  Background background;
  Studio studio;
  // Flat drawing: no light, no shadow, every surface shows its own colour. Meant for 2D bodies with
  // frame_flat.
  bool unlit = false;
};

struct PictureOptions {
  int width = 1280, height = 720;
  // Rays per pixel, rounded up to a multiple of eight; pixels that are settled earlier take fewer.
  int samples = 32;
  int bounces = 1;  // of the sky light
  // Two by two pixels share eight rays where they see one thing at about one angle; their colours are interpolated between
  // such blocks, which also evens out noise. Elsewhere, as along edges, pixels are drawn as ever. For movies.
  bool by_blocks = false;
  std::uint64_t seed = 1;
};

// The picture, or an Input error that names the surface, triangle or vertex that is wrong (an index out of
// range, a position that is not finite, a field of the wrong length, an index of refraction below 1) or a
// size that is not positive; an
// Environment error if Embree cannot be used.
Expected<Image> draw(const Scene& scene, const PictureOptions& options = {});

// Bounds of everything drawn.
geometry::Bounds bounds(const std::vector<Surface>& surfaces);

// A white page with flat colours and thin edges, for bodies in the xy-plane.
Scene flat_scene(std::vector<Surface> surfaces, double aspect);

// The screen value of a radiance: itself up to 0.7, then an exponential shoulder towards 1, smooth in the
// first derivative. All channels are scaled by the largest one's factor, half-way, which keeps hues.
Colour shoulder(Colour radiance);

}  // namespace lope::render
