// A linear program as one readable function of a language of C's kind.
//
//   CText c;
//   writeC(kernel, c)     // void E_4(float* restrict data0_4, float* restrict data1_4) { ... }
//
// Values with one user are written where they are used, unless the text would get long; loads always get a
// name, so they stay in program order.
#pragma once
#include "engine/render/c_text.h"
#include "engine/rewrite/observer.h"

namespace uopscope {

/// Throws Error(Compile) where the program is not complete or has no form in the language.
/// `lines` receives which instructions each line is made of.
std::string writeC(const LoweredKernel& kernel, CText& language, std::vector<TextLine>* lines = nullptr);

} // namespace uopscope
