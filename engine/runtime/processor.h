// The processor that CPU kernels are compiled for: this machine's, or one of the levels of x86-64 that it can
// run, by CPU_TARGET. A level makes code that other machines run too, and shows on one machine what the
// others compute: SSE (2), AVX2 with FMA (3), AVX-512 (4).
//
// Invariant: one object per level, made when first asked for, never changed.
//
//   ContextScope avx2({{"CPU_TARGET", 3}});
//   processor().lanes == 8
#pragma once
#include <string>

namespace uopscope {

struct Processor {
  std::string name;     ///< as LLVM and clang's -march name it; this machine's own name for CPU_TARGET=0
  std::string march;    ///< for clang: "native" or the name of the level
  std::string features; ///< "+avx2,-sse4a", for LLVM; empty where the name says it all
  int lanes = 4;        ///< values of 32 bits in a vector register
  bool hasFma = false;  ///< rounds x*y+z once at the cost of one operation
};

/// Of the current CPU_TARGET. Throws Error(Value) for a level that does not exist or that this machine cannot
/// run. Any thread.
const Processor& processor();

} // namespace uopscope
