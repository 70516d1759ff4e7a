// PLY: text, binary little- or big-endian, any elements and properties. Vertices are element "vertex" with x,
// y, z; polygons are element "face" with a list vertex_indices (or vertex_index); the rest is skipped.
#include <lope/io/formats.h>
#include <lope/io/print.h>

#include <fmt/core.h>

namespace lope::io {
namespace {

enum class Scalar { I8, U8, I16, U16, I32, U32, F32, F64 };

std::optional<Scalar> scalar_named(std::string_view name) {
  if (name == "char" || name == "int8") return Scalar::I8;
  if (name == "uchar" || name == "uint8") return Scalar::U8;
  if (name == "short" || name == "int16") return Scalar::I16;
  if (name == "ushort" || name == "uint16") return Scalar::U16;
  if (name == "int" || name == "int32") return Scalar::I32;
  if (name == "uint" || name == "uint32") return Scalar::U32;
  if (name == "float" || name == "float32") return Scalar::F32;
  if (name == "double" || name == "float64") return Scalar::F64;
  return std::nullopt;
}

std::size_t size_of(Scalar type) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
  return sizes[static_cast<int>(type)];
}

enum class Role { None, X, Y, Z, Corners };

struct Property {
  std::string name;
  Scalar type = Scalar::F32;
  std::optional<Scalar> length;  // the type of a list's length; none for a single value
  Role role = Role::None;
};

struct Element {
  std::string name;
  std::int64_t count = 0;
  std::vector<Property> properties;
};

struct Header {
  bool text = false;
  std::endian order = std::endian::little;
  std::vector<Element> elements;
};

Scalar read_type(Scanner& in) {
  const std::string_view name = in.token();
  const std::optional<Scalar> type = scalar_named(name);
  if (!type) in.fail(fmt::format("'{}' is not a PLY number type", name.substr(0, 40)));
  return type.value_or(Scalar::F32);
}

Role role_of(const Element& element, const Property& property) {
  if (element.name == "vertex" && !property.length) {
    if (property.name == "x") return Role::X;
    if (property.name == "y") return Role::Y;
    if (property.name == "z") return Role::Z;
  }
  const bool corners = property.name == "vertex_indices" || property.name == "vertex_index";
  if (element.name == "face" && property.length && corners) return Role::Corners;
  return Role::None;
}

void read_property(Scanner& in, Header& header) {
  if (header.elements.empty()) {
    in.fail("a property stands before the first element");
    return;
  }
  Element& element = header.elements.back();
  Property property;
  if (in.peek() == "list") {
    in.token();
    property.length = read_type(in);
    const bool whole = property.length != Scalar::F32 && property.length != Scalar::F64;
    if (!in.failed() && !whole) in.fail("the length of a list must have an integer type");
  }
  property.type = read_type(in);
  property.name = in.token();
  property.role = role_of(element, property);
  element.properties.push_back(property);
}

Header read_header(Scanner& in) {
  Header header;
  in.expect("ply");
  bool has_format = false;
  while (!in.failed()) {
    const std::string_view word = in.token();
    if (word == "format") {
      const std::string_view format = in.token();
      has_format = true;
      if (format == "ascii") {
        header.text = true;
      } else if (format == "binary_big_endian") {
        header.order = std::endian::big;
      } else if (format != "binary_little_endian") {
        in.fail("the format must be ascii, binary_little_endian or binary_big_endian");
      }
    } else if (word == "element") {
      Element element;
      element.name = in.token();
      element.count = in.integer("the number of elements");
      if (element.count < 0) in.fail("the number of elements cannot be negative");
      header.elements.push_back(element);
    } else if (word == "property") {
      read_property(in, header);
    } else if (word == "end_header") {
      break;
    } else if (word.empty()) {
      in.fail("the file ends inside its header; it is truncated, so export or copy it again");
    } else if (word != "comment" && word != "obj_info") {
      in.fail(fmt::format("'{}' is no keyword of a PLY header", word.substr(0, 40)));
    }
    in.line();
  }
  if (!in.failed()) in.line();
  if (!in.failed() && !has_format) in.fail("the header names no format");
  return header;
}

class Values {
 public:
  Values(Scanner& in, bool text) : in_(in), text_(text) {}

  double real(Scalar type) {
    if (text_) return in_.real("a number");
    switch (type) {
      case Scalar::F32:
        return in_.get<float>("a number");
      case Scalar::F64:
        return in_.get<double>("a number");
      default:
        return static_cast<double>(whole(type));
    }
  }

  std::int64_t whole(Scalar type) {
    if (text_) return in_.integer("an index or count");
    switch (type) {
      case Scalar::I8:
        return in_.get<std::int8_t>("an index or count");
      case Scalar::U8:
        return in_.get<std::uint8_t>("an index or count");
      case Scalar::I16:
        return in_.get<std::int16_t>("an index or count");
      case Scalar::U16:
        return in_.get<std::uint16_t>("an index or count");
      case Scalar::I32:
        return in_.get<std::int32_t>("an index or count");
      case Scalar::U32:
        return in_.get<std::uint32_t>("an index or count");
      case Scalar::F32:
      case Scalar::F64:
        break;
    }
    in_.fail("an index must have an integer type");
    return 0;
  }

 private:
  Scanner& in_;
  bool text_;
};

std::size_t least_size(const Element& element, bool text) {
  std::size_t size = 0;
  for (const Property& p : element.properties) size += text ? 2 : size_of(p.length.value_or(p.type));
  return size;
}

void read_element(Scanner& in, const Header& header, const Element& element, geometry::Mesh& mesh) {
  Values values(in, header.text);
  const std::string what = fmt::format("the number of elements '{}'", element.name.substr(0, 40));
  if (element.properties.empty()) return;
  const std::size_t count = in.check_count(element.count, what, least_size(element, header.text));
  const bool is_vertex = element.name == "vertex";
  if (is_vertex) mesh.vertices.reserve(count);
  std::vector<int> corners;
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    Vec3 position = Vec3::Zero();
    for (const Property& property : element.properties) {
      if (property.length) {
        const std::size_t each = header.text ? 2 : size_of(property.type);
        const std::size_t length =
            in.check_count(values.whole(*property.length), "the length of a list", each);
        corners.clear();
        for (std::size_t k = 0; k < length && !in.failed(); ++k) {
          if (property.role == Role::Corners) {
            corners.push_back(
                in.check_index(values.whole(property.type), "a vertex of a face", mesh.vertices.size(), 0));
          } else {
            values.real(property.type);
          }
        }
        if (property.role != Role::Corners || in.failed()) continue;
        if (length < 3) in.fail(fmt::format("this face has {} corners; it needs at least 3", length));
        add_polygon(corners, mesh.triangles);
      } else {
        const double value = values.real(property.type);
        if (property.role == Role::None) continue;
        position[static_cast<int>(property.role) - static_cast<int>(Role::X)] =
            in.check_coordinate(value, "a coordinate");
      }
    }
    if (is_vertex) mesh.vertices.push_back(position);
  }
}

}  // namespace

Expected<geometry::Mesh> read_ply(Scanner& in) {
  geometry::Mesh mesh;
  const Header header = read_header(in);
  if (!header.text) in.begin_binary(header.order);
  for (const Element& element : header.elements) {
    if (in.failed()) break;
    read_element(in, header, element, mesh);
  }
  if (in.failed()) return in.error();
  return mesh;
}

std::string write_ply(const geometry::Mesh& mesh, Encoding encoding) {
  const bool text = encoding == Encoding::Text;
  std::string out;
  print(out, "ply\nformat ", text ? "ascii" : "binary_little_endian", " 1.0\nelement vertex ",
        mesh.vertices.size(), "\nproperty double x\nproperty double y\nproperty double z\nelement face ",
        mesh.triangles.size(), "\nproperty list uchar int vertex_indices\nend_header\n");
  for (const Vec3& v : mesh.vertices) {
    if (text) {
      print(out, v[0], ' ', v[1], ' ', v[2], '\n');
    } else {
      for (int k = 0; k < 3; ++k) put(out, v[k]);
    }
  }
  for (const geometry::Triangle& t : mesh.triangles) {
    if (text) {
      print(out, "3 ", t[0], ' ', t[1], ' ', t[2], '\n');
    } else {
      put(out, std::uint8_t{3});
      for (const int corner : t) put(out, corner);
    }
  }
  return out;
}

}  // namespace lope::io
