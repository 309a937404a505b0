// LLVM answers an error of code generation by ending the process unless somebody listens: Diagnostics does.
#include "engine/runtime/llvm_gpu.h"

#include "engine/base/error.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_report.h"
#include "engine/runtime/llvm_lines.h"
#include "engine/runtime/llvm_pipeline.h"

#include <fmt/format.h>

#ifndef UOPSCOPE_HAVE_LLVM

namespace uopscope {
void initialiseGpus() {}
std::string llvmVersion() {
  return {};
}
bool knowsArchitecture(const GpuMachine&) {
  return false;
}
std::string gpuCode(const std::string& kernel, const std::string&, const GpuMachine&) {
  throw Error(ErrorKind::Device,
              fmt::format("kernel {}: this uopscope was built without LLVM, which compiles for this "
                          "GPU: install llvm-19-dev and build again",
                          kernel));
}
} // namespace uopscope

#else

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>

namespace uopscope {

namespace {

const llvm::Target& targetOf(const GpuMachine& machine) {
  initialiseGpus();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(machine.triple, message);
  if (!target) throw Error(ErrorKind::Device, "LLVM was built without this kind of GPU: " + message);
  return *target;
}

class Diagnostics : public llvm::DiagnosticHandler {
public:
  Diagnostics(std::string& message, unsigned& line) : message_(message), line_(line) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error || !message_.empty()) return true;
    llvm::raw_string_ostream out(message_);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    if (const auto* unsupported = llvm::dyn_cast<llvm::DiagnosticInfoUnsupported>(&info)) note(*unsupported);
    if (const auto* limit = llvm::dyn_cast<llvm::DiagnosticInfoResourceLimit>(&info)) note(*limit);
    return true;
  }

private:
  void note(const llvm::DiagnosticInfoWithLocationBase& placed) {
    if (!placed.isLocationAvailable()) return;
    unsigned column = 0;
    llvm::StringRef file;
    placed.getLocation(file, line_, column);
  }

  std::string& message_;
  unsigned& line_;
};

} // namespace

void initialiseGpus() {
  static std::once_flag done;
  std::call_once(done, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUDisassembler();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

std::string llvmVersion() {
  return LLVM_VERSION_STRING;
}

bool knowsArchitecture(const GpuMachine& machine) {
  const std::unique_ptr<llvm::MCSubtargetInfo> known(
      targetOf(machine).createMCSubtargetInfo(machine.triple, "", ""));
  return known && known->isCPUStringValid(machine.architecture);
}

namespace {

[[noreturn]] void refused(const std::string& kernel, const std::string& source, const GpuMachine& machine,
                          const std::string& message, unsigned line) {
  throw Error(ErrorKind::Compile,
              fmt::format("kernel {}: LLVM does not compile it for {}\n{}\n{}source:\n{}", kernel,
                          machine.architecture, message, sourceLine(source, line), source));
}

std::string compileNow(const std::string& kernel, const std::string& source, const GpuMachine& machine) {
  std::string message;
  unsigned line = 0;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(message, line));
  const std::unique_ptr<llvm::TargetMachine> made(targetOf(machine).createTargetMachine(
      machine.triple, machine.architecture, "", llvm::TargetOptions(), llvm::Reloc::PIC_));
  auto module = parseKernel(context, kernel, source);
  module->setDataLayout(made->createDataLayout());
  if (machine.codeObjects)
    module->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", machine.codeObjects);
  for (llvm::Function& f : *module)
    if (!f.isDeclaration()) attachLines(*module, f.getName().str(), source);
  runLlvmPasses(*module, *made, {}, machine.lastPass);
  std::string code;
  try {
    code = objectCode(*module, *made, machine.asText);
  } catch (const LlvmGaveUp& e) {
    refused(kernel, source, machine, e.what(), 0);
  }
  if (!message.empty()) refused(kernel, source, machine, message, line);
  return code;
}

} // namespace

std::string gpuCode(const std::string& kernel, const std::string& source, const GpuMachine& machine) {
  DiskCache* disk = DiskCache::named("kernels");
  if (!disk) return compileNow(kernel, source, machine);
  const std::string key = fmt::format("LLVM {} {} {}\n{}\n{}", llvmVersion(), machine.triple,
                                      machine.architecture, buildIdentity(), source);
  if (auto kept = disk->find(key)) return std::move(*kept);
  std::string code = compileNow(kernel, source, machine);
  disk->store(key, code);
  return code;
}

} // namespace uopscope

#endif
