// Launches given to a device together. The kernels of a captured function become a graph of the driver, so
// that a replay costs one call instead of one call per kernel.
//
//   auto batch = device.makeBatch(launches);        // null: the device takes launches one by one
//   batch->change(3, launches[3]);                  // new addresses or variables of the fourth launch
//   batch->launch();
//
// The launches of a batch run in the given order. A program must live as long as a batch that contains it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace uopscope {

class Program;

/// Arguments of Program::launch. The spans are read before the call that receives them returns.
struct BatchedLaunch {
  Program* program;
  std::span<void* const> memory;
  std::span<const int64_t> vars, globalSize, localSize;
};

class LaunchBatch {
public:
  virtual ~LaunchBatch() = default;
  virtual void change(size_t number, const BatchedLaunch& launch) = 0;
  /// Launches all and does not wait. Throws Error(Runtime) with the driver's message.
  virtual void launch() = 0;
};

} // namespace uopscope
