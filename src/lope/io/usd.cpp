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

UsdStage::Prim& UsdStage::prim(std::size_t index, const SeriesBody& body, bool mesh) {
  if (index == prims_.size()) {
    std::string name = identifier(body.name);
    const auto taken = [&](const std::string& wanted) {
      return std::any_of(prims_.begin(), prims_.end(),
                         [&](const Prim& other) { return other.name == wanted; });
    };
    for (int number = 2; taken(name); ++number) name = fmt::format("{}_{}", identifier(body.name), number);
    prims_.push_back({std::move(name), mesh, body.color, body.point_radius, {}});
  }
  return prims_[index];
}

Expected<void> UsdStage::add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) {
  numbers_.push_back(number);
  times_.push_back(time);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const SeriesBody& body = bodies[b];
    if (const auto sound = check_body(body); !sound) return sound;
    const Surface surface = shown_part(body);
    Prim& prim = this->prim(b, body, !surface.triangles.empty());
    std::size_t next = 0;
    const auto sample = [&](const std::string& declaration, const char* metadata, bool held,
                            std::string text) {
      if (next == prim.attributes.size()) prim.attributes.push_back({declaration, metadata, held, {}});
      std::vector<Sample>& samples = prim.attributes[next++].samples;
      if (!held || samples.empty() || samples.back().text != text)
        samples.push_back({number, std::move(text)});
    };
    const std::size_t count = surface.vertices.size();
    Vec3 low = Vec3::Constant(count > 0 ? std::numeric_limits<double>::infinity() : 0), high = -low;
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
