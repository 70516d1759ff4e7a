#include <lope/base/parallel.h>
#include <lope/render/picture.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "shapes.h"
#include <gtest/gtest.h>

namespace lope::render {
namespace {

constexpr PictureOptions small = {.width = 160, .height = 120, .samples = 32};

void even_light(Scene& scene, float radiance) {
  const Colour c = {radiance, radiance, radiance};
  scene.sun.strength = 0;
  scene.sky = {c, c, c};
}

Scene sphere_on_ground() {
  Scene scene;
  scene.surfaces = {make_sphere({0, 1, 0}, 1, 20)};
  scene.ground->height = 0;
  scene.camera = frame_bounds(bounds(scene.surfaces), {.aspect = 4.0 / 3.0, .margin = 0.35});
  return scene;
}

TEST(Picture, HasTheSameBitsForAnyNumberOfThreads) {
  Scene scene = sphere_on_ground();
  scene.surfaces.push_back(make_box({1.2, 0, -1}, {2, 1.4, 0.3}));
  scene.surfaces[0].wireframe = Wireframe{};
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return draw(scene, small)->rgb;
  };
  const auto one = with(1);
  EXPECT_EQ(one, with(2));
  EXPECT_EQ(one, with(0));
  EXPECT_EQ(one, with(1));
}

// Against a picture without noise: blocks of pixels are as near to it as pixels of their own, with the same bits for any
// number of threads.
TEST(Picture, BlocksOfPixelsLookLikePixels) {
  Scene scene = sphere_on_ground();
  scene.surfaces.push_back(make_box({1.2, 0, -1}, {2, 1.4, 0.3}));
  const PictureOptions pixels{.width = 161, .height = 119, .samples = 8};
  PictureOptions blocks = pixels, exact = pixels;
  blocks.by_blocks = true;
  exact.samples = 512;
  const Image truth = *draw(scene, exact);
  const auto error = [&](const Image& image) {
    double sum = 0;
    for (std::size_t i = 0; i < image.rgb.size(); ++i)
      sum += std::pow(int(image.rgb[i]) - int(truth.rgb[i]), 2);
    return std::sqrt(sum / static_cast<double>(image.rgb.size()));
  };
  const ThreadLimit limit(1);
  const Image shared = *draw(scene, blocks);
  EXPECT_LT(error(shared), 1.3 * error(*draw(scene, pixels)));
  EXPECT_LT(error(shared), 4);
  const ThreadLimit two(2);
  EXPECT_EQ(shared.rgb, draw(scene, blocks)->rgb);
}

TEST(Picture, TheSeedChangesTheNoiseOnly) {
  const Scene scene = sphere_on_ground();
  PictureOptions other = small;
  other.seed = 2;
  const Image a = *draw(scene, small), b = *draw(scene, other);
  EXPECT_NE(a.rgb, b.rgb);
  double sum = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) sum += std::abs(int(a.rgb[i]) - int(b.rgb[i]));
  EXPECT_LT(sum / static_cast<double>(a.rgb.size()), 3);
}

// In even light from everywhere a white body, glossy or not, cannot be told from the light.
TEST(Picture, WhiteFurnace) {
  for (const double specular : {0.0, 0.04}) {
    Scene scene = sphere_on_ground();
    scene.ground.reset();
    scene.surfaces.push_back(make_box({-1, -1, -1}, {1, 0.2, 1}));
    for (Surface& s : scene.surfaces) {
      s.colour = {1, 1, 1};
      s.specular = specular;
    }
    even_light(scene, 0.5f);
    const Colour grey = {0.5f, 0.5f, 0.5f};
    scene.background = {grey, grey};
    const Image image = *draw(scene, small);
    const int expected = to_bytes(grey).r;
    for (const std::uint8_t byte : image.rgb) ASSERT_NEAR(byte, expected, 1);
  }
}

TEST(Picture, ABodyInEvenLightShowsItsColour) {
  Scene scene = sphere_on_ground();
  scene.ground.reset();
  even_light(scene, 1);
  scene.surfaces[0].specular = 0;
  scene.surfaces[0].colour = srgb(0x3366AA);
  const Image image = *draw(scene, small);
  const Bytes seen = pixel_at(image, scene.camera, {0, 1, 0});
  EXPECT_NEAR(seen.r, 0x33, 1);
  EXPECT_NEAR(seen.g, 0x66, 1);
  EXPECT_NEAR(seen.b, 0xAA, 1);
}

TEST(Picture, OpenFloorShowsItsOwnColour) {
  Scene scene = sphere_on_ground();
  scene.ground->pattern = GroundPattern::Plain;
  scene.ground->colour = srgb(0x808890);
  scene.ground->fade_radius = 1e4;
  const Image image = *draw(scene, small);
  const Bytes seen = pixel_at(image, scene.camera, {-1.6, 0, 2.2});
  EXPECT_NEAR(seen.r, 0x80, 3);
  EXPECT_NEAR(seen.g, 0x88, 3);
  EXPECT_NEAR(seen.b, 0x90, 3);
}

TEST(Picture, TheShadowLiesOppositeTheSun) {
  Scene scene = sphere_on_ground();
  scene.ground->pattern = GroundPattern::Plain;
  for (const double side : {-1.0, 1.0}) {
    scene.sun.toward = Vec3(side, 1, 0);
    const Image image = *draw(scene, small);
    // The shadow of the sphere's centre falls one radius sideways.
    const int shaded = brightness(pixel_at(image, scene.camera, {-1.55 * side, 0, 0.55}));
    const int open = brightness(pixel_at(image, scene.camera, {1.55 * side, 0, 0.55}));
    EXPECT_LT(shaded, 0.8 * open) << "sun at " << side;
  }
}

TEST(Picture, ContactWithTheFloorIsDarkerThanOpenFloorWithoutASun) {
  Scene scene = sphere_on_ground();
  scene.ground->pattern = GroundPattern::Plain;
  scene.sun.strength = 0;
  const Image image = *draw(scene, small);
  EXPECT_LT(brightness(pixel_at(image, scene.camera, {0.35, 0, 0.5})),
            0.85 * brightness(pixel_at(image, scene.camera, {2.2, 0, 1.4})));
}

TEST(Picture, FieldsOnVerticesAndFacesShowTheMap) {
  Surface square;
  square.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  square.field = SurfaceField{.on = SurfaceField::On::Vertices, .values = {0, 1, 1, 0}};
  Scene scene = flat_scene({square}, 1);
  const PictureOptions options = {.width = 101, .height = 101, .samples = 64};
  Image image = *draw(scene, options);
  for (const double t : {0.1, 0.5, 0.9}) {
    const Bytes seen = pixel_at(image, scene.camera, {t, 0.4, 0});
    const Bytes expected = to_bytes(colour_at(ColourMap::Tide, t));
    EXPECT_NEAR(seen.r, expected.r, 4);
    EXPECT_NEAR(seen.g, expected.g, 4);
    EXPECT_NEAR(seen.b, expected.b, 4);
  }
  scene.surfaces[0].field = SurfaceField{.on = SurfaceField::On::Faces,
                                         .values = {2, std::numeric_limits<float>::quiet_NaN()},
                                         .map = ColourMap::Categorical};
  image = *draw(scene, options);
  EXPECT_EQ(brightness(pixel_at(image, scene.camera, {0.8, 0.2, 0})),
            brightness(to_bytes(colour_at(ColourMap::Categorical, 2))));
  EXPECT_EQ(brightness(pixel_at(image, scene.camera, {0.2, 0.8, 0})),
            brightness(to_bytes(colour_at(ColourMap::Tide, std::nan("")))));
  EXPECT_EQ(brightness(pixel(image, 0, 0)), 3 * 255);
}

// A square, patterned on its front; seen from behind it has the colour of its back and no pattern.
TEST(Picture, SidesAndPatterns) {
  Surface square;
  square.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  square.colour = srgb(0xC04030);
  square.back = srgb(0x3040C0);
  square.pattern =
      Pattern{Pattern::Kind::Stripes, 0.25, srgb(0xE0E0D0), {0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1}};
  const PictureOptions options = {.width = 201, .height = 201, .samples = 16};
  const auto seen = [&](const Surface& surface, double x, double y) {
    const Scene scene = flat_scene({surface}, 1);
    const Bytes bytes = pixel_at(*draw(scene, options), scene.camera, {x, y, 0});
    return std::array<int, 3>{bytes.r, bytes.g, bytes.b};
  };
  const std::array<int, 3> own = {0xC0, 0x40, 0x30}, back = {0x30, 0x40, 0xC0}, other = {0xE0, 0xE0, 0xD0};
  for (const double y : {0.3, 0.6}) {
    EXPECT_EQ(seen(square, 0.125, y), own);
    EXPECT_EQ(seen(square, 0.375, y), other);
    EXPECT_EQ(seen(square, 0.625, y), own);
  }
  square.pattern->kind = Pattern::Kind::Checks;
  EXPECT_EQ(seen(square, 0.125, 0.125), own);
  EXPECT_EQ(seen(square, 0.375, 0.375), other);
  EXPECT_NE(seen(square, 0.375, 0.125), own);
  EXPECT_EQ(seen(square, 0.375, 0.125), seen(square, 0.125, 0.375));
  square.pattern->kind = Pattern::Kind::Weave;  // threads over and under
  EXPECT_GT(seen(square, 0.125, 0.125)[2], seen(square, 0.375, 0.125)[2]);
  std::swap(square.triangles[0][0], square.triangles[0][1]);
  std::swap(square.triangles[1][0], square.triangles[1][1]);
  EXPECT_EQ(seen(square, 0.375, 0.3), back);
  square.pattern->coordinates.resize(6);
  const auto refused = draw(flat_scene({square}, 1), options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("two coordinates for each of 6 corners"), std::string::npos)
      << refused.error().message;
}

TEST(Picture, WireframeDarkensTheEdgesOnly) {
  Surface square;
  square.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  square.wireframe = Wireframe{.pixels = 3, .strength = 1};
  const Scene scene = flat_scene({square}, 1);
  const Image image = *draw(scene, {.width = 200, .height = 200});
  EXPECT_LT(brightness(pixel_at(image, scene.camera, {0.5, 0.5, 0})),
            0.7 * brightness(pixel_at(image, scene.camera, {0.7, 0.3, 0})));
}

TEST(Picture, FarFromTheOriginLooksTheSame) {
  Scene near = sphere_on_ground(), far = near;
  const Vec3 offset(1e5, 0, -2e5);
  for (Vec3& p : far.surfaces[0].positions) p += offset;
  far.camera.eye += offset;
  far.camera.target += offset;
  for (Scene* scene : {&near, &far}) scene->ground->pattern = GroundPattern::Plain;
  const Image a = *draw(near, small), b = *draw(far, small);
  int different = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) different += std::abs(int(a.rgb[i]) - int(b.rgb[i])) > 12;
  EXPECT_LT(different, 60);
}

TEST(Picture, AnEmptySceneIsABackground) {
  Scene scene;
  scene.ground.reset();
  scene.background = {{1, 1, 1}, {1, 1, 1}};
  const Image image = *draw(scene, {.width = 7, .height = 5, .samples = 1});
  EXPECT_EQ(image.rgb, std::vector<std::uint8_t>(7 * 5 * 3, 255));
}

void expect_error(const Scene& scene, const PictureOptions& options, const std::string& part) {
  const auto image = draw(scene, options);
  ASSERT_FALSE(image.has_value()) << part;
  EXPECT_NE(image.error().message.find(part), std::string::npos) << image.error().message;
  EXPECT_EQ(image.error().trouble, Trouble::Input);
}

TEST(Picture, BadInputIsNamed) {
  Scene scene = sphere_on_ground();
  expect_error(scene, {.width = 0}, "0 x 720");
  expect_error(scene, {.samples = 0}, "samples");
  Scene index = scene;
  index.surfaces[0].triangles[4][1] = 100000;
  expect_error(index, small, "triangle 4 names vertex 100000");
  Scene position = scene;
  position.surfaces[0].positions[7].y() = std::nan("");
  expect_error(position, small, "vertex 7");
  Scene field = scene;
  field.surfaces[0].field = SurfaceField{.values = {1, 2, 3}};
  expect_error(field, small, "3 values");
}

TEST(Picture, TheShoulderIsIdentityBelowAndMonotoneBelowOne) {
  EXPECT_EQ(shoulder({0.3f, 0.5f, 0.7f}).b, 0.7f);
  float before = 0;
  for (int i = 1; i < 400; ++i) {
    const float x = static_cast<float>(i) / 100;
    const float y = shoulder({x, x, x}).g;
    EXPECT_GT(y, before);
    EXPECT_LE(y, 1.0f);
    before = y;
  }
}

}  // namespace
}  // namespace lope::render
