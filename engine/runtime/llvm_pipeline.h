// The passes of LLVM that every CPU kernel goes through. The compiler (llvm_compiler.cpp) runs them; the debugger runs
// them again and listens (llvm_passes.h).
//
//   auto machine = llvmMachine(processor());
//   optimise(*module, *machine, processor(), "E_4");            // the module is ready for code generation
//   std::string object = objectCode(*module, *machine);         // an object file
//
// Invariant: listening changes nothing of the result.
#pragma once
#include "engine/base/error.h"
#include "engine/runtime/processor.h"
#include "engine/runtime/register_use.h"

#include <functional>
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace uopscope {

/// Called before the first pass ("input") and after each pass of LLVM that ran, with its name as `opt -passes=`
/// takes it: "sroa", "loop-vectorize".
using LlvmListener = std::function<void(const std::string& pass, const llvm::Module& module)>;

/// Makes LLVM know this processor's code generator, assembly printer and disassembler. Any thread may call it, any
/// number of times; it works once.
void initialiseLlvm();

/// LLVM's description of the processor; one compilation at a time. Throws Error(Compile) where this LLVM has no
/// code generator for it.
std::unique_ptr<llvm::TargetMachine> llvmMachine(const Processor& cpu);

/// The module of a kernel's text. Throws Error(Compile) with LLVM's message and the text.
std::unique_ptr<llvm::Module> parseKernel(llvm::LLVMContext& context, const std::string& function,
                                          const std::string& text);

/// Gives the functions the processor's attributes and runs the passes. The kernel stays a function of its own.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, const Processor& cpu,
              const std::string& function, const LlvmListener& listener = {});

/// Runs the passes on a module that knows its processor, then `last`, a pass of modules that the processor has of its
/// own, if it is not empty.
void runLlvmPasses(llvm::Module& module, llvm::TargetMachine& machine, const LlvmListener& listener = {},
                   const std::string& last = {});

/// LLVM gave up in the middle of code generation, which otherwise ends the process. The module and the machine cannot be
/// used again.
class LlvmGaveUp : public Error {
public:
  explicit LlvmGaveUp(const std::string& why) : Error(ErrorKind::Compile, "LLVM: " + why) {}
};

/// The object file of a module, or its assembly as text. Throws Error(Compile) where LLVM cannot write one for the machine,
/// LlvmGaveUp where it meets a fault of its own. `used`, if given, receives what the functions of the module, all together,
/// did with the registers.
std::string objectCode(llvm::Module& module, llvm::TargetMachine& machine, bool asText = false,
                       RegisterUse* used = nullptr);

} // namespace uopscope
