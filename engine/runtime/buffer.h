// Memory of BUFFER nodes: who owns it, parts of it, and the table from nodes to memory.
//
//   Buffer b("CPU", dtypes::float32, 1024);  b.allocate();  b.copyIn(bytes);
//   auto part = Buffer::view(whole, dtypes::float32, 16, 64);      // 16 floats from byte 64 on; keeps
//   `whole`
#pragma once
#include "engine/runtime/device.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace uopscope {

/// Memory of a BUFFER. Allocated when first written.
class Buffer {
public:
  /// `device` "CPU" ...; throws Error(Device) for an unknown one.
  Buffer(std::string device, DType dtype, int64_t size);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  /// A part of another buffer; keeps it alive.
  static std::shared_ptr<Buffer> view(std::shared_ptr<Buffer> base, DType dtype, int64_t size,
                                      int64_t byteOffset);
  /// Memory that somebody else owns; `keep` is held while it is used.
  static std::shared_ptr<Buffer> foreign(std::string device, DType dtype, int64_t size, void* memory,
                                         std::shared_ptr<void> keep);

  /// Given once in a process, in order.
  uint64_t id() const { return id_; }
  const std::string& device() const { return device_; }
  DType dtype() const { return dtype_; }
  int64_t size() const { return size_; }
  size_t bytes() const { return static_cast<size_t>(size_) * static_cast<size_t>(dtype_.itemsize()); }
  bool isAllocated() const { return memory_ != nullptr || base_ != nullptr; }
  /// The buffer this is a part of, and the offset in bytes; null for memory of its own.
  const std::shared_ptr<Buffer>& base() const { return base_; }
  size_t offset() const { return offset_; }
  /// How many nodes of graphs, and others by ref(), hold this memory or a view of it.
  int64_t holders() const { return root()->holders_; }
  void ref(int64_t more) { (base_ ? base_.get() : this)->holders_ += more; }
  const Buffer* root() const { return base_ ? base_.get() : this; }
  void allocate();
  void* memory();
  void copyIn(const void* host);
  void copyOut(void* host);
  /// Gives memory of its own back; it is allocated anew when next asked for. Views and foreign memory stay.
  void release();

  /// The memory of a BUFFER node (made when first asked for) and of a BUFFER_VIEW, whose offset counts
  /// elements of what it is a view of; nodes hold theirs until they die.
  static std::shared_ptr<Buffer> of(UOp buffer);
  /// Gives a BUFFER node its memory.
  static void bind(UOp buffer, std::shared_ptr<Buffer> memory);
  /// A BUFFER whose memory on the device shares a byte with [memory, memory + bytes), and that memory; null
  /// where there is none.
  static std::pair<UOp, std::shared_ptr<Buffer>> overlapping(const std::string& device, const void* memory,
                                                             size_t bytes);
  /// Forgets the memory of a node before the node dies. A node that dies (Pool::collect) is forgotten by
  /// itself.
  static void forget(UOp buffer);

private:
  void tell(bool freed) const;

  uint64_t id_;
  std::string device_;
  DType dtype_;
  int64_t size_ = 0;
  void* memory_ = nullptr;
  std::shared_ptr<Device> owner_; ///< of memory_, when it is ours
  std::shared_ptr<Buffer> base_;
  size_t offset_ = 0;
  std::shared_ptr<void> keep_;
  std::atomic<int64_t> holders_{0};
};

} // namespace uopscope
