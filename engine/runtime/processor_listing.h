// A kernel compiled for a processor that may not be this one, to be read.
//
//   makeProcessorListing(kernel, text, "graniterapids")->assembly()
//   processorObject(kernel, text, "graniterapids")                        // an object file that defines uopscope_entry
#pragma once
#include "engine/codegen/codegen.h"
#include "engine/runtime/device.h"
#include "engine/runtime/register_use.h"

#include <memory>
#include <string>

namespace uopscope {

/// `source`: LLVM IR. Empty if the engine was built without LLVM, or for another architecture than `cpu` belongs to. Throws
/// Error(Compile) with LLVM's message. `used`, if given, receives what the kernel did with the registers.
std::string processorObject(const LoweredKernel& kernel, const std::string& source, const std::string& cpu,
                            RegisterUse* used = nullptr);
/// Null where processorObject is empty.
std::shared_ptr<Program> makeProcessorListing(const LoweredKernel& kernel, const std::string& source,
                                              const std::string& cpu);

} // namespace uopscope
