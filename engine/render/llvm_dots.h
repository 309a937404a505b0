// Dot products (dot_products.h) in LLVM IR, by the intrinsics of x86.
#pragma once
#include "engine/render/llvm_text.h"

namespace uopscope {

/// The value of a WMMA that is a dot product, on its operands and its sum: as many lanes as it has, whatever the width of the
/// instruction, up to 16. Throws Error(Compile) for a dot product that no instruction computes.
std::string writeDotProduct(LlvmText& out, UOp wmma, std::span<const std::string> operands);

} // namespace uopscope
