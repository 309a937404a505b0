// Runs the passes and the code generator of CPU kernels, and keeps the object for its listing.
#include "engine/runtime/processor_listing.h"

#include "engine/render/signature.h"

#if defined(UOPSCOPE_HAVE_LLVM) && defined(__x86_64__)

#include "engine/runtime/disassembler.h"
#include "engine/runtime/kernel_entry.h"
#include "engine/runtime/listing_program.h"
#include "engine/runtime/llvm_lines.h"
#include "engine/runtime/llvm_pipeline.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

namespace uopscope {

std::string processorObject(const LoweredKernel& kernel, const std::string& source, const std::string& cpu,
                            RegisterUse* used) {
  Processor processor;
  processor.name = cpu;
  processor.lanes = 16;
  const std::string function = identifier(kernel.name);
  llvm::LLVMContext context;
  const auto machine = llvmMachine(processor);
  const std::string text = source + entryText(function, signatureOf(kernel));
  const auto module = parseKernel(context, function, text);
  attachLines(*module, function, text);
  optimise(*module, *machine, processor, function);
  return objectCode(*module, *machine, false, used);
}

std::shared_ptr<Program> makeProcessorListing(const LoweredKernel& kernel, const std::string& source,
                                              const std::string& cpu) {
  RegisterUse used;
  std::string object = processorObject(kernel, source, cpu, &used);
  return std::make_shared<ListingProgram>(
      [object = std::move(object), cpu](std::vector<AssemblyLine>* lines) {
        return disassembleObject(object, llvm::sys::getProcessTriple(), cpu, "", lines);
      },
      used);
}

} // namespace uopscope

#else

namespace uopscope {
std::string processorObject(const LoweredKernel&, const std::string&, const std::string&, RegisterUse*) {
  return {};
}
std::shared_ptr<Program> makeProcessorListing(const LoweredKernel&, const std::string&, const std::string&) {
  return nullptr;
}
} // namespace uopscope

#endif
