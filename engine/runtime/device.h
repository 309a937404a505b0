// Devices: memory, compilation and execution. `Device::get("CPU")` opens one. Names are canonical ("CPU",
// "CPU:1"). buffer.h has the memory of nodes, kernel_cache.h the compiled kernels.
//
//   Device& d = Device::get("CPU");
//   auto program = d.compile(kernel, source);    // LoweredKernel and its text -> Program
//   double seconds = program->launch(memory, vars, globalSize, localSize, /*wait=*/true);
#pragma once
#include "engine/render/renderer.h"
#include "engine/runtime/launch_batch.h"

#include <memory>
#include <span>
#include <string>

namespace uopscope {

/// A line of a machine code listing, and the line of the source that it was compiled from; both count from 1.
struct AssemblyLine {
  uint32_t line = 0, source = 0;
};

/// Compiled code, loaded on its device.
class Program {
public:
  virtual ~Program() = default;
  /// `buffers` are device addresses in order of DEFINE_GLOBAL, `vars` are in order of the kernel's vars.
  /// Returns seconds if it waits.
  virtual double launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                        std::span<const int64_t> globalSize, std::span<const int64_t> localSize,
                        bool wait) = 0;
  /// The disassembly; empty if the device has none.
  virtual std::string assembly() const { return {}; }
  /// The same with the source of its lines, which is known for kernels compiled under an observer.
  virtual std::string assemblyWithLines(std::vector<AssemblyLine>& /*lines*/) const { return assembly(); }
};

class Device : public std::enable_shared_from_this<Device> {
public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const std::string& name() const { return name_; }
  virtual const Renderer& renderer() const = 0;
  /// Throws Error(Compile) with the compiler's message and the source. Null for NULL, which runs nothing.
  virtual std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string& source) = 0;
  virtual void*
  allocate(size_t bytes) = 0; ///< throws Error(Runtime) with the requested size and the memory in use
  virtual void release(void* memory, size_t bytes) = 0;
  /// Gives the system what is kept for later requests, where that is memory of the host.
  virtual void releaseKept() {}
  virtual void copyIn(void* device, const void* host, size_t bytes) = 0;
  virtual void copyOut(void* host, const void* device, size_t bytes) = 0;
  virtual void synchronize() {}
  /// Copies from memory of `source` without the host. Returns false if it cannot: the caller then copies
  /// through the host.
  virtual bool copyFrom(void* /*to*/, Device& /*source*/, const void* /*from*/, size_t /*bytes*/) {
    return false;
  }
  /// Combines launches into one call of the driver; null if the device takes launches one by one.
  virtual std::unique_ptr<LaunchBatch> makeBatch(std::span<const BatchedLaunch> /*launches*/) {
    return nullptr;
  }
  /// Whether the times of launches measure the speed of a kernel, so that BEAM may use them.
  virtual bool isTimed() const { return false; }
  /// The host address of device memory that the host can read in place; else null.
  virtual void* hostView(void* /*memory*/) { return nullptr; }

  /// "cpu" -> "CPU", "CPU:0" -> "CPU", "gpu:1" -> "GPU:1".
  static std::string canonicalize(std::string_view name);
  /// Opens a device at first use. Throws Error(Device) listing the existing names.
  static Device& get(std::string_view name);
  /// The device named by DEV, or by CPU=1, REF=1 ...; else CPU.
  static std::string defaultName();
  static void setDefaultName(std::string_view name);
  static std::vector<std::string> available();

protected:
  explicit Device(std::string name) : name_(std::move(name)) {}

private:
  std::string name_;
};

} // namespace uopscope
