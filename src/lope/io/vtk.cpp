// VTK legacy files: UNSTRUCTURED_GRID and POLYDATA, text and binary (big-endian), both layouts of cells
// (counts inline up to version 4, offsets and connectivity since 5.1). A cell array named "region" becomes
// Mesh::region.
#include <lope/io/formats.h>

#include <cmath>

#include <fmt/core.h>

namespace lope::io {

bool VtkCells::add(int type, const std::vector<int>& corners) {
  constexpr int triangle = 5, strip = 6, polygon = 7, quad = 9, tetrahedron = 10;
  const std::size_t cell = cells_++;
  const std::size_t size = corners.size();
  switch (type) {
    case triangle:
    case quad:
    case polygon:
      if (size < 3 || (type == triangle && size != 3) || (type == quad && size != 4)) return false;
      add_polygon(corners, mesh_.triangles);
      break;
    case strip:
      if (size < 3) return false;
      for (std::size_t i = 2; i < size; ++i) {
        const std::size_t odd = i % 2;  // every other triangle of a strip is turned around
        mesh_.triangles.push_back({corners[i - 2 + odd], corners[i - 1 - odd], corners[i]});
      }
      break;
    case tetrahedron:
      if (size != 4) return false;
      mesh_.tetrahedra.push_back({corners[0], corners[1], corners[2], corners[3]});
      tetrahedron_cell_.push_back(cell);
      break;
    default:
      ++left_out_;
  }
  triangle_cell_.resize(mesh_.triangles.size(), cell);
  return true;
}

void VtkCells::set_regions(const std::vector<double>& values) {
  if (values.size() != cells_) return;
  for (const std::size_t cell : mesh_.tetrahedra.empty() ? triangle_cell_ : tetrahedron_cell_) {
    const double value = values[cell];
    mesh_.region.push_back(std::abs(value) < 2e9 ? static_cast<int>(std::lround(value)) : 0);
  }
  drop_trivial_regions(mesh_.region);
}

namespace {

enum class Scalar { I8, U8, I16, U16, I32, U32, I64, U64, F32, F64 };

std::optional<Scalar> scalar_named(std::string_view name) {
  constexpr std::pair<std::string_view, Scalar> names[] = {
      {"char", Scalar::I8},          {"unsigned_char", Scalar::U8},
      {"short", Scalar::I16},        {"unsigned_short", Scalar::U16},
      {"int", Scalar::I32},          {"unsigned_int", Scalar::U32},
      {"long", Scalar::I64},         {"unsigned_long", Scalar::U64},
      {"vtktypeint64", Scalar::I64}, {"vtkIdType", Scalar::I64},
      {"float", Scalar::F32},        {"double", Scalar::F64}};
  for (const auto& [key, type] : names) {
    if (key == name) return type;
  }
  return std::nullopt;
}

std::size_t size_of(Scalar type) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return sizes[static_cast<int>(type)];
}

class VtkReader {
 public:
  explicit VtkReader(Scanner& in) : in_(in), cells_(mesh_) {}

  Expected<geometry::Mesh> read() {
    read_header();
    while (!in_.failed() && !finished_ && !in_.at_end()) read_section(in_.token());
    if (!in_.failed()) add_cells();
    if (in_.failed()) return in_.error();
    warn_left_out(in_.path(), cells_.left_out(), "cells other than polygons and linear tetrahedra");
    cells_.set_regions(region_);
    return std::move(mesh_);
  }

 private:
  void read_header() {
    const std::string_view first = in_.line();
    if (first.substr(0, 22) != "# vtk DataFile Version")
      in_.fail("a VTK file begins with '# vtk DataFile Version'");
    in_.line();
    const std::string_view encoding = in_.token();
    binary_ = encoding == "BINARY";
    if (!binary_ && encoding != "ASCII") in_.fail("the third line must be ASCII or BINARY");
    in_.expect("DATASET");
    const std::string_view kind = in_.token();
    if (kind != "POLYDATA" && kind != "UNSTRUCTURED_GRID") {
      in_.fail("the dataset must be UNSTRUCTURED_GRID or POLYDATA; convert it");
    }
  }

  void read_section(std::string_view word) {
    if (word == "POINTS") {
      read_points();
    } else if (word == "CELLS" || word == "POLYGONS" || word == "TRIANGLE_STRIPS" || word == "VERTICES" ||
               word == "LINES") {
      read_connectivity(word);
    } else if (word == "CELL_TYPES") {
      const std::size_t count = in_.count("the number of cell types", binary_ ? 4 : 2);
      in_.line();
      types_ = integers(count, Scalar::I32, "a cell type");
    } else if (word == "CELL_DATA" || word == "POINT_DATA") {
      in_cell_data_ = word == "CELL_DATA";
      data_count_ = in_.count("the number of values", 1);
      in_.line();
    } else if (word == "METADATA") {
      in_.line();
      while (in_.remaining() > 0 && !in_.line().empty()) {
      }
    } else if (word == "FIELD") {
      read_field();
    } else if (word == "SCALARS" && data_count_) {
      read_scalars();
    } else if (data_count_) {
      finished_ = true;  // attributes of other kinds: nothing that a mesh needs comes after them
    } else {
      in_.fail(fmt::format("'{}' is not expected here", word.substr(0, 40)));
    }
  }

  Scalar type() {
    const std::string_view name = in_.token();
    const std::optional<Scalar> found = scalar_named(name);
    if (!found) in_.fail(fmt::format("'{}' is not a VTK number type", name.substr(0, 40)));
    return found.value_or(Scalar::F64);
  }

  template <class T>
  T value(Scalar type, std::string_view what) {
    if (!binary_) {
      if constexpr (std::is_integral_v<T>) return in_.integer(what);
      return static_cast<T>(in_.real(what));
    }
    switch (type) {
      case Scalar::I8:
        return static_cast<T>(in_.get<std::int8_t>(what));
      case Scalar::U8:
        return static_cast<T>(in_.get<std::uint8_t>(what));
      case Scalar::I16:
        return static_cast<T>(in_.get<std::int16_t>(what));
      case Scalar::U16:
        return static_cast<T>(in_.get<std::uint16_t>(what));
      case Scalar::I32:
        return static_cast<T>(in_.get<std::int32_t>(what));
      case Scalar::U32:
        return static_cast<T>(in_.get<std::uint32_t>(what));
      case Scalar::I64:
        return static_cast<T>(in_.get<std::int64_t>(what));
      case Scalar::U64:
        return static_cast<T>(in_.get<std::uint64_t>(what));
      case Scalar::F32:
      case Scalar::F64:
        break;
    }
    if constexpr (std::is_integral_v<T>) {
      in_.fail(fmt::format("{} must have an integer type", what));
      return 0;
    } else {
      return type == Scalar::F32 ? static_cast<T>(in_.get<float>(what)) : in_.get<double>(what);
    }
  }

  // `count` was compared with the bytes that are left.
  template <class T>
  std::vector<T> values(std::size_t count, Scalar type, std::string_view what) {
    std::vector<T> result;
    result.reserve(count);
    if (binary_) in_.begin_binary(std::endian::big);
    for (std::size_t i = 0; i < count && !in_.failed(); ++i) result.push_back(value<T>(type, what));
    in_.end_binary();
    return result;
  }
  std::vector<std::int64_t> integers(std::size_t count, Scalar type, std::string_view what) {
    return values<std::int64_t>(count, type, what);
  }
  std::size_t bytes_each(Scalar type) const { return binary_ ? size_of(type) : 2; }

  void read_points() {
    const std::size_t count = in_.count("the number of points", 6);
    const Scalar number = type();
    in_.line();
    if (!mesh_.vertices.empty()) in_.fail("a second section of points");
    mesh_.vertices.reserve(count);
    if (binary_) in_.begin_binary(std::endian::big);
    for (std::size_t i = 0; i < count && !in_.failed(); ++i) {
      Vec3 position;
      for (int k = 0; k < 3; ++k) {
        position[k] = in_.check_coordinate(value<double>(number, "a coordinate"), "a coordinate");
      }
      mesh_.vertices.push_back(position);
    }
    in_.end_binary();
  }

  // One section of cells, brought to the form (offsets, connectivity).
  struct Connectivity {
    int type = -1;  // −1: given by CELL_TYPES
    std::size_t place = 0;
    std::vector<std::int64_t> offsets, nodes;
  };

  void read_connectivity(std::string_view word) {
    Connectivity cells;
    cells.place = in_.last();
    if (word == "VERTICES") cells.type = 2;
    if (word == "LINES") cells.type = 4;
    if (word == "TRIANGLE_STRIPS") cells.type = 6;
    if (word == "POLYGONS") cells.type = 7;
    const std::size_t first = in_.count("the number of cells", 2);
    const std::size_t second = in_.count("the size of the cells", 2);
    in_.line();
    if (in_.peek() == "OFFSETS") {
      in_.token();
      const Scalar offset_type = type();
      in_.line();
      cells.offsets = integers(first, offset_type, "an offset");
      in_.expect("CONNECTIVITY");
      const Scalar node_type = type();
      in_.line();
      cells.nodes = integers(second, node_type, "a point of a cell");
    } else {
      split_inline_counts(integers(second, Scalar::I32, "a point of a cell"), first, cells);
    }
    if (!in_.failed()) sections_.push_back(std::move(cells));
  }

  // "n a b c ... n a b ..." as versions before 5 have it.
  void split_inline_counts(const std::vector<std::int64_t>& list, std::size_t count, Connectivity& cells) {
    if (in_.failed()) return;
    cells.offsets.push_back(0);
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t size = at < list.size() ? list[at] : -1;
      if (size < 0 || static_cast<std::uint64_t>(size) >= list.size() - at) {
        in_.fail_at(cells.place, fmt::format("cell {} of this section does not fit into its size", i));
        return;
      }
      for (std::int64_t k = 0; k < size; ++k) cells.nodes.push_back(list[++at]);
      ++at;
      cells.offsets.push_back(static_cast<std::int64_t>(cells.nodes.size()));
    }
  }

  void add_cells() {
    std::vector<int> corners;
    for (const Connectivity& section : sections_) {
      const std::size_t count = section.offsets.empty() ? 0 : section.offsets.size() - 1;
      if (section.type < 0 && types_.size() != count) {
        in_.fail_at(section.place, fmt::format("there are {} cells but {} cell types", count, types_.size()));
      }
      for (std::size_t i = 0; i < count && !in_.failed(); ++i) {
        const std::int64_t begin = section.offsets[i], end = section.offsets[i + 1];
        if (begin < 0 || end < begin || end > static_cast<std::int64_t>(section.nodes.size())) {
          in_.fail_at(section.place, fmt::format("cell {} of this section has damaged offsets", i));
          return;
        }
        corners.clear();
        for (std::int64_t k = begin; k < end; ++k) {
          const std::int64_t node = section.nodes[static_cast<std::size_t>(k)];
          if (node < 0 || node >= static_cast<std::int64_t>(mesh_.vertices.size())) {
            in_.fail_at(section.place,
                        fmt::format("cell {} of this section uses point {}, but there are {} points", i, node,
                                    mesh_.vertices.size()));
            return;
          }
          corners.push_back(static_cast<int>(node));
        }
        const int type = section.type >= 0 ? section.type : static_cast<int>(types_[i]);
        if (!cells_.add(type, corners)) {
          in_.fail_at(section.place, fmt::format("cell {} of this section is of type {} but has {} points", i,
                                                 type, corners.size()));
        }
      }
    }
    if (!in_.failed() && sections_.empty())
      in_.fail("the file has no cells; it is truncated or holds no mesh");
  }

  void read_scalars() {
    const std::string name(in_.token());
    const Scalar number = type();
    const std::size_t components =
        in_.at_end_of_line() ? 1 : in_.count("the number of components", bytes_each(number));
    in_.line();
    if (in_.peek() == "LOOKUP_TABLE") in_.line();
    keep_if_region(name, components, *data_count_, number);
  }

  void read_field() {
    in_.token();  // its name
    const std::size_t arrays = in_.count("the number of arrays", 4);
    for (std::size_t i = 0; i < arrays && !in_.failed(); ++i) {
      const std::string name(in_.token());
      if (name == "METADATA") {
        read_section(name);
        --i;
        continue;
      }
      const std::size_t components = in_.count("the number of components", 0);
      const std::size_t tuples = in_.count("the number of values", 0);
      const std::string_view type_name = in_.token();
      if (type_name == "string" || type_name == "bit" || type_name == "variant") {
        finished_ =
            true;  // of a length that is not known in advance; nothing that a mesh needs comes after it
        return;
      }
      const std::optional<Scalar> number = scalar_named(type_name);
      if (!number) in_.fail(fmt::format("'{}' is not a VTK number type", type_name.substr(0, 40)));
      in_.line();
      keep_if_region(name, components, tuples, number.value_or(Scalar::F64));
    }
  }

  void keep_if_region(const std::string& name, std::size_t components, std::size_t tuples, Scalar number) {
    if (in_.failed()) return;
    const std::size_t room = in_.remaining() / bytes_each(number) + 1;
    if (components != 0 && tuples > room / components) {
      in_.fail(fmt::format("array '{}' does not fit into the file; it is truncated or damaged",
                           name.substr(0, 40)));
      return;
    }
    std::vector<double> data = values<double>(components * tuples, number, "a value");
    if (in_cell_data_ && name == "region" && components == 1) region_ = std::move(data);
  }

  Scanner& in_;
  geometry::Mesh mesh_;
  VtkCells cells_;
  bool binary_ = false, finished_ = false, in_cell_data_ = false;
  std::optional<std::size_t> data_count_;
  std::vector<Connectivity> sections_;
  std::vector<std::int64_t> types_;
  std::vector<double> region_;
};

}  // namespace

Expected<geometry::Mesh> read_vtk(Scanner& in) { return VtkReader(in).read(); }

}  // namespace lope::io
