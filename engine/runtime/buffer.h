// Memory of BUFFER nodes: its owner, views of it, and the table from nodes to memory.
//
//   Buffer b("CPU", dtypes::float32, 1024);  b.allocate();  b.copyIn(bytes);
//   auto part = Buffer::view(whole, dtypes::float32, 16, 64);     // 16 floats from byte 64 on; keeps `whole`
#pragma once
#include "engine/runtime/device.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace uopscope {

/// The memory of a BUFFER. It is allocated when it is first written.
class Buffer {
public:
  /// `device` is a name such as "CPU"; throws Error(Device) for an unknown name.
  Buffer(const std::string& device, DType dtype, int64_t size);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  /// A part of a buffer, which it keeps alive.
  static std::shared_ptr<Buffer> view(std::shared_ptr<Buffer> base, DType dtype, int64_t size,
                                      int64_t byteOffset);
  /// Memory owned outside of the engine; `keep` is held as long as the buffer lives.
  static std::shared_ptr<Buffer> foreign(const std::string& device, DType dtype, int64_t size, void* memory,
                                         std::shared_ptr<void> keep);

  /// A number that is unique in the process, in order of creation.
  uint64_t id() const { return id_; }
  const std::string& device() const { return device_; }
  DType dtype() const { return dtype_; }
  int64_t size() const { return size_; }
  size_t bytes() const { return static_cast<size_t>(size_) * static_cast<size_t>(dtype_.itemsize()); }
  bool isAllocated() const { return memory_ != nullptr || base_ != nullptr; }
  /// The buffer that this is a view of, and the offset in bytes; null if it has memory of its own.
  const std::shared_ptr<Buffer>& base() const { return base_; }
  size_t offset() const { return offset_; }
  /// The number of graph nodes, and of further holders counted by ref(), of this memory or a view of it.
  int64_t holders() const { return root()->holders_; }
  void ref(int64_t more) { (base_ ? base_.get() : this)->holders_ += more; }
  const Buffer* root() const { return base_ ? base_.get() : this; }
  void allocate();
  void* memory();
  void copyIn(const void* host);
  void copyOut(void* host);
  /// Releases memory of its own; the next use allocates it again. Views and foreign memory are not affected.
  void release();

  /// The memory of a BUFFER node (made at first use) or BUFFER_VIEW, whose offset counts elements of its
  /// source. A node keeps its memory until it dies.
  static std::shared_ptr<Buffer> of(UOp buffer);
  /// Makes this the memory of a BUFFER node.
  static void bind(UOp buffer, std::shared_ptr<Buffer> memory);
  /// A BUFFER whose memory on the device shares a byte with [memory, memory + bytes), and that memory; null
  /// where there is none.
  static std::pair<UOp, std::shared_ptr<Buffer>> overlapping(const std::string& device, const void* memory,
                                                             size_t bytes);
  /// Drops the memory of a living node. The memory of a dying node (Pool::collect) is dropped automatically.
  static void forget(UOp buffer);

private:
  void tell(bool freed) const;

  uint64_t id_;
  std::string device_;
  DType dtype_;
  int64_t size_ = 0;
  void* memory_ = nullptr;
  std::shared_ptr<Device> owner_; ///< the device of memory_, if the buffer owns it
  std::shared_ptr<Buffer> base_;
  size_t offset_ = 0;
  std::shared_ptr<void> keep_;
  std::atomic<int64_t> holders_{0};
};

} // namespace uopscope
