// CPU: kernels run in this process. A kernel with a core_id is split over the cores.
#include "engine/base/clock.h"
#include "engine/base/context_var.h"
#include "engine/base/cpu_count.h"
#include "engine/base/error.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/machine_functions.h"
#include "engine/codegen/tile_cores.h"
#include "engine/render/c_renderer.h"
#include "engine/render/llvm_renderer.h"
#include "engine/render/signature.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/host_memory_device.h"
#include "engine/runtime/kernel_code.h"
#include "engine/runtime/processor.h"
#include "engine/runtime/thread_pool.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

namespace uopscope {

namespace {

#ifdef UOPSCOPE_HAVE_LLVM
constexpr bool kHaveLlvm = true;
#else
constexpr bool kHaveLlvm = false;
#endif

/// Whether the kernel contains CUSTOM text of its author. That text is C, so the kernel is rendered to C.
bool hasCustomText(const LoweredKernel& kernel) {
  return std::any_of(kernel.uops.begin(), kernel.uops.end(),
                     [](UOp u) { return u.is(Op::CUSTOM) || (u.is(Op::CUSTOMI) && !machineFunctionOf(u)); });
}
bool compilesByLlvm(const LoweredKernel& kernel) {
  return kHaveLlvm && vars::cpuLlvm && !hasCustomText(kernel);
}

constexpr int kPlainLanes = 4; ///< of vectors with PLAIN=1

class CpuRenderer : public Renderer {
public:
  const Target& target() const override {
    std::lock_guard lock(mutex_);
    bool llvm = kHaveLlvm && vars::cpuLlvm;
    int64_t cores = cpuCount();
    const Processor* cpu = &processor();
    const bool plain = vars::plain != 0;
    auto it = targets_.find({llvm, cores, plain, cpu});
    if (it == targets_.end()) {
      Target t = cpuTarget(llvm ? "LLVM" : "C");
      t.globalMax = {cores, 1, 1};
      t.aluLanes = plain ? 1 : cpu->lanes;
      t.maxVectorLanes = plain ? kPlainLanes : cpu->lanes;
      t.alignedVectors = plain;
      t.computesHalf = cpu->computesHalf;
      t.takesFloatsApart = !plain && cpu->lanes >= 16;
      if (!plain) t.cacheBytes = cpu->lastCacheBytes, t.secondCacheBytes = cpu->secondCacheBytes;
      if (llvm && !plain && cpu->lanes >= 8) t.maskedLoads = cpu->lanes >= 16 ? 1 : 4;
      if (llvm && !plain) {
        t.tensorCores = dotProducts(cpu->dotsBFloat16, cpu->dotsBytes);
        std::ranges::move(tileCores(cpu->tilesBFloat16, cpu->tilesHalf, cpu->tilesBytes),
                          std::back_inserter(t.tensorCores));
      }
      if (cpu->hasFma) t.nativeOps = t.nativeOps | OpSet{Op::MULACC};
      it = targets_.emplace(std::tuple(llvm, cores, plain, cpu), std::move(t)).first;
    }
    return it->second;
  }
  std::string render(const LoweredKernel& kernel) const override { return renderWithLines(kernel, nullptr); }
  std::string renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const override {
    if (compilesByLlvm(kernel)) return LlvmRenderer(target()).renderWithLines(kernel, lines);
    return CRenderer(target()).renderWithLines(kernel, lines);
  }

private:
  mutable std::mutex mutex_;
  mutable std::map<std::tuple<bool, int64_t, bool, const Processor*>, Target> targets_;
};

/// One pool for all CPU devices, made when a kernel first wants several threads.
ThreadPool& threadPool() {
  static ThreadPool pool(cpuCount());
  return pool;
}

class CpuProgram : public Program, public TellsRegisters {
public:
  CpuProgram(std::shared_ptr<KernelCode> code, const KernelSignature& signature)
      : code_(std::move(code)), entry_(code_->entry()), varSlots_(signature.varSlots),
        threaded_(signature.hasCoreId()) {}

  double launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                std::span<const int64_t> globalSize, std::span<const int64_t>, bool) override {
    std::vector<int64_t> many;
    std::array<int64_t, 8> few;
    int64_t* values = few.data();
    if (varSlots_.size() > few.size()) {
      many.resize(varSlots_.size());
      values = many.data();
    }
    for (size_t i = 0; i < varSlots_.size(); ++i) values[i] = vars[static_cast<size_t>(varSlots_[i])];
    int64_t start = nowNs();
    int64_t cores = threaded_ && !globalSize.empty() ? globalSize[0] : 1;
    if (cores == 1)
      entry_(buffers.data(), values, 0);
    else
      threadPool().run(static_cast<int>(cores), [&](int core) { entry_(buffers.data(), values, core); });
    return static_cast<double>(nowNs() - start) * 1e-9;
  }
  std::string assembly() const override { return code_->assembly(); }
  std::string assemblyWithLines(std::vector<AssemblyLine>& lines) const override {
    return code_->assemblyWithLines(lines);
  }
  std::optional<RegisterUse> registerUse() const override { return code_->registerUse(); }

private:
  std::shared_ptr<KernelCode> code_;
  KernelCode::Entry entry_;
  std::vector<int> varSlots_;
  bool threaded_;
};

class CpuDevice : public HostMemoryDevice {
public:
  explicit CpuDevice(std::string name) : HostMemoryDevice(std::move(name)) {}

  const Renderer& renderer() const override { return renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string& source) override {
    KernelSignature signature = signatureOf(kernel);
    return std::make_shared<CpuProgram>(
        compiler(compilesByLlvm(kernel)).compile(identifier(kernel.name), signature, source), signature);
  }
  bool isTimed() const override { return true; }

private:
  KernelCompiler& compiler(bool llvm) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<KernelCompiler>& compiler = llvm ? llvm_ : clang_;
    if (!compiler) compiler = llvm ? makeLlvmCompiler() : makeClangCompiler();
    return *compiler;
  }

  std::mutex mutex_;
  CpuRenderer renderer_;
  std::unique_ptr<KernelCompiler> llvm_, clang_;
};

} // namespace

std::shared_ptr<Device> makeCpuDevice(const std::string& name) {
  return std::make_shared<CpuDevice>(name);
}

} // namespace uopscope
