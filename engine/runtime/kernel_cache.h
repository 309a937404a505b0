// The cache of lowered and compiled kernels, by node and by content (kernel_cache.cpp).
//
//   auto kernel = getKernel(item, Device::get("CPU"));      // made now, or found
//   kernel->lowered.name, kernel->program                   // from the cache if it was made before
#pragma once
#include "engine/runtime/device.h"
#include "engine/schedule/schedule.h"

#include <memory>
#include <span>
#include <string>

namespace uopscope {

/// A kernel lowered and compiled for a device.
struct CompiledKernel : std::enable_shared_from_this<CompiledKernel> {
  LoweredKernel lowered;
  std::string source;               ///< what it is compiled from; empty in the cache, where nothing reads it
  std::shared_ptr<Program> program; ///< null for NULL
  /// The pool of the node that identifies the program to an observer, which launches refer to. Null without
  /// an observer.
  std::shared_ptr<Pool> told;
  const Pool* identity() const { return told ? told.get() : lowered.pool.get(); }
};
std::shared_ptr<const CompiledKernel> getKernel(const ScheduleItem& item, Device& device);
/// Makes the kernels of all items that the cache does not have, on UOPSCOPE_THREADS threads. devices[i] runs
/// items[i]. All kernels are tried before the first failure, in order of items, is thrown.
void prepareKernels(std::span<const ScheduleItem> items, std::span<Device* const> devices);
/// A kernel of the cache; null if it is not there. Prints the texts that DEBUG asks for when the kernel first
/// runs.
std::shared_ptr<const CompiledKernel> findKernel(const ScheduleItem& item, Device& device, bool& firstRun);
/// UOPSCOPE_THREADS, or the number of cores.
int loweringThreads();
/// Drops every compiled kernel. The observer is notified of the dying pools.
void clearKernelCache();
/// The number of kernels found by getKernel, of kernels lowered by it, and of kernels in the cache.
struct KernelCacheStats {
  uint64_t hits = 0, misses = 0;
  size_t kernels = 0;
};
KernelCacheStats kernelCacheStats();
/// The number of the present settings and user rules: different numbers mean different settings.
uint64_t kernelSettingsNumber();
/// Sets the number of kernels above which those used longest ago are dropped; returns the previous limit.
size_t limitKernelCache(size_t kernels);

} // namespace uopscope
