#include "scenes.h"

#include <lope/scene/check.h>
#include <lope/scene/run.h>

#include <filesystem>

#include <fmt/core.h>

namespace lope::python {

using scene::Scene;
using scene::Value;
using scene::ValueKind;

namespace {

using Overrides = std::vector<std::string>;

std::string quoted(const std::string& key) { return py::repr(py::str(key)).cast<std::string>(); }

Value table_of(const py::dict& dict, const std::string& place) {
  Value table = Value::table();
  for (const auto& [key, item] : dict) {
    if (!py::isinstance<py::str>(key)) throw InputFailure(fmt::format("{}: keys must be strings", place));
    const auto name = key.cast<std::string>();
    const std::string below = fmt::format("{}[{}]", place, quoted(name));
    Value value = to_value(item, below);
    value.key_at = {below, 0, 0};
    table.set(name, std::move(value));
  }
  return table;
}

Value array_of(const py::sequence& items, const std::string& place) {
  Value array;
  array.kind = ValueKind::Array;
  for (std::size_t i = 0; i < items.size(); ++i)
    array.items.push_back(to_value(items[i], fmt::format("{}[{}]", place, i)));
  return array;
}

ScenePtr from_dict(const py::dict& tree, const std::string& name, const std::filesystem::path& directory,
                   const Overrides& overrides) {
  Value root = to_value(tree, "scene");
  const std::string source = (directory / (name + ".toml")).string();
  return std::make_shared<const Scene>(take(scene::load_scene_tree(std::move(root), source, overrides)));
}

// Findings of `lope check`, and its text.
py::tuple checked(const Scene& scene) {
  const scene::CheckReport report = unlocked([&] {
    const step::Model model = take(scene::build_model(scene));
    return scene::check(scene, model);
  });
  py::list findings;
  for (const scene::CheckFinding& finding : report.findings)
    findings.append(py::make_tuple(scene::word(finding.severity), finding.message));
  return py::make_tuple(findings, scene::describe(report));
}

}  // namespace

Value to_value(const py::handle& object, const std::string& place) {
  Value value;
  const auto is_number = [&](const char* abstract) {
    return py::isinstance(object, py::module_::import("numbers").attr(abstract));
  };
  if (py::isinstance<py::dict>(object)) {
    value = table_of(py::reinterpret_borrow<py::dict>(object), place);
  } else if (py::isinstance<py::bool_>(object) ||
             py::isinstance(object, py::module_::import("numpy").attr("bool_"))) {
    value.kind = ValueKind::Boolean;
    value.boolean = object.cast<bool>();
  } else if (is_number("Integral")) {
    value.kind = ValueKind::Integer;
    value.integer = py::int_(py::reinterpret_borrow<py::object>(object)).cast<std::int64_t>();
  } else if (is_number("Real")) {
    value = Value::of(py::float_(py::reinterpret_borrow<py::object>(object)).cast<double>());
  } else if (py::isinstance<py::str>(object)) {
    value = Value::of(object.cast<std::string>());
  } else if (py::hasattr(object, "__fspath__")) {
    value = Value::of(object.attr("__fspath__")().cast<std::string>());
  } else if (py::isinstance<py::array>(object)) {
    value = to_value(object.attr("tolist")(), place);
  } else if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    value = array_of(py::reinterpret_borrow<py::sequence>(object), place);
  } else {
    throw InputFailure(
        fmt::format("{}: {} is none of the values of a scene (boolean, number, string, list, dict)", place,
                    py::repr(object).cast<std::string>()));
  }
  value.at = {place, 0, 0};
  return value;
}

py::object from_value(const Value& value) {
  switch (value.kind) {
    case ValueKind::Boolean:
      return py::bool_(value.boolean);
    case ValueKind::Integer:
      return py::int_(value.integer);
    case ValueKind::Number:
      return py::float_(value.number);
    case ValueKind::Text:
      return py::str(value.text);
    case ValueKind::Array: {
      py::list list;
      for (const Value& item : value.items) list.append(from_value(item));
      return list;
    }
    case ValueKind::Table: {
      py::dict dict;
      for (const scene::Member& member : value.members) dict[py::str(member.key)] = from_value(member.value);
      return dict;
    }
  }
  return py::none();
}

void bind_scenes(py::module_& module) {
  py::class_<Scene, std::shared_ptr<Scene>>(module, "Scene",
                                            R"(A scene: what is simulated, resolved and validated.

Made from a dict with the keys of a scene file: quantities are numbers in SI units or strings with a unit. Whatever is wrong is an
InputError with the text of `lope check`, in which places in the dict stand where those of a file would.

    lope.Scene({"body": [{"shape": {"box": {"size": [1, 0.1, 0.1]}}, "material": "rubber"}]})

`name`: of the scene, where it has none. `directory`: where mesh files that it names are. `overrides`: "path.to.key=value", as --set of
the program.)")
      .def(py::init([](const py::dict& tree, const std::string& name, const std::filesystem::path& directory,
                       const Overrides& overrides) {
             return std::const_pointer_cast<Scene>(from_dict(tree, name, directory, overrides));
           }),
           py::arg("tree"), py::kw_only(), py::arg("name") = "scene", py::arg("directory") = ".",
           py::arg("overrides") = Overrides())
      .def_static(
          "load",
          [](const std::filesystem::path& path, const Overrides& overrides) {
            return std::make_shared<Scene>(take(scene::load_scene(path.string(), overrides)));
          },
          py::arg("path"), py::arg("overrides") = Overrides(), "Reads a scene file (.toml).")
      .def_static(
          "parse",
          [](const std::string& text, const std::string& name, const Overrides& overrides) {
            return std::make_shared<Scene>(take(scene::load_scene_text(text, name + ".toml", overrides)));
          },
          py::arg("text"), py::kw_only(), py::arg("name") = "scene", py::arg("overrides") = Overrides(),
          "The same from text in memory.")
      .def_readonly("name", &Scene::name)
      .def_readonly("description", &Scene::description)
      .def_readonly("dimension", &Scene::dimension, "2 or 3.")
      .def_readonly("duration", &Scene::duration, "Seconds.")
      .def_readonly("frame_rate", &Scene::frame_rate, "Frames per simulated second.")
      .def_property_readonly(
          "step_length", [](const Scene& scene) { return scene.resolved["time"].number_at("step"); },
          "h, seconds.")
      .def_property_readonly(
          "resolved", [](const Scene& scene) { return from_value(scene.resolved); },
          "The whole scene as a dict: in SI units, with all defaults.")
      .def("toml", &scene::resolved_toml, "The resolved scene as the text of a scene file.")
      .def("check", &checked,
           "What `lope check` says: a list of (\"note\", \"warning\" or \"error\", message), and all of it "
           "as text.")
      .def("__repr__", [](const Scene& scene) { return fmt::format("<lope.Scene {}>", quoted(scene.name)); });
}

}  // namespace lope::python
