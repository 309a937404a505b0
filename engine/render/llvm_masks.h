// Vectors of conditions in LLVM IR, such as the mask of a row whose first and last lane lie in a margin.
//
//   16 lanes of three conditions:  (all lanes c & <1, 0, 0, ...>) | (all lanes d & <0, 1, 1, ..., 0>) | ...
#pragma once
#include "engine/render/llvm_text.h"

#include <functional>

namespace uopscope {

/// A VECTORIZE of many conditions of which few differ: put into a mask one by one they take three instructions a lane. Empty for any
/// other vector.
std::string writeMaskOfFew(LlvmText& out, UOp lanes, const std::function<std::string(UOp)>& value);

} // namespace uopscope
