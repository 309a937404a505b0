// Memory of buffers, and the table from BUFFER nodes to memory. The key of a node is its pool and its id,
// which are never reused.
#include "engine/runtime/buffer.h"

#include "engine/base/engine_session.h"
#include "engine/base/error.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/device.h"
#include "engine/runtime/live_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace uopscope {

GlobalCounters& GlobalCounters::current() {
  return EngineSession::current().part<GlobalCounters>();
}

void GlobalCounters::reset() {
  globalOps = globalMem = kernelCount = 0;
  timeSum = 0;
}

namespace {

std::atomic<uint64_t> lastId{0};

struct Held {
  UOp node;
  std::shared_ptr<Buffer> buffer;
};

struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, Held> memory;

  Table() {
    Pool::whenBufferDies([](UOp u) { Buffer::forget(u); });
  }
};
Table& table() {
  return EngineSession::current().part<Table>();
}

uint64_t keyOf(UOp u) {
  return uint64_t{u.node()->pool->serial()} << 32 | u.id();
}

std::shared_ptr<Buffer> makeFor(UOp u) {
  if (u.is(Op::BUFFER)) return std::make_shared<Buffer>(u.device(), u.dtype().base(), u.arg().i());
  if (u.is(Op::BUFFER_VIEW)) {
    const std::vector<int64_t>& arg = u.arg().ints(); // size, offset
    auto base = Buffer::of(u.src(0));
    int64_t offset = arg[1] * base->dtype().itemsize();
    return Buffer::view(std::move(base), u.dtype().base(), arg[0], offset);
  }
  throw Error(ErrorKind::Runtime,
              fmt::format("{} has no memory: only BUFFER and BUFFER_VIEW do; realize the tensor first",
                          opName(u.op())));
}

} // namespace

Buffer::Buffer(const std::string& device, DType dtype, int64_t size)
    : id_(++lastId), device_(Device::canonicalize(device)), dtype_(dtype), size_(size) {
  if (size < 0)
    throw Error(ErrorKind::Value,
                fmt::format("a buffer of {} elements: the size must not be negative", size));
  int64_t bytes;
  if (__builtin_mul_overflow(size, static_cast<int64_t>(dtype.itemsize()), &bytes))
    throw Error(ErrorKind::Value, fmt::format("a buffer of {} elements of {}: more bytes than 64 bits count",
                                              size, dtype.name()));
}

Buffer::~Buffer() {
  release();
}

void Buffer::release() {
  if (!owner_) return;
  owner_->release(memory_, bytes());
  owner_.reset();
  memory_ = nullptr;
  GlobalCounters::current().memUsed -= static_cast<int64_t>(bytes());
  tell(/*freed=*/true);
}

void Buffer::tell(bool freed) const {
  Observer* observer = Observer::current();
  if (!observer) return;
  observer->onBuffer({id_, device_, dtype_.name(), static_cast<int64_t>(bytes()), base_ ? base_->id_ : 0,
                      static_cast<int64_t>(offset_), freed});
}

std::shared_ptr<Buffer> Buffer::view(std::shared_ptr<Buffer> base, DType dtype, int64_t size,
                                     int64_t byteOffset) {
  int64_t length = size * dtype.itemsize(), available = static_cast<int64_t>(base->bytes());
  if (size < 0 || byteOffset < 0 || byteOffset > available || length > available - byteOffset)
    throw Error(ErrorKind::Value, fmt::format("a view of bytes {} to {} of a buffer of {} bytes", byteOffset,
                                              byteOffset + length, available));
  auto v = std::make_shared<Buffer>(base->device_, dtype, size);
  v->offset_ = static_cast<size_t>(byteOffset);
  if (base->base_) { // the view of a view refers to the buffer itself
    v->offset_ += base->offset_;
    base = base->base_;
  }
  v->base_ = std::move(base);
  v->tell(/*freed=*/false);
  return v;
}

std::shared_ptr<Buffer> Buffer::foreign(const std::string& device, DType dtype, int64_t size, void* memory,
                                        std::shared_ptr<void> keep) {
  auto b = std::make_shared<Buffer>(device, dtype, size);
  b->memory_ = memory;
  b->keep_ = std::move(keep);
  b->tell(/*freed=*/false);
  return b;
}

std::vector<std::shared_ptr<Buffer>> liveBuffers() {
  std::vector<std::shared_ptr<Buffer>> all;
  Table& t = table();
  {
    std::lock_guard lock(t.mutex);
    for (const auto& [key, held] : t.memory)
      if (held.buffer->isAllocated()) all.push_back(held.buffer);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void Buffer::allocate() {
  if (base_) {
    base_->allocate();
    return;
  }
  if (memory_) return;
  Device& d = Device::get(device_);
  memory_ = d.allocate(bytes());
  owner_ = d.shared_from_this();
  GlobalCounters::current().memUsed += static_cast<int64_t>(bytes());
  tell(/*freed=*/false);
}

void* Buffer::memory() {
  if (base_) return static_cast<std::byte*>(base_->memory()) + offset_;
  if (!memory_) allocate();
  return memory_;
}

void Buffer::copyIn(const void* host) {
  Device::get(device_).copyIn(memory(), host, bytes());
}

void Buffer::copyOut(void* host) {
  if (!isAllocated())
    throw Error(ErrorKind::Runtime,
                fmt::format("a buffer of {} on {} is read before anything was written to it", dtype_.name(),
                            device_));
  Device::get(device_).copyOut(host, memory(), bytes());
}

std::shared_ptr<Buffer> Buffer::of(UOp buffer) {
  Table& t = table();
  uint64_t key = keyOf(buffer);
  {
    std::lock_guard lock(t.mutex);
    if (auto it = t.memory.find(key); it != t.memory.end()) return it->second.buffer;
  }
  auto made = makeFor(buffer);
  std::lock_guard lock(t.mutex);
  auto [it, isNew] = t.memory.emplace(key, Held{buffer, std::move(made)});
  if (isNew) it->second.buffer->ref(1);
  return it->second.buffer;
}

void Buffer::bind(UOp buffer, std::shared_ptr<Buffer> memory) {
  Table& t = table();
  std::shared_ptr<Buffer> before = std::move(memory); // the old memory is freed after the lock is released
  std::lock_guard lock(t.mutex);
  if (before) before->ref(1);
  Held& held = t.memory[keyOf(buffer)];
  held.node = buffer;
  held.buffer.swap(before);
  if (before) before->ref(-1);
}

std::pair<UOp, std::shared_ptr<Buffer>> Buffer::overlapping(const std::string& device, const void* memory,
                                                            size_t bytes) {
  if (bytes == 0) return {};
  const std::string where = Device::canonicalize(device);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  Table& t = table();
  std::lock_guard lock(t.mutex);
  for (const auto& [key, held] : t.memory) {
    const Buffer& b = *held.buffer;
    if (b.base_ || !b.memory_ || b.device_ != where) continue;
    const auto first = reinterpret_cast<uintptr_t>(b.memory_);
    if (begin < first + b.bytes() && first < begin + bytes) return {held.node, held.buffer};
  }
  return {};
}

void Buffer::forget(UOp buffer) {
  Table* t = EngineSession::current().findPart<Table>(); // null while the session ends
  if (!t) return;
  std::shared_ptr<Buffer> gone; // freed after the lock is released
  std::lock_guard lock(t->mutex);
  auto it = t->memory.find(keyOf(buffer));
  if (it == t->memory.end()) return;
  gone = std::move(it->second.buffer);
  gone->ref(-1);
  t->memory.erase(it);
}

} // namespace uopscope
