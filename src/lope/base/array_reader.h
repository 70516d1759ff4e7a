// Takes what it expects out of named arrays, and remembers the first that is missing, so that whoever reads a state asks
// once, at the end.
#pragma once

#include <lope/base/named_arrays.h>

#include <cstddef>
#include <string>
#include <vector>

namespace lope {

class ArrayReader {
 public:
  // `prefix` stands before every name.
  explicit ArrayReader(const NamedArrays& arrays, std::string prefix = {})
      : arrays_(&arrays), prefix_(std::move(prefix)) {}

  bool has(const std::string& name) const { return arrays_->find(prefix_ + name) != nullptr; }
  std::vector<double> numbers(const std::string& name) { return values<double>(name); }
  std::vector<std::int32_t> integers(const std::string& name) { return values<std::int32_t>(name); }

  // Vectors or matrices (Eigen's of fixed size); `count`: how many there must be (−1: any).
  template <class Matrix>
  std::vector<Matrix> matrices(const std::string& name, std::ptrdiff_t count = -1) {
    const std::vector<double> flat = values<double>(name);
    constexpr auto size = static_cast<std::size_t>(Matrix::SizeAtCompileTime);
    std::vector<Matrix> result(flat.size() / size);
    if (flat.size() % size != 0 || (count >= 0 && static_cast<std::ptrdiff_t>(result.size()) != count)) miss(name);
    for (std::size_t i = 0; i < result.size(); ++i) {
      for (std::size_t k = 0; k < size; ++k) result[i].data()[k] = flat[i * size + k];
    }
    return result;
  }

  // An array of one value.
  template <class T>
  T single(const std::string& name) {
    const std::vector<T> found = values<T>(name);
    if (found.size() != 1) miss(name);
    return found.size() == 1 ? found[0] : T{};
  }

  // Says that an array is not what it should be.
  void miss(const std::string& name) {
    if (missing_.empty()) missing_ = prefix_ + name;
  }
  // The first array that was missing or of the wrong type or size; empty: none.
  const std::string& missing() const { return missing_; }

 private:
  template <class T>
  std::vector<T> values(const std::string& name) {
    if (const auto* found = arrays_->values<T>(prefix_ + name)) return *found;
    miss(name);
    return {};
  }

  const NamedArrays* arrays_;
  std::string prefix_, missing_;
};

}  // namespace lope
