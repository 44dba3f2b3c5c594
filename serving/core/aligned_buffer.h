// Memory that starts at a cache line, zeroed, of a fixed size from its making on.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace serving {

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size)
      : memory_(static_cast<T*>(::operator new(size * sizeof(T), kLine))), size_(size) {
    std::memset(static_cast<void*>(memory_.get()), 0, size * sizeof(T));
  }

  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return memory_[i]; }
  const T& operator[](std::size_t i) const { return memory_[i]; }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(T* memory) const { ::operator delete(memory, kLine); }
  };
  std::unique_ptr<T[], Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace serving
