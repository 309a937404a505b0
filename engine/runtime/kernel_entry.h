// The function through which a loader calls a kernel of LLVM IR, whatever its parameters (KernelCode::Entry).
//
//   source + entryText("E_4", signature)      // defines uopscope_entry(ptr buffers, ptr vars, i32 core)
#pragma once
#include "engine/render/signature.h"

#include <string>

namespace uopscope {

/// The text of uopscope_entry, which calls `function`.
std::string entryText(const std::string& function, const KernelSignature& signature);

} // namespace uopscope
