// Functions of a machine (machine_functions.h) in LLVM IR, by the intrinsics of AVX-512.
#pragma once
#include "engine/codegen/machine_functions.h"
#include "engine/render/llvm_text.h"

namespace uopscope {

/// The value of a function of vectors for which the target has it (hasMachineFunctions).
std::string writeMachineCall(LlvmText& out, MachineFunction f, DType type,
                             std::span<const std::string> operands);

} // namespace uopscope
