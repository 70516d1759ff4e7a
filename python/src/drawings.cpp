#include "drawings.h"

#include <lope/io/run_frames.h>

#include <filesystem>

#include <fmt/core.h>

namespace lope::python {

using geometry::Drawable;
using geometry::DrawnField;

namespace {

// A part of a drawing: it keeps the whole.
template <class Part>
struct PartOf {
  DrawablePtr whole;
  const Part* part;

  template <class T>
  py::array rows(const std::vector<T>& values, int components) const {
    const auto count = static_cast<py::ssize_t>(values.size()) / components;
    return shown(std::span<const T>(values), components == 1 ? Shape{count} : Shape{count, components},
                 whole);
  }
  py::dict fields(const std::vector<DrawnField>& drawn) const {
    py::dict result;
    for (const DrawnField& field : drawn) result[py::str(field.name)] = rows(field.values, field.components);
    return result;
  }
};
using Surface = PartOf<geometry::DrawnSurface>;
using Points = PartOf<geometry::DrawnPoints>;
using Volume = PartOf<geometry::DrawnVolume>;

py::dict units_of(const Drawable& drawable) {
  py::dict units;
  for (const auto* fields : {&drawable.surface.vertex_fields, &drawable.surface.element_fields,
                             &drawable.points.fields, &drawable.volume.fields}) {
    for (const DrawnField& field : *fields) units[py::str(field.name)] = field.unit;
  }
  return units;
}

// A part, or None where there is nothing of it.
template <class Part>
py::object part_of(const DrawablePtr& whole, const Part& part, bool there) {
  if (!there) return py::none();
  return py::cast(PartOf<Part>{whole, &part});
}

struct FrameData {
  std::int64_t number = 0;
  double time = 0;
  py::dict drawings;
};

class Frames {
 public:
  explicit Frames(const std::filesystem::path& directory)
      : frames_(unlocked([&] { return take(io::RunFrames::open(directory)); })) {}

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& thing : frames_.things()) result.push_back(thing.name);
    return result;
  }
  const std::vector<std::int64_t>& numbers() const { return frames_.numbers(); }

  FrameData read(std::int64_t number) const {
    io::RunFrames::Data data = unlocked([&] { return take(frames_.read(number)); });
    FrameData result{number, data.time, {}};
    for (std::size_t i = 0; i < data.drawables.size(); ++i)
      result.drawings[py::str(frames_.things()[i].name)] =
          py::cast(std::make_shared<Drawable>(std::move(data.drawables[i])));
    return result;
  }
  FrameData at(py::ssize_t index) const {
    const auto size = static_cast<py::ssize_t>(numbers().size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) throw py::index_error(fmt::format("there are {} frames", size));
    return read(numbers()[static_cast<std::size_t>(index)]);
  }

 private:
  io::RunFrames frames_;
};

}  // namespace

void bind_drawings(py::module_& module) {
  py::class_<Surface>(module, "Surface",
                      "Triangles, counter-clockwise seen from outside, and what they enclose.")
      .def_property_readonly(
          "positions", [](const Surface& s) { return s.rows(s.part->positions, 3); }, "(n, 3), metres.")
      .def_property_readonly(
          "triangles", [](const Surface& s) { return s.rows(s.part->triangles, 3); }, "(m, 3).")
      .def_property_readonly(
          "tetrahedra", [](const Surface& s) { return s.rows(s.part->tetrahedra, 4); },
          "(k, 4); the elements, where there are any.")
      .def_property_readonly(
          "vertex_fields", [](const Surface& s) { return s.fields(s.part->vertex_fields); },
          "Arrays by name, a row per vertex.")
      .def_property_readonly(
          "element_fields", [](const Surface& s) { return s.fields(s.part->element_fields); },
          "Arrays by name, a row per tetrahedron or, where there are none, triangle.");
  py::class_<Points>(module, "Points", "Particles.")
      .def_property_readonly(
          "positions", [](const Points& p) { return p.rows(p.part->positions, 3); }, "(n, 3), metres.")
      .def_property_readonly(
          "radius", [](const Points& p) { return p.part->radius; }, "Of the balls that pictures draw.")
      .def_property_readonly(
          "fields", [](const Points& p) { return p.fields(p.part->fields); }, "Arrays by name.");
  py::class_<Volume>(module, "Volume", "Cells of a regular grid.")
      .def_property_readonly(
          "spacing", [](const Volume& v) { return v.part->spacing; }, "Side of a cell, metres.")
      .def_property_readonly(
          "origin", [](const Volume& v) { return copied(std::span<const double>(v.part->origin.data(), 3)); },
          "The lowest corner of cell (0, 0, 0).")
      .def_property_readonly(
          "cells", [](const Volume& v) { return v.rows(v.part->cells, 3); }, "(n, 3): places in the grid.")
      .def_property_readonly(
          "kinds", [](const Volume& v) { return v.part->kinds; },
          "What the numbers of the field \"kind\" mean, from 0.")
      .def_property_readonly(
          "fields", [](const Volume& v) { return v.fields(v.part->fields); },
          "Arrays by name; staggered ones hold the lower faces of their cells.")
      .def_property_readonly("staggered", [](const Volume& v) { return v.part->staggered; });
  py::class_<Drawable, std::shared_ptr<Drawable>>(
      module, "Drawing", "What there is to see of a body: arrays in single precision, read-only.")
      .def_readonly("dimension", &Drawable::dimension)
      .def_property_readonly(
          "surface",
          [](const std::shared_ptr<Drawable>& d) {
            return part_of(d, d->surface, !d->surface.positions.empty());
          },
          "A Surface, or None.")
      .def_property_readonly(
          "points",
          [](const std::shared_ptr<Drawable>& d) {
            return part_of(d, d->points, !d->points.positions.empty());
          },
          "Points, or None.")
      .def_property_readonly(
          "volume",
          [](const std::shared_ptr<Drawable>& d) { return part_of(d, d->volume, d->volume.spacing > 0); },
          "A Volume, or None.")
      .def_property_readonly(
          "units", [](const Drawable& d) { return units_of(d); }, "Of its fields, by name.");
  py::class_<FrameData>(module, "Frame", "What a frame of a run shows.")
      .def_readonly("number", &FrameData::number)
      .def_readonly("time", &FrameData::time, "Seconds.")
      .def_readonly("drawings", &FrameData::drawings, "Drawings by the names of bodies and obstacles.")
      .def("__getitem__", [](const FrameData& frame, const std::string& name) -> py::object {
        if (!frame.drawings.contains(name)) throw py::key_error(name);
        return frame.drawings[py::str(name)];
      });
  py::class_<Frames>(module, "Frames", "The frames in the directory of a run, read when they are asked for.")
      .def(py::init<const std::filesystem::path&>(), py::arg("directory"))
      .def_property_readonly("names", &Frames::names, "Of bodies and drawn obstacles.")
      .def_property_readonly("numbers", &Frames::numbers, "Of the frames that are there.")
      .def("read", &Frames::read, py::arg("number"), "The frame of this number.")
      .def("__len__", [](const Frames& frames) { return frames.numbers().size(); })
      .def("__getitem__", &Frames::at, py::arg("index"),
           "The frame at this place among those that are there.");
}

}  // namespace lope::python
