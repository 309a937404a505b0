// Debug information for IR text: each instruction gets the number of its line, so that machine code can be
// traced back to the line. The machine code is the same with and without it.
//
//   attachLines(*module, "E_4", text);
#pragma once
#include <string>

namespace llvm {
class Module;
}

namespace uopscope {

/// The module was parsed from `text`, with one instruction per line. Does nothing if the text is not of this
/// form.
void attachLines(llvm::Module& module, const std::string& function, const std::string& text);

} // namespace uopscope
