// Launches given to a device as one: a captured function's kernels become a graph of the driver, and a replay
// costs one call instead of one for each kernel.
//
//   auto batch = device.makeBatch(launches);        // null: the device takes launches one by one
//   batch->change(3, launches[3]);                  // new addresses or variables of the fourth launch
//   batch->launch();
//
// Launches of a batch run in the order they were given in. A program lives as long as a batch with it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace uopscope {

class Program;

/// Arguments as Program::launch takes them; the spans are read before the call they are given to returns.
struct BatchedLaunch {
  Program* program;
  std::span<void* const> memory;
  std::span<const int64_t> vars, globalSize, localSize;
};

class LaunchBatch {
public:
  virtual ~LaunchBatch() = default;
  virtual void change(size_t number, const BatchedLaunch& launch) = 0;
  /// Not waited for. Throws Error(Runtime) with the driver's words.
  virtual void launch() = 0;
};

} // namespace uopscope
