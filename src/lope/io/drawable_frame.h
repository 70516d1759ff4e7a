// Drawables in frames: which arrays and words they are there (docs/formats.md).
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/drawable.h>
#include <lope/io/frame.h>

#include <string>
#include <vector>

namespace lope::io {

// Adds what a drawable holds under this name. Of topology.lope (`constant`) also its look and dimension.
void add_drawable(const std::string& name, const geometry::Drawable& drawable, bool constant, Frame& frame);

// The names of the drawables of topology.lope, in their order.
std::vector<std::string> drawable_names(const Frame& topology);

// Adds what a file holds under this name to a drawable. Fails for what does not fit together; the message has no path.
Expected<void> read_drawable(const std::string& name, const Frame& frame, geometry::Drawable& drawable);

// Whether fields, indices and numbers fit together, once everything is read.
Expected<void> check_drawable(const std::string& name, const geometry::Drawable& drawable);

}  // namespace lope::io
