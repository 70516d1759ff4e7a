#include <lope/render/canvas.h>

#include <cmath>
#include <numbers>

#include <cairo-svg.h>
#include <cairo.h>

namespace lope::render {
namespace {

struct SurfaceDeleter {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct ContextDeleter {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using SurfacePtr = std::unique_ptr<cairo_surface_t, SurfaceDeleter>;

cairo_status_t append(void* text, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

// A cairo picture holds each pixel as one 32-bit number, 0xXXRRGGBB, in rows of `stride` bytes.
SurfacePtr to_cairo(const Image& image) {
  SurfacePtr surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, image.width, image.height));
  cairo_surface_flush(surface.get());
  unsigned char* data = cairo_image_surface_get_data(surface.get());
  const std::size_t stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface.get()));
  for (int y = 0; y < image.height; ++y) {
    auto* row = reinterpret_cast<std::uint32_t*>(data + stride * y);
    const std::uint8_t* in = &image.rgb[static_cast<std::size_t>(image.channels) * y * image.width];
    for (int x = 0; x < image.width; ++x, in += image.channels) {
      row[x] = 0xFF000000u | std::uint32_t{in[0]} << 16 | std::uint32_t{in[1]} << 8 | in[2];
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

}  // namespace

struct Canvas::State {
  std::string svg;  // before the surface that writes to it
  SurfacePtr surface;
  std::unique_ptr<cairo_t, ContextDeleter> context;
};

Canvas::Canvas(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->context.reset(cairo_create(state_->surface.get()));
  cairo_set_line_join(state_->context.get(), CAIRO_LINE_JOIN_ROUND);
}
Canvas::Canvas(Canvas&&) noexcept = default;
Canvas& Canvas::operator=(Canvas&&) noexcept = default;
Canvas::~Canvas() = default;

Canvas Canvas::blank(int width, int height) {
  auto state = std::make_unique<State>();
  state->surface.reset(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  Canvas canvas(std::move(state));
  canvas.rectangle({0, 0}, width, height, {1, 1, 1});
  return canvas;
}

Canvas Canvas::upon(const Image& image) {
  auto state = std::make_unique<State>();
  state->surface = to_cairo(image);
  return Canvas(std::move(state));
}

Canvas Canvas::vector(int width, int height) {
  auto state = std::make_unique<State>();
  state->surface.reset(cairo_svg_surface_create_for_stream(append, &state->svg, width, height));
  Canvas canvas(std::move(state));
  canvas.rectangle({0, 0}, width, height, {1, 1, 1});
  return canvas;
}

void Canvas::set_colour(Colour c, double opacity) {
  cairo_set_source_rgba(state_->context.get(), srgb_encode(c.r), srgb_encode(c.g), srgb_encode(c.b), opacity);
}

void Canvas::set_stroke(const Stroke& stroke) {
  cairo_t* context = state_->context.get();
  set_colour(stroke.colour, stroke.opacity);
  cairo_set_line_width(context, stroke.width);
  const double dashes[] = {4.5 * stroke.width, 3 * stroke.width};
  cairo_set_dash(context, dashes, stroke.dashed ? 2 : 0, 0);
}

void Canvas::set_font(const TextStyle& style) {
  cairo_t* context = state_->context.get();
  cairo_select_font_face(context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, style.size);
}

void Canvas::line(Point2 from, Point2 to, const Stroke& stroke) {
  const Point2 points[] = {from, to};
  polyline(points, stroke);
}

void Canvas::polyline(std::span<const Point2> points, const Stroke& stroke) {
  if (points.size() < 2) return;
  cairo_t* context = state_->context.get();
  set_stroke(stroke);
  cairo_move_to(context, points[0].x, points[0].y);
  for (const Point2& p : points.subspan(1)) cairo_line_to(context, p.x, p.y);
  cairo_stroke(context);
}

void Canvas::dot(Point2 center, double radius, Colour colour, double opacity) {
  set_colour(colour, opacity);
  cairo_arc(state_->context.get(), center.x, center.y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(state_->context.get());
}

void Canvas::rectangle(Point2 corner, double width, double height, Colour fill, double opacity) {
  set_colour(fill, opacity);
  cairo_rectangle(state_->context.get(), corner.x, corner.y, width, height);
  cairo_fill(state_->context.get());
}

void Canvas::rounded_rectangle(Point2 corner, double width, double height, double radius, Colour fill,
                               double opacity) {
  cairo_t* context = state_->context.get();
  constexpr double quarter = std::numbers::pi / 2;
  const double left = corner.x + radius, right = corner.x + width - radius;
  const double top = corner.y + radius, bottom = corner.y + height - radius;
  set_colour(fill, opacity);
  cairo_new_sub_path(context);
  cairo_arc(context, right, top, radius, -quarter, 0);
  cairo_arc(context, right, bottom, radius, 0, quarter);
  cairo_arc(context, left, bottom, radius, quarter, 2 * quarter);
  cairo_arc(context, left, top, radius, 2 * quarter, 3 * quarter);
  cairo_close_path(context);
  cairo_fill(context);
}

void Canvas::frame(Point2 corner, double width, double height, const Stroke& stroke) {
  set_stroke(stroke);
  cairo_rectangle(state_->context.get(), corner.x, corner.y, width, height);
  cairo_stroke(state_->context.get());
}

void Canvas::picture(const Image& image, Point2 corner, double width, double height, bool crisp) {
  if (image.width < 1 || image.height < 1) return;
  cairo_t* context = state_->context.get();
  const SurfacePtr source = to_cairo(image);
  cairo_save(context);
  cairo_rectangle(context, corner.x, corner.y, width, height);
  cairo_clip(context);
  cairo_translate(context, corner.x, corner.y);
  cairo_scale(context, width / image.width, height / image.height);
  cairo_set_source_surface(context, source.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(context), crisp ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
  cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD);
  cairo_paint(context);
  cairo_restore(context);
}

void Canvas::text(Point2 at, std::string_view words, const TextStyle& style) {
  cairo_t* context = state_->context.get();
  const std::string ended(words);
  set_font(style);
  set_colour(style.colour, style.opacity);
  cairo_text_extents_t extents;
  cairo_text_extents(context, ended.c_str(), &extents);
  cairo_font_extents_t font;
  cairo_font_extents(context, &font);
  const double x = style.horizontal == Horizontal::Left     ? 0
                   : style.horizontal == Horizontal::Middle ? -0.5 * extents.x_advance
                                                            : -extents.x_advance;
  const double capital = 0.73 * style.size;  // height of a capital letter
  const double y = style.vertical == Vertical::Top        ? capital
                   : style.vertical == Vertical::Middle   ? 0.5 * capital
                   : style.vertical == Vertical::Baseline ? 0
                                                          : -font.descent;
  cairo_save(context);
  cairo_translate(context, at.x, at.y);
  if (style.upwards) cairo_rotate(context, -std::numbers::pi / 2);
  cairo_move_to(context, x, y);
  cairo_show_text(context, ended.c_str());
  cairo_restore(context);
}

double Canvas::text_width(std::string_view words, const TextStyle& style) {
  set_font(style);
  cairo_text_extents_t extents;
  cairo_text_extents(state_->context.get(), std::string(words).c_str(), &extents);
  return extents.x_advance;
}

void Canvas::clip(Point2 corner, double width, double height) {
  cairo_save(state_->context.get());
  cairo_rectangle(state_->context.get(), corner.x, corner.y, width, height);
  cairo_clip(state_->context.get());
}

void Canvas::unclip() { cairo_restore(state_->context.get()); }

Image Canvas::finish_image() {
  cairo_surface_t* surface = state_->surface.get();
  cairo_surface_flush(surface);
  Image image;
  image.width = cairo_image_surface_get_width(surface);
  image.height = cairo_image_surface_get_height(surface);
  image.rgb.resize(3 * static_cast<std::size_t>(image.width) * image.height);
  const unsigned char* data = cairo_image_surface_get_data(surface);
  const std::size_t stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface));
  for (int y = 0; y < image.height; ++y) {
    const auto* row = reinterpret_cast<const std::uint32_t*>(data + stride * y);
    std::uint8_t* out = &image.rgb[3 * static_cast<std::size_t>(y) * image.width];
    for (int x = 0; x < image.width; ++x, out += 3) {
      out[0] = static_cast<std::uint8_t>(row[x] >> 16);
      out[1] = static_cast<std::uint8_t>(row[x] >> 8);
      out[2] = static_cast<std::uint8_t>(row[x]);
    }
  }
  return image;
}

std::string Canvas::finish_svg() {
  cairo_surface_finish(state_->surface.get());
  return state_->svg;
}

}  // namespace lope::render
