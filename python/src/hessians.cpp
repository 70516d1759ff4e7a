#include "hessians.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace lope::python {

using linalg::CsrMatrix;

namespace {

// Of the largest entry.
constexpr double rounding = 1e-8;
// What make_dominant adds to the sum of the others, as a part of it.
constexpr double margin = 1e-6;

template <class T>
std::vector<T> vector_of(const py::object& array) {
  const py::array_t<T, py::array::c_style | py::array::forcecast> values(array);
  return {values.data(), values.data() + values.size()};
}

CsrMatrix from_dense(const py::object& matrix, const char* name) {
  const auto values = Numbers::ensure(matrix);
  if (!values) {
    PyErr_Clear();
    throw py::type_error(fmt::format("{} must be a matrix: an array or one of scipy.sparse", name));
  }
  if (values.ndim() != 2)
    throw InputFailure(fmt::format("{} has {} dimensions; a matrix has 2", name, values.ndim()));
  CsrMatrix result;
  result.rows = static_cast<int>(values.shape(0));
  result.columns = static_cast<int>(values.shape(1));
  for (int i = 0; i < result.rows; ++i) {
    for (int j = 0; j < result.columns; ++j) {
      const double value = values.at(i, j);
      if (value == 0 && i != j) continue;
      result.column.push_back(j);
      result.value.push_back(value);
    }
    result.row_start.push_back(result.entries());
  }
  return result;
}

// Entries for the whole diagonal, be they 0.
CsrMatrix with_diagonal(const CsrMatrix& matrix) {
  std::vector<linalg::CsrEntry> entries;
  for (int row = 0; row < matrix.rows; ++row) {
    entries.push_back({row, row, 0});
    for (auto k = matrix.row_start[static_cast<std::size_t>(row)];
         k < matrix.row_start[static_cast<std::size_t>(row) + 1]; ++k)
      entries.push_back(
          {row, matrix.column[static_cast<std::size_t>(k)], matrix.value[static_cast<std::size_t>(k)]});
  }
  return linalg::csr_from_entries(matrix.rows, matrix.columns, entries);
}

}  // namespace

CsrMatrix csr_of(const py::object& matrix, const char* name) {
  if (!py::hasattr(matrix, "tocsr")) return from_dense(matrix, name);
  const py::object csr = matrix.attr("tocsr")(py::arg("copy") = true);
  csr.attr("sum_duplicates")();
  const auto shape = csr.attr("shape").cast<std::pair<std::int64_t, std::int64_t>>();
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (shape.first > most || shape.second > most)
    throw InputFailure(fmt::format("{} has more than {} rows", name, most));
  CsrMatrix result;
  result.rows = static_cast<int>(shape.first);
  result.columns = static_cast<int>(shape.second);
  result.row_start = vector_of<std::int64_t>(csr.attr("indptr"));
  result.column = vector_of<int>(csr.attr("indices"));
  result.value = vector_of<double>(csr.attr("data"));
  return result;
}

py::object to_scipy(const CsrMatrix& matrix) {
  const py::object make = py::module_::import("scipy.sparse").attr("csr_matrix");
  const auto arrays = py::make_tuple(copied<double>(matrix.value, {matrix.entries()}),
                                     copied<int>(matrix.column, {matrix.entries()}),
                                     copied<std::int64_t>(matrix.row_start, {matrix.rows + 1}));
  return make(arrays, py::arg("shape") = py::make_tuple(matrix.rows, matrix.columns));
}

CsrMatrix csr_of(const linalg::BlockMatrix& matrix) {
  const linalg::BlockPattern& pattern = matrix.pattern();
  const int b = matrix.block_size();
  std::vector<linalg::CsrEntry> entries;
  const auto add = [&](int row, int column, const double* block) {
    for (int i = 0; i < b; ++i) {
      for (int j = 0; j < b; ++j) entries.push_back({row * b + i, column * b + j, block[i * b + j]});
    }
  };
  for (int row = 0; row < pattern.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (std::int64_t slot = pattern.row_start()[at]; slot < pattern.row_start()[at + 1]; ++slot)
      add(row, pattern.column()[static_cast<std::size_t>(slot)], matrix.block(slot));
  }
  for (const linalg::Coupling& coupling : matrix.couplings())
    add(coupling.row, coupling.column, coupling.block.data());
  const int size = static_cast<int>(matrix.size());
  return linalg::csr_from_entries(size, size, entries);
}

CsrMatrix hessian_of(const py::object& matrix, std::size_t size, const char* name) {
  CsrMatrix result = csr_of(matrix, name);
  if (static_cast<std::size_t>(result.rows) != size || result.rows != result.columns)
    throw InputFailure(
        fmt::format("{} is {} x {}, not {} x {}", name, result.rows, result.columns, size, size));
  if (const std::string fault = linalg::structural_fault(result); !fault.empty())
    throw InputFailure(fmt::format("{}: {}", name, fault));
  double largest = 0;
  for (const double value : result.value) largest = std::max(largest, std::abs(value));
  if (const double difference = linalg::asymmetry(result); difference > rounding * largest)
    throw InputFailure(fmt::format(
        "{} is not symmetric: entries differ from their mirror images by up to {:.3g}", name, difference));
  return with_diagonal(result);
}

void make_dominant(CsrMatrix& matrix) {
  for (int row = 0; row < matrix.rows; ++row) {
    const auto begin = static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(row) + 1]);
    double* diagonal = nullptr;
    double others = 0;
    for (std::size_t k = begin; k < end; ++k) {
      if (matrix.column[k] == row) {
        diagonal = &matrix.value[k];
      } else {
        others += std::abs(matrix.value[k]);
      }
    }
    *diagonal = std::max({*diagonal, (1 + margin) * others, margin * std::abs(*diagonal)});
  }
}

}  // namespace lope::python
