// Memory for numbers that is not cleared when it grows, nor kept then, aligned for the widest vectors.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace lope::linalg {

template <class T>
class UnclearedMemory {
 public:
  // Room for at least so many; what was there is lost if it has to grow.
  void resize(std::ptrdiff_t size) {
    if (size <= size_) return;
    data_.reset();
    size_ = 0;
    data_.reset(static_cast<T*>(::operator new[](static_cast<std::size_t>(size) * sizeof(T), alignment)));
    size_ = size;
  }
  T* data() { return data_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Delete {
    void operator()(T* data) const { ::operator delete[](data, alignment); }
  };
  std::unique_ptr<T, Delete> data_;
  std::ptrdiff_t size_ = 0;
};

}  // namespace lope::linalg
