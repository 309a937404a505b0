// LLVM in process: turns IR text into machine code for this machine, with ORC. Each kernel is a library of
// its own in the JIT and is removed with its last user.
#include "engine/runtime/kernel_code.h"

#ifndef UOPSCOPE_HAVE_LLVM

namespace uopscope {
std::unique_ptr<KernelCompiler> makeLlvmCompiler() {
  return nullptr;
}
} // namespace uopscope

#else

#include "engine/base/error.h"
#include "engine/render/signature.h"
#include "engine/runtime/disassembler.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_entry.h"
#include "engine/runtime/kernel_support.h"
#include "engine/runtime/llvm_lines.h"
#include "engine/runtime/llvm_pipeline.h"
#include "engine/runtime/processor.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

namespace uopscope {

namespace {

/// State that all kernels share. Several threads may use the JIT. A TargetMachine serves one thread at a
/// time, so each compilation borrows one.
class Llvm {
public:
  Llvm() {
    initialiseLlvm();
    triple_ = llvm::sys::getProcessTriple();
    // No platform: kernels have no initialisers, and its own would add a module and a context to each library.
    jit_ = orThrow(llvm::orc::LLJITBuilder()
                       .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                       .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(llvm::Triple(triple_)))
                       .create());
    llvm::orc::SymbolMap symbols;
    for (const SupportFunction& f : supportFunctions())
      symbols[jit_->mangleAndIntern(f.name)] = {llvm::orc::ExecutorAddr::fromPtr(f.address),
                                                llvm::JITSymbolFlags::Exported |
                                                    llvm::JITSymbolFlags::Callable};
    support_ = &orThrow(jit_->createJITDylib("support"));
    orThrow(support_->define(llvm::orc::absoluteSymbols(symbols)));
  }

  template <typename T>
  static T orThrow(llvm::Expected<T> value) {
    if (!value) throw Error(ErrorKind::Compile, "LLVM: " + llvm::toString(value.takeError()));
    if constexpr (std::is_reference_v<T>)
      return *value;
    else
      return std::move(*value);
  }
  static void orThrow(llvm::Error error) {
    if (error) throw Error(ErrorKind::Compile, "LLVM: " + llvm::toString(std::move(error)));
  }

  /// A TargetMachine for one compilation. It then returns to the idle ones of its processor.
  class Machine {
  public:
    Machine(Llvm& llvm, const Processor& cpu) : llvm_(llvm), cpu_(cpu) {
      {
        std::lock_guard lock(llvm.mutex_);
        auto& idle = llvm.idle_[keyOf(cpu)];
        if (!idle.empty()) {
          machine_ = std::move(idle.back());
          idle.pop_back();
        }
      }
      if (!machine_) machine_ = llvmMachine(cpu);
    }
    ~Machine() {
      if (std::uncaught_exceptions() > before_) return; // LLVM may have given up in the middle of its work
      std::lock_guard lock(llvm_.mutex_);
      llvm_.idle_[keyOf(cpu_)].push_back(std::move(machine_));
    }
    const Processor& cpu() const { return cpu_; }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    llvm::TargetMachine* get() const { return machine_.get(); }

  private:
    Llvm& llvm_;
    const Processor& cpu_;
    std::unique_ptr<llvm::TargetMachine> machine_;
    int before_ = std::uncaught_exceptions();
  };

  static std::string keyOf(const Processor& cpu) { return cpu.name + " " + cpu.features; }

  /// IR text -> optimised module.
  std::unique_ptr<llvm::Module> optimised(Machine& machine, llvm::LLVMContext& context,
                                          const std::string& function, const std::string& text,
                                          bool withLines) {
    auto module = parseKernel(context, function, text);
    if (withLines) attachLines(*module, function, text);
    optimise(*module, *machine.get(), machine.cpu(), function);
    return module;
  }

  /// Loads code as a library of the JIT.
  std::pair<llvm::orc::JITDylib*, KernelCode::Entry> load(const std::string& object) {
    auto& library = orThrow(jit_->createJITDylib(fmt::format("kernel{}", ++libraries_)));
    try {
      library.addToLinkOrder(*support_);
      orThrow(jit_->addObjectFile(library, llvm::MemoryBuffer::getMemBufferCopy(object, "kernel")));
      return {&library, orThrow(jit_->lookup(library, "uopscope_entry")).toPtr<KernelCode::Entry>()};
    } catch (...) {
      unload(library);
      throw;
    }
  }
  void unload(llvm::orc::JITDylib& library) {
    llvm::consumeError(jit_->getExecutionSession().removeJITDylib(library));
  }

  std::string disassemble(const Processor& cpu, std::string_view object,
                          std::vector<AssemblyLine>* lines) const {
    return disassembleObject(object, triple_, cpu.name, cpu.features, lines);
  }

  /// Everything that machine code depends on besides the text.
  std::string identity(const Processor& cpu) const {
    return fmt::format("LLVM {} {} {} {} {}\n{}\n", LLVM_VERSION_STRING, triple_, cpu.name, cpu.lanes,
                       cpu.features, buildIdentity());
  }

private:
  std::mutex mutex_; ///< guards idle_
  std::string triple_;
  std::map<std::string, std::vector<std::unique_ptr<llvm::TargetMachine>>> idle_; ///< by processor
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::orc::JITDylib* support_ = nullptr;
  std::atomic<uint64_t> libraries_{0};
};

class LlvmCode : public KernelCode {
public:
  /// `text` defines the function and uopscope_entry.
  LlvmCode(std::shared_ptr<Llvm> llvm, const std::string& function, const std::string& text)
      : llvm_(std::move(llvm)) {
    DiskCache* disk = DiskCache::named("kernels");
    Observer* observer = Observer::current();
    bool withLines = observer && observer->wantsRewrites();
    std::string key = disk ? llvm_->identity(cpu_) + (withLines ? "lines\n" : "") + text : std::string();
    if (auto found = disk ? disk->find(key) : std::nullopt) {
      object_ = unpacked(*found);
      std::tie(library_, entry_) = llvm_->load(object_);
      return;
    }
    try {
      object_ = objectFor(cpu_, function, text, withLines);
    } catch (const LlvmGaveUp&) {
      object_ = narrower(function, text, withLines);
    }
    std::tie(library_, entry_) = llvm_->load(object_);
    if (disk) disk->store(key, packed());
  }
  ~LlvmCode() override { llvm_->unload(*library_); }
  Entry entry() const override { return entry_; }
  std::string assembly() const override { return llvm_->disassemble(cpu_, object_, nullptr); }
  std::string assemblyWithLines(std::vector<AssemblyLine>& lines) const override {
    return llvm_->disassemble(cpu_, object_, &lines);
  }
  std::optional<RegisterUse> registerUse() const override { return used_; }

private:
  std::string objectFor(const Processor& cpu, const std::string& function, const std::string& text,
                        bool withLines) {
    llvm::LLVMContext context;
    Llvm::Machine machine(*llvm_, cpu);
    auto module = llvm_->optimised(machine, context, function, text, withLines);
    used_ = {};
    return objectCode(*module, *machine.get(), false, &used_);
  }
  /// The cache keeps the object behind a line of the counts.
  std::string packed() const {
    return fmt::format("{} {} {} {} {} {}\n{}", used_.registers, used_.spills, used_.reloads,
                       used_.spilledBytes, used_.reloadedBytes, used_.stackBytes, object_);
  }
  std::string unpacked(const std::string& kept) {
    const size_t end = kept.find('\n');
    std::istringstream(kept.substr(0, end)) >> used_.registers >> used_.spills >> used_.reloads >>
        used_.spilledBytes >> used_.reloadedBytes >> used_.stackBytes;
    return kept.substr(end + 1);
  }
  /// LLVM 19 cannot select instructions of AVX-512 for a few expressions, which it can for AVX2; the numbers are the same.
  std::string narrower(const std::string& function, const std::string& text, bool withLines) {
    Processor cpu = cpu_;
    cpu.features += cpu.features.empty() ? "-avx512f" : ",-avx512f";
    cpu.lanes = std::min(cpu.lanes, 8);
    try {
      return objectFor(cpu, function, text, withLines);
    } catch (const LlvmGaveUp& again) {
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {}; CPU_LLVM=0 compiles it by clang", function, again.what()));
    }
  }

  std::shared_ptr<Llvm> llvm_;
  const Processor& cpu_ = processor();
  std::string object_;
  RegisterUse used_;
  llvm::orc::JITDylib* library_ = nullptr;
  Entry entry_ = nullptr;
};

class LlvmCompiler : public KernelCompiler {
public:
  std::shared_ptr<KernelCode> compile(const std::string& function, const KernelSignature& signature,
                                      const std::string& source) override {
    return std::make_shared<LlvmCode>(llvm_, function, source + entryText(function, signature));
  }

private:
  std::shared_ptr<Llvm> llvm_ = std::make_shared<Llvm>();
};

} // namespace

std::unique_ptr<KernelCompiler> makeLlvmCompiler() {
  return std::make_unique<LlvmCompiler>();
}

} // namespace uopscope

#endif
