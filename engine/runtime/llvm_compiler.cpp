// LLVM in process: IR text in, machine code for this machine out, through ORC. Each kernel is a library of
// its own in the JIT and goes when its last user does.
#include "engine/runtime/kernel_code.h"

#ifndef UOPSCOPE_HAVE_LLVM

namespace uopscope {
std::unique_ptr<KernelCompiler> makeLlvmCompiler() {
  return nullptr;
}
} // namespace uopscope

#else

#include "engine/base/error.h"
#include "engine/render/llvm_text.h"
#include "engine/render/signature.h"
#include "engine/runtime/disassembler.h"
#include "engine/runtime/kernel_support.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#pragma GCC diagnostic pop

#include <fmt/format.h>

#include <mutex>

namespace uopscope {

namespace {

/// What every kernel shares. LLVM's parts are used by one thread at a time.
class Llvm {
public:
  Llvm() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetDisassembler();
    std::string triple = llvm::sys::getProcessTriple(), message;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
    if (!target)
      throw Error(ErrorKind::Compile,
                  fmt::format("LLVM has no code generator for {}: {}; set CPU_LLVM=0", triple, message));
    cpu_ = llvm::sys::getHostCPUName().str();
    bool wide = false;
    for (const auto& f : llvm::sys::getHostCPUFeatures()) {
      features_ += fmt::format("{}{}{}", features_.empty() ? "" : ",", f.second ? '+' : '-', f.first().str());
      wide |= f.second && f.first() == "avx512f";
    }
    width_ = wide ? "512" : "256";
    machine_.reset(target->createTargetMachine(triple, cpu_, features_, llvm::TargetOptions(),
                                               llvm::Reloc::PIC_, std::nullopt,
                                               llvm::CodeGenOptLevel::Default, /*JIT=*/true));
    jit_ = orThrow(
        llvm::orc::LLJITBuilder()
            .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(machine_->getTargetTriple()))
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

  /// IR text -> optimised module.
  std::unique_ptr<llvm::Module> optimise(llvm::LLVMContext& context, const std::string& function,
                                         const std::string& source, const std::string& entry) {
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(source + entry, diagnostic, context);
    if (!module) {
      std::string message;
      llvm::raw_string_ostream out(message);
      diagnostic.print("ir", out, false);
      throw Error(ErrorKind::Compile, fmt::format("kernel {}: LLVM does not take it\n{}\nsource:\n{}",
                                                  function, message, source));
    }
    module->setDataLayout(machine_->createDataLayout());
    module->setTargetTriple(machine_->getTargetTriple().str());
    for (llvm::Function& f : *module) {
      if (f.isDeclaration()) continue;
      f.addFnAttr("target-cpu", cpu_);
      f.addFnAttr("target-features", features_);
      f.addFnAttr("prefer-vector-width", width_);
      if (f.getName() == function) {
        // A function of its own, so that its listing is the kernel and its buffers stay noalias.
        f.setLinkage(llvm::GlobalValue::InternalLinkage);
        f.addFnAttr(llvm::Attribute::NoInline);
      }
    }
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager callGraph;
    llvm::ModuleAnalysisManager modules;
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = tuning.LoopUnrolling =
        true;
    llvm::PassBuilder builder(machine_.get(), tuning);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(callGraph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, callGraph, modules);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*module, modules);
    return module;
  }

  std::unique_ptr<llvm::MemoryBuffer> generate(llvm::Module& module) {
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream out(object);
    llvm::legacy::PassManager passes;
    if (machine_->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
      throw Error(ErrorKind::Compile, "LLVM cannot write object code for this machine; set CPU_LLVM=0");
    passes.run(module);
    return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), "kernel", false);
  }

  llvm::orc::JITDylib& load(std::unique_ptr<llvm::MemoryBuffer> object) {
    auto& library = orThrow(jit_->createJITDylib(fmt::format("kernel{}", ++libraries_)));
    library.addToLinkOrder(*support_);
    orThrow(jit_->addObjectFile(library, std::move(object)));
    return library;
  }
  KernelCode::Entry entry(llvm::orc::JITDylib& library) {
    return orThrow(jit_->lookup(library, "uopscope_entry")).toPtr<KernelCode::Entry>();
  }
  void unload(llvm::orc::JITDylib& library) {
    llvm::consumeError(jit_->getExecutionSession().removeJITDylib(library));
  }

  std::string disassemble(std::string_view object) const {
    return disassembleObject(object, machine_->getTargetTriple().str(), cpu_, features_);
  }

  std::mutex mutex;

private:
  std::string cpu_, features_, width_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::orc::JITDylib* support_ = nullptr;
  uint64_t libraries_ = 0;
};

/// The one form in which kernels are called.
std::string entryText(const std::string& function, const KernelSignature& signature) {
  std::string body, arguments;
  auto add = [&](const std::string& argument) { arguments += (arguments.empty() ? "" : ", ") + argument; };
  for (size_t i = 0; i < signature.globals.size(); ++i) {
    body += fmt::format(
        "  %bp{0} = getelementptr ptr, ptr %buffers, i64 {0}\n  %b{0} = load ptr, ptr %bp{0}\n", i);
    add(fmt::format("ptr %b{}", i));
  }
  for (size_t i = 0; i < signature.vars.size(); ++i) {
    std::string type = LlvmText::type(signature.vars[i].dtype());
    body +=
        fmt::format("  %vp{0} = getelementptr i64, ptr %vars, i64 {0}\n  %w{0} = load i64, ptr %vp{0}\n", i);
    if (type == "i64")
      add(fmt::format("i64 %w{}", i));
    else {
      body += fmt::format("  %v{0} = trunc i64 %w{0} to {1}\n", i, type);
      add(fmt::format("{} %v{}", type, i));
    }
  }
  if (signature.hasCoreId()) add("i32 %core");
  return fmt::format("\ndefine void @uopscope_entry(ptr %buffers, ptr %vars, i32 %core) {{\n{}  call void "
                     "@{}({})\n  ret void\n}}\n",
                     body, function, arguments);
}

class LlvmCode : public KernelCode {
public:
  LlvmCode(std::shared_ptr<Llvm> llvm, std::string function, std::string source, std::string entryIr)
      : llvm_(std::move(llvm)), function_(std::move(function)), source_(std::move(source)),
        entryIr_(std::move(entryIr)) {
    llvm::LLVMContext context;
    std::lock_guard lock(llvm_->mutex);
    auto module = llvm_->optimise(context, function_, source_, entryIr_);
    auto object = llvm_->generate(*module);
    object_ = object->getBuffer().str();
    library_ = &llvm_->load(std::move(object));
    entry_ = llvm_->entry(*library_);
  }
  ~LlvmCode() override {
    std::lock_guard lock(llvm_->mutex);
    llvm_->unload(*library_);
  }
  Entry entry() const override { return entry_; }
  std::string assembly() const override { return llvm_->disassemble(object_); }
  std::string ir() const override {
    llvm::LLVMContext context;
    std::lock_guard lock(llvm_->mutex);
    auto module = llvm_->optimise(context, function_, source_, entryIr_);
    if (llvm::Function* entry = module->getFunction("uopscope_entry")) entry->eraseFromParent();
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out, nullptr);
    return text;
  }

private:
  std::shared_ptr<Llvm> llvm_;
  std::string function_, source_, entryIr_, object_;
  llvm::orc::JITDylib* library_ = nullptr;
  Entry entry_ = nullptr;
};

class LlvmCompiler : public KernelCompiler {
public:
  std::shared_ptr<KernelCode> compile(const std::string& function, const KernelSignature& signature,
                                      const std::string& source) override {
    return std::make_shared<LlvmCode>(llvm_, function, source, entryText(function, signature));
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
