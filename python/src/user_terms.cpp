#include "user_terms.h"

#include <lope/matter/contact/contact_term.h>
#include <lope/matter/nodal_matter.h>

#include <algorithm>
#include <map>
#include <optional>

#include "hessians.h"
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace lope::python {

using linalg::CsrMatrix;
using matter::NodalBody;
using optimize::HessianKind;

namespace {

// Of an energy.
constexpr double noise = 1e-14;

// An Energy within an island. Entries that the island has no blocks for become couplings.
class UserTerm final : public matter::ContactTerm {
 public:
  UserTerm(const Energy& energy, std::size_t first_node, std::size_t nodes, int dimension,
           std::shared_ptr<Failures> failures)
      : energy_(energy),
        first_(static_cast<int>(first_node)),
        nodes_(static_cast<py::ssize_t>(nodes)),
        dimension_(dimension),
        failures_(std::move(failures)) {}

  void move_to(std::span<const double> x) override {
    const std::span<const double> mine = own(x);
    if (!failed_ && std::equal(mine.begin(), mine.end(), point_.begin(), point_.end())) return;
    failed_ = false;
    point_.assign(mine.begin(), mine.end());
    value_.reset();
    raw_.reset();
    projected_.reset();
  }
  double value() override {
    if (value_) return *value_;
    value_ = 0;
    call([&] {
      value_ = (*energy_.value)(point()).cast<double>() - energy_.lower_bound;
      if (*value_ < 0) {
        throw InputFailure(
            fmt::format("an energy is {} J below its lower bound of {} J", -*value_, energy_.lower_bound));
      }
    });
    return *value_;
  }
  double value_noise() override { return noise * (value() + std::abs(energy_.lower_bound)); }
  void add_gradient(std::span<double> g) override {
    std::vector<double> mine(point_.size(), 0.0);
    call(
        [&] { mine = numbers_of((*energy_.gradient)(point()), point_.size(), "the gradient of an energy"); });
    const std::span<double> to = own(g);
    for (std::size_t k = 0; k < mine.size(); ++k) to[k] += mine[k];
  }
  void add_hessian(HessianKind kind, linalg::BlockAssembler& hessian) override {
    const CsrMatrix& mine = matrix(kind);
    const int b = dimension_;
    std::map<std::pair<int, int>, linalg::Coupling> apart;
    for (int i = 0; i < mine.rows; ++i) {
      for (auto k = mine.row_start[at(i)]; k < mine.row_start[at(i) + 1]; ++k) {
        const int j = mine.column[at(k)], row = first_ + i / b, column = first_ + j / b,
                  entry = i % b * b + j % b;
        const double value = mine.value[at(k)];
        if (const std::int64_t slot = hessian.pattern().slot(row, column); slot >= 0) {
          hessian.blocks()[slot * b * b + entry] += value;
        } else if (row < column) {
          linalg::Coupling& coupling = apart[{row, column}];
          coupling.row = row;
          coupling.column = column;
          coupling.block[at(entry)] += value;
        }
      }
    }
    std::vector<linalg::Coupling> couplings;
    for (const auto& [place, coupling] : apart) couplings.push_back(coupling);
    hessian.add_couplings(couplings);
  }
  void add_hessian_times(HessianKind kind, std::span<const double> p, std::span<double> y) override {
    std::vector<double> product(point_.size());
    linalg::multiply(matrix(kind), own(p), product);
    const std::span<double> to = own(y);
    for (std::size_t k = 0; k < product.size(); ++k) to[k] += product[k];
  }
  double largest_step(std::span<const double> d) override {
    double step = std::numeric_limits<double>::infinity();
    call([&] {
      if (!energy_.largest_step->is_none())
        step = (*energy_.largest_step)(point(), array(own(d))).cast<double>();
    });
    return step;
  }

 private:
  template <class I>
  static std::size_t at(I i) {
    return static_cast<std::size_t>(i);
  }
  template <class T>
  std::span<T> own(std::span<T> whole) const {
    return whole.subspan(at(first_ * dimension_), at(nodes_ * dimension_));
  }
  py::array array(std::span<const double> values) const { return copied(values, {nodes_, dimension_}); }
  py::array point() const { return array(point_); }
  template <class Call>
  void call(const Call& function) {
    if (!failures_->any()) failures_->guard(function);
    failed_ = failed_ || failures_->any();
  }
  const CsrMatrix& matrix(HessianKind kind) {
    std::optional<CsrMatrix>& known = kind == HessianKind::Raw || energy_.convex ? raw_ : projected_;
    if (known) return *known;
    known = linalg::csr_identity(static_cast<int>(point_.size()));
    call([&] {
      const bool given = &known == &projected_ && !energy_.projected->is_none();
      known = hessian_of((given ? *energy_.projected : *energy_.hessian)(point()), point_.size(),
                         "the Hessian of an energy");
      if (&known == &projected_ && !given) make_dominant(*known);
    });
    return *known;
  }

  Energy energy_;
  int first_;
  py::ssize_t nodes_;
  int dimension_;
  std::shared_ptr<Failures> failures_;
  std::vector<double> point_;
  bool failed_ = false;  // what is known of this point is none of the functions'
  std::optional<double> value_;
  std::optional<CsrMatrix> raw_, projected_;
};

NodalBody& nodal_body(step::Model& model, const std::string& name) {
  std::vector<std::string> names;
  for (auto& body : model.bodies) {
    auto* nodal = dynamic_cast<NodalBody*>(body.get());
    if (nodal && nodal->name == name) return *nodal;
    if (nodal) names.push_back(nodal->name);
  }
  throw InputFailure(
      fmt::format("there is no body '{}' of nodes (solid or cloth); there {}", name,
                  names.empty() ? "is none at all" : fmt::format("are: {}", fmt::join(names, ", "))));
}

matter::Handle& handle_of(NodalBody& body, const py::handle& key) {
  const auto count = static_cast<py::ssize_t>(body.handles.size());
  if (py::isinstance<py::int_>(key)) {
    const auto index = key.cast<py::ssize_t>();
    if (index >= 0 && index < count) return body.handles[static_cast<std::size_t>(index)];
  } else {
    for (matter::Handle& handle : body.handles) {
      if (handle.name == key.cast<std::string>()) return handle;
    }
  }
  throw InputFailure(
      fmt::format("body '{}' has no handle {}; it has {}, which are known by name or from 0 by number",
                  body.name, py::repr(key).cast<std::string>(), count));
}

void add_force(NodalBody& body, py::object function, const std::shared_ptr<Failures>& failures) {
  const int dimension = body.dimension;
  body.forces.push_back([force = shared(std::move(function)), failures, dimension](
                            double time, std::span<const double> x, std::span<double> sum) {
    if (failures->any()) return;
    failures->guard([&] {
      const auto nodes = static_cast<py::ssize_t>(x.size()) / dimension;
      const auto values = numbers_of((*force)(time, copied(x, {nodes, dimension})), x.size(), "a force");
      for (std::size_t k = 0; k < values.size(); ++k) sum[k] += values[k];
    });
  });
}

void set_motion(matter::Handle& handle, py::object function, const std::shared_ptr<Failures>& failures) {
  handle.script = [script = shared(std::move(function)), failures](
                      double time, std::span<const double> anchor, std::span<double> places) {
    std::copy(anchor.begin(), anchor.end(), places.begin());
    if (failures->any()) return;
    failures->guard([&] {
      const Shape shape{static_cast<py::ssize_t>(anchor.size()) / 3, 3};
      std::ranges::copy(numbers_of((*script)(time, copied(anchor, shape)), anchor.size(), "a motion"),
                        places.begin());
    });
  };
}

void add_energy(NodalBody& body, const Energy& energy, const std::shared_ptr<Failures>& failures) {
  body.energies.push_back([energy, failures, nodes = body.rest_positions().size(),
                           dimension = body.dimension](std::size_t first) {
    return std::make_unique<UserTerm>(energy, first, nodes, dimension, failures);
  });
}

// The items of a dict, one or a list of them for each key; None is empty.
template <class Act>
void each_item(const py::object& dict, const Act& act) {
  if (dict.is_none()) return;
  for (const auto& [key, item] : py::dict(dict)) {
    if (py::isinstance<py::list>(item) || py::isinstance<py::tuple>(item)) {
      for (const auto& one : item) act(key, py::reinterpret_borrow<py::object>(one));
    } else {
      act(key, py::reinterpret_borrow<py::object>(item));
    }
  }
}

}  // namespace

void add(const UserTerms& terms, const std::shared_ptr<Failures>& failures, step::Model& model) {
  each_item(terms.forces, [&](const py::handle& name, py::object function) {
    add_force(nodal_body(model, name.cast<std::string>()), std::move(function), failures);
  });
  each_item(terms.motions, [&](const py::handle& key, py::object function) {
    if (!py::isinstance<py::tuple>(key) || py::len(key) != 2)
      throw InputFailure("motions: keys are (body, handle)");
    const auto pair = key.cast<py::tuple>();
    set_motion(handle_of(nodal_body(model, pair[0].cast<std::string>()), pair[1]), std::move(function),
               failures);
  });
  each_item(terms.energies, [&](const py::handle& name, const py::object& energy) {
    add_energy(nodal_body(model, name.cast<std::string>()), energy.cast<Energy>(), failures);
  });
}

void bind_user_terms(py::module_& module) {
  py::class_<Energy>(
      module, "Energy",
      R"(An energy of the nodes of a body beside that of its matter, minimised with it in every step.

`value(x)`: joules, x of shape (nodes, dimension), metres; never below `lower_bound`. `gradient(x)`: of the same shape, newtons.
`hessian(x)`: a matrix of all coordinates, node after node, dense or of scipy.sparse. `projected(x)`: one that is positive
semi-definite; without it `hessian` is taken where `convex` says that it always is, and otherwise made so by raising its
diagonal. `largest_step(x, d)`: the largest a for which the energy is defined on x + [0, a] d.)")
      .def(py::init([](py::object value, py::object gradient, py::object hessian, py::object projected,
                       bool convex, py::object largest_step, double lower_bound) {
             return Energy{shared(std::move(value)),
                           shared(std::move(gradient)),
                           shared(std::move(hessian)),
                           shared(std::move(projected)),
                           shared(std::move(largest_step)),
                           convex,
                           lower_bound};
           }),
           py::arg("value"), py::arg("gradient"), py::arg("hessian"), py::kw_only(),
           py::arg("projected") = py::none(), py::arg("convex") = false, py::arg("largest_step") = py::none(),
           py::arg("lower_bound") = 0.0);
}

}  // namespace lope::python
