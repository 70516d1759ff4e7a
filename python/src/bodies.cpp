// Bodies of a simulation: arrays of their state, fields, reports, what there is to see.
#include <lope/matter/nodal_matter.h>

#include <algorithm>
#include <optional>

#include "drawings.h"
#include "simulations.h"
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace lope::python {
namespace {

const matter::Body& of_model(const Body& body) {
  return *body.simulation->readable().model().bodies[body.index];
}
std::vector<ArrayView> views(const Body& body) {
  return body.simulation->readable().state().bodies[body.index]->arrays();
}

std::optional<ArrayView> find(const Body& body, const std::string& name) {
  for (ArrayView& view : views(body)) {
    if (view.name == name) return std::move(view);
  }
  return {};
}

py::array array(const Body& body, const std::string& name) {
  if (const auto view = find(body, name)) return body.simulation->show(body.index, *view);
  std::vector<std::string> names;
  for (const ArrayView& view : views(body)) names.push_back(view.name);
  throw py::key_error(
      fmt::format("{} has no array '{}'; it has: {}", of_model(body).called(), name, fmt::join(names, ", ")));
}

py::dict arrays(const Body& body) {
  py::dict result;
  for (const ArrayView& view : views(body))
    result[py::str(view.name)] = body.simulation->show(body.index, view);
  return result;
}

// Computed from the state; nothing else may be done with the simulation meanwhile.
template <class Call>
auto computed(const Body& body, const Call& call) {
  step::Simulation& simulation = body.simulation->idle();
  const Simulation::Busy busy(*body.simulation);
  auto result = unlocked([&] { return call(simulation); });
  body.simulation->rethrow();
  return result;
}

std::vector<matter::Field> all_fields(const Body& body, const matter::FieldFilter& wanted) {
  return computed(body, [&](step::Simulation& simulation) { return simulation.fields(body.index, wanted); });
}

py::array field(const Body& body, const std::string& name) {
  std::vector<std::string> names;
  auto fields = all_fields(body, [&](const std::string& one) {
    names.push_back(one);
    return one == name;
  });
  if (!fields.empty()) return rows_of(std::move(fields.front().values), fields.front().components);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  throw py::key_error(
      fmt::format("{} has no field '{}'; it has: {}", of_model(body).called(), name, fmt::join(names, ", ")));
}

py::dict fields(const Body& body) {
  py::dict result;
  for (matter::Field& one : all_fields(body, [](const std::string&) { return true; }))
    result[py::str(one.name)] = rows_of(std::move(one.values), one.components);
  return result;
}

std::shared_ptr<geometry::Drawable> draw(const Body& body, const std::vector<std::string>& wanted) {
  const auto filter = [&](const std::string& name) {
    return std::ranges::find(wanted, name) != wanted.end();
  };
  return computed(body, [&](step::Simulation& simulation) {
    auto drawable = std::make_shared<geometry::Drawable>();
    matter::Matter& matter = simulation.matter(body.index);
    drawable->dimension = of_model(body).dimension;
    matter.draw_once(filter, *drawable);
    matter.draw(*simulation.state().bodies[body.index], simulation.state().time, filter, *drawable);
    return drawable;
  });
}

py::array masses(const Body& body) {
  if (matter::NodalMatter* nodes = body.simulation->idle().matter(body.index).nodal()) return copied(nodes->objective().masses());
  if (const auto view = find(body, "mass")) return body.simulation->show(body.index, *view);
  throw py::attribute_error(
      fmt::format("{} does not keep the masses of its particles", of_model(body).called()));
}

}  // namespace

py::dict to_dict(const matter::BodyReport& report) {
  const auto vector = [](const Vec3& v) { return copied(std::span<const double>(v.data(), 3)); };
  py::dict result;
  result["kind"] = report.kind;
  result["kinetic"] = report.energy.kinetic;
  result["elastic"] = report.energy.elastic;
  result["gravity"] = report.energy.gravity;
  result["momentum"] = vector(report.momentum);
  result["angular_momentum"] =
      report.angular_momentum ? py::object(vector(*report.angular_momentum)) : py::object(py::none());
  result["remarks"] = report.remarks;
  py::dict quantities;
  for (const matter::Quantity& quantity : report.quantities) {
    quantities[py::str(quantity.name)] = std::visit(
        [&](const auto& value) -> py::object {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Vec3>)
            return vector(value);
          else
            return py::cast(value);
        },
        quantity.value);
  }
  result["quantities"] = quantities;
  return result;
}

void bind_bodies(py::module_& module) {
  py::class_<Body>(module, "Body", R"(A body of a simulation.

Arrays of its state are views, read-only and without a copy. They stay what they are: a step that is taken while some are still held
works on a copy of the state, so drop them, or ask anew after each step, where memory or time count. Inside callbacks they are copies.)")
      .def_property_readonly("name", [](const Body& b) { return of_model(b).name; })
      .def_property_readonly(
          "kind", [](const Body& b) { return std::string(of_model(b).kind()); },
          "\"solid\", \"cloth\", \"mpm\", \"liquid\".")
      .def_property_readonly(
          "dimension", [](const Body& b) { return of_model(b).dimension; }, "2 or 3.")
      .def_property_readonly(
          "positions", [](const Body& b) { return array(b, "x"); },
          "(nodes or particles, dimension), metres.")
      .def_property_readonly(
          "velocities", [](const Body& b) { return array(b, "v"); }, "Metres per second.")
      .def_property_readonly("masses", &masses, "Kilograms, of nodes.")
      .def("array", &array, py::arg("name"),
           "An array of the state: \"x\", \"v\", and others that depend on the kind of matter.")
      .def("arrays", &arrays, "All arrays of the state by name: what a checkpoint holds of the body.")
      .def("field", &field, py::arg("name"),
           "A field over vertices or elements, computed for the present state: \"von_mises\", ....")
      .def("fields", &fields, "All such fields by name.")
      .def("draw", &draw, py::arg("fields") = std::vector<std::string>(),
           "What there is to see, with these fields: a Drawing.")
      .def(
          "report",
          [](const Body& b) {
            return to_dict(
                computed(b, [&](step::Simulation& simulation) { return simulation.report(b.index); }));
          },
          "Energies (joules), momenta and further quantities of the present state, as a dict.")
      .def("__repr__", [](const Body& b) {
        return fmt::format("<lope.Body '{}', {}>", of_model(b).name, of_model(b).kind());
      });
}

}  // namespace lope::python
