// A pass of LLVM that counts what became of the registers of a module, after all its functions have their final code.
//
//   RegisterUse used;
//   passes.add(registerCounter(used).release());   // behind the assembly printer, before the functions are freed
#pragma once
#include "engine/runtime/register_use.h"

#include <memory>

namespace llvm {
class Pass;
}

namespace uopscope {

/// `used` must live until the passes have run; the functions of a module are added up in it.
std::unique_ptr<llvm::Pass> registerCounter(RegisterUse& used);

} // namespace uopscope
