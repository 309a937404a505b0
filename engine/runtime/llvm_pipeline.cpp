// A pipeline of our own instead of O2: a kernel is one function of nested loops without calls, recursion or globals, and
// O2 spends half its time on what such a function never has. docs/design/performance.md compares the code of both.
#ifdef UOPSCOPE_HAVE_LLVM
#include "engine/runtime/llvm_pipeline.h"

#include "engine/base/error.h"
#include "engine/runtime/llvm_registers.h"

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

namespace uopscope {

namespace {

/// A simplifycfg for the end: loops may lose their form, and instructions leave their blocks.
constexpr const char* kLastSimplifyCfg =
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;"
    "no-keep-loops;hoist-common-insts;sink-common-insts;speculate-blocks>";

/// The passes in order, named as `opt -passes=` takes them, without slp-vectorizer: LLVM 19 miscompiles sums of
/// comparisons with it. Passes that look like repetitions were left out one by one, and came back where the code of some
/// kernel grew.
constexpr const char* kStages[] = {
    // Values: register arrays, common subexpressions, branches that other branches decide.
    "sroa<modify-cfg>", "early-cse<memssa>", "simplifycfg", "instcombine<no-verify-fixpoint>",
    "jump-threading", "correlated-propagation", "simplifycfg", "instcombine<no-verify-fixpoint>",
    "reassociate",
    // Loops: invariants move out, short ones are written out, and their arrays become values.
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm)",
    "loop-mssa(simple-loop-unswitch<no-nontrivial;trivial>)",
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full)", "sroa<modify-cfg>", "vector-combine", "gvn",
    "jump-threading", "correlated-propagation",
    // Lanes and unrolling, and what they leave behind.
    "loop-vectorize", "instcombine<no-verify-fixpoint>", "vector-combine", "loop-unroll<O2>",
    "sroa<preserve-cfg>", "instcombine<no-verify-fixpoint>", "loop-mssa(licm)", "loop-sink", "instsimplify",
    "div-rem-pairs", "tailcallelim", kLastSimplifyCfg};

/// Tells the listener of passes; those that only run others (managers, adaptors) are left out.
void listen(llvm::PassInstrumentationCallbacks& callbacks, const llvm::Module& module,
            const LlvmListener& listener) {
  auto tell = [&callbacks, &module, &listener](llvm::StringRef className) {
    if (llvm::isSpecialPass(className, {"PassManager", "PassAdaptor", "AnalysisManagerProxy",
                                        "DevirtSCCRepeatedPass", "ModuleInlinerWrapperPass", "VerifierPass"}))
      return;
    const llvm::StringRef name = callbacks.getPassNameForClassName(className);
    listener((name.empty() ? className : name).str(), module);
  };
  callbacks.registerAfterPassCallback(
      [tell](llvm::StringRef pass, const llvm::Any&, const llvm::PreservedAnalyses&) { tell(pass); });
  callbacks.registerAfterPassInvalidatedCallback( // it removed the loop that it ran on
      [tell](llvm::StringRef pass, const llvm::PreservedAnalyses&) { tell(pass); });
}

thread_local bool generatesCode = false;

/// LLVM calls this instead of printing the reason, and ends the process if it returns. No lock is held.
void gaveUp(void*, const char* reason, bool) {
  if (generatesCode) throw LlvmGaveUp(reason);
  fmt::print(stderr, "LLVM: {}\n", reason);
}

/// Lets LLVM's give-ups of this thread be errors.
class GeneratesCode {
public:
  GeneratesCode() { generatesCode = true; }
  ~GeneratesCode() { generatesCode = false; }
  GeneratesCode(const GeneratesCode&) = delete;
  GeneratesCode& operator=(const GeneratesCode&) = delete;
};

} // namespace

void initialiseLlvm() {
  static std::once_flag done;
  std::call_once(done, [] {
    llvm::install_fatal_error_handler(gaveUp);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetDisassembler();
  });
}

std::unique_ptr<llvm::TargetMachine> llvmMachine(const Processor& cpu) {
  initialiseLlvm();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    throw Error(ErrorKind::Compile,
                fmt::format("LLVM has no code generator for {}: {}; set CPU_LLVM=0", triple, message));
  // Constants lie near the code. Without a code model, a machine for a JIT takes the large one, whose addresses of constants
  // need two registers: the allocator cannot read a constant again where it needs it, and keeps it on the stack instead.
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpu.name, cpu.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
}

std::unique_ptr<llvm::Module> parseKernel(llvm::LLVMContext& context, const std::string& function,
                                          const std::string& text) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (module) return module;
  std::string message;
  llvm::raw_string_ostream out(message);
  diagnostic.print("ir", out, false);
  throw Error(ErrorKind::Compile,
              fmt::format("kernel {}: LLVM does not take it\n{}\nsource:\n{}", function, message, text));
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, const Processor& cpu,
              const std::string& function, const LlvmListener& listener) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", cpu.name);
    f.addFnAttr("target-features", cpu.features);
    f.addFnAttr("prefer-vector-width", cpu.lanes == 16 ? "512" : "256");
    if (f.getName() == function) {
      // The kernel stays a function of its own, so that it has a listing and its buffers stay noalias.
      f.setLinkage(llvm::GlobalValue::InternalLinkage);
      f.addFnAttr(llvm::Attribute::NoInline);
    }
  }
  runLlvmPasses(module, machine, listener);
}

void runLlvmPasses(llvm::Module& module, llvm::TargetMachine& machine, const LlvmListener& listener,
                   const std::string& last) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::PassBuilder builder(&machine, {}, std::nullopt, listener ? &callbacks : nullptr);
  if (listener) listen(callbacks, module, listener);
  if (listener) listener("input", module);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes;
  if (auto error = builder.parsePassPipeline(
          passes, fmt::format("function({}){}{}", fmt::join(kStages, ","), last.empty() ? "" : ",", last)))
    throw Error(ErrorKind::Compile, "LLVM: " + llvm::toString(std::move(error)));
  passes.run(module, modules);
}

std::string objectCode(llvm::Module& module, llvm::TargetMachine& machine, bool asText, RegisterUse* used) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  auto owned = std::make_unique<llvm::legacy::PassManager>();
  llvm::legacy::PassManager& passes = *owned;
  // The steps of addPassesToEmitFile, which has no place to leave a pass out.
  auto& target = static_cast<llvm::LLVMTargetMachine&>(machine);
  auto* info = std::make_unique<llvm::MachineModuleInfoWrapperPass>(&target).release(); // `passes` owns it
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  // Lines need no places of variables, and the search for them takes 20 ms over the kernels of ResNet-50.
  config->disablePass(&llvm::LiveDebugValuesID);
  passes.add(config);
  passes.add(info);
  bool failed = config->addISelPasses();
  if (!failed) {
    config->addMachinePasses();
    config->setInitialized();
    failed =
        target.addAsmPrinter(passes, out, nullptr,
                             asText ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile,
                             info->getMMI().getContext());
  }
  if (failed)
    throw Error(ErrorKind::Compile, "LLVM cannot write object code for this machine; set CPU_LLVM=0");
  if (used) passes.add(registerCounter(*used).release());
  passes.add(llvm::createFreeMachineFunctionPass());
  try {
    const GeneratesCode here;
    passes.run(module);
  } catch (const LlvmGaveUp&) {
    static_cast<void>(
        owned.release()); // its passes stand in the middle of their work: they cannot even be destroyed
    throw;
  }
  return std::string(object.begin(), object.end());
}

} // namespace uopscope
#endif
