// Devices: memory, compiling and running. `Device::get("CPU")` opens one; names are canonical ("CPU",
// "CPU:1").
//
//   Device& d = Device::get("CPU");
//   Buffer b(d, dtypes::float32, 1024);  b.allocate();  b.copyIn(bytes);
//   auto program = d.compile(kernel);    // LoweredKernel -> Program, cached by source
//   double seconds = program->launch(buffers, vars, /*wait=*/true);
#pragma once
#include "engine/render/renderer.h"
#include "engine/schedule/schedule.h"

#include <atomic>
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

/// Memory of a BUFFER. Allocated when first written.
class Buffer {
public:
  /// `device` "CPU" ...; throws Error(Device) for an unknown one.
  Buffer(std::string device, DType dtype, int64_t size);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  /// A part of another buffer; keeps it alive.
  static std::shared_ptr<Buffer> view(std::shared_ptr<Buffer> base, DType dtype, int64_t size,
                                      int64_t byteOffset);
  /// Memory that somebody else owns; `keep` is held while it is used.
  static std::shared_ptr<Buffer> foreign(std::string device, DType dtype, int64_t size, void* memory,
                                         std::shared_ptr<void> keep);

  /// Given once in a process, in order.
  uint64_t id() const { return id_; }
  const std::string& device() const { return device_; }
  DType dtype() const { return dtype_; }
  int64_t size() const { return size_; }
  size_t bytes() const { return static_cast<size_t>(size_) * static_cast<size_t>(dtype_.itemsize()); }
  bool isAllocated() const { return memory_ != nullptr || base_ != nullptr; }
  /// The buffer this is a part of, and the offset in bytes; null for memory of its own.
  const std::shared_ptr<Buffer>& base() const { return base_; }
  size_t offset() const { return offset_; }
  /// How many nodes of graphs, and others by ref(), hold this memory or a view of it.
  int64_t holders() const { return root()->holders_; }
  void ref(int64_t more) { (base_ ? base_.get() : this)->holders_ += more; }
  const Buffer* root() const { return base_ ? base_.get() : this; }
  void allocate();
  void* memory();
  void copyIn(const void* host);
  void copyOut(void* host);
  /// Gives memory of its own back; it is allocated anew when next asked for. Views and foreign memory stay.
  void release();

  /// The memory of a BUFFER node (made when first asked for) and of a BUFFER_VIEW, whose offset counts
  /// elements of what it is a view of; nodes hold theirs until they die.
  static std::shared_ptr<Buffer> of(UOp buffer);
  /// Gives a BUFFER node its memory.
  static void bind(UOp buffer, std::shared_ptr<Buffer> memory);
  /// Forgets the memory of a node before the node dies. A node that dies (Pool::collect) is forgotten by
  /// itself.
  static void forget(UOp buffer);

private:
  void tell(bool freed) const;

  uint64_t id_;
  std::string device_;
  DType dtype_;
  int64_t size_ = 0;
  void* memory_ = nullptr;
  std::shared_ptr<Device> owner_; ///< of memory_, when it is ours
  std::shared_ptr<Buffer> base_;
  size_t offset_ = 0;
  std::shared_ptr<void> keep_;
  std::atomic<int64_t> holders_{0};
};

/// Counts of kernels run and bytes moved, as the reference has them.
struct GlobalCounters {
  static int64_t globalOps, globalMem, kernelCount, memUsed;
  static double timeSum;
  static void reset();
};

/// Lowers, renders, compiles (all cached) and runs every item in order, with DEBUG output and observer
/// events.
void runSchedule(Schedule& schedule);
/// The kernel of an item as lowered for a device, from the cache where it was lowered before.
struct CompiledKernel : std::enable_shared_from_this<CompiledKernel> {
  LoweredKernel lowered;
  std::string source;
  std::shared_ptr<Program> program; ///< null on NULL
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
/// Names the settings and user rules that kernels are made with now.
uint64_t kernelSettingsKey();
/// Above so many kernels those used longest ago go; returns the limit there was.
size_t limitKernelCache(size_t kernels);

} // namespace uopscope
