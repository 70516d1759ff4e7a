#include <lope/base/errors.h>
#include <lope/io/file.h>
#include <lope/scene/files.h>
#include <lope/scene/kind.h>
#include <lope/scene/resumption.h>
#include <lope/scene/weighted_sum.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// By path in the schema. Files count by what is in them (fingerprint).
bool may_change(const std::string& path) {
  const Key* key = find_key(path);
  return (key && key->may_change) || names_file(path);
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

// Those of the bodies, then one number per file of obstacles and of kinds that have none for their bodies.
std::vector<double> fingerprint(const Scene& scene, const step::Model& model) {
  std::vector<double> numbers;
  for (const auto& body : model.bodies) {
    const std::vector<double> own = find_kind(body->kind())->fingerprint(*body);
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  for (const std::string& file : rigid_files(scene.resolved)) numbers.push_back(file_sum(file));
  return numbers;
}

Expected<void> check_fingerprint(std::span<const double> saved, const Scene& scene, const step::Model& model) {
  const std::vector<double> now = fingerprint(scene, model);
  if (saved.size() != now.size()) return input_error("is the state of another scene; start another run");
  std::size_t i = 0;
  for (const auto& body : model.bodies) {
    const std::size_t end = i + find_kind(body->kind())->fingerprint(*body).size();
    for (; i < end; ++i) {
      if (equal(saved[i], now[i])) continue;
      return input_error(
          "is the state of another body '{}': its mesh, material or handles have changed; put the old mesh "
          "file back, or start another run",
          body->name);
    }
  }
  const std::vector<std::string> files = rigid_files(scene.resolved);
  for (std::size_t k = 0; i < now.size(); ++i, ++k) {
    if (equal(saved[i], now[i])) continue;
    return input_error("was computed with another content of {}; put the old file back, or start another run", files[k]);
  }
  return {};
}

}  // namespace lope::scene
