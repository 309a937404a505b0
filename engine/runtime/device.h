// Devices: memory, compiling and running. `Device::get("CPU")` opens one; names are canonical ("CPU",
// "CPU:1"). Memory of a graph's nodes is in buffer.h, kernels that were made in kernel_cache.h.
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

/// A line of a listing of machine code and the line of the kernel's source it was compiled from; both from 1.
struct AssemblyLine {
  uint32_t line = 0, source = 0;
};

/// Compiled code, loaded on its device.
class Program {
public:
  virtual ~Program() = default;
  /// `buffers` are device addresses in order of DEFINE_GLOBAL, `vars` in order of the kernel's vars. Returns
  /// seconds when waiting.
  virtual double launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                        std::span<const int64_t> globalSize, std::span<const int64_t> localSize,
                        bool wait) = 0;
  /// Disassembly, where the device has one; else empty.
  virtual std::string assembly() const { return {}; }
  /// The same, with where its lines come from; known of kernels compiled under an observer.
  virtual std::string assemblyWithLines(std::vector<AssemblyLine>& /*lines*/) const { return assembly(); }
  /// Lower-level text between source and machine code (LLVM IR), where there is one.
  virtual std::string ir() const { return {}; }
};

class Device : public std::enable_shared_from_this<Device> {
public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const std::string& name() const { return name_; }
  virtual const Renderer& renderer() const = 0;
  /// Throws Error(Compile) with the compiler's message and the source. Null on NULL, which runs nothing.
  virtual std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string& source) = 0;
  virtual void*
  allocate(size_t bytes) = 0; ///< throws Error(Runtime) saying how much was asked for and how much is in use
  virtual void release(void* memory, size_t bytes) = 0;
  virtual void copyIn(void* device, const void* host, size_t bytes) = 0;
  virtual void copyOut(void* host, const void* device, size_t bytes) = 0;
  virtual void synchronize() {}
  /// Copies from memory of `source` without the host's help; false: the caller goes by way of the host.
  virtual bool copyFrom(void* /*to*/, Device& /*source*/, const void* /*from*/, size_t /*bytes*/) {
    return false;
  }
  /// Launches that are given to the device as one; null where it takes them one by one.
  virtual std::unique_ptr<LaunchBatch> makeBatch(std::span<const BatchedLaunch> /*launches*/) {
    return nullptr;
  }
  /// Whether times of launches say how fast a kernel is, so that BEAM may search by them.
  virtual bool isTimed() const { return false; }
  /// Host address of device memory, where the host can read it in place; else null.
  virtual void* hostView(void* /*memory*/) { return nullptr; }

  /// "cpu" -> "CPU", "CPU:0" -> "CPU", "gpu:1" -> "GPU:1".
  static std::string canonicalize(std::string_view name);
  /// Opened on first use; throws Error(Device) that lists the names there are.
  static Device& get(std::string_view name);
  /// DEV, or CPU=1, REF=1 ...; else CPU.
  static std::string defaultName();
  static void setDefaultName(std::string_view name);
  static std::vector<std::string> available();

protected:
  explicit Device(std::string name) : name_(std::move(name)) {}

private:
  std::string name_;
};

} // namespace uopscope
