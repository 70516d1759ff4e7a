#include <lope/io/bgeo.h>
#include <lope/io/file.h>
#include <lope/io/print.h>

namespace lope::io {
namespace {

constexpr std::int32_t floats = 0, vector = 5;

struct Attribute {
  std::string name;
  std::int32_t type = floats;
  const Field* field = nullptr;  // none: the radius
  int components() const { return field ? field->components : 1; }
};

std::vector<Attribute> attributes_of(const SeriesBody& body) {
  std::vector<Attribute> attributes;
  for (const Field& field : body.point_fields)
    attributes.push_back(
        {field.name == "velocity" ? "v" : field.name, field.components == 3 ? vector : floats, &field});
  if (body.point_radius > 0) attributes.push_back({"pscale", floats, nullptr});
  return attributes;
}

void put_head(std::string& out, std::size_t points, const std::vector<Attribute>& attributes) {
  constexpr std::int32_t version = 5;
  print(out, "BgeoV");
  put_big_endian(out, version);
  put_big_endian(out, static_cast<std::int32_t>(points));
  for (int none = 0; none < 3; ++none) put_big_endian(out, std::int32_t{0});
  put_big_endian(out, static_cast<std::int32_t>(attributes.size()));
  for (int none = 0; none < 3; ++none) put_big_endian(out, std::int32_t{0});
  for (const Attribute& attribute : attributes) {
    put_big_endian(out, static_cast<std::uint16_t>(attribute.name.size()));
    print(out, attribute.name);
    put_big_endian(out, static_cast<std::uint16_t>(attribute.components()));
    put_big_endian(out, attribute.type);
    for (int k = 0; k < attribute.components(); ++k) put_big_endian(out, 0.0F);
  }
}

std::string bgeo_bytes(const SeriesBody& body) {
  const std::vector<Attribute> attributes = attributes_of(body);
  std::string out;
  put_head(out, body.positions.size(), attributes);
  for (std::size_t i = 0; i < body.positions.size(); ++i) {
    for (const double coordinate : body.positions[i]) put_big_endian(out, static_cast<float>(coordinate));
    put_big_endian(out, 1.0F);
    for (const Attribute& attribute : attributes) {
      const auto components = static_cast<std::size_t>(attribute.components());
      for (std::size_t k = 0; k < components; ++k) {
        const double value =
            attribute.field ? attribute.field->values[i * components + k] : body.point_radius;
        put_big_endian(out, static_cast<float>(value));
      }
    }
  }
  out += '\0';
  out += '\xff';
  return out;
}

}  // namespace

Expected<void> write_bgeo_frame(const std::filesystem::path& folder, const std::string& stem,
                                std::int64_t number, std::span<const SeriesBody> bodies) {
  if (const auto made = make_directory(folder); !made) return made;
  for (const SeriesBody& body : bodies) {
    if (const auto sound = check_body(body); !sound) return sound;
    const auto written =
        write_file(folder / numbered_name(stem, body.name, number, "bgeo"), bgeo_bytes(body));
    if (!written) return written;
  }
  return {};
}

}  // namespace lope::io
