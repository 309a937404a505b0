// Builds and launches OpenCL programs. A launch goes to the in-order queue of the device that owns the
// memory. It is waited for only if the caller asks for its time; reads of memory wait.
#include "engine/runtime/opencl_program.h"

#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/render/signature.h"
#include "engine/runtime/disassembler.h"
#include "engine/runtime/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>

namespace uopscope::opencl {

namespace {

struct Parameter {
  size_t bytes; ///< bytes of the buffer that the kernel may access; 0: up to its end
  bool isWritten;
};
struct Built {
  Handle program = noHandle(), kernel = noHandle();
  size_t maxGroup = 0; ///< most threads in a group for this kernel on the device
};

/// The line of the source that the log names, as "line 7: int x = y;"; empty if it names none.
std::string lineNamedBy(const std::string& log, const std::string& source) {
  static const std::regex place(R"(:(\d+):\d+[: ])");
  std::smatch found;
  if (!std::regex_search(log, found, place)) return {};
  return sourceLine(source, std::stoul(found[1]));
}

std::string buildLog(Object program, Object device) {
  size_t bytes = 0;
  api().getProgramBuildInfo(program, device, kProgramBuildLog, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  if (bytes) api().getProgramBuildInfo(program, device, kProgramBuildLog, bytes, log.data(), nullptr);
  log.resize(std::min(log.find('\0'), log.size()));
  return log;
}

class OpenClProgram : public Program {
public:
  OpenClProgram(const LoweredKernel& kernel, const std::string& source, QueueOwner& device)
      : function_(gpuFunctionName(kernel.name)), name_(kernel.name), source_(source), maker_(&device) {
    KernelSignature signature = signatureOf(kernel);
    for (UOp g : signature.globals) {
      auto position = static_cast<int>(g.arg().i());
      bool written = std::find(kernel.outs.begin(), kernel.outs.end(), position) != kernel.outs.end();
      DType type = g.dtype();
      size_t bytes = type.size() == DType::kUnsized
                         ? 0
                         : static_cast<size_t>(type.size()) * static_cast<size_t>(type.base().itemsize());
      parameters_.push_back({bytes, written});
    }
    for (size_t i = 0; i < signature.vars.size(); ++i)
      vars_.emplace_back(signature.varSlots[i], static_cast<size_t>(signature.vars[i].dtype().itemsize()));
    size_t threads = 1;
    for (const Sint& s : kernel.localSize) threads *= s.isInt() ? static_cast<size_t>(s.i()) : 1;
    const Built& built = builtFor(device);
    if (threads > built.maxGroup)
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {} threads in a group, {} runs at most {} of this kernel", name_,
                              threads, device.label, built.maxGroup));
  }

  double launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                std::span<const int64_t> globalSize, std::span<const int64_t> localSize, bool wait) override {
    std::lock_guard lock(mutex_); // arguments are state of the kernel object
    QueueOwner& device = buffers.empty() ? *maker_ : *memoryTable().find(buffers[0]).block->owner;
    const Built& built = builtFor(device);
    Object kernel = built.kernel.get();
    std::vector<Moved> moved;
    UInt position = 0;
    for (size_t i = 0; i < buffers.size(); ++i) {
      Object memory = argument(device, buffers[i], parameters_.at(i), moved);
      check(api().setKernelArg(kernel, position++, sizeof memory, static_cast<const void*>(&memory)),
            "clSetKernelArg", where(device));
    }
    for (auto [slot, bytes] : vars_) {
      int64_t value = vars[static_cast<size_t>(slot)]; // little-endian: the low bytes come first
      check(api().setKernelArg(kernel, position++, bytes, &value), "clSetKernelArg", where(device));
    }
    std::array<size_t, 3> all{1, 1, 1}, group{1, 1, 1};
    for (size_t i = 0; i < localSize.size(); ++i) group[i] = static_cast<size_t>(localSize[i]);
    for (size_t i = 0; i < globalSize.size(); ++i) all[i] = static_cast<size_t>(globalSize[i]);
    for (size_t i = 0; i < 3; ++i) all[i] *= group[i];
    Object event = nullptr;
    check(api().enqueueNdRangeKernel(device.queue, kernel, 3, nullptr, all.data(),
                                     localSize.empty() ? nullptr : group.data(), 0, nullptr,
                                     wait ? &event : nullptr),
          "clEnqueueNDRangeKernel", where(device));
    for (const Moved& m : moved)
      if (m.isWritten)
        check(api().enqueueCopyBuffer(device.queue, m.copy.get(), m.from, 0, m.offset, m.bytes, 0, nullptr,
                                      nullptr),
              "clEnqueueCopyBuffer", where(device));
    if (wait) return secondsOf(Handle(event, api().releaseEvent), device);
    if (++sinceFlush_ % kLaunchesAFlush == 0) check(api().flush(device.queue), "clFlush", where(device));
    return 0;
  }

  std::string assembly() const override {
    std::string binary = this->binary();
    bool isText = std::all_of(binary.begin(), binary.end(),
                              [](unsigned char c) { return c >= ' ' || c == '\n' || c == '\t' || c == 0; });
    if (isText) return binary.substr(0, binary.find('\0')); // PTX of NVIDIA's driver
#if defined(UOPSCOPE_HAVE_LLVM) && defined(__x86_64__)
    // PoCL's binary contains a shared object for the CPU at an arbitrary offset; the copy made here aligns
    // it.
    size_t at = binary.find("\x7f"
                            "ELF");
    if (at != std::string::npos)
      return disassembleObject(binary.substr(at), "x86_64-pc-linux-gnu", "x86-64-v4", "");
#endif
    return {};
  }

private:
  static constexpr unsigned kLaunchesAFlush = 8;
  /// An argument whose offset is not allowed for sub-buffers: the kernel works on a copy.
  struct Moved {
    Handle copy = noHandle();
    Object from = nullptr;
    size_t offset = 0, bytes = 0;
    bool isWritten = false;
  };

  std::string where(const QueueOwner& device) const {
    return fmt::format("kernel {} on {}", name_, device.label);
  }

  const Built& builtFor(QueueOwner& device) {
    auto [at, isNew] = built_.try_emplace(&device);
    if (!isNew) return at->second;
    try {
      at->second = build(device);
    } catch (...) {
      built_.erase(at);
      throw;
    }
    return at->second;
  }

  Built build(QueueOwner& device) const {
    const char* text = source_.c_str();
    size_t length = source_.size();
    Int status = 0;
    Object program = api().createProgramWithSource(device.context, 1, &text, &length, &status);
    check(status, "clCreateProgramWithSource", where(device));
    Built built{Handle(program, api().releaseProgram)};
    bool exact = deviceValue<Bits>(device.id, kDeviceSingleFpConfig) & kFpCorrectlyRoundedDivideSqrt;
    status = api().buildProgram(program, 1, &device.id, exact ? "-cl-fp32-correctly-rounded-divide-sqrt" : "",
                                nullptr, nullptr);
    if (status != 0) {
      std::string log = buildLog(program, device.id);
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {} does not compile it: {}\n{}\n{}source:\n{}", name_, device.label,
                              statusName(status), log, lineNamedBy(log, source_), source_));
    }
    Object kernel = api().createKernel(program, function_.c_str(), &status);
    check(status, "clCreateKernel", where(device));
    built.kernel = Handle(kernel, api().releaseKernel);
    built.maxGroup = deviceValue<size_t>(device.id, kDeviceMaxWorkGroupSize);
    return built;
  }

  Object argument(QueueOwner& device, const void* address, const Parameter& parameter,
                  std::vector<Moved>& moved) {
    auto [block, offset] = memoryTable().find(address);
    if (block->owner != &device)
      throw Error(ErrorKind::Runtime, fmt::format("kernel {} is given memory of {} and of {}", name_,
                                                  device.label, block->owner->label));
    if (offset == 0) return block->memory.get();
    if (offset % device.partAlign == 0) return memoryTable().part(*block, offset);
    Moved m{noHandle(), block->memory.get(), offset, block->bytes - offset, parameter.isWritten};
    if (parameter.bytes) m.bytes = std::min(m.bytes, parameter.bytes);
    Int status = 0;
    Object copy = api().createBuffer(device.context, kMemReadWrite, m.bytes, nullptr, &status);
    check(status, "clCreateBuffer", where(device));
    m.copy = Handle(copy, api().releaseMemObject);
    check(api().enqueueCopyBuffer(device.queue, m.from, copy, offset, 0, m.bytes, 0, nullptr, nullptr),
          "clEnqueueCopyBuffer", where(device));
    moved.push_back(std::move(m));
    return copy;
  }

  double secondsOf(const Handle& event, const QueueOwner& device) const {
    Object e = event.get();
    check(api().waitForEvents(1, &e), "clWaitForEvents", where(device));
    uint64_t start = 0, end = 0;
    check(api().getEventProfilingInfo(e, kProfilingCommandStart, sizeof start, &start, nullptr),
          "clGetEventProfilingInfo", where(device));
    check(api().getEventProfilingInfo(e, kProfilingCommandEnd, sizeof end, &end, nullptr),
          "clGetEventProfilingInfo", where(device));
    return static_cast<double>(end - start) * 1e-9;
  }

  std::string binary() const {
    Object program = built_.at(maker_).program.get();
    size_t bytes = 0;
    if (api().getProgramInfo(program, kProgramBinarySizes, sizeof bytes, &bytes, nullptr) != 0) return {};
    std::string out(bytes, '\0');
    char* at = out.data();
    if (api().getProgramInfo(program, kProgramBinaries, sizeof at, static_cast<void*>(&at), nullptr) != 0)
      return {};
    return out;
  }

  std::string function_, name_, source_;
  QueueOwner* maker_;
  std::vector<Parameter> parameters_;
  std::vector<std::pair<int, size_t>> vars_; ///< position among the launch's vars; size in bytes
  std::mutex mutex_;
  std::map<QueueOwner*, Built> built_;
  unsigned sinceFlush_ = 0;
};

} // namespace

std::shared_ptr<Program> makeProgram(const LoweredKernel& kernel, const std::string& source,
                                     QueueOwner& device) {
  return std::make_shared<OpenClProgram>(kernel, source, device);
}

} // namespace uopscope::opencl
