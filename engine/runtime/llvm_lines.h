// Debug information for IR that was written as text: each instruction gets the line it stands on, so that
// machine code can be led back to it. Code is the same with and without.
//
//   attachLines(*module, "E_4", text);
#pragma once
#include <string>

namespace llvm {
class Module;
}

namespace uopscope {

/// The module was parsed from `text`: one instruction on a line. Does nothing where that is not so.
void attachLines(llvm::Module& module, const std::string& function, const std::string& text);

} // namespace uopscope
