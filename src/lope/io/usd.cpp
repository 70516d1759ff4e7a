#include <lope/base/errors.h>
#include <lope/io/file.h>
#include <lope/io/print.h>
#include <lope/io/usd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace lope::io {
namespace {

// Of the time codes where a run has a single frame.
constexpr double default_rate = 24;

constexpr const char *visibility = "token visibility", *invisible = "\"invisible\"";

// Letters, digits and underscores, no digit first.
std::string identifier(const std::string& name) {
  std::string result;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result.front())) != 0) result.insert(0, "_");
  return result;
}

void print_vector(std::string& out, const Vec3& v) {
  print(out, '(', static_cast<float>(v[0]), ", ", static_cast<float>(v[1]), ", ", static_cast<float>(v[2]),
        ')');
}

// "[…]", with what `print_one` prints for each index.
template <class PrintOne>
std::string list(std::size_t count, const PrintOne& print_one) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    print_one(out, i);
  }
  return out + "]";
}

Vec3 value_at(const Field& field, int vertex) {
  const double* first = field.values.data() + 3 * static_cast<std::ptrdiff_t>(vertex);
  return {first[0], first[1], first[2]};
}

// From sRGB to linear light.
Vec3 linear(const Vec3& color) {
  return color.unaryExpr(
      [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); });
}

}  // namespace

void UsdStage::Prim::sample(std::int64_t number, const std::string& declaration, const char* metadata,
                            bool held, std::string text) {
  auto attribute = std::ranges::find(attributes, declaration, &Attribute::declaration);
  if (attribute == attributes.end()) {
    attributes.push_back({declaration, metadata, held, {}});
    attribute = std::prev(attributes.end());
  }
  std::vector<Sample>& samples = attribute->samples;
  if (!held || samples.empty() || samples.back().text != text) samples.push_back({number, std::move(text)});
}

UsdStage::Prim& UsdStage::prim(const SeriesBody& body, bool mesh) {
  const auto known = std::ranges::find_if(
      prims_, [&](const Prim& other) { return other.body == body.name && other.mesh == mesh; });
  if (known != prims_.end()) return *known;
  std::string name = identifier(body.name);
  const auto taken = [&](const std::string& wanted) {
    return std::ranges::find(prims_, wanted, &Prim::name) != prims_.end();
  };
  for (int number = 2; taken(name); ++number) name = fmt::format("{}_{}", identifier(body.name), number);
  Prim& added =
      prims_.emplace_back(Prim{body.name, std::move(name), mesh, body.color, body.point_radius, {}, false});
  if (numbers_.size() > 1) added.sample(numbers_.front(), visibility, "", true, invisible);
  return added;
}

Expected<void> UsdStage::add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) {
  numbers_.push_back(number);
  times_.push_back(time);
  for (Prim& prim : prims_) prim.present = false;
  for (const SeriesBody& body : bodies) {
    if (const auto sound = check_body(body); !sound) return sound;
    const Surface surface = shown_part(body);
    const std::size_t count = surface.vertices.size();
    if (count == 0) continue;
    Prim& prim = this->prim(body, !surface.triangles.empty());
    prim.present = true;
    const auto sample = [&](const std::string& declaration, const char* metadata, bool held,
                            std::string text) {
      prim.sample(number, declaration, metadata, held, std::move(text));
    };
    Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
    for (const int vertex : surface.vertices) {
      low = low.cwiseMin(body.positions[static_cast<std::size_t>(vertex)]);
      high = high.cwiseMax(body.positions[static_cast<std::size_t>(vertex)]);
    }
    sample("float3[] extent", "", false,
           list(2, [&](std::string& out, std::size_t i) { print_vector(out, i == 0 ? low : high); }));
    sample("point3f[] points", "", false, list(count, [&](std::string& out, std::size_t i) {
             print_vector(out, body.positions[static_cast<std::size_t>(surface.vertices[i])]);
           }));
    if (prim.mesh) {
      sample("int[] faceVertexCounts", "", true,
             list(surface.triangles.size(), [](std::string& out, std::size_t) { print(out, 3); }));
      sample("int[] faceVertexIndices", "", true,
             list(3 * surface.triangles.size(),
                  [&](std::string& out, std::size_t i) { print(out, surface.triangles[i / 3][i % 3]); }));
    }
    if (prim.mesh && !body.texture.empty()) {
      sample("texCoord2f[] primvars:st", "interpolation = \"faceVarying\"", true,
             list(body.texture.size() / 2, [&](std::string& out, std::size_t i) {
               print(out, '(', body.texture[2 * i], ", ", body.texture[2 * i + 1], ')');
             }));
    }
    for (const Field& field : body.point_fields) {
      if (field.components != 1 && field.components != 3) continue;
      const bool vector = field.components == 3, velocity = vector && field.name == "velocity";
      const std::string declaration =
          velocity ? "vector3f[] velocities"
                   : fmt::format("{}[] primvars:{}", vector ? "vector3f" : "float", identifier(field.name));
      sample(declaration, velocity ? "" : "interpolation = \"vertex\"", false,
             list(count, [&](std::string& out, std::size_t i) {
               const int vertex = surface.vertices[i];
               if (vector)
                 print_vector(out, value_at(field, vertex));
               else
                 print(out, static_cast<float>(field.values[static_cast<std::size_t>(vertex)]));
             }));
    }
  }
  for (Prim& prim : prims_)
    prim.sample(number, visibility, "", true, prim.present ? "\"inherited\"" : invisible);
  return {};
}

std::string UsdStage::text() const {
  const double rate =
      numbers_.size() > 1 && times_.back() > times_.front()
          ? static_cast<double>(numbers_.back() - numbers_.front()) / (times_.back() - times_.front())
          : default_rate;
  const std::string root = identifier(stem_);
  std::string out;
  print(out, "#usda 1.0\n(\n    defaultPrim = \"", root, "\"\n    upAxis = \"", options_.z_up ? 'Z' : 'Y',
        "\"\n    metersPerUnit = ", 1 / options_.units_per_metre, "\n    timeCodesPerSecond = ", rate,
        "\n    startTimeCode = ", numbers_.front(), "\n    endTimeCode = ", numbers_.back(),
        "\n)\n\ndef Xform \"", root, "\"\n{\n");
  for (const Prim& prim : prims_) {
    print(out, "    def ", prim.mesh ? "Mesh" : "Points", " \"", prim.name, "\"\n    {\n");
    if (prim.mesh) print(out, "        uniform token subdivisionScheme = \"none\"\n");
    print(out, "        color3f[] primvars:displayColor = [");
    print_vector(out, linear(prim.color));
    print(out, "]\n");
    if (!prim.mesh && prim.point_radius > 0) {
      print(out, "        float[] widths = [", static_cast<float>(2 * prim.point_radius),
            "] (\n            interpolation = \"constant\"\n        )\n");
    }
    for (const Attribute& attribute : prim.attributes) {
      const bool once = attribute.samples.size() == 1;
      if (once && attribute.declaration == visibility) continue;  // always visible
      const std::string metadata =
          attribute.metadata.empty() ? "" : " (\n            " + attribute.metadata + "\n        )";
      if (!once && !metadata.empty()) print(out, "        ", attribute.declaration, metadata, '\n');
      print(out, "        ", attribute.declaration, once ? " = " : ".timeSamples = {\n");
      for (const Sample& sample : attribute.samples) {
        if (!once) print(out, "            ", sample.code, ": ");
        print(out, sample.text, once ? "" : ",\n");
      }
      print(out, once ? metadata : "        }", '\n');
    }
    print(out, "    }\n");
  }
  print(out, "}\n");
  return out;
}

Expected<void> UsdStage::finish() {
  if (const auto made = make_directory(folder_); !made) return made;
  return write_file(folder_ / (stem_ + ".usda"), text());
}

}  // namespace lope::io
