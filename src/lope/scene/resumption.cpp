#include <lope/base/random.h>
#include <lope/io/file.h>
#include <lope/matter/solid/solid.h>
#include <lope/scene/files.h>
#include <lope/scene/resumption.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace lope::scene {
namespace {

// By path in the schema. Files count by what is in them (fingerprint).
bool may_change(const std::string& path) {
  static constexpr std::array<std::string_view, 8> keys{
      "time.duration", "time.step",        "time.frame_rate", "liquid.tolerance",
      "liquid.color",  "obstacle[].color", "body[].color",    "obstacle[].draw"};
  static constexpr std::array<std::string_view, 4> tables{"scene", "solver", "output", "render"};
  return std::find(keys.begin(), keys.end(), path) != keys.end() ||
         std::find(tables.begin(), tables.end(), path) != tables.end() || names_file(path);
}

std::string shortened(const Value* value) {
  constexpr std::size_t most = 60;
  if (!value) return "not there";
  std::string text = write_value(*value);
  return text.size() > most ? text.substr(0, most) + " …" : text;
}

// "body.2" as "body.ring", where it has a name.
std::string item_path(const std::string& path, const Value& item, std::size_t index) {
  const Value* name = item.kind == ValueKind::Table ? item.find("name") : nullptr;
  return fmt::format("{}.{}", path, name ? name->text : std::to_string(index));
}

// Looks for the first difference.
class Comparison {
 public:
  std::optional<Error> difference;

  void compare(const Value* before, const Value* now, const std::string& schema_path,
               const std::string& path) {
    if (difference || may_change(schema_path) || (before && now && *before == *now)) return;
    if (before && now && before->kind == ValueKind::Table && now->kind == ValueKind::Table) {
      return compare_tables(*before, *now, schema_path, path);
    }
    const bool lists = before && now && before->kind == ValueKind::Array && now->kind == ValueKind::Array &&
                       before->items.size() == now->items.size() && !now->items.empty() &&
                       now->items.front().kind == ValueKind::Table;
    if (lists) {
      for (std::size_t i = 0; i < now->items.size(); ++i) {
        compare(&before->items[i], &now->items[i], schema_path + "[]", item_path(path, now->items[i], i));
      }
      return;
    }
    const std::string place = now && !now->at.source.empty() ? to_string(now->at) + ": " : "";
    difference =
        Error{fmt::format("{}{} is {} and was {}: what is simulated cannot change when a run goes on; "
                          "take it back, or start another run",
                          place, path, shortened(now), shortened(before)),
              Trouble::Input};
  }

 private:
  void compare_tables(const Value& before, const Value& now, const std::string& schema_path,
                      const std::string& path) {
    const auto below = [](const std::string& parent, const std::string& key) {
      return parent.empty() ? key : parent + "." + key;
    };
    for (const auto& [key, value] : now.members)
      compare(before.find(key), &value, below(schema_path, key), below(path, key));
    for (const auto& [key, value] : before.members) {
      if (!now.has(key)) compare(&value, nullptr, below(schema_path, key), below(path, key));
    }
  }
};

// Sums of numbers with weights that belong to their places.
class WeightedSum {
 public:
  void add(double number) { sum_ += (0.5 + random_unit(seed, count_++)) * number; }
  double value() const { return sum_; }

 private:
  static constexpr std::uint64_t seed = 20150;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

constexpr std::size_t per_body = 6;

std::array<double, per_body> fingerprint(const matter::SolidBody& body) {
  WeightedSum shape, elements, materials, handles;
  for (const Vec3& vertex : body.mesh.vertices) {
    for (const double coordinate : vertex) shape.add(coordinate);
  }
  for (const auto& tetrahedron : body.mesh.tetrahedra) {
    for (const int i : tetrahedron) elements.add(i);
  }
  for (const auto& triangle : body.mesh.triangles) {
    for (const int i : triangle) elements.add(i);
  }
  for (std::size_t m = 0; m < body.materials.size(); ++m) {
    const material::Parameters& material = body.materials[m];
    for (const double number :
         {static_cast<double>(material.density), material.mu, material.lambda, body.density_of_material[m]}) {
      materials.add(number);
    }
  }
  for (const int m : body.material_of_element) materials.add(m);
  for (const matter::Handle& handle : body.handles) {
    for (const int i : handle.vertices) handles.add(i);
  }
  return {static_cast<double>(body.mesh.vertices.size()),
          shape.value(),
          elements.value(),
          materials.value(),
          handles.value(),
          static_cast<double>(body.handles.size())};
}

// Of the bytes of a file; 0 where there is none.
double file_sum(const std::string& path) {
  WeightedSum sum;
  if (const auto bytes = io::read_file(path)) {
    for (const char byte : *bytes) sum.add(static_cast<unsigned char>(byte));
  }
  return sum.value();
}

bool equal(double a, double b) {
  constexpr double rounding = 1e-9;
  return a == b || std::abs(a - b) <= rounding * std::max(std::abs(a), std::abs(b));
}

}  // namespace

Expected<void> check_same_physics(const Scene& before, const Scene& now) {
  Comparison comparison;
  comparison.compare(&before.resolved, &now.resolved, "", "");
  if (comparison.difference) return tl::unexpected<Error>(*comparison.difference);
  return {};
}

// Those of the bodies, then one number per file that is no body's mesh: those become obstacles and liquids.
std::vector<double> fingerprint(const Scene& scene, const step::Model& model) {
  std::vector<double> numbers;
  for (const matter::SolidBody& body : each<matter::SolidBody>(model.bodies)) {
    const auto own = fingerprint(body);
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  for (const std::string& file : rigid_files(scene.resolved)) numbers.push_back(file_sum(file));
  return numbers;
}

Expected<void> check_fingerprint(std::span<const double> saved, const Scene& scene,
                                 const step::Model& model) {
  const std::vector<double> now = fingerprint(scene, model);
  if (saved.size() != now.size()) return input_error("is the state of another scene; start another run");
  const auto solids = each<matter::SolidBody>(model.bodies);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (equal(saved[i], now[i])) continue;
    const std::size_t body = i / per_body;
    if (body < solids.size()) {
      return input_error(
          "is the state of another body '{}': its mesh, material or handles have changed; put the old mesh "
          "file back, or start another run",
          solids[body].get().name);
    }
    return input_error("was computed with another content of {}; put the old file back, or start another run",
                       rigid_files(scene.resolved)[i - per_body * solids.size()]);
  }
  return {};
}

}  // namespace lope::scene
