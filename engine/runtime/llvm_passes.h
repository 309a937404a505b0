// What LLVM makes of a kernel's text, pass by pass: the last part of the way from a line of the script to an
// instruction. Nothing of it is recorded: the text is in the trace, and the passes are run again when somebody looks.
//
//   for (const LlvmPass& p : llvmPasses(ir)) print(p.name, p.text);      // "sroa", the kernel after it
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

struct LlvmPass {
  std::string name; ///< as `opt -passes=` takes it
  std::string text; ///< the kernel after the pass
};

/// The kernel as LLVM reads it (named "input") and after each pass that changed it, for the processor of
/// CPU_TARGET. `text` is what the renderer for LLVM wrote. Throws Error(Unsupported) for a text of another
/// language and in a build without LLVM, Error(Compile) for one that LLVM does not take.
std::vector<LlvmPass> llvmPasses(const std::string& text);

/// A line about what a pass does, for those that change kernels; empty for others.
std::string_view llvmPassMeaning(std::string_view pass);

} // namespace uopscope
