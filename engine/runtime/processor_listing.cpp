// Runs the passes and the code generator of CPU kernels, and keeps the object for its listing.
#include "engine/runtime/processor_listing.h"

#include "engine/render/signature.h"

#if defined(UOPSCOPE_HAVE_LLVM) && defined(__x86_64__)

#include "engine/runtime/disassembler.h"
#include "engine/runtime/listing_program.h"
#include "engine/runtime/llvm_lines.h"
#include "engine/runtime/llvm_pipeline.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

namespace uopscope {

std::shared_ptr<Program> makeProcessorListing(const LoweredKernel& kernel, const std::string& source,
                                              const std::string& cpu) {
  Processor processor;
  processor.name = cpu;
  processor.lanes = 16;
  const std::string function = identifier(kernel.name);
  llvm::LLVMContext context;
  const auto machine = llvmMachine(processor);
  const auto module = parseKernel(context, function, source);
  attachLines(*module, function, source);
  optimise(*module, *machine, processor, function);
  RegisterUse used;
  std::string object = objectCode(*module, *machine, false, &used);
  return std::make_shared<ListingProgram>(
      [object = std::move(object), cpu](std::vector<AssemblyLine>* lines) {
        return disassembleObject(object, llvm::sys::getProcessTriple(), cpu, "", lines);
      },
      used);
}

} // namespace uopscope

#else

namespace uopscope {
std::shared_ptr<Program> makeProcessorListing(const LoweredKernel&, const std::string&, const std::string&) {
  return nullptr;
}
} // namespace uopscope

#endif
