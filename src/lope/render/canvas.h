// A drawing surface for lines, text and small pictures (cairo). Coordinates are pixels (points in SVG), y
// downwards.
#pragma once

#include <lope/render/colour.h>
#include <lope/render/image.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lope::render {

struct Point2 {
  double x = 0, y = 0;
};

struct Stroke {
  Colour colour;
  double width = 1;
  double opacity = 1;
  bool dashed = false;
};

// Where the given point lies in the text.
enum class Horizontal { Left, Middle, Right };
enum class Vertical { Top, Middle, Baseline, Bottom };

struct TextStyle {
  double size = 14;
  Colour colour = srgb(0x22262B);
  Horizontal horizontal = Horizontal::Left;
  Vertical vertical = Vertical::Middle;
  bool bold = false;
  bool upwards = false;  // turned a quarter to the left, to be read from below
  double opacity = 1;
};

class Canvas {
 public:
  // A white picture; a picture to draw upon; a white vector drawing.
  static Canvas blank(int width, int height);
  static Canvas upon(const Image& image);
  static Canvas vector(int width, int height);

  Canvas(Canvas&&) noexcept;
  Canvas& operator=(Canvas&&) noexcept;
  ~Canvas();

  void line(Point2 from, Point2 to, const Stroke& stroke);
  void polyline(std::span<const Point2> points, const Stroke& stroke);
  void dot(Point2 center, double radius, Colour colour, double opacity = 1);
  void rectangle(Point2 corner, double width, double height, Colour fill, double opacity = 1);
  void rounded_rectangle(Point2 corner, double width, double height, double radius, Colour fill,
                         double opacity);
  void frame(Point2 corner, double width, double height, const Stroke& stroke);
  // Scaled into the rectangle; `crisp` keeps the pixels as squares.
  void picture(const Image& image, Point2 corner, double width, double height, bool crisp);
  void text(Point2 at, std::string_view words, const TextStyle& style);
  double text_width(std::string_view words, const TextStyle& style);

  // Everything until unclip() is cut off outside the rectangle.
  void clip(Point2 corner, double width, double height);
  void unclip();

  // What has been drawn: pixels (of blank and upon), or the text of an SVG file (of vector). Ends the
  // drawing.
  Image finish_image();
  std::string finish_svg();

 private:
  struct State;
  explicit Canvas(std::unique_ptr<State> state);
  void set_colour(Colour colour, double opacity);
  void set_stroke(const Stroke& stroke);
  void set_font(const TextStyle& style);
  std::unique_ptr<State> state_;
};

}  // namespace lope::render
