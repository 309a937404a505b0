// A kernel for a GPU's driver and its launches. It is compiled once, and loaded into the context of each device whose
// memory it is launched on.
//
//   auto program = driver::makeProgram(kernel, std::make_unique<CudaCode>(binary), gpu);
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/driver_memory.h"
#include "engine/runtime/launch_batch.h"
#include "engine/runtime/register_use.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace uopscope::driver {

/// A parameter of a kernel that is more than a word.
struct alignas(64) LargeArgument {
  std::array<std::byte, 128> bytes{};
};

/// What a compiler made of a kernel.
class Code {
public:
  virtual ~Code() = default;
  /// For the driver's moduleLoadData; it lives as long as this object.
  virtual const std::string& image() const = 0;
  /// The machine code as text. `lines` receives the source line of each line.
  virtual std::string listing(std::vector<AssemblyLine>* lines) const = 0;
  virtual std::optional<RegisterUse> registerUse() const { return {}; }
  /// Bytes of shared memory that a launch must ask for, beside what the image declares.
  virtual int64_t sharedBytes() const { return 0; }
  /// Parameters behind buffers and variables, for a launch on these buffers.
  virtual std::vector<LargeArgument> furtherArguments(std::span<void* const> /*buffers*/) const { return {}; }
};

/// Throws Error(Compile) if the device cannot run groups of the kernel's size, Error(Runtime) if the driver does not load
/// it.
std::shared_ptr<Program> makeProgram(const LoweredKernel& kernel, std::unique_ptr<Code> code, Gpu& gpu);
/// A graph of the driver. Every program in it must come from makeProgram.
std::unique_ptr<LaunchBatch> makeBatch(Gpu& gpu, std::span<const BatchedLaunch> launches);

} // namespace uopscope::driver
