// Kernels that were lowered and compiled, by the node asked for and by content (kernel_cache.cpp).
//
//   auto kernel = getKernel(item, Device::get("CPU"));      // made now, or found
//   kernel->lowered.name, kernel->source
#pragma once
#include "engine/runtime/device.h"
#include "engine/schedule/schedule.h"

#include <memory>
#include <span>
#include <string>

namespace uopscope {

/// The kernel of an item as lowered for a device, from the cache where it was lowered before.
struct CompiledKernel : std::enable_shared_from_this<CompiledKernel> {
  LoweredKernel lowered;
  std::string source;
  std::shared_ptr<Program> program; ///< null on NULL
  /// Of the first node of the program that an observer was told of: launches name the kernel by it. Null without one.
  std::shared_ptr<Pool> told;
  const Pool* identity() const { return told ? told.get() : lowered.pool.get(); }
};
std::shared_ptr<const CompiledKernel> getKernel(const ScheduleItem& item, Device& device);
/// Makes every kernel among the items that is not in the cache yet, on UOPSCOPE_THREADS threads; devices[i]
/// is where items[i] runs. All are tried; then the first failure, in order of the items, is thrown.
void prepareKernels(std::span<const ScheduleItem> items, std::span<Device* const> devices);
/// From the cache alone, null where it is not there. Prints the texts that DEBUG asks for when a kernel first
/// runs.
std::shared_ptr<const CompiledKernel> findKernel(const ScheduleItem& item, Device& device, bool& firstRun);
/// UOPSCOPE_THREADS, or as many as there are cores.
int loweringThreads();
/// Drops every compiled kernel; the observer is told of the pools that go.
void clearKernelCache();
/// How often getKernel found a kernel, how often it lowered one, and how many are kept.
struct KernelCacheStats {
  uint64_t hits = 0, misses = 0;
  size_t kernels = 0;
};
KernelCacheStats kernelCacheStats();
/// The number of the settings and user rules that kernels are made with now: another number where they differ.
uint64_t kernelSettingsNumber();
/// Above so many kernels those used longest ago go; returns the limit there was.
size_t limitKernelCache(size_t kernels);

} // namespace uopscope
