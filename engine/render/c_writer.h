// A linear program as one readable function of a C-like language.
//
//   CText c;
//   writeC(kernel, c)     // void E_4(float* restrict data0_4, float* restrict data1_4) { ... }
//
// The expression of a value with one user is written inside that user, unless the text would get long. Loads
// always get a name, so they stay in program order.
#pragma once
#include "engine/render/c_text.h"
#include "engine/rewrite/observer.h"

namespace uopscope {

/// Throws Error(Compile) if the program is not complete or has no form in the language. `lines` receives the
/// instructions that each line comes from.
std::string writeC(const LoweredKernel& kernel, CText& language, std::vector<TextLine>* lines = nullptr);

} // namespace uopscope
