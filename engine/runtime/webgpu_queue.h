// A WebGPU device and the commands that wait for it. Launches are collected in one pass of one command buffer
// and submitted together: after kLaunchesASubmit of them, and before the host reads, writes or waits.
// WebGPU keeps their order and puts a barrier between launches.
//
//   gpu.launch({pipeline, group, {4, 1, 1}, values, "E_16"});        // not yet submitted
//   gpu.read(buffer, 0, host, 64);                                    // submits, waits, copies
//
// Threads may call all functions at once.
#pragma once
#include "engine/runtime/webgpu_api.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace uopscope::webgpu {

/// A launch with all its arguments; nothing is kept of it after the call that receives it.
struct Dispatch {
  Object pipeline = nullptr, group = nullptr;
  std::array<uint32_t, 3> groups{1, 1, 1};
  std::span<const std::byte> values; ///< of the kernel's variables
  const std::string* kernel = nullptr;
};

class Gpu {
public:
  /// Opens an adapter's device with all the adapter's limits and the features that kernels use. Throws
  /// Error(Device). `name` is the engine's: "WEBGPU:1".
  Gpu(const std::string& name, Object adapter);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  void launch(std::span<const Dispatch> all);
  /// Runs one launch alone and waits. Seconds by the device's clock, or by the host's if it has none.
  double timed(const Dispatch& one);
  /// Writes any bytes; WebGPU itself writes words.
  void write(Object buffer, size_t offset, const void* from, size_t bytes);
  void read(Object buffer, size_t offset, void* to, size_t bytes);
  /// Submits what waits, and waits for it.
  void finish();
  /// Null if there is no memory.
  Handle createBuffer(size_t bytes, Flags usage) const;
  /// Throws Error(Runtime) if a call of this thread failed or the device was lost.
  void check(const std::string& where);

  // Set at construction.
  std::string label;   ///< "WEBGPU:1 (llvmpipe)"
  std::string version; ///< the driver, for the cache of searches
  Object device = nullptr;
  Limits limits;
  size_t mostRounds = 0; ///< of all loops of a thread, which the driver ends then; 0: any number
  bool hasHalf = false, hasInt64 = false, hasDouble = false, hasTimes = false;

private:
  void encode(const Dispatch& d);
  void submit();
  Object encoder();
  void readWords(Object buffer, size_t offset, void* to, size_t bytes);
  std::string where() const;
  double ticksBetween();

  static constexpr size_t kLaunchesASubmit = 32, kNamesKept = 3;
  static void noteLost(const Object*, uint32_t reason, Text message, void* gpu, void*);

  std::mutex mutex_;
  Object queue_ = nullptr;
  Handle encoder_ = noHandle(), pass_ = noHandle();
  size_t waiting_ = 0;             ///< launches in the open pass
  std::vector<std::string> names_; ///< of the last kernels, for messages
  Handle readback_ = noHandle();   ///< memory that the host can map
  size_t readbackBytes_ = 0;
  Object times_ = nullptr; ///< two timestamps
  Handle timeWords_ = noHandle();
  double tick_ = 0; ///< seconds
  std::mutex lostMutex_;
  std::string lost_; ///< why the device was lost; empty: it was not
};

} // namespace uopscope::webgpu
