// The table from addresses to GPUs, and waiting for a GPU.
#include "engine/runtime/cuda_memory.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>

namespace uopscope::cuda {

namespace {
constexpr size_t kNoted = 16; ///< number of kernels that the message about a failed stream names
}

void Gpu::note(const std::string& kernel) {
  std::lock_guard lock(mutex);
  if (launched.size() == kNoted) launched.erase(launched.begin());
  launched.push_back(kernel);
}

void Gpu::synchronize() {
  enter();
  Status status = api().streamSynchronize(stream);
  std::lock_guard lock(mutex);
  if (status != 0)
    throw Error(
        ErrorKind::Runtime,
        fmt::format("{}: {}. One of the last kernels failed: {}. This process cannot use the device any "
                    "more; DEBUG=2 waits for each kernel and names the one that failed, DEV=REF:CUDA "
                    "finds the access",
                    label, statusName(status), fmt::join(launched, ", ")));
  launched.clear();
}

void* MemoryTable::take(Gpu& gpu, size_t bytes) {
  gpu.enter();
  Address address = 0;
  if (api().memAlloc(&address, bytes) != 0) return nullptr;
  std::lock_guard lock(mutex_);
  blocks_.emplace(static_cast<uintptr_t>(address), Block{bytes, &gpu});
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

void MemoryTable::give(void* address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  Gpu* gpu = nullptr;
  {
    std::lock_guard lock(mutex_);
    auto block = blocks_.find(at);
    if (block == blocks_.end()) return;
    gpu = block->second.gpu;
    blocks_.erase(block);
  }
  if (api().contextSetCurrent(gpu->context) == 0) api().memFree(static_cast<Address>(at));
}

Gpu& MemoryTable::gpuOf(const void* address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(at);
  if (after != blocks_.begin()) {
    auto block = std::prev(after);
    if (at - block->first <= block->second.bytes) return *block->second.gpu;
  }
  throw Error(ErrorKind::Runtime, fmt::format("{} is no memory of a CUDA device", address));
}

MemoryTable& memoryTable() {
  // Never destroyed: buffers outlive static objects, and so may the driver.
  static auto* table = std::make_unique<MemoryTable>().release();
  return *table;
}

} // namespace uopscope::cuda
