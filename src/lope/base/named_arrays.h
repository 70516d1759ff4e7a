// Named arrays: how the state of a simulation travels to and from files (frames, checkpoints) without these
// knowing what it is.
#pragma once

#include <lope/base/expected.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lope {

// The types f32, f64, i32, i64 and u8 of the files.
using ArrayData = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                               std::vector<std::int64_t>, std::vector<std::uint8_t>>;

// Row-major, of shape.size() dimensions; the product of the shape is the number of values.
struct NamedArray {
  std::string name;
  std::vector<std::size_t> shape;
  ArrayData data;

  std::size_t size() const;  // number of values held
  std::size_t rows() const { return shape.empty() ? 1 : shape.front(); }
};

// An array that belongs to somebody else, for as long as that one does not change.
struct ArrayView {
  std::string name;
  std::vector<std::size_t> shape;
  std::variant<std::span<const double>, std::span<const std::int32_t>, std::span<const std::int64_t>> values;
};

// Of numbers one after another; of vectors or matrices (Eigen's of fixed size), a row for each.
template <class T>
ArrayView view(std::string name, const std::vector<T>& values) {
  if constexpr (requires { T::SizeAtCompileTime; }) {
    constexpr auto size = static_cast<std::size_t>(T::SizeAtCompileTime);
    const double* first = values.empty() ? nullptr : values.front().data();
    return {std::move(name), {values.size(), size}, std::span<const double>(first, values.size() * size)};
  } else {
    return {std::move(name), {values.size()}, std::span<const T>(values)};
  }
}

// Arrays in the order in which they were added, and free-form text by key.
struct NamedArrays {
  std::vector<NamedArray> arrays;
  std::map<std::string, std::string> metadata;

  // Adds an array of the shape {values.size()}, or of the given one.
  void add(std::string name, ArrayData data);
  void add(std::string name, std::vector<std::size_t> shape, ArrayData data);

  // Copies of arrays, with something before their names.
  void add(const std::string& prefix, const std::vector<ArrayView>& views);

  // Null if there is none of that name.
  const NamedArray* find(std::string_view name) const;

  // The values of an array of this type, or null.
  template <class T>
  const std::vector<T>* values(std::string_view name) const {
    const NamedArray* array = find(name);
    return array ? std::get_if<std::vector<T>>(&array->data) : nullptr;
  }
};

// The product of a shape, or nothing if it exceeds `most`.
bool shape_product(const std::vector<std::size_t>& shape, std::size_t most, std::size_t& product);

// "f32", "f64", "i32", "i64" or "u8".
const char* type_name(const ArrayData& data);

// An empty array of the type of that name. False if there is none.
bool make_array(std::string_view type, ArrayData& data);

// What is wrong with them, if anything: an empty or repeated name, a shape that does not match its values.
// The message has no path; the writers put theirs in front.
Expected<void> check_arrays(const NamedArrays& arrays);

}  // namespace lope
