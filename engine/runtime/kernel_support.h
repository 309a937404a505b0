// Functions that compiled kernels call if neither the processor nor libm has the operation.
//
//   for (const SupportFunction& f : supportFunctions()) ...      // a name and an address for the loader
#pragma once
#include <span>
#include <utility>

namespace uopscope {

struct SupportFunction {
  const char* name;
  void* address;
};
/// The functions named in render/llvm_renderer.h, and the conversions of half that LLVM calls if the
/// processor has none.
std::span<const SupportFunction> supportFunctions();

} // namespace uopscope
