// The table from addresses to GPUs, opening a GPU and waiting for it.
#include "engine/runtime/driver_memory.h"

#include "engine/base/context_var.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace uopscope::driver {

namespace {
constexpr size_t kNoted = 16; ///< number of kernels that the message about a failed stream names
}

void* symbol(void* library, const char* name) {
  return dlsym(library, name);
}

Gpu& openGpu(const Api& api, const std::string& name) {
  size_t colon = name.find(':');
  auto number =
      static_cast<int>(colon == std::string::npos ? 0 : std::strtol(name.c_str() + colon + 1, nullptr, 10));
  std::string setting = fmt::format("{}_SPLIT", api.kind);
  auto split = static_cast<int>(std::max<int64_t>(1, envInt(setting.c_str(), 1)));
  int count = 0;
  api.must(api.kind, api.deviceGetCount, &count);
  if (number >= count * split)
    throw Error(ErrorKind::Device,
                fmt::format("there is no {}: {} finds {} GPU{} here; {}={} shows each as several devices",
                            name, api.kind, count, count == 1 ? "" : "s", setting, number / count + 1));
  auto* gpu = std::make_unique<Gpu>(api).release();
  gpu->label = name;
  gpu->must(api.deviceGet, &gpu->ordinal, number / split);
  std::array<char, 256> text{};
  gpu->must(api.deviceGetName, text.data(), static_cast<int>(text.size()), gpu->ordinal);
  gpu->label = fmt::format("{} ({})", name, text.data());
  gpu->must(api.contextOf, &gpu->context, gpu->ordinal);
  gpu->enter();
  gpu->must(api.streamCreate, &gpu->stream, kStreamNonBlocking);
  gpu->must(api.eventCreate, &gpu->begin, 0U);
  gpu->must(api.eventCreate, &gpu->end, 0U);
  return *gpu;
}

void Gpu::note(const std::string& kernel) {
  std::lock_guard lock(mutex);
  if (launched.size() == kNoted) launched.erase(launched.begin());
  launched.push_back(kernel);
}

void Gpu::synchronize() {
  enter();
  Status status = api.streamSynchronize(stream);
  std::lock_guard lock(mutex);
  if (status != 0)
    throw Error(
        ErrorKind::Runtime,
        fmt::format("{}: {}. One of the last kernels failed: {}. This process cannot use the device any "
                    "more; DEBUG=2 waits for each kernel and names the one that failed, DEV=REF:{} "
                    "finds the access",
                    label, api.statusName(status), fmt::join(launched, ", "), api.kind));
  launched.clear();
}

void* MemoryTable::take(Gpu& gpu, size_t bytes) {
  gpu.enter();
  Address address = 0;
  if (gpu.api.memAlloc(&address, bytes) != 0) return nullptr;
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
  if (gpu->api.contextSetCurrent(gpu->context) == 0) gpu->api.memFree(static_cast<Address>(at));
}

Gpu& MemoryTable::gpuOf(const Api& api, const void* address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(at);
  if (after != blocks_.begin()) {
    auto block = std::prev(after);
    if (at - block->first <= block->second.bytes && &block->second.gpu->api == &api)
      return *block->second.gpu;
  }
  throw Error(ErrorKind::Runtime, fmt::format("{} is no memory of a device of {}", address, api.kind));
}

MemoryTable& memoryTable() {
  // Never destroyed: buffers outlive static objects, and so may the driver.
  static auto* table = std::make_unique<MemoryTable>().release();
  return *table;
}

} // namespace uopscope::driver
