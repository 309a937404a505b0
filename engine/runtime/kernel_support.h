// Functions that compiled kernels call where neither the processor nor libm has the operation.
#pragma once
#include <span>
#include <utility>

namespace uopscope {

struct SupportFunction {
  const char* name;
  void* address;
};
/// What render/llvm_renderer.h names, and the conversions of half that LLVM calls where the processor has
/// none.
std::span<const SupportFunction> supportFunctions();

} // namespace uopscope
