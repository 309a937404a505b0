// Loads programs into a driver, and launches them one by one or as a graph.
#include "engine/runtime/driver_program.h"

#include "engine/base/error.h"
#include "engine/render/signature.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <utility>

namespace uopscope::driver {

namespace {

/// The arguments of a launch as the driver reads them: one little-endian word each, then larger ones.
struct Arguments {
  std::vector<uint64_t> words;
  std::vector<LargeArgument> further;
  std::vector<void*> pointers;
};
struct Shape {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
};

Shape shapeOf(std::span<const int64_t> globalSize, std::span<const int64_t> localSize) {
  Shape shape;
  for (size_t i = 0; i < globalSize.size(); ++i) shape.grid.at(i) = static_cast<unsigned>(globalSize[i]);
  for (size_t i = 0; i < localSize.size(); ++i) shape.block.at(i) = static_cast<unsigned>(localSize[i]);
  return shape;
}

class DriverProgram : public Program, public TellsRegisters {
public:
  DriverProgram(const LoweredKernel& kernel, std::unique_ptr<Code> code, Gpu& gpu)
      : name_(kernel.name), function_(identifier(kernel.name)), maker_(&gpu), code_(std::move(code)) {
    for (int slot : signatureOf(kernel).varSlots) slots_.push_back(static_cast<size_t>(slot));
    size_t threads = 1;
    for (const Sint& s : kernel.localSize) threads *= s.isInt() ? static_cast<size_t>(s.i()) : 1;
    const Loaded& loaded = loadedOn(gpu);
    if (threads > loaded.maxThreads)
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {} threads in a group, {} runs at most {} of this kernel", name_,
                              threads, gpu.label, loaded.maxThreads));
  }
  ~DriverProgram() override {
    for (auto& [gpu, loaded] : loaded_)
      if (gpu->api.contextSetCurrent(gpu->context) == 0) gpu->api.moduleUnload(loaded.module);
  }

  double launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                std::span<const int64_t> globalSize, std::span<const int64_t> localSize, bool wait) override {
    Gpu& gpu = gpuOf(buffers);
    gpu.enter();
    Object function = loadedOn(gpu).function;
    Arguments arguments = argumentsOf(buffers, vars);
    Shape s = shapeOf(globalSize, localSize);
    for (unsigned n : s.grid)
      if (n == 0) return 0; // drivers refuse an empty launch
    auto start = [&] {
      Status status =
          gpu.api.launchKernel(function, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2],
                               sharedBytes(), gpu.stream, arguments.pointers.data(), nullptr);
      if (status != 0) fail(gpu, status, gpu.api.launchKernel.name);
    };
    if (!wait) {
      start();
      gpu.note(name_);
      return 0;
    }
    const std::string where = whereOn(gpu);
    gpu.synchronize();
    std::lock_guard lock(gpu.mutex);
    const Api& api = gpu.api;
    api.must(where, api.eventRecord, gpu.begin, gpu.stream);
    start();
    api.must(where, api.eventRecord, gpu.end, gpu.stream);
    api.must(where, api.eventSynchronize, gpu.end);
    float milliseconds = 0;
    api.must(where, api.eventElapsedTime, &milliseconds, gpu.begin, gpu.end);
    return static_cast<double>(milliseconds) * 1e-3;
  }

  std::string assembly() const override { return code_->listing(nullptr); }
  std::string assemblyWithLines(std::vector<AssemblyLine>& lines) const override {
    return code_->listing(&lines);
  }
  std::optional<RegisterUse> registerUse() const override { return code_->registerUse(); }

  Arguments argumentsOf(std::span<void* const> buffers, std::span<const int64_t> vars) const {
    Arguments a;
    for (void* b : buffers) a.words.push_back(reinterpret_cast<uintptr_t>(b));
    for (size_t slot : slots_) a.words.push_back(static_cast<uint64_t>(vars[slot]));
    a.further = code_->furtherArguments(buffers);
    for (uint64_t& w : a.words) a.pointers.push_back(&w);
    for (LargeArgument& l : a.further) a.pointers.push_back(&l);
    return a;
  }
  unsigned sharedBytes() const { return static_cast<unsigned>(code_->sharedBytes()); }
  Object functionOn(Gpu& gpu) { return loadedOn(gpu).function; }
  const std::string& name() const { return name_; }
  std::string whereOn(const Gpu& gpu) const { return fmt::format("kernel {} on {}", name_, gpu.label); }

private:
  [[noreturn]] void fail(const Gpu& gpu, Status status, const char* call) const {
    throw Error(ErrorKind::Runtime,
                fmt::format("{}: {}: {}", whereOn(gpu), call, gpu.api.statusName(status)));
  }

  struct Loaded {
    Object module = nullptr, function = nullptr;
    size_t maxThreads = 0;
  };

  Gpu& gpuOf(std::span<void* const> buffers) {
    return buffers.empty() ? *maker_ : memoryTable().gpuOf(maker_->api, buffers[0]);
  }

  const Loaded& loadedOn(Gpu& gpu) {
    std::lock_guard lock(mutex_);
    auto at = loaded_.find(&gpu);
    if (at != loaded_.end()) return at->second;
    gpu.enter();
    Loaded made;
    const Api& api = gpu.api;
    api.must(whereOn(gpu), api.moduleLoadData, &made.module, code_->image().c_str());
    api.must(whereOn(gpu), api.moduleGetFunction, &made.function, made.module, function_.c_str());
    if (sharedBytes()) // drivers refuse large launches of a function that was not announced
      api.must(whereOn(gpu), api.functionSetAttribute, made.function, kFunctionMaxDynamicShared,
               static_cast<int>(sharedBytes()));
    int threads = 0;
    api.must(whereOn(gpu), api.functionGetAttribute, &threads, kFunctionMaxThreads, made.function);
    made.maxThreads = static_cast<size_t>(threads);
    return loaded_.emplace(&gpu, made).first->second;
  }

  std::string name_, function_;
  Gpu* maker_;
  std::unique_ptr<Code> code_;
  std::vector<size_t> slots_; ///< positions of the kernel's variables among those of a launch
  std::mutex mutex_;
  std::map<Gpu*, Loaded> loaded_;
};

class Graph : public LaunchBatch {
public:
  Graph(Gpu& gpu, std::span<const BatchedLaunch> launches) : gpu_(gpu) {
    gpu.enter();
    gpu.must(gpu.api.graphCreate, &graph_, 0U);
    Object before = nullptr;
    for (const BatchedLaunch& l : launches) {
      Arguments arguments;
      KernelNode node = nodeOf(l, arguments);
      Object added = nullptr;
      gpu.api.must(program(l).whereOn(gpu), gpu.api.graphAddKernelNode, &added, graph_, &before,
                   size_t{before ? 1U : 0U}, &node);
      nodes_.push_back(added);
      before = added;
    }
    gpu.must(gpu.api.graphInstantiate, &runnable_, graph_, 0ULL);
  }
  ~Graph() override {
    if (gpu_.api.contextSetCurrent(gpu_.context) != 0) return;
    if (runnable_) gpu_.api.graphExecDestroy(runnable_);
    if (graph_) gpu_.api.graphDestroy(graph_);
  }

  void change(size_t number, const BatchedLaunch& launch) override {
    Arguments arguments;
    KernelNode node = nodeOf(launch, arguments);
    gpu_.enter();
    gpu_.api.must(program(launch).whereOn(gpu_), gpu_.api.graphSetKernelNode, runnable_, nodes_.at(number),
                  &node);
  }
  void launch() override {
    gpu_.enter();
    gpu_.must(gpu_.api.graphLaunch, runnable_, gpu_.stream);
    gpu_.note("a captured function");
  }

private:
  static DriverProgram& program(const BatchedLaunch& l) { return static_cast<DriverProgram&>(*l.program); }
  KernelNode nodeOf(const BatchedLaunch& l, Arguments& arguments) {
    arguments = program(l).argumentsOf(l.memory, l.vars);
    Shape s = shapeOf(l.globalSize, l.localSize);
    KernelNode node;
    node.function = program(l).functionOn(gpu_);
    std::copy(s.grid.begin(), s.grid.end(), node.grid);
    std::copy(s.block.begin(), s.block.end(), node.block);
    node.sharedBytes = program(l).sharedBytes();
    node.parameters = arguments.pointers.data();
    node.context = gpu_.context;
    return node;
  }

  Gpu& gpu_;
  Object graph_ = nullptr, runnable_ = nullptr;
  std::vector<Object> nodes_;
};

} // namespace

std::shared_ptr<Program> makeProgram(const LoweredKernel& kernel, std::unique_ptr<Code> code, Gpu& gpu) {
  return std::make_shared<DriverProgram>(kernel, std::move(code), gpu);
}

std::unique_ptr<LaunchBatch> makeBatch(Gpu& gpu, std::span<const BatchedLaunch> launches) {
  return std::make_unique<Graph>(gpu, launches);
}

} // namespace uopscope::driver
