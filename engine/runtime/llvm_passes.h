// The passes of LLVM over a kernel, after our own: the last part of the way from a line of the script to an
// instruction. They are not recorded: the trace holds the text, and the passes run again when somebody looks.
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
/// CPU_TARGET. `text` comes from the renderer for LLVM. Throws Error(Unsupported) for a text of another
/// language and in a build without LLVM, Error(Compile) for one that LLVM does not take.
std::vector<LlvmPass> llvmPasses(const std::string& text);

/// One line about a pass that can change kernels; empty for any other name.
std::string_view llvmPassMeaning(std::string_view pass);

} // namespace uopscope
