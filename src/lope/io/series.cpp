#include <lope/base/errors.h>
#include <lope/io/file.h>
#include <lope/io/print.h>
#include <lope/io/series.h>
#include <lope/io/xml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

namespace lope::io {
namespace {

namespace fs = std::filesystem;

// A body's name as part of a file name.
std::string file_name_part(const std::string& name) {
  std::string part;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    part += plain ? c : '_';
  }
  return part;
}

Expected<void> check_fields(const std::string& body, const std::vector<Field>& fields, std::size_t count) {
  for (const Field& field : fields) {
    if (field.components < 1 || field.values.size() != count * static_cast<std::size_t>(field.components)) {
      return input_error("field '{}' of body '{}' has {} values; it should have {} times {}", field.name,
                         body, field.values.size(), field.components, count);
    }
  }
  return {};
}

// The scalars and vectors on the points, which formats without tensors take.
std::vector<const Field*> plain_fields(const SeriesBody& body) {
  std::vector<const Field*> fields;
  for (const Field& field : body.point_fields) {
    if (field.components == 1 || field.components == 3) fields.push_back(&field);
  }
  return fields;
}

void print_ply_properties(std::string& out, const Field& field) {
  const std::string name = file_name_part(field.name);
  if (field.components == 1) {
    print(out, "property float ", name, '\n');
    return;
  }
  for (const char axis : {'x', 'y', 'z'}) print(out, "property float ", name, '_', axis, '\n');
}

std::string ply_bytes(const SeriesBody& body) {
  const Surface surface = shown_part(body);
  const std::vector<const Field*> fields = plain_fields(body);
  std::string out;
  print(out, "ply\nformat binary_little_endian 1.0\nelement vertex ", surface.vertices.size(),
        "\nproperty float x\nproperty float y\nproperty float z\n");
  for (const Field* field : fields) print_ply_properties(out, *field);
  print(out, "element face ", surface.triangles.size(), "\nproperty list uchar int vertex_indices\nend_header\n");
  for (const int vertex : surface.vertices) {
    for (int k = 0; k < 3; ++k) put(out, static_cast<float>(body.positions[vertex][k]));
    for (const Field* field : fields) {
      const double* values = field->values.data() + std::ptrdiff_t{vertex} * field->components;
      for (int k = 0; k < field->components; ++k) put(out, static_cast<float>(values[k]));
    }
  }
  for (const geometry::Triangle& t : surface.triangles) {
    put(out, std::uint8_t{3});
    for (const int vertex : t) put(out, std::int32_t{vertex});
  }
  return out;
}

std::string csv_text(const SeriesBody& body) {
  const std::vector<const Field*> fields = plain_fields(body);
  std::string out = "x,y,z";
  for (const Field* field : fields) {
    const std::string name = file_name_part(field->name);
    if (field->components == 1)
      print(out, ',', name);
    else
      print(out, ',', name, "_x,", name, "_y,", name, "_z");
  }
  print(out, '\n');
  for (const int vertex : shown_part(body).vertices) {
    const Vec3& v = body.positions[static_cast<std::size_t>(vertex)];
    print(out, static_cast<float>(v[0]), ',', static_cast<float>(v[1]), ',', static_cast<float>(v[2]));
    for (const Field* field : fields) {
      const double* values = field->values.data() + std::ptrdiff_t{vertex} * field->components;
      for (int k = 0; k < field->components; ++k) print(out, ',', static_cast<float>(values[k]));
    }
    print(out, '\n');
  }
  return out;
}

// A file per body.
template <class Bytes>
Expected<void> write_bodies(const fs::path& folder, const std::string& stem, std::int64_t number,
                            std::span<const SeriesBody> bodies, const char* extension, const Bytes& bytes) {
  if (const auto made = make_directory(folder); !made) return made;
  for (const SeriesBody& body : bodies) {
    if (const auto sound = check_body(body); !sound) return sound;
    const auto written = write_file(folder / numbered_name(stem, body.name, number, extension), bytes(body));
    if (!written) return written;
  }
  return {};
}

}  // namespace

Expected<void> check_body(const SeriesBody& body) {
  if (!body.texture.empty() && body.texture.size() != 6 * body.triangles.size())
    return input_error("the texture coordinates of body '{}' do not fit its triangles", body.name);
  const std::size_t cells = body.tetrahedra.empty() ? body.triangles.size() : body.tetrahedra.size();
  if (const auto sound = check_fields(body.name, body.point_fields, body.positions.size()); !sound)
    return sound;
  return check_fields(body.name, body.cell_fields, cells);
}

Surface shown_part(const SeriesBody& body) {
  Surface part = surface_of(body.positions.size(), body.triangles, body.tetrahedra);
  if (!part.triangles.empty()) return part;
  part.vertices.resize(body.positions.size());
  std::iota(part.vertices.begin(), part.vertices.end(), 0);
  return part;
}

std::string obj_bytes(std::span<const SeriesBody> bodies) {
  std::string out;
  int base = 1, texture_base = 1;
  for (const SeriesBody& body : bodies) {
    const Surface surface = shown_part(body);
    const Corners corners = corners_of(surface, body.texture);
    print(out, "o ", file_name_part(body.name), '\n');
    for (const int vertex : surface.vertices) {
      const Vec3& v = body.positions[vertex];
      print(out, "v ", static_cast<float>(v[0]), ' ', static_cast<float>(v[1]), ' ', static_cast<float>(v[2]),
            '\n');
    }
    for (const auto& [u, v] : corners.texture) print(out, "vt ", u, ' ', v, '\n');
    for (std::size_t i = 0; i < surface.triangles.size(); ++i) {
      print(out, 'f');
      for (std::size_t k = 0; k < 3; ++k) {
        print(out, ' ', base + surface.triangles[i][k]);
        if (!corners.texture.empty()) print(out, '/', texture_base + corners.triangles[i][k]);
      }
      print(out, '\n');
    }
    for (std::size_t i = 0; i < surface.vertices.size() && surface.triangles.empty(); ++i)
      print(out, "p ", base + static_cast<int>(i), '\n');
    base += static_cast<int>(surface.vertices.size());
    texture_base += static_cast<int>(corners.texture.size());
  }
  return out;
}

VtuSeries::VtuSeries(fs::path folder, std::string stem, Precision precision)
    : folder_(std::move(folder)), stem_(std::move(stem)), precision_(precision) {}

Expected<void> VtuSeries::add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) {
  if (!std::isfinite(time)) return input_error("{}: the time of frame {} is not finite", stem_, number);
  if (const auto made = make_directory(folder_); !made) return made;
  std::string entries = entries_;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const SeriesBody& body = bodies[b];
    if (const auto sound = check_body(body); !sound) return sound;
    const std::string name = fmt::format("{}_{:06}_{}_{}.vtu", stem_, number, b, file_name_part(body.name));
    const bool solid = !body.tetrahedra.empty();
    const VtuGrid grid{body.positions,   solid ? std::span<const geometry::Triangle>() : body.triangles,
                       body.tetrahedra,  body.point_fields,
                       body.cell_fields, {}};
    const auto written = write_file(folder_ / name, vtu_bytes(grid, Encoding::Binary, precision_));
    if (!written) return written;
    // ParaView calls the block by `name`; others know `group`.
    print(entries, "<DataSet timestep=\"", time, "\" group=\"", xml_escaped(body.name), "\" part=\"", b,
          "\" name=\"", xml_escaped(body.name), "\" file=\"", xml_escaped(name), "\"/>\n");
  }
  entries_ = std::move(entries);
  return write_file(folder_ / (stem_ + ".pvd"),
                    "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                    "byte_order=\"LittleEndian\">\n<Collection>\n" +
                        entries_ + "</Collection>\n</VTKFile>\n");
}

std::string numbered_name(const std::string& stem, const std::string& name, std::int64_t number, const char* extension) {
  return fmt::format("{}_{}_{:06}.{}", stem, file_name_part(name), number, extension);
}

std::string file_name(const std::string& stem, const std::string& name, const char* extension) {
  return fmt::format("{}_{}.{}", stem, file_name_part(name), extension);
}

Expected<void> write_obj_frame(const fs::path& folder, const std::string& stem, std::int64_t number,
                               std::span<const SeriesBody> bodies) {
  if (const auto made = make_directory(folder); !made) return made;
  for (const SeriesBody& body : bodies) {
    if (const auto sound = check_body(body); !sound) return sound;
  }
  return write_file(folder / fmt::format("{}_{:06}.obj", stem, number), obj_bytes(bodies));
}

Expected<void> write_ply_frame(const fs::path& folder, const std::string& stem, std::int64_t number,
                               std::span<const SeriesBody> bodies) {
  return write_bodies(folder, stem, number, bodies, "ply", ply_bytes);
}

Expected<void> write_csv_frame(const fs::path& folder, const std::string& stem, std::int64_t number,
                               std::span<const SeriesBody> bodies) {
  return write_bodies(folder, stem, number, bodies, "csv", csv_text);
}

}  // namespace lope::io
