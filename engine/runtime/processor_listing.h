// A kernel compiled for a processor that may not be this one, to be read.
//
//   makeProcessorListing(kernel, text, "graniterapids")->assembly()
#pragma once
#include "engine/codegen/codegen.h"
#include "engine/runtime/device.h"

#include <memory>
#include <string>

namespace uopscope {

/// `source`: LLVM IR. Null if the engine was built without LLVM, or for another architecture than `cpu` belongs to. Throws
/// Error(Compile) with LLVM's message.
std::shared_ptr<Program> makeProcessorListing(const LoweredKernel& kernel, const std::string& source,
                                              const std::string& cpu);

} // namespace uopscope
