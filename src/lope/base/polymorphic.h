// A value of a type derived from T: owned, copied with what it is, never null unless moved from or made so. What lists of
// different things are made of, where a copy of the list must be a copy of the things.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace lope {

template <class T>
class Polymorphic {
 public:
  Polymorphic() = default;
  template <class U>
    requires std::derived_from<U, T>
  Polymorphic(U value)  // NOLINT(google-explicit-constructor): a list of them is filled with what they are
      : value_(std::make_unique<U>(std::move(value))),
        copy_([](const T& other) -> std::unique_ptr<T> { return std::make_unique<U>(static_cast<const U&>(other)); }) {}
  Polymorphic(const Polymorphic& other)
      : value_(other.value_ ? other.copy_(*other.value_) : nullptr), copy_(other.copy_) {}
  Polymorphic(Polymorphic&&) noexcept = default;
  Polymorphic& operator=(const Polymorphic& other) {
    if (this != &other) *this = Polymorphic(other);
    return *this;
  }
  Polymorphic& operator=(Polymorphic&&) noexcept = default;
  ~Polymorphic() = default;

  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  T* get() { return value_.get(); }
  const T* get() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
  std::unique_ptr<T> (*copy_)(const T&) = nullptr;
};

// As what it is; whoever asks knows.
template <class U, class T>
U& as(Polymorphic<T>& value) {
  return dynamic_cast<U&>(*value);
}
template <class U, class T>
const U& as(const Polymorphic<T>& value) {
  return dynamic_cast<const U&>(*value);
}

// Those of a list that are of type U, in their order.
template <class U, class T>
std::vector<std::reference_wrapper<const U>> each(const std::vector<Polymorphic<T>>& list) {
  std::vector<std::reference_wrapper<const U>> result;
  for (const Polymorphic<T>& item : list) {
    if (const auto* found = dynamic_cast<const U*>(item.get())) result.push_back(*found);
  }
  return result;
}
template <class U, class T>
std::vector<std::reference_wrapper<U>> each(std::vector<Polymorphic<T>>& list) {
  std::vector<std::reference_wrapper<U>> result;
  for (Polymorphic<T>& item : list) {
    if (auto* found = dynamic_cast<U*>(item.get())) result.push_back(*found);
  }
  return result;
}

}  // namespace lope
