// Makes pipelines from WGSL and launches them. A binding begins at an address that the device allows; the
// elements between it and the memory of an argument are constants of the pipeline (data0_at, data1_at ...), which the
// driver folds. Variables are immediates, so the bound memory alone decides whether a group can be used again.
#include "engine/runtime/webgpu_program.h"

#include "engine/render/gpu_text.h"
#include "engine/render/signature.h"
#include "engine/runtime/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>

namespace uopscope::webgpu {

namespace {

struct Parameter {
  size_t bytes;    ///< bytes of the buffer that the kernel may access; 0: up to its end
  size_t itemsize; ///< of an element
};
/// What of a launch is not the kernel itself.
struct Prepared {
  Object pipeline = nullptr;
  Handle group = noHandle();
  std::array<uint32_t, 3> groups{1, 1, 1};
  std::vector<std::byte> values;
};

/// The line of the source that the message names, as "line 7: let x = y;"; empty if it names none.
std::string lineNamedBy(const std::string& message, const std::string& source) {
  static const std::regex place(R"(wgsl:(\d+):\d+)");
  std::smatch found;
  if (!std::regex_search(message, found, place)) return {};
  return sourceLine(source, std::stoul(found[1]));
}

/// How often the loops of a thread start a round, all together and at most.
uint64_t roundsOf(const LoweredKernel& kernel) {
  std::vector<double> open{1};
  double all = 0;
  for (UOp u : kernel.uops) {
    if (u.is(Op::RANGE)) {
      open.push_back(open.back() * static_cast<double>(std::max<int64_t>(0, u.src(0).vmax())));
      all += open.back();
    }
    if (u.is(Op::END)) open.resize(open.size() - (u.srcCount() - 1));
  }
  return static_cast<uint64_t>(all);
}

class WebGpuProgram : public Program {
public:
  WebGpuProgram(const LoweredKernel& kernel, const std::string& source, Gpu& gpu)
      : function_(gpuFunctionName(kernel.name)), name_(kernel.name), source_(source), maker_(&gpu) {
    KernelSignature signature = signatureOf(kernel);
    for (UOp g : signature.globals) {
      DType type = g.dtype();
      auto item = static_cast<size_t>(type.base().itemsize());
      parameters_.push_back(
          {type.size() == DType::kUnsized ? 0 : static_cast<size_t>(type.size()) * item, item});
    }
    for (size_t i = 0; i < signature.vars.size(); ++i)
      vars_.emplace_back(signature.varSlots[i],
                         std::max<size_t>(4, static_cast<size_t>(signature.vars[i].dtype().itemsize())));
    checkSizes(kernel);
    pipelineFor(builtFor(gpu), gpu, {});
  }

  double launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                std::span<const int64_t> globalSize, std::span<const int64_t> localSize, bool wait) override {
    Gpu& gpu = gpuOf(buffers);
    Prepared p = prepare(gpu, buffers, vars, globalSize, localSize);
    if (std::find(p.groups.begin(), p.groups.end(), 0U) != p.groups.end()) return 0;
    Dispatch d = dispatchOf(p);
    if (wait) return gpu.timed(d);
    gpu.launch({&d, 1});
    return 0;
  }

  Gpu& gpuOf(std::span<void* const> buffers) {
    return buffers.empty() ? *maker_ : *memoryTable().find(buffers[0]).block->owner;
  }
  Dispatch dispatchOf(const Prepared& p) const {
    return {p.pipeline, p.group.get(), p.groups, p.values, &name_};
  }

  Prepared prepare(Gpu& gpu, std::span<void* const> buffers, std::span<const int64_t> vars,
                   std::span<const int64_t> globalSize, std::span<const int64_t>) {
    std::lock_guard lock(mutex_);
    Built& built = builtFor(gpu);
    std::vector<GroupEntry> entries;
    std::vector<size_t> skipped; // elements before each argument in its binding
    for (size_t i = 0; i < buffers.size(); ++i) entries.push_back(binding(gpu, i, buffers[i], skipped));
    Prepared p;
    p.pipeline = pipelineFor(built, gpu, skipped);
    GroupDescriptor descriptor;
    descriptor.layout = built.layout.get();
    descriptor.count = entries.size();
    descriptor.entries = entries.data();
    p.group = Handle(api().createGroup(gpu.device, &descriptor), api().releaseGroup);
    gpu.check(where(gpu));
    for (size_t i = 0; i < globalSize.size(); ++i) {
      p.groups.at(i) = static_cast<uint32_t>(globalSize[i]);
      if (globalSize[i] > gpu.limits.groupsPerDimension)
        throw Error(ErrorKind::Runtime,
                    fmt::format("{}: {} groups in dimension {}, at most {} are possible", where(gpu),
                                globalSize[i], i, gpu.limits.groupsPerDimension));
    }
    for (auto [slot, bytes] : vars_) {
      int64_t value = vars[static_cast<size_t>(slot)]; // little-endian: the low bytes come first
      size_t at = (p.values.size() + bytes - 1) / bytes * bytes;
      p.values.resize(at + bytes);
      std::memcpy(p.values.data() + at, &value, bytes);
    }
    p.values.resize((p.values.size() + valuesAlign_ - 1) / valuesAlign_ * valuesAlign_);
    return p;
  }

private:
  struct Built {
    Handle module = noHandle(), layout = noHandle(), pipelineLayout = noHandle();
    std::map<std::vector<size_t>, Handle> pipelines; ///< by the elements before each argument
  };

  std::string where(const Gpu& gpu) const { return fmt::format("kernel {} on {}", name_, gpu.label); }

  void checkSizes(const LoweredKernel& kernel) {
    const Limits& most = maker_->limits;
    auto refuse = [&](const char* what, uint64_t wanted, uint64_t possible, const std::string& advice = {}) {
      if (wanted > possible)
        throw Error(ErrorKind::Compile, fmt::format("kernel {}: {} {}, {} allows at most {}{}", name_, wanted,
                                                    what, maker_->label, possible, advice));
    };
    uint64_t threads = 1;
    for (const Sint& s : kernel.localSize) threads *= s.isInt() ? static_cast<uint64_t>(s.i()) : 1;
    refuse("threads in a group", threads, most.groupThreads);
    refuse("buffers", parameters_.size(), most.storageBuffers,
           fmt::format("; MAX_KERNEL_BUFFERS={} splits such kernels", most.storageBuffers));
    if (maker_->mostRounds)
      refuse("rounds of loops in a thread", roundsOf(kernel), maker_->mostRounds,
             " and leaves out the others; shorter sums, or a GPU, would do");
    size_t bytes = 0;
    for (auto [slot, size] : vars_) {
      bytes = (bytes + size - 1) / size * size + size;
      valuesAlign_ = std::max(valuesAlign_, size);
    }
    valueBytes_ = (bytes + valuesAlign_ - 1) / valuesAlign_ * valuesAlign_;
    refuse("bytes of variables", valueBytes_, most.immediateBytes);
  }

  Built& builtFor(Gpu& gpu) {
    auto [at, isNew] = built_.try_emplace(&gpu);
    if (!isNew) return at->second;
    try {
      build(at->second, gpu);
    } catch (...) {
      built_.erase(at);
      throw;
    }
    return at->second;
  }

  void build(Built& built, Gpu& gpu) const {
    const Api& a = api();
    ShaderText text;
    text.chain.kind = kShaderWgsl;
    text.code = source_;
    Labelled shader;
    shader.next = &text.chain;
    shader.label = name_;
    // Loops of kernels end by themselves, so the library need not count their rounds.
    built.module = Handle(a.createShader(gpu.device, &shader, kCheckBounds), a.releaseShader);
    refuseIfFailed(gpu);
    std::vector<LayoutEntry> entries(parameters_.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      entries[i].binding = static_cast<uint32_t>(i);
      entries[i].stages = kComputeStage;
      entries[i].buffer.kind = kStorageBinding;
    }
    LayoutDescriptor layout;
    layout.count = entries.size();
    layout.entries = entries.data();
    built.layout = Handle(a.createLayout(gpu.device, &layout), a.releaseLayout);
    Object one = built.layout.get();
    PipelineLayoutDescriptor pipelineLayout;
    pipelineLayout.count = 1;
    pipelineLayout.layouts = &one;
    pipelineLayout.immediateBytes = static_cast<uint32_t>(valueBytes_);
    built.pipelineLayout =
        Handle(a.createPipelineLayout(gpu.device, &pipelineLayout), a.releasePipelineLayout);
    refuseIfFailed(gpu);
  }

  /// `skipped`: elements between the begin of a binding and its argument; empty: none for all.
  Object pipelineFor(Built& built, Gpu& gpu, std::vector<size_t> skipped) const {
    if (std::all_of(skipped.begin(), skipped.end(), [](size_t n) { return n == 0; })) skipped.clear();
    auto [at, isNew] = built.pipelines.try_emplace(skipped, noHandle());
    if (!isNew) return at->second.get();
    std::vector<std::string> names;
    std::vector<Constant> constants;
    names.reserve(skipped.size());
    for (size_t i = 0; i < skipped.size(); ++i) {
      if (!skipped[i]) continue;
      Constant c;
      c.key = names.emplace_back(fmt::format("data{}_at", i));
      c.value = static_cast<double>(skipped[i]);
      constants.push_back(c);
    }
    PipelineDescriptor descriptor;
    descriptor.label = name_;
    descriptor.layout = built.pipelineLayout.get();
    descriptor.module = built.module.get();
    descriptor.entry = function_;
    descriptor.constantCount = constants.size();
    descriptor.constants = constants.data();
    at->second = Handle(api().createPipeline(gpu.device, &descriptor), api().releasePipeline);
    try {
      refuseIfFailed(gpu);
    } catch (...) {
      built.pipelines.erase(at);
      throw;
    }
    return at->second.get();
  }

  void refuseIfFailed(const Gpu& gpu) const {
    if (std::string message = takeError(); !message.empty())
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {} does not compile it: {}\n{}source:\n{}", name_, gpu.label,
                              message, lineNamedBy(message, source_), source_));
  }

  GroupEntry binding(const Gpu& gpu, size_t i, const void* address, std::vector<size_t>& skipped) const {
    auto [block, offset] = memoryTable().find(address);
    const Parameter& p = parameters_.at(i);
    if (block->owner != &gpu)
      throw Error(ErrorKind::Runtime, fmt::format("kernel {} is given memory of {} and of {}", name_,
                                                  gpu.label, block->owner->label));
    size_t before = offset % gpu.limits.storageAlign;
    skipped.push_back(before / p.itemsize);
    GroupEntry entry;
    entry.binding = static_cast<uint32_t>(i);
    entry.buffer = block->buffer.get();
    entry.offset = offset - before;
    size_t rest = block->bytes - entry.offset;
    entry.bytes = p.bytes ? std::min((before + p.bytes + 3) / 4 * 4, rest) : rest;
    entry.bytes = std::max<uint64_t>(entry.bytes, 4);
    if (entry.bytes > gpu.limits.storageBindingSize)
      throw Error(
          ErrorKind::Runtime,
          fmt::format("{}: argument {} has {:.1f} MB, a kernel can access at most {:.1f} MB of a buffer; "
                      "compute in smaller parts",
                      where(gpu), i, static_cast<double>(entry.bytes) * 1e-6,
                      static_cast<double>(gpu.limits.storageBindingSize) * 1e-6));
    return entry;
  }

  std::string function_, name_, source_;
  Gpu* maker_;
  std::vector<Parameter> parameters_;
  std::vector<std::pair<int, size_t>> vars_; ///< position among the launch's vars; size in bytes
  size_t valueBytes_ = 0, valuesAlign_ = 4;
  std::mutex mutex_;
  std::map<Gpu*, Built> built_;
};

class Batch : public LaunchBatch {
public:
  explicit Batch(std::span<const BatchedLaunch> launches) {
    for (const BatchedLaunch& l : launches) {
      if (!gpu_ && !l.memory.empty()) gpu_ = &program(l).gpuOf(l.memory);
      programs_.push_back(&program(l));
    }
    if (!gpu_) gpu_ = &programs_.front()->gpuOf({});
    prepared_.resize(launches.size());
    for (size_t i = 0; i < launches.size(); ++i) change(i, launches[i]);
  }
  void change(size_t number, const BatchedLaunch& l) override {
    prepared_.at(number) = programs_[number]->prepare(*gpu_, l.memory, l.vars, l.globalSize, l.localSize);
  }
  void launch() override {
    std::vector<Dispatch> all;
    for (size_t i = 0; i < prepared_.size(); ++i)
      if (std::find(prepared_[i].groups.begin(), prepared_[i].groups.end(), 0U) == prepared_[i].groups.end())
        all.push_back(programs_[i]->dispatchOf(prepared_[i]));
    gpu_->launch(all);
  }

private:
  static WebGpuProgram& program(const BatchedLaunch& l) { return static_cast<WebGpuProgram&>(*l.program); }

  Gpu* gpu_ = nullptr;
  std::vector<WebGpuProgram*> programs_;
  std::vector<Prepared> prepared_;
};

} // namespace

std::shared_ptr<Program> makeProgram(const LoweredKernel& kernel, const std::string& source, Gpu& gpu) {
  return std::make_shared<WebGpuProgram>(kernel, source, gpu);
}

std::unique_ptr<LaunchBatch> makeBatch(std::span<const BatchedLaunch> launches) {
  return std::make_unique<Batch>(launches);
}

} // namespace uopscope::webgpu
