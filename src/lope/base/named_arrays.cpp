#include <lope/base/errors.h>
#include <lope/base/named_arrays.h>

#include <limits>
#include <set>

namespace lope {
namespace {
constexpr const char* names[] = {"f32", "f64", "i32", "i64", "u8"};
}

std::size_t NamedArray::size() const {
  return std::visit([](const auto& values) { return values.size(); }, data);
}

void NamedArrays::add(std::string name, ArrayData data) {
  NamedArray array{std::move(name), {}, std::move(data)};
  array.shape = {array.size()};
  arrays.push_back(std::move(array));
}

void NamedArrays::add(std::string name, std::vector<std::size_t> shape, ArrayData data) {
  arrays.push_back({std::move(name), std::move(shape), std::move(data)});
}

void NamedArrays::add(const std::string& prefix, const std::vector<ArrayView>& views) {
  for (const ArrayView& array : views) {
    std::visit(
        [&]<class T>(std::span<const T> values) {
          add(prefix + array.name, array.shape, std::vector<T>(values.begin(), values.end()));
        },
        array.values);
  }
}

const NamedArray* NamedArrays::find(std::string_view name) const {
  for (const NamedArray& array : arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

bool shape_product(const std::vector<std::size_t>& shape, std::size_t most, std::size_t& product) {
  product = 1;
  for (const std::size_t extent : shape) {
    if (extent == 0) {
      product = 0;
      return true;
    }
    if (product > most / extent) return false;
    product *= extent;
  }
  return product <= most;
}

const char* type_name(const ArrayData& data) { return names[data.index()]; }

bool make_array(std::string_view type, ArrayData& data) {
  if (type == "f32") {
    data = std::vector<float>();
  } else if (type == "f64") {
    data = std::vector<double>();
  } else if (type == "i32") {
    data = std::vector<std::int32_t>();
  } else if (type == "i64") {
    data = std::vector<std::int64_t>();
  } else if (type == "u8") {
    data = std::vector<std::uint8_t>();
  } else {
    return false;
  }
  return true;
}

Expected<void> check_arrays(const NamedArrays& arrays) {
  std::set<std::string_view> seen;
  for (const NamedArray& array : arrays.arrays) {
    if (array.name.empty()) return input_error("an array has no name");
    if (!seen.insert(array.name).second) return input_error("two arrays are named '{}'", array.name);
    std::size_t product = 0;
    if (!shape_product(array.shape, std::numeric_limits<std::size_t>::max(), product) ||
        product != array.size()) {
      return input_error("array '{}' has {} values, which its shape does not allow", array.name,
                         array.size());
    }
  }
  return {};
}

}  // namespace lope
