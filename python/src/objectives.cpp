#include "objectives.h"

#include <lope/linalg/sparse_cholesky.h>
#include <lope/optimize/check_derivatives.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "hessians.h"
#include <fmt/core.h>

namespace lope::python {

using linalg::BlockMatrix;
using linalg::CsrMatrix;
using optimize::HessianKind;
using optimize::Objective;

namespace {

// Where there is no second derivative: of the length of the problem, between the points of a difference.
constexpr double difference_step = 1e-6;

std::shared_ptr<const linalg::BlockPattern> pattern_of(const CsrMatrix& matrix, int block) {
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(matrix.rows / block));
  for (int i = 0; i < matrix.rows; ++i) {
    auto& row = rows[static_cast<std::size_t>(i / block)];
    for (auto k = matrix.row_start[static_cast<std::size_t>(i)];
         k < matrix.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      row.push_back(matrix.column[static_cast<std::size_t>(k)] / block);
  }
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return linalg::BlockPattern::from_rows(rows);
}

// A matrix that keeps its pattern, and with it the symbolic work of whoever uses it, for as long as there is a place for every entry.
class BlockCopy {
 public:
  BlockMatrix& take(const CsrMatrix& matrix, int block) {
    if (!matrix_ || !fill(matrix)) {
      matrix_.emplace(pattern_of(matrix, block), block);
      fill(matrix);
    }
    return *matrix_;
  }

 private:
  // False: some entry has no place.
  bool fill(const CsrMatrix& matrix) {
    const int block = matrix_->block_size();
    matrix_->set_zero();
    for (int i = 0; i < matrix.rows; ++i) {
      for (auto k = matrix.row_start[static_cast<std::size_t>(i)];
           k < matrix.row_start[static_cast<std::size_t>(i) + 1]; ++k) {
        const int j = matrix.column[static_cast<std::size_t>(k)];
        const std::int64_t slot = matrix_->pattern().slot(i / block, j / block);
        if (slot < 0) return false;
        matrix_->block(slot)[i % block * block + j % block] = matrix.value[static_cast<std::size_t>(k)];
      }
    }
    return true;
  }
  std::optional<BlockMatrix> matrix_;
};

linalg::Prolongation prolongation_of(const py::object& matrix) {
  const CsrMatrix entries = csr_of(matrix, "a prolongation");
  if (const std::string fault = linalg::structural_fault(entries); !fault.empty())
    throw InputFailure("a prolongation: " + fault);
  linalg::Prolongation result;
  result.columns = entries.columns;
  result.start.assign(entries.row_start.begin(), entries.row_start.end());
  result.column = entries.column;
  result.weight = entries.value;
  return result;
}

// What Python says of a function; None where it does not say it.
struct Functions {
  py::object value, gradient, hessian, product, projected, largest_step;
};

// Minimised without the GIL, which every call of a function takes; exceptions pass through the minimiser.
class UserObjective final : public Objective {
 public:
  UserObjective(std::size_t size, int block, Functions functions, bool convex, double length, double force,
                double noise, std::vector<std::uint8_t> fixed, const py::sequence& hierarchy,
                const py::object& laplacian)
      : size_(size),
        block_(block),
        functions_(std::move(functions)),
        convex_(convex),
        noise_(noise),
        fixed_(std::move(fixed)) {
    if (block < 1 || block > 3)
      throw InputFailure(fmt::format("block_size is {}; it may be 1, 2 or 3", block));
    if (size == 0 || size % static_cast<std::size_t>(block) != 0)
      throw InputFailure(fmt::format("{} unknowns are not whole blocks of {}", size, block));
    const std::size_t blocks = size / static_cast<std::size_t>(block);
    if (fixed_.empty()) fixed_.assign(blocks, 0);
    if (fixed_.size() != blocks)
      throw InputFailure(fmt::format("fixed has {} flags for {} blocks", fixed_.size(), blocks));
    if (!(length > 0) || !(force > 0) || !(noise >= 0))
      throw InputFailure("length and force must be positive, noise not negative");
    scales_ = {force * std::sqrt(static_cast<double>(blocks)), std::vector<double>(blocks, force), length};
    take_structure(hierarchy, laplacian);
  }
  ~UserObjective() override {
    const py::gil_scoped_acquire acquire;
    functions_ = {};
  }

  std::size_t size() const override { return size_; }
  int block_size() const override { return block_; }
  std::span<const std::uint8_t> fixed_blocks() const override { return fixed_; }
  const optimize::CharacteristicScales& scales() const override { return scales_; }

  void move_to(std::span<const double> x) override {
    if (std::equal(x.begin(), x.end(), point_.begin(), point_.end())) return;
    point_.assign(x.begin(), x.end());
    value_.reset();
    raw_known_ = projected_known_ = false;
  }
  double value(double /*give_up_above*/) override {
    if (!value_) {
      const py::gil_scoped_acquire acquire;
      const auto found = functions_.value(point()).cast<double>();
      value_ = std::isnan(found) ? std::numeric_limits<double>::infinity() : found;
    }
    return *value_;
  }
  double value_noise() override { return noise_ * std::abs(value(std::numeric_limits<double>::infinity())); }
  void gradient(std::span<double> g) override { gradient_at(point_, g); }

  const BlockMatrix& hessian(HessianKind kind) override {
    if (kind == HessianKind::Projected && !convex_) return projected();
    if (!raw_known_) {
      fill(raw_, raw_entries_ = evaluated(functions_.hessian, "the Hessian"));
      raw_known_ = true;
    }
    return *raw_.current;
  }
  void hessian_times(HessianKind kind, std::span<const double> d, std::span<double> y) override {
    if (!functions_.hessian.is_none()) {
      hessian(kind).multiply(d, y);
    } else {
      direction_.assign(d.begin(), d.end());
      each_fixed([&](std::size_t k) { direction_[k] = 0; });
      functions_.product.is_none() ? difference(y) : product(y);
    }
    each_fixed([&](std::size_t k) { y[k] = d[k]; });
  }
  void hessian_diagonal(HessianKind kind, std::span<double> blocks) override {
    if (!functions_.hessian.is_none()) return hessian(kind).diagonal_blocks(blocks);
    const auto b = static_cast<std::size_t>(block_);
    for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k] = k % (b * b) % (b + 1) == 0 ? 1 : 0;
  }
  double largest_step(std::span<const double> d) const override {
    if (functions_.largest_step.is_none()) return std::numeric_limits<double>::infinity();
    const py::gil_scoped_acquire acquire;
    return functions_.largest_step(point(), copied(d)).cast<double>();
  }
  linalg::HierarchyPtr hierarchy() override { return hierarchy_; }
  ScalarModel scalar_model() override {
    if (!laplacian_) return {};
    return {&*laplacian_, 1};
  }

 private:
  struct Filled {
    BlockCopy copy;
    BlockMatrix* current = nullptr;
  };

  void take_structure(const py::sequence& hierarchy, const py::object& laplacian) {
    const auto blocks = static_cast<int>(fixed_.size());
    std::vector<linalg::Prolongation> levels;
    int rows = blocks;
    for (const auto& level : hierarchy) {
      levels.push_back(prolongation_of(py::reinterpret_borrow<py::object>(level)));
      if (levels.back().rows() != rows)
        throw InputFailure(
            fmt::format("prolongation {} has {} rows, not {}", levels.size(), levels.back().rows(), rows));
      rows = levels.back().columns;
    }
    if (!levels.empty()) hierarchy_ = std::make_shared<const linalg::Hierarchy>(std::move(levels));
    if (!laplacian.is_none()) {
      BlockCopy copy;
      laplacian_ = copy.take(hessian_of(laplacian, fixed_.size(), "laplacian"), 1);
      laplacian_->make_identity(fixed_, 1);
    }
  }

  py::array point() const { return copied(point_); }
  template <class Act>
  void each_fixed(const Act& act) const {
    const auto b = static_cast<std::size_t>(block_);
    for (std::size_t k = 0; k < size_; ++k) {
      if (fixed_[k / b]) act(k);
    }
  }

  void gradient_at(std::span<const double> x, std::span<double> g) {
    {
      const py::gil_scoped_acquire acquire;
      std::ranges::copy(numbers_of(functions_.gradient(copied(x)), size_, "the gradient"), g.begin());
    }
    each_fixed([&](std::size_t k) { g[k] = 0; });
  }
  CsrMatrix evaluated(const py::object& function, const char* name) {
    const py::gil_scoped_acquire acquire;
    if (function.is_none())
      throw InputFailure(
          "this method needs the matrix of second derivatives (hess); `newton-pcg-mf` does not");
    return hessian_of(function(point()), size_, name);
  }
  void fill(Filled& filled, const CsrMatrix& entries) {
    filled.current = &filled.copy.take(entries, block_);
    double largest = 0;
    for (const double value : filled.current->values()) largest = std::max(largest, std::abs(value));
    filled.current->make_identity(fixed_, largest > 0 ? largest : 1);
  }

  // The one that is given, or the raw one where it is positive definite; otherwise what make_dominant() makes of it.
  const BlockMatrix& projected() {
    if (projected_known_) return *projected_.current;
    if (!functions_.projected.is_none()) {
      fill(projected_, evaluated(functions_.projected, "the projected Hessian"));
    } else {
      if (!raw_known_) hessian(HessianKind::Raw);
      fill(projected_, raw_entries_);
      if (!factor_.update(*projected_.current)) {
        CsrMatrix dominant = raw_entries_;
        make_dominant(dominant);
        fill(projected_, dominant);
      }
    }
    projected_known_ = true;
    return *projected_.current;
  }

  void product(std::span<double> y) {
    const py::gil_scoped_acquire acquire;
    std::ranges::copy(numbers_of(functions_.product(point(), copied(direction_)), size_, "the product"),
                      y.begin());
  }
  void difference(std::span<double> y) {
    double largest = 0;
    for (const double d : direction_) largest = std::max(largest, std::abs(d));
    if (largest == 0) {
      std::ranges::fill(y, 0.0);
      return;
    }
    const double step = difference_step * scales_.length / largest;
    std::vector<double> x(size_), above(size_);
    linalg::add_scaled(point_, step, direction_, x);
    gradient_at(x, above);
    linalg::add_scaled(point_, -step, direction_, x);
    gradient_at(x, y);
    linalg::combine(1 / (2 * step), above, -1 / (2 * step), y);
  }

  std::size_t size_;
  int block_;
  Functions functions_;
  bool convex_;
  double noise_;
  std::vector<std::uint8_t> fixed_;
  optimize::CharacteristicScales scales_;
  linalg::HierarchyPtr hierarchy_;
  std::optional<BlockMatrix> laplacian_;

  std::vector<double> point_, direction_;
  std::optional<double> value_;
  Filled raw_, projected_;
  CsrMatrix raw_entries_;
  bool raw_known_ = false, projected_known_ = false;
  linalg::SparseCholesky<double> factor_;
};

class OwnObjective final : public ObjectiveHandle {
 public:
  explicit OwnObjective(std::unique_ptr<UserObjective> objective) : objective_(std::move(objective)) {}
  // One minimisation or evaluation at a time: it has a current point.
  std::shared_ptr<void> lease() override {
    if (in_use_.exchange(true)) throw std::runtime_error("the objective is being evaluated or minimised");
    return {nullptr, [this](void*) { in_use_ = false; }};
  }
  Objective& objective() override { return *objective_; }

 private:
  std::unique_ptr<UserObjective> objective_;
  std::atomic<bool> in_use_ = false;
};

std::shared_ptr<ObjectiveHandle> from_functions(std::size_t size, const py::object& value,
                                                const py::object& gradient, const py::object& hessian,
                                                const py::object& product, const py::object& projected,
                                                const py::object& largest_step, bool convex, int block_size,
                                                const py::object& fixed, double length, double force,
                                                double noise, const py::sequence& hierarchy,
                                                const py::object& laplacian) {
  std::vector<std::uint8_t> flags;
  if (!fixed.is_none()) {
    const py::array_t<bool, py::array::c_style | py::array::forcecast> given(fixed);
    flags.assign(given.data(), given.data() + given.size());
  }
  return std::make_shared<OwnObjective>(std::make_unique<UserObjective>(
      size, block_size, Functions{value, gradient, hessian, product, projected, largest_step}, convex, length,
      force, noise, std::move(flags), hierarchy, laplacian));
}

// At x, without the GIL.
template <class Call>
auto evaluate(ObjectiveHandle& handle, const py::handle& x, const Call& call) {
  const std::shared_ptr<void> lease = handle.lease();
  Objective& objective = handle.objective();
  const std::vector<double> point = numbers_of(x, objective.size(), "x");
  auto result = unlocked([&] {
    objective.move_to(point);
    return call(objective);
  });
  handle.rethrow();
  return result;
}

HessianKind kind_of(bool projected) { return projected ? HessianKind::Projected : HessianKind::Raw; }

template <class Fill>
py::array filled(ObjectiveHandle& handle, const py::handle& x, const Fill& fill) {
  return copied(evaluate(handle, x, [&](Objective& objective) {
    std::vector<double> result(objective.size());
    fill(objective, std::span<double>(result));
    return result;
  }));
}

py::dict derivative_errors(ObjectiveHandle& handle, const py::handle& x, double step, int directions) {
  const std::shared_ptr<void> lease = handle.lease();
  Objective& objective = handle.objective();
  const std::vector<double> point = numbers_of(x, objective.size(), "x");
  const optimize::DerivativeErrors errors =
      unlocked([&] { return check_derivatives(objective, point, {.step = step, .directions = directions}); });
  handle.rethrow();
  py::dict result;
  result["gradient"] = errors.gradient;
  result["hessian"] = errors.hessian;
  result["product"] = errors.product;
  return result;
}

}  // namespace

void bind_objectives(py::module_& module) {
  py::class_<ObjectiveHandle, std::shared_ptr<ObjectiveHandle>>(
      module, "Objective",
      "What is minimised: functions of Python (lope.objective), or a time step (Simulation.step_problem).")
      .def_property_readonly(
          "size", [](ObjectiveHandle& h) { return h.lease(), h.objective().size(); }, "Unknowns.")
      .def_property_readonly(
          "block_size", [](ObjectiveHandle& h) { return h.lease(), h.objective().block_size(); },
          "Unknowns of a node.")
      .def_property_readonly(
          "length", [](ObjectiveHandle& h) { return h.lease(), h.objective().scales().length; },
          "The size of the problem in x.")
      .def_property_readonly(
          "fixed",
          [](ObjectiveHandle& h) {
            const auto lease = h.lease();
            const auto flags = h.objective().fixed_blocks();
            return copied(flags, {static_cast<py::ssize_t>(flags.size())}).attr("astype")("bool");
          },
          "A flag per node: what is not an unknown.")
      .def(
          "value",
          [](ObjectiveHandle& h, const py::object& x) {
            return evaluate(h, x, [](Objective& o) { return o.value(); });
          },
          py::arg("x"))
      .def(
          "gradient",
          [](ObjectiveHandle& h, const py::object& x) {
            return filled(h, x, [](Objective& o, std::span<double> g) { o.gradient(g); });
          },
          py::arg("x"), "Zero where blocks are fixed.")
      .def(
          "hessian",
          [](ObjectiveHandle& h, const py::object& x, bool projected) {
            return to_scipy(
                evaluate(h, x, [&](Objective& o) { return csr_of(o.hessian(kind_of(projected))); }));
          },
          py::arg("x"), py::arg("projected") = false,
          "As a scipy.sparse.csr_matrix; `projected`: made positive semi-definite, element by element.")
      .def(
          "hessian_times",
          [](ObjectiveHandle& h, const py::object& x, const py::object& d, bool projected) {
            const std::vector<double> direction = numbers_of(d, h.objective().size(), "d");
            return filled(h, x, [&](Objective& o, std::span<double> y) {
              o.hessian_times(kind_of(projected), direction, y);
            });
          },
          py::arg("x"), py::arg("d"), py::arg("projected") = false, "H(x) d without a matrix.")
      .def(
          "largest_step",
          [](ObjectiveHandle& h, const py::object& x, const py::object& d) {
            const std::vector<double> direction = numbers_of(d, h.objective().size(), "d");
            return evaluate(h, x, [&](Objective& o) { return o.largest_step(direction); });
          },
          py::arg("x"), py::arg("d"), "The largest a for which the function is defined on x + [0, a] d.")
      .def(
          "freeze",
          [](ObjectiveHandle& h, const py::object& x) {
            return evaluate(h, x, [](Objective& o) { return o.begin_iteration(); });
          },
          py::arg("x"),
          "To be called at the beginning of every iteration: chooses what touches at x until the next call. "
          "True: values and "
          "derivatives at x have changed.")
      .def(
          "project",
          [](ObjectiveHandle& h, const py::object& x) {
            const std::shared_ptr<void> lease = h.lease();
            std::vector<double> point = numbers_of(x, h.objective().size(), "x");
            unlocked([&] { h.objective().project(point); });
            return copied(point);
          },
          py::arg("x"), "The nearest point that obstacles allow.")
      .def("check_derivatives", &derivative_errors, py::arg("x"), py::arg("step") = 0.0,
           py::arg("directions") = 8,
           "Derivatives against central differences at x: the largest errors of \"gradient\", \"hessian\" "
           "and \"product\", as parts of "
           "what is compared.");
  module.def("_objective", &from_functions);
}

}  // namespace lope::python
